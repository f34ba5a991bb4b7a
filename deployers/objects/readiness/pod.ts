/** A Pod is ready if its condition says so, or if it has completed. */
import { badCondition, conditionOf } from './fields.ts';
import { notReady, ready, type Verdict } from './verdict.ts';

export function pod(object: unknown): Verdict {
  const condition = conditionOf(object, 'Ready');
  if (!condition) return notReady('condition "Ready" is missing');
  const isCompleted = condition.status === 'False' && condition.reason === 'PodCompleted';
  return condition.status === 'True' || isCompleted ? ready : badCondition(condition, 'True');
}
