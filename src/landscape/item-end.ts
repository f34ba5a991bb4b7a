/** Ends the job of a deploy item in the place of its deployer: nobody took it up, or a user does not want it. Pure. */
import { failedPhase, isFinished, isInterruptedIn } from '../api/job.ts';
import { annotations } from '../api/labels.ts';
import { deployItemKind, type DeployItem } from '../api/kinds/deployitem.ts';
import type { View } from '../runtime/types.ts';
import { patchStatus, type Effect, type Problem } from '../machine/decision.ts';
import type { Owner } from './tree.ts';

const LAST_ERRORS = 5;

interface ItemEnd {
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

/** What ends because no deployer takes it up says so. */
export const PICKUP_TIMEOUT = { operation: 'WaitingForPickup', reason: 'PickupTimeout' } as const;

/** What ends at the wish of a user says so. */
export const INTERRUPTED: Problem = {
  operation: 'InterruptOperation',
  reason: 'InterruptOperation',
  message: 'operation was interrupted',
};

/** Changes of annotations: the wish is carried out, and the job remembers it. */
export const interruptNoted = (self: Owner): Record<string, string | null> => ({
  [annotations.operation]: null,
  ...(!isFinished(self) && { [annotations.interruptedJob]: self.status?.jobID ?? '' }),
});

/**
 * Why an object starts nothing more in its job: the user has interrupted the job at the object itself, or at one above.
 * Jobs and interrupts travel down a tree at their own pace, so an interrupt may pass an object before its job reaches it.
 */
export function interruptionOf(self: Owner, owners: readonly Owner[]): Problem | undefined {
  const jobID = self.status?.jobID ?? '';
  const at = [self, ...owners].find((object) => isInterruptedIn(object, jobID));
  if (!at) return undefined;
  const above = at === self ? '' : ` at ${at.kind.toLowerCase()} "${at.metadata.name}" above`;
  return { ...INTERRUPTED, message: `${INTERRUPTED.message}${above}`, codes: ['ERR_FOR_INFO_ONLY'] };
}
