/** A DaemonSet is ready when it runs on all nodes it should, but for those a rolling update may take out. */
import { fieldAt, numberAt, observed } from './fields.ts';
import { allOf, enough, type Verdict } from './verdict.ts';

export function daemonSet(object: unknown): Verdict {
  const desired = numberAt(object, ['status', 'desiredNumberScheduled']);
  return allOf(
    observed(object),
    enough(numberAt(object, ['status', 'currentNumberScheduled']), desired - maxUnavailable(object, desired)),
  );
}

function maxUnavailable(object: unknown, desired: number): number {
  if (fieldAt(object, 'spec', 'updateStrategy', 'type') !== 'RollingUpdate') return 0;
  const value = fieldAt(object, 'spec', 'updateStrategy', 'rollingUpdate', 'maxUnavailable');
  if (typeof value === 'number') return value;
  const percent = typeof value === 'string' ? /^(\d+)%$/.exec(value)?.[1] : undefined;
  return percent === undefined ? 0 : Math.ceil((Number(percent) * desired) / 100);
}
