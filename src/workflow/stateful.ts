/**
 * External dependents whose ids are assigned when they are created: the id is stored in the cluster.
 *
 * The process may end between the creation and the storage of its id. So a mark that the resource is going to be
 * created is stored first. If a later reconcile finds the mark without an id, it does not know whether the resource
 * exists, and creating a second one could leave the first one unreferenced. It calls `recover` if there is one,
 * otherwise it stops with an error that says how to continue.
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

/** Fields of single and bulk dependents with a state. */
export interface StatefulCommon<R, P extends Obj> {
  readonly name: string;
  /** Where the state is stored. */
  readonly state?: StateChoice;
  /** The values needed to find it again; `value => ({ id: value.id })`. */
  stateOf(value: R): State;
  /** Finds it by its state; undefined if it no longer exists. */
  fetch(state: State, p: View<P>, ctx: Context<P>): Promise<R | undefined>;
  create?(desired: R, p: View<P>, ctx: Context<P>): Promise<R>;
  /**
   * Returns the updated resource; if its state has changed, such as after a replacement, the new state is stored. If
   * the process ends in between, the old state is kept, so delete an old resource last.
   */
  update?(actual: View<R>, desired: R, p: View<P>, ctx: Context<P>): Promise<R>;
  delete?(actual: View<R>, p: View<P>, ctx: Context<P>): Promise<void>;
  /** Default: deep equality. */
  readonly matcher?: Matcher<R, P>;
  /**
   * Finds a resource that was being created when the process ended, by a mark that `create` left in it; undefined: it
   * was not created. Without this method, the reconcile fails with an error that asks a user to check.
   * @param item its id, in bulk dependents
   */
  recover?(p: View<P>, ctx: Context<P>, item: string): Promise<R | undefined>;
  /**
   * Creating it twice has the same result, so no mark is stored first. If the process ends between the creation and
   * the storage of the id, and the primary is then deleted, the resource remains; to avoid that, implement `recover`
   * instead.
   */
  readonly isIdempotent?: boolean;
}

/** An external resource with an assigned id, which a state object stores. */
export interface StatefulSpec<R, P extends Obj> extends StatefulCommon<R, P> {
  desired?(p: View<P>, ctx: Context<P>): R | View<R> | Promise<R | View<R>>;
}

/** Several external resources with assigned ids; each has its own state object. */
export interface StatefulBulkSpec<R, P extends Obj> extends StatefulCommon<R, P> {
  desiredAll?(
    p: View<P>,
    ctx: Context<P>,
  ): ReadonlyMap<string, R | View<R>> | Promise<ReadonlyMap<string, R | View<R>>>;
}

const SINGLE = '';
const NOTHING: State = {};
const isEmpty = (state: State): boolean => Object.keys(state).length === 0;

/** One external resource per primary, whose id is stored in the cluster. */
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

/** Several external resources per primary, with a state object for each. */
export function bulkWithState<R, P extends Obj>(spec: StatefulBulkSpec<R, P>): Bulk<R, P> {
  const keeper = new Keeper(spec);
  const wanted = (p: View<P>, ctx: Context<P>): Promise<ReadonlyMap<string, R>> =>
    oncePerReconcile(ctx, keeper, () => (spec.desiredAll?.(p, ctx) ?? new Map()) as ReadonlyMap<string, R>);
  return {
    ...keeper.common,
    async actualAll(p, ctx) {
      const found = new Map<string, View<R>>();
      for (const [item, stored] of keeper.store.all(ctx)) {
        const value = await keeper.find(stored, p, ctx);
        if (value !== undefined) found.set(item, value as View<R>);
        // The resource is gone; only the state must be deleted.
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
  /** States that could not be stored, by primary and item. */
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

  /** @throws NoRetryError when it is unknown whether it was created */
  async find(stored: Stored, p: View<P>, ctx: Context<P>): Promise<R | undefined> {
    const unwritten = this.#unwritten.get(idOf(p))?.get(stored.item);
    if (unwritten && equal(unwritten.before, noteOf(stored))) {
      await this.#note(stored.item, unwritten.state, p, ctx);
      return this.#spec.fetch(unwritten.state, p, ctx);
    }
    // The state was stored after all, or another client has changed it.
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
      // If this fails, too, the next reconcile stops at the mark, which is safe. The mark is emptied instead of
      // deleted: a deletion raises an event, which would start the next attempt at once.
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

  /** Deletes the resource first, then its state. */
  async remove(stored: Stored, value: R | undefined, p: View<P>, ctx: Context<P>): Promise<void> {
    if (value !== undefined) await this.#spec.delete?.(value as View<R>, p, ctx);
    await this.store.drop(stored, ctx);
  }

  /** If it fails, the next read of the state writes it. */
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
  /** The stored state, unless another client has changed it. */
  readonly before: Note | undefined;
}

type Note = Pick<Stored, 'state' | 'isPending'>;

const noteOf = ({ state, isPending }: Stored): Note => ({ state, isPending });

const idOf = (p: View<Obj>): string => p.metadata.uid ?? keyOf(p);
