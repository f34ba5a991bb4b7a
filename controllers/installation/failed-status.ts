/** Updates the conditions about exports when a job fails. Pure. */
import { conditionReasons, conditionTypes } from '../../src/api/conditions.ts';
import { changed, type Status } from '../../src/machine/status.ts';

/** For an installation without exports: a job deletes the exports of the previous job when it starts. */
export function withoutExports<S extends Status>(status: S, now: string): S {
  const type = conditionTypes.CreateExports;
  const isClaimed = status.conditions?.some((c) => c.type === type && c.status === 'True');
  if (status.phase !== 'Failed' || !isClaimed) return status;
  const message = 'the job failed before it wrote exports';
  const condition = { type, status: 'False', reason: conditionReasons.JobFailed, message } as const;
  return changed(status, { conditions: [condition] }, now);
}
