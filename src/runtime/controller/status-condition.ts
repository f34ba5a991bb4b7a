/** Conditions in the status of a primary (pure). */
import { timestamp, type Clock } from '../../lib/clock.ts';
import type { View } from '../types.ts';

/** Like `metav1.Condition` of Kubernetes; there is at most one of each type. */
export interface Condition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  /** When the status last changed, RFC 3339. */
  lastTransitionTime: string;
  /** One word in CamelCase. */
  reason: string;
  message: string;
}

/** A condition that says which generation it is about. */
export interface StatusCondition extends Condition {
  /** The generation of the primary that the condition is about. */
  observedGeneration?: number;
}

/**
 * The conditions of a status with one of them added or replaced. `lastTransitionTime` is the wall-clock time if the status
 * of the condition changes, and stays otherwise, so that a reconcile without a change writes nothing.
 * @param clock `ctx.clock`
 */
export function setStatusCondition(
  conditions: readonly View<StatusCondition>[] | undefined,
  wanted: Omit<StatusCondition, 'lastTransitionTime'>,
  clock: Clock,
): StatusCondition[] {
  const all = (conditions ?? []) as readonly StatusCondition[];
  const before = all.find(({ type }) => type === wanted.type);
  const lastTransitionTime = before?.status === wanted.status ? before.lastTransitionTime : timestamp(clock);
  const condition = { ...wanted, lastTransitionTime };
  return before ? all.map((each) => (each === before ? condition : each)) : [...all, condition];
}
