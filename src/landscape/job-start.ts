/**
 * The status with which a job of an installation or an execution starts: the first phase, and no list of child
 * objects. Without the list, the controller (also upstream's) looks the child objects up and creates no duplicates.
 * Pure.
 * @see docs/adr/0042-first-phases-and-fences.md
 */
import { firstPhase, isFinished, isJobUnstarted } from '../api/job.ts';
import { executionKind, type Execution, type ExecutionStatus } from '../api/kinds/execution.ts';
import type { Installation, InstallationStatus } from '../api/kinds/installation.ts';
import type { MergePatch } from '../lib/merge.ts';
import type { View } from '../lib/objects.ts';
import { conditionsAtStart } from './idle-conditions.ts';

type Self = View<Installation> | View<Execution>;

/** Clears the list of child objects; the controller looks them up. */
const clearedChildList = (self: Self) =>
  self.kind === executionKind.kind
    ? ({ deployItemCache: null } satisfies MergePatch<ExecutionStatus>)
    : ({ subInstCache: null } satisfies MergePatch<InstallationStatus>);

/** The status at the start of a job, without job id and times, as a merge patch. */
const initialStatus = (self: Self, now: string) => ({
  phase: firstPhase(self.metadata),
  phaseTransitionTime: now,
  observedGeneration: self.metadata.generation,
  ...clearedChildList(self),
  lastError: null,
  conditions: conditionsAtStart(self) ?? null,
});

/**
 * Gives `self` a job and starts it, as a merge patch of the status. An object that still works on an earlier job,
 * possibly of another program, keeps its phase.
 * @param now RFC 3339, whole seconds
 */
export function jobFor(self: Self, jobID: string, now: string) {
  const isStarted = isFinished(self) || isJobUnstarted(self);
  return {
    ...(isStarted ? initialStatus(self, now) : { observedGeneration: self.status?.observedGeneration ?? 0 }),
    jobID,
    transitionTimes: {
      triggerTime: now,
      initTime: isStarted ? now : null,
      waitTime: null,
      finishedTime: null,
    },
  };
}

/** The status for the start of a job whose id was written without the first phase, as upstream does. */
export const startedStatus = (self: Self, now: string) => ({
  set: { ...initialStatus(self, now), transitionTimes: { initTime: now } },
});
