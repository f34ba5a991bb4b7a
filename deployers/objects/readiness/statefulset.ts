/** A StatefulSet is ready when enough replicas are updated and available. */
import { numberAt, observed } from './fields.ts';
import { allOf, enough, type Verdict } from './verdict.ts';

export function statefulSet(object: unknown): Verdict {
  const wanted = numberAt(object, ['spec', 'replicas'], 1);
  return allOf(
    observed(object),
    enough(numberAt(object, ['status', 'updatedReplicas']), wanted),
    enough(numberAt(object, ['status', 'availableReplicas']), wanted),
  );
}
