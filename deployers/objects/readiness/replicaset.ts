/** A ReplicaSet or ReplicationController is ready when enough replicas are, and none failed to be made. */
import { badCondition, conditionOf, numberAt, observed } from './fields.ts';
import { allOf, enough, ready, type Verdict } from './verdict.ts';

export function replicaSet(object: unknown): Verdict {
  const failure = conditionOf(object, 'ReplicaFailure');
  return allOf(
    observed(object),
    failure && failure.status !== 'False' ? badCondition(failure, 'False') : ready,
    enough(numberAt(object, ['status', 'readyReplicas']), numberAt(object, ['spec', 'replicas'], 1)),
  );
}
