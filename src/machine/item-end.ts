/** Ends the job of a deploy item in the place of its deployer: nobody took it up, or a user does not want it. Pure. */
import { failedPhase } from '../api/job.ts';
import { deployItemKind, type DeployItem } from '../api/kinds/deployitem.ts';
import type { View } from '../runtime/types.ts';
import { patchStatus, type Effect, type Problem } from './decision.ts';

const LAST_ERRORS = 5;

export interface ItemEnd {
  readonly problem: Problem;
  /** RFC 3339, whole seconds. */
  readonly now: string;
  /** The job that ends. */
  readonly jobID: string | undefined;
  readonly observedGeneration: number | undefined;
}

/** One write with the final phase, the finished job and the reason. */
export function endItem(
  item: View<DeployItem>,
  { problem, now, jobID, observedGeneration }: ItemEnd,
): Effect {
  const { codes, ...words } = problem;
  const error = { ...words, ...(codes && { codes }), lastTransitionTime: now, lastUpdateTime: now };
  return patchStatus(deployItemKind, item, {
    phase: failedPhase(item.metadata),
    jobID,
    jobIDFinished: jobID,
    observedGeneration,
    transitionTimes: { finishedTime: now },
    lastError: { ...error, codes: codes ?? null },
    firstError: item.status?.firstError ?? error,
    lastErrors: [...(item.status?.lastErrors ?? []), error].slice(-LAST_ERRORS),
  });
}

/** What ends at the wish of a user says so. */
export const INTERRUPTED: Problem = {
  operation: 'InterruptOperation',
  reason: 'InterruptOperation',
  message: 'operation was interrupted',
};
