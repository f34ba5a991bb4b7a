/** Ends the job of a deploy item in place of its deployer, after a pickup timeout or an interrupt. Pure. */
import { failedPhase, isFinished, isInterruptedIn } from '../api/job.ts';
import { annotations } from '../api/labels.ts';
import { neverStarted } from '../api/never-started.ts';
import { deployItemKind, type DeployItem } from '../api/kinds/deployitem.ts';
import type { View } from '../runtime/types.ts';
import { patchStatus, type Effect, type Problem } from '../machine/decision.ts';
import type { Owner } from './tree.ts';

const LAST_ERRORS = 5;

interface ItemEnd {
  readonly problem: Problem;
  /** RFC 3339, whole seconds. */
  readonly now: string;
  /** The job to end. */
  readonly jobID: string | undefined;
  readonly observedGeneration: number | undefined;
  /** No deployer has started the job. An interrupt does not show this: its deployer may notice it too late. */
  readonly isUnstarted?: boolean;
}

/** One status write with the final phase, the finished job and the error. */
export function endItem(
  item: View<DeployItem>,
  { problem, now, jobID, observedGeneration, isUnstarted = false }: ItemEnd,
): Effect {
  const { codes, ...fields } = problem;
  const error = { ...fields, ...(codes && { codes }), lastTransitionTime: now, lastUpdateTime: now };
  return patchStatus(deployItemKind, item, {
    phase: failedPhase(item.metadata),
    jobID,
    jobIDFinished: jobID,
    ...(isUnstarted && neverStarted(item.status)),
    observedGeneration,
    transitionTimes: { finishedTime: now },
    lastError: { ...error, codes: codes ?? null },
    firstError: item.status?.firstError ?? error,
    lastErrors: [...(item.status?.lastErrors ?? []), error].slice(-LAST_ERRORS),
  });
}

/** The error of a job that ends because no deployer picked the item up. */
export const PICKUP_TIMEOUT = { operation: 'WaitingForPickup', reason: 'PickupTimeout' } as const;

/** The error of a job that a user interrupted. */
export const INTERRUPTED: Problem = {
  operation: 'InterruptOperation',
  reason: 'InterruptOperation',
  message: 'operation was interrupted',
};

/** Annotation changes after an interrupt: remove the operation, and record the interrupted job. */
export const interruptAnnotations = (self: Owner): Record<string, string | null> => ({
  [annotations.operation]: null,
  ...(!isFinished(self) && { [annotations.interruptedJob]: self.status?.jobID ?? '' }),
});

/**
 * Why an object starts nothing more in its job: a user has interrupted the job at the object or at one of its
 * owners. Jobs and interrupts are handed down separately, so an interrupt may reach an owner before the job reaches
 * the object.
 */
export function interruptionOf(self: Owner, owners: readonly Owner[]): Problem | undefined {
  const jobID = self.status?.jobID ?? '';
  const at = [self, ...owners].find((object) => isInterruptedIn(object, jobID));
  if (!at) return undefined;
  const above = at === self ? '' : ` at ${at.kind.toLowerCase()} "${at.metadata.name}" above`;
  return { ...INTERRUPTED, message: `${INTERRUPTED.message}${above}`, codes: ['ERR_FOR_INFO_ONLY'] };
}
