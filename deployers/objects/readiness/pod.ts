/** A Pod is ready if its condition says so, or if it has completed; one that has failed is never started again. */
import { badCondition, conditionOf, fieldAt } from './fields.ts';
import { failed, notReady, ready, type Verdict } from './verdict.ts';

export function pod(object: unknown): Verdict {
  const condition = conditionOf(object, 'Ready');
  if (!condition) return notReady('condition "Ready" is missing');
  const isCompleted = condition.status === 'False' && condition.reason === 'PodCompleted';
  return condition.status === 'True' || isCompleted ? ready : badCondition(condition, 'True');
}

export function podOrItsEnd(object: unknown): Verdict {
  const phase = fieldAt(object, 'status', 'phase');
  if (phase === 'Succeeded') return ready;
  if (phase !== 'Failed') return pod(object);
  const reason = fieldAt(object, 'status', 'reason');
  return failed(`the pod has failed${typeof reason === 'string' && reason !== '' ? `: ${reason}` : ''}`);
}
