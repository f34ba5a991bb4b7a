/** Functions for tests on a running server: drop the history, end watches, let requests fail. */
import type { World } from './api.ts';
import type { RequestInfo } from './http/routes.ts';
import { ApiError } from './status.ts';

interface RequestMatch {
  readonly method?: string;
  readonly verb?: string;
  /** Plural name. */
  readonly resource?: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
}

interface Refusal {
  readonly code: number;
  readonly reason?: string;
  readonly message?: string;
}

export class TestHooks {
  readonly #world: World;
  readonly #refusals: { match: RequestMatch; refusal: Refusal; left: number }[] = [];

  constructor(world: World) {
    this.#world = world;
  }

  /** Drops all changes up to now: older watches and pages get 410. */
  compact(): void {
    const { store } = this.#world;
    for (const resource of store.resources()) resource.compact(store.rev);
  }

  /** Ends open watches, of all resources or of one (`group/plural`, core group empty: `/pods`). */
  cutWatches(resource?: string): void {
    this.#world.hub.cut(resource === undefined ? {} : { resource });
  }

  /** Refuses the next `times` requests that match, before they have any effect. */
  failNext(match: RequestMatch, refusal: Refusal, times = 1): void {
    this.#refusals.push({ match, refusal, left: times });
  }

  /** Open watches. */
  get watchers(): number {
    return this.#world.hub.size;
  }

  /** The newest resource version. */
  get rev(): number {
    return this.#world.store.rev;
  }

  sabotage(method: string, info: RequestInfo): ApiError | undefined {
    const found = this.#refusals.find(({ match }) => fits(match, method, info));
    if (!found) return undefined;
    if (--found.left <= 0) this.#refusals.splice(this.#refusals.indexOf(found), 1);
    const { code, reason, message } = found.refusal;
    return new ApiError(code, reason, message ?? 'refused on behalf of a test');
  }
}

const fits = (match: RequestMatch, method: string, info: RequestInfo): boolean =>
  (match.method === undefined || match.method === method) &&
  (match.verb === undefined || match.verb === info.verb) &&
  (match.resource === undefined || match.resource === info.plural) &&
  (match.subresource === undefined || match.subresource === info.subresource) &&
  (match.namespace === undefined || match.namespace === info.namespace) &&
  (match.name === undefined || match.name === info.name);
