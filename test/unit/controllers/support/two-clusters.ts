/**
 * The cluster of a TargetSync and its source cluster, both in memory, and one reconcile of the target sync between
 * them.
 */
import { targetKind, type Target } from '../../../../src/api/kinds/target.ts';
import {
  targetSyncKind,
  type TargetSync,
  type TargetSyncSpec,
} from '../../../../src/api/kinds/targetsync.ts';
import { FINALIZER, annotations, labels } from '../../../../src/api/labels.ts';
import { shootKind } from '../../../../src/landscape/source-cluster.ts';
import { secretKind, type Secret, type World } from '../../../../src/landscape/world.ts';
import { apiErrorFrom } from '../../../../src/runtime/errors.ts';
import type { Client, Context, Kind, Obj, Page, Query } from '../../../../src/runtime/types.ts';
import { targetSyncController } from '../../../../controllers/targetsync/index.ts';
import { FakeClock } from '../../../support/clock.ts';
import { NOW } from '../../../support/given.ts';
import { FakeCluster, type Request } from '../../runtime/support/fake-cluster.ts';

export const OK = { [labels.targetSync]: 'ok' };
export const WISH = { [annotations.operation]: 'reconcile' };
export const base64 = (text: string): string => Buffer.from(text).toString('base64');

export const refusal = (code: number, message: string, reason = ''): Error =>
  apiErrorFrom(code, { message, reason }, { verb: 'patch', kind: 'Secret' });

/** An API server that supports label selectors, and issues credentials. */
class Cluster extends FakeCluster {
  /** The response of a POST to a path. */
  readonly answers = new Map<string, unknown>();
  /** The error of a list of a kind. */
  readonly unlisted = new Map<string, Error>();
  /** The queries of lists, by kind. */
  readonly lists: (readonly [kind: string, query: Query])[] = [];
  readonly asked: { readonly path: string; readonly body: unknown }[] = [];

  override async *list<T extends Obj>(kind: Kind<T>, query: Query): AsyncIterable<Page<T>> {
    this.lists.push([kind.kind, query]);
    const failure = this.unlisted.get(kind.kind);
    if (failure) throw failure;
    const [label = '', value] = query.labels?.split('=') ?? [];
    for await (const page of super.list(kind, query)) {
      const items = page.items.filter((object) => !label || object.metadata.labels?.[label] === value);
      yield { ...page, items };
    }
  }

  override raw(method?: string, path = '', body?: unknown): Promise<unknown> {
    this.asked.push({ path: `${method ?? ''} ${path}`, body });
    const answer = this.answers.get(path);
    if (answer === undefined) return Promise.reject(refusal(404, 'not here', 'NotFound'));
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  }
}

export const KUBECONFIG = JSON.stringify({ users: [{ name: 'reader', user: { token: 'old' } }] });
const KEY = 'demo/sync';

export class TwoClusters {
  readonly here = new Cluster();
  readonly source = new Cluster();
  /** Kubeconfigs with which clients connected, in order. */
  readonly opened: string[] = [];
  /** The error of connecting to the source cluster. */
  unopened: Error | undefined;
  readonly #names = { targets: new Set<string>(), syncs: new Set<string>() };

  /** @param access whether the secret with the access to the source cluster exists */
  constructor({ access = true } = {}) {
    if (access) this.secret('source-access', { kubeconfig: KUBECONFIG });
  }

  sync(spec: Partial<TargetSyncSpec> = {}, meta: object = {}, name = 'sync'): void {
    this.#names.syncs.add(name);
    this.here.put<TargetSync>(targetSyncKind, {
      metadata: { name, namespace: 'demo', finalizers: [FINALIZER], annotations: WISH, ...meta },
      spec: { sourceNamespace: 'clusters', secretRef: { name: 'source-access', key: 'kubeconfig' }, ...spec },
    });
  }

  /** Entries as strings. */
  secret(name: string, entries: Readonly<Record<string, string>>, of = {}): void {
    const data = Object.fromEntries(Object.entries(entries).map(([key, text]) => [key, base64(text)]));
    this.here.put<Secret>(secretKind, {
      metadata: { name, namespace: 'demo', labels: of },
      type: 'Opaque',
      data,
    });
  }

  target(name: string, of: object = OK): void {
    this.#names.targets.add(name);
    this.here.put<Target>(targetKind, {
      metadata: { name, namespace: 'demo', labels: of },
      spec: { type: 'landscaper.gardener.cloud/kubernetes-cluster', secretRef: { name, key: 'kubeconfig' } },
    } as Omit<Target, 'apiVersion' | 'kind'>);
  }

  sourceSecret(name: string, more: Partial<Secret> = {}): void {
    this.source.put<Secret>(secretKind, { metadata: { name, namespace: 'clusters' }, ...more });
  }

  shoot(name: string): void {
    this.source.put(shootKind, { metadata: { name, namespace: 'clusters' } });
  }

  get self(): TargetSync | undefined {
    return this.here.read(targetSyncKind, KEY);
  }

  /** The names of the objects of a kind. */
  async names(kind: Kind): Promise<string[]> {
    const names: string[] = [];
    for await (const { items } of this.here.list(kind, { namespace: 'demo' }))
      names.push(...items.map(({ metadata }) => metadata.name));
    return names.sort();
  }

  /** The writes, in order, such as `create Secret demo/x`. */
  get writes(): readonly string[] {
    return this.here.writes;
  }

  bodyOf(write: string): unknown {
    const is = ({ verb, sub, kind, key }: Request): boolean =>
      [verb, sub, kind, key].filter(Boolean).join(' ') === write;
    return this.here.requests.find(is)?.body;
  }

  controller(workers?: number) {
    const present = <T extends Obj>(kind: Kind<T>, names: Iterable<string>): T[] =>
      [...names].map((name) => this.here.read(kind, `demo/${name}`)).filter((each) => each !== undefined);
    const isHere = (namespace?: string): boolean => namespace === 'demo';
    const world = {
      targets: { list: (of: string) => (isHere(of) ? present(targetKind, this.#names.targets) : []) },
      targetSyncs: { list: (of: string) => (isHere(of) ? present(targetSyncKind, this.#names.syncs) : []) },
    } as unknown as World;
    return targetSyncController({
      world,
      client: this.here,
      sources: { open: (text) => this.#open(text), close: () => Promise.resolve() },
      clock: new FakeClock(NOW),
      ...(workers !== undefined && { workers }),
    });
  }

  /** One reconcile; its result or its error. */
  async pass(): Promise<unknown> {
    const { self } = this;
    if (!self) throw new Error('there is no TargetSync');
    const { signal } = new AbortController();
    const ctx = { signal, write: this.here.send.bind(this.here) } as unknown as Context<TargetSync>;
    return this.controller()
      .reconciler.reconcile(self, ctx)
      .catch((error: unknown) => error);
  }

  #open(kubeconfig: string): Promise<Client> {
    this.opened.push(kubeconfig);
    return this.unopened ? Promise.reject(this.unopened) : Promise.resolve(this.source);
  }
}
