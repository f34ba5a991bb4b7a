/**
 * How the job of an installation or an execution begins: with its first phase, and without the list of what is below. Whoever
 * finds that stored, also the original, looks up what is below and creates nothing twice. Pure.
 * @see docs/adr/0042-first-phases-and-fences.md
 */
import { firstPhase, isFinished, isJobUnstarted } from '../api/job.ts';
import { executionKind, type Execution, type ExecutionStatus } from '../api/kinds/execution.ts';
import type { Installation, InstallationStatus } from '../api/kinds/installation.ts';
import type { MergePatch } from '../lib/merge.ts';
import type { View } from '../lib/objects.ts';
import { conditionsAtStart } from './rest-conditions.ts';

type Self = View<Installation> | View<Execution>;

/** Without the list of what is below; it is looked up. */
const withoutList = (self: Self) =>
  self.kind === executionKind.kind
    ? ({ deployItemCache: null } satisfies MergePatch<ExecutionStatus>)
    : ({ subInstCache: null } satisfies MergePatch<InstallationStatus>);

/** The status in which a job begins, without its id and times, as a merge patch. */
const beginning = (self: Self, now: string) => ({
  phase: firstPhase(self.metadata),
  phaseTransitionTime: now,
  observedGeneration: self.metadata.generation,
  ...withoutList(self),
  lastError: null,
  conditions: conditionsAtStart(self) ?? null,
});

/**
 * Gives `self` a job that begins at once, as a merge patch of its status. What is at work for an earlier job, which others may
 * have left so, stays in its phase.
 * @param now RFC 3339, whole seconds
 */
export function jobFor(self: Self, jobID: string, now: string) {
  const begins = isFinished(self) || isJobUnstarted(self);
  return {
    ...(begins ? beginning(self, now) : { observedGeneration: self.status?.observedGeneration ?? 0 }),
    jobID,
    transitionTimes: {
      triggerTime: now,
      initTime: begins ? now : null,
      waitTime: null,
      finishedTime: null,
    },
  };
}

/** The change of status with which a job begins that was given without its first phase, as the original does it. */
export const begun = (self: Self, now: string) => ({
  set: { ...beginning(self, now), transitionTimes: { initTime: now } },
});
