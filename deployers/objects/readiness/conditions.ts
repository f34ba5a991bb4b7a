/**
 * The check of kinds without a rule of their own, by the conventions of kstatus: `observedGeneration`, and the
 * conditions `Stalled`, `Reconciling` and `Ready`. An object with none of them is ready.
 */
import {
  badCondition,
  conditionOf,
  fieldAt,
  isTrue,
  messageIn,
  numberAt,
  observed,
  type ObjectCondition,
} from './fields.ts';
import { failed, notReady, ready, unsettled, type Verdict } from './verdict.ts';

export function conventional(object: unknown): Verdict {
  if (fieldAt(object, 'metadata', 'deletionTimestamp') !== undefined)
    return notReady('the object is being deleted');
  const seen = fieldAt(object, 'status', 'observedGeneration');
  const isObserved = observed(object);
  if (typeof seen === 'number' && !isObserved.isReady) return isObserved;
  const stalled = current(object, 'Stalled');
  if (stalled && isTrue(stalled)) {
    const verdict = failed(`the object is stalled: ${messageIn(stalled)}`);
    return typeof seen === 'number' || stalled.observedGeneration !== undefined
      ? verdict
      : unsettled(verdict);
  }
  const reconciling = current(object, 'Reconciling');
  if (reconciling && isTrue(reconciling))
    return notReady(`the object is being reconciled: ${messageIn(reconciling)}`);
  const readiness = conditionOf(object, 'Ready');
  if (readiness && isOld(object, readiness))
    return notReady('condition "Ready" describes an earlier generation');
  if (readiness) return isTrue(readiness) ? ready : badCondition(readiness, 'True');
  return fieldAt(object, 'status') === undefined ? unsettled(ready) : ready;
}

/** The condition, unless it describes an earlier generation. */
function current(object: unknown, type: string): ObjectCondition | undefined {
  const condition = conditionOf(object, type);
  return condition && !isOld(object, condition) ? condition : undefined;
}

const isOld = (object: unknown, { observedGeneration }: ObjectCondition): boolean =>
  observedGeneration !== undefined && observedGeneration < numberAt(object, ['metadata', 'generation']);
