/** A ReplicaSet or ReplicationController is ready if enough replicas are ready and none failed to be created. */
import { badCondition, conditionOf, numberAt, observed } from './fields.ts';
import { allOf, enoughReplicas, ready, type Verdict } from './verdict.ts';

export function replicaSet(object: unknown): Verdict {
  const failure = conditionOf(object, 'ReplicaFailure');
  return allOf(
    observed(object),
    failure && failure.status !== 'False' ? badCondition(failure, 'False') : ready,
    enoughReplicas(numberAt(object, ['status', 'readyReplicas']), numberAt(object, ['spec', 'replicas'], 1)),
  );
}
