/** A DaemonSet is ready if it runs on all its nodes, except for those that a rolling update may make unavailable. */
import { fieldAt, numberAt, observed } from './fields.ts';
import { allOf, enoughReplicas, type Verdict } from './verdict.ts';

export function daemonSet(object: unknown): Verdict {
  const desired = numberAt(object, ['status', 'desiredNumberScheduled']);
  return allOf(
    observed(object),
    enoughReplicas(
      numberAt(object, ['status', 'currentNumberScheduled']),
      desired - maxUnavailable(object, desired),
    ),
  );
}

function maxUnavailable(object: unknown, desired: number): number {
  if (fieldAt(object, 'spec', 'updateStrategy', 'type') !== 'RollingUpdate') return 0;
  const value = fieldAt(object, 'spec', 'updateStrategy', 'rollingUpdate', 'maxUnavailable');
  if (typeof value === 'number') return value;
  const percent = typeof value === 'string' ? /^(\d+)%$/.exec(value)?.[1] : undefined;
  return percent === undefined ? 0 : Math.ceil((Number(percent) * desired) / 100);
}
