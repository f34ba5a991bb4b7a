/** Who or what requested a job, from the status that the job left behind. Pure. */
import { hasAnnotation, isBeingDeleted } from '../../src/api/job.ts';
import type { Installation } from '../../src/api/kinds/installation.ts';
import type { JobRequest } from '../../src/api/kinds/jobrecord.ts';
import { annotations } from '../../src/api/labels.ts';
import { storedRequest } from '../../src/landscape/job-requests.ts';
import type { View } from '../../src/runtime/types.ts';

/** Longer names are not those of field managers and installations. */
const MAX_NAME = 253;

/** A requested job has a stored request; all others left their traces in the status. */
export function requestOf(root: View<Installation>, jobID: string): JobRequest {
  const stored = storedRequest(root, jobID);
  if (stored) return shortened(stored);
  if (isBeingDeleted(root.metadata)) return { reason: 'Deletion' };
  const { automaticReconcileStatus: schedule, transitionTimes } = root.status ?? {};
  const isScheduled =
    schedule?.numberOfReconciles !== undefined &&
    schedule.lastReconcileTime !== undefined &&
    schedule.lastReconcileTime === transitionTimes?.triggerTime;
  if (isScheduled) {
    const reason = schedule.onFailed ? 'RetryAfterFailure' : 'Schedule';
    return { reason, attempt: schedule.numberOfReconciles ?? 0 };
  }
  if (hasAnnotation(root.metadata, annotations.reconcileIfChanged)) return { reason: 'SpecChanged' };
  return { reason: 'Unknown' };
}

const shortened = ({ manager, predecessor, ...request }: JobRequest): JobRequest => ({
  ...request,
  ...(manager !== undefined && { manager: manager.slice(0, MAX_NAME) }),
  ...(predecessor !== undefined && { predecessor: predecessor.slice(0, MAX_NAME) }),
});
