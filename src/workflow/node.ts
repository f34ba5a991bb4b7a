/** A node of a workflow: a dependent, its dependencies, and its conditions. */
import type { Context, Obj, View } from '../runtime/types.ts';
import { isBulk, type AnyDependent } from './dependent.ts';

/**
 * Whether a condition is true; optionally with data, which can be read from the result. `requeueAfterMs`: when to
 * evaluate the condition again if no event arrives before.
 */
export type ConditionResult<D = unknown> =
  boolean | { readonly met: boolean; readonly data?: D; readonly requeueAfterMs?: number };

/** What a condition can read about its node. */
export interface NodeView {
  readonly name: string;
  /** The actual object; undefined if it does not exist. */
  actual(): Promise<unknown>;
  /** All objects of a bulk dependent, by id; the object of a single one has the node's name as its id. */
  all(): Promise<ReadonlyMap<string, unknown>>;
}

/** Evaluated in a reconcile; it must not change anything. */
export type Condition<P extends Obj, D = unknown> = (
  node: NodeView,
  p: View<P>,
  ctx: Context<P>,
) => ConditionResult<D> | Promise<ConditionResult<D>>;

/** The conditions of a node, by purpose; each is evaluated at most once per reconcile. */
export interface Conditions<P extends Obj> {
  /**
   * False: the node is ignored, neither created nor deleted, its source is detached, and its dependents are deleted.
   */
  readonly active?: Condition<P>;
  /** False: the node and its dependents are deleted. For optional nodes. */
  readonly when?: Condition<P>;
  /** False: its dependents wait. */
  readonly ready?: Condition<P>;
  /** False: the node does not count as deleted yet. */
  readonly deleted?: Condition<P>;
}

/** Name of a condition in results: `active`, `when`, `ready` or `deleted`. */
export type ConditionName = keyof Conditions<Obj>;

/** A node of a workflow: its dependent, its dependencies, and its conditions. */
export interface NodeSpec<P extends Obj> extends Conditions<P> {
  readonly use: AnyDependent<P>;
  /**
   * The nodes that have to be ready before: their dependents, which the compiler checks, or names, which are checked at the
   * start.
   */
  readonly dependsOn?: readonly (AnyDependent<P> | string)[];
  /**
   * Evaluates `active` and `when` also while nodes that it depends on are not ready or have failed, so that the node is
   * deleted then, too. Only for conditions that read neither these nodes nor what they cause. Default: false.
   */
  readonly early?: boolean;
}

/** Names of the nodes that a node depends on. */
export const dependenciesOf = <P extends Obj>({ dependsOn = [] }: NodeSpec<P>): readonly string[] =>
  dependsOn.map((each) => (typeof each === 'string' ? each : each.name));

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
