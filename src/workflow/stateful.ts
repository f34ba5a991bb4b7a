/**
 * External dependents whose ids are given out when they are created: the id is kept in the cluster.
 *
 * The subtle case: the process ends between the creation and the note of its id. So that it is going to be created is
 * noted first. Who finds such a note and no id cannot know whether the thing is there, and creating a second one would
 * leave the first behind for ever: it looks for it where the author said how, and else stops and says how to go on.
 */
import { equal } from '../lib/json.ts';
import { NoRetryError } from '../runtime/errors.ts';
import { keyOf } from '../runtime/keys.ts';
import type { Context, Obj, View } from '../runtime/types.ts';
import {
  dependentError,
  oncePerReconcile,
  type Bulk,
  type Common,
  type Dependent,
  type Matcher,
} from './dependent.ts';
import { equalMatcher } from './match-generic.ts';
import { StateStore, type State, type StateChoice, type Stored } from './state.ts';

/** What single and bulk dependents with a state have in common. */
export interface StatefulCommon<R, P extends Obj> {
  readonly name: string;
  /** Where the state is kept. */
  readonly state?: StateChoice;
  /** What has to be kept to find it again; `value => ({ id: value.id })`. */
  stateOf(value: R): State;
  /** Finds it by its state; undefined when it no longer exists. */
  fetch(state: State, p: View<P>, ctx: Context<P>): Promise<R | undefined>;
  create?(desired: R, p: View<P>, ctx: Context<P>): Promise<R>;
  /**
   * Answers with the thing as it is now; when its state is another one, as after a replacement, that is kept instead. A
   * process that ends in between leaves the old state, so the old thing should go last.
   */
  update?(actual: View<R>, desired: R, p: View<P>, ctx: Context<P>): Promise<R>;
  delete?(actual: View<R>, p: View<P>, ctx: Context<P>): Promise<void>;
  /** Default: deep equality. */
  readonly matcher?: Matcher<R, P>;
  /**
   * Looks for what was being created when the process ended, by a mark that `create` left in it; undefined: it was not
   * created. Without it, the run ends with an error that asks a person.
   * @param item which one, in bulk
   */
  recover?(p: View<P>, ctx: Context<P>, item: string): Promise<R | undefined>;
  /**
   * Creating it twice gives the same thing, so nothing is noted first. A primary that is deleted after the process ended
   * between the creation and its note leaves the thing behind; where that matters, have a `recover` instead.
   */
  readonly isIdempotent?: boolean;
}

/** A thing outside of the cluster whose id nobody can guess; a state object keeps it. */
export interface StatefulSpec<R, P extends Obj> extends StatefulCommon<R, P> {
  desired?(p: View<P>, ctx: Context<P>): R | Promise<R>;
}

/** Many things outside of the cluster whose ids nobody can guess; each has a state object of its own. */
export interface StatefulBulkSpec<R, P extends Obj> extends StatefulCommon<R, P> {
  desiredAll?(p: View<P>, ctx: Context<P>): ReadonlyMap<string, R> | Promise<ReadonlyMap<string, R>>;
}

const SINGLE = '';
const NOTHING: State = {};
const isEmpty = (state: State): boolean => Object.keys(state).length === 0;

/** One external thing per primary, whose id is kept in the cluster. */
export function withState<R, P extends Obj>(spec: StatefulSpec<R, P>): Dependent<R, P> {
  const keeper = new Keeper(spec);
  return {
    ...keeper.common,
    async actual(p, ctx) {
      const stored = keeper.store.all(ctx).get(SINGLE);
      return stored && ((await keeper.find(stored, p, ctx)) as View<R> | undefined);
    },
    ...(spec.desired && { desired: (p: View<P>, ctx: Context<P>) => spec.desired?.(p, ctx) as R }),
    ...(spec.create && {
      create: (desired: R, p: View<P>, ctx: Context<P>) => keeper.create(SINGLE, desired, p, ctx),
    }),
    ...(spec.delete && {
      async delete(p: View<P>, ctx: Context<P>) {
        const stored = keeper.store.all(ctx).get(SINGLE);
        if (stored) await keeper.remove(stored, await keeper.find(stored, p, ctx), p, ctx);
      },
    }),
  };
}

/** Many external things per primary: a state object for each. */
export function bulkWithState<R, P extends Obj>(spec: StatefulBulkSpec<R, P>): Bulk<R, P> {
  const keeper = new Keeper(spec);
  const wanted = (p: View<P>, ctx: Context<P>): Promise<ReadonlyMap<string, R>> =>
    oncePerReconcile(ctx, keeper, () => spec.desiredAll?.(p, ctx) ?? new Map<string, R>());
  return {
    ...keeper.common,
    async actualAll(p, ctx) {
      const found = new Map<string, View<R>>();
      for (const [item, stored] of keeper.store.all(ctx)) {
        const value = await keeper.find(stored, p, ctx);
        if (value !== undefined) found.set(item, value as View<R>);
        // Nothing is left to delete but the state itself.
        else if (spec.delete && !(await wanted(p, ctx)).has(item)) await keeper.store.drop(stored, ctx);
      }
      return found;
    },
    ...(spec.desiredAll && { desiredAll: wanted }),
    ...(spec.create && {
      create: (desired: R, p: View<P>, ctx: Context<P>, item = SINGLE) =>
        keeper.create(item, desired, p, ctx),
    }),
    ...(spec.delete && {
      async deleteOne(item: string, actual: View<R>, p: View<P>, ctx: Context<P>) {
        const stored = keeper.store.all(ctx).get(item);
        if (stored) await keeper.remove(stored, actual as R, p, ctx);
      },
    }),
  };
}

class Keeper<R, P extends Obj> {
  readonly store: StateStore<P>;
  readonly #spec: StatefulCommon<R, P>;
  /** States that could not be noted, by primary and item. */
  readonly #unwritten = new Map<string, Map<string, Unwritten>>();

  constructor(spec: StatefulCommon<R, P>) {
    this.#spec = spec;
    this.store = new StateStore<P>(spec.name, spec.state ?? {});
  }

  get common(): Omit<Common<R, P>, 'create'> {
    const spec = this.#spec;
    const { name, matcher } = spec;
    return {
      name,
      gc: false,
      source: this.store.source,
      ...this.store.parts,
      matcher: matcher ?? equalMatcher,
      ...(spec.update && {
        update: (actual, desired, p, ctx, item = SINGLE) => this.#update(item, actual, desired, p, ctx),
      }),
      forget: (p) => void this.#unwritten.delete(idOf(p)),
    };
  }

  /** @throws NoRetryError when nobody can know whether it was created */
  async find(stored: Stored, p: View<P>, ctx: Context<P>): Promise<R | undefined> {
    const unwritten = this.#unwritten.get(idOf(p))?.get(stored.item);
    if (unwritten && equal(unwritten.before, noteOf(stored))) {
      await this.#note(stored.item, unwritten.state, p, ctx);
      return this.#spec.fetch(unwritten.state, p, ctx);
    }
    // It was noted after all, or somebody else has written the note and knows better.
    this.#written(stored.item, p);
    if (!stored.isPending) return isEmpty(stored.state) ? undefined : this.#spec.fetch(stored.state, p, ctx);
    if (this.#spec.isIdempotent) return undefined;
    if (this.#spec.recover) return this.#recover(stored.item, p, ctx);
    const where = this.store.describe(stored);
    const what = `it was being created when the process ended, and its id was not stored. If the resource exists, write its state into ${where} and remove the annotation espalier.dev/pending; if not, delete ${where}`;
    throw NoRetryError.of(dependentError(this.#spec, p, ctx, what));
  }

  async create(item: string, desired: R, p: View<P>, ctx: Context<P>): Promise<R> {
    const { isIdempotent } = this.#spec;
    if (!isIdempotent) await this.store.keep(item, undefined, p, ctx);
    let created: R | undefined;
    try {
      created = await this.#spec.create?.(desired, p, ctx);
    } catch (error) {
      // Should this fail as well, the next run stops at the note, which is the safe side. The note is emptied instead of
      // deleted: a deletion is an event, and would have the next try begin at once.
      if (!isIdempotent) await this.#forgetIntent(item, p, ctx);
      throw error;
    }
    if ((created as R | null | undefined) == null) return created as R;
    await this.#note(item, this.#spec.stateOf(created as R), p, ctx);
    return created as R;
  }

  async #update(item: string, actual: View<R>, desired: R, p: View<P>, ctx: Context<P>): Promise<R> {
    const updated = (await this.#spec.update?.(actual, desired, p, ctx)) as R;
    if ((updated as R | null | undefined) == null) return updated;
    const state = this.#spec.stateOf(updated);
    if (!equal(state, this.store.all(ctx).get(item)?.state)) await this.#note(item, state, p, ctx);
    return updated;
  }

  async #recover(item: string, p: View<P>, ctx: Context<P>): Promise<R | undefined> {
    const found = await this.#spec.recover?.(p, ctx, item);
    if (found !== undefined) await this.#note(item, this.#spec.stateOf(found), p, ctx);
    return found;
  }

  async #forgetIntent(item: string, p: View<P>, ctx: Context<P>): Promise<void> {
    try {
      await this.store.keep(item, NOTHING, p, ctx);
    } catch (error) {
      ctx.log.warn({ dependent: this.#spec.name, err: String(error) }, 'removing the pending state failed');
    }
  }

  /** The thing first, then what is known of it. */
  async remove(stored: Stored, value: R | undefined, p: View<P>, ctx: Context<P>): Promise<void> {
    if (value !== undefined) await this.#spec.delete?.(value as View<R>, p, ctx);
    await this.store.drop(stored, ctx);
  }

  /** Should it fail, the next look at the note makes up for it. */
  async #note(item: string, state: State, p: View<P>, ctx: Context<P>): Promise<void> {
    const stored = this.store.all(ctx).get(item);
    const items = this.#unwritten.get(idOf(p)) ?? new Map<string, Unwritten>();
    this.#unwritten.set(idOf(p), items.set(item, { state, before: stored && noteOf(stored) }));
    await this.store.keep(item, state, p, ctx);
    this.#written(item, p);
  }

  #written(item: string, p: View<P>): void {
    const items = this.#unwritten.get(idOf(p));
    items?.delete(item);
    if (items?.size === 0) this.#unwritten.delete(idOf(p));
  }
}

interface Unwritten {
  readonly state: State;
  /** What the note says as long as nobody else has written it. */
  readonly before: Note | undefined;
}

type Note = Pick<Stored, 'state' | 'isPending'>;

const noteOf = ({ state, isPending }: Stored): Note => ({ state, isPending });

const idOf = (p: View<Obj>): string => p.metadata.uid ?? keyOf(p);
