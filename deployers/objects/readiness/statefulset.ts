/** A StatefulSet is ready if enough replicas are updated and available. */
import { numberAt, observed } from './fields.ts';
import { allOf, enoughReplicas, type Verdict } from './verdict.ts';

export function statefulSet(object: unknown): Verdict {
  const wanted = numberAt(object, ['spec', 'replicas'], 1);
  return allOf(
    observed(object),
    enoughReplicas(numberAt(object, ['status', 'updatedReplicas']), wanted),
    enoughReplicas(numberAt(object, ['status', 'availableReplicas']), wanted),
  );
}
