/** A node of a workflow: a dependent, what it depends on, and the conditions that say when. */
import type { Context, Obj, View } from '../runtime/types.ts';
import { isBulk, type AnyDependent } from './dependent.ts';

/**
 * Whether a condition holds; with data, which can be read from the result.
 * `requeueAfterMs`: when to evaluate the condition again if no event arrives before.
 */
export type ConditionResult<D = unknown> =
  boolean | { readonly met: boolean; readonly data?: D; readonly requeueAfterMs?: number };

/** What a condition sees of its node. */
export interface NodeView {
  readonly name: string;
  /** What is there now; undefined when nothing is. */
  actual(): Promise<unknown>;
  /** All that is there of a bulk dependent, by ids; that of a single one has its node's name for an id. */
  all(): Promise<ReadonlyMap<string, unknown>>;
}

/** Asked of a node in a pass; it must not change anything. */
export type Condition<P extends Obj, D = unknown> = (
  node: NodeView,
  p: View<P>,
  ctx: Context<P>,
) => ConditionResult<D> | Promise<ConditionResult<D>>;

/** The conditions of a node, by what they decide; each is asked at most once in a pass. */
export interface Conditions<P extends Obj> {
  /** False: the node is left alone, neither made nor deleted, its source is detached, and what depends on it goes. */
  readonly active?: Condition<P>;
  /** False: the node and what depends on it are deleted. Models what is optional. */
  readonly when?: Condition<P>;
  /** False: what depends on the node waits. */
  readonly ready?: Condition<P>;
  /** False: the node does not count as deleted yet. */
  readonly deleted?: Condition<P>;
}

/** What a condition is called in results: `active`, `when`, `ready` or `deleted`. */
export type ConditionName = keyof Conditions<Obj>;

/** A node of a workflow: the dependent, what it waits for, and its conditions. */
export interface NodeSpec<P extends Obj> extends Conditions<P> {
  readonly use: AnyDependent<P>;
  /** Names of dependents. */
  readonly dependsOn?: readonly string[];
}

export const nodeView = <P extends Obj>(use: AnyDependent<P>, p: View<P>, ctx: Context<P>): NodeView => ({
  name: use.name,
  async actual() {
    if (!isBulk(use)) return use.actual(p, ctx);
    const all = await use.actualAll(p, ctx);
    return all.size === 0 ? undefined : all;
  },
  async all() {
    if (isBulk(use)) return use.actualAll(p, ctx);
    const actual = await use.actual(p, ctx);
    return new Map(actual === undefined ? [] : [[use.name, actual]]);
  },
});
