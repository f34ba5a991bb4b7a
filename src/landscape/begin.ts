/**
 * How the job of an installation or an execution begins: with its first phase, and without the list of what is below. Whoever
 * finds that stored, also the original, looks up what is below and creates nothing twice. Pure.
 * @see docs/adr/0042-first-phases-and-fences.md
 */
import { firstPhase, isFinished, isJobUnstarted } from '../api/job.ts';
import { executionKind, type Execution } from '../api/kinds/execution.ts';
import type { Installation } from '../api/kinds/installation.ts';
import type { View } from '../lib/objects.ts';
import { conditionsAtStart } from './standing.ts';
import { changed, type JobStatus } from '../machine/status.ts';

type Self = View<Installation> | View<Execution>;

/** The status in which a job begins, without its id and times, as a merge patch. */
const beginning = (self: Self, now: string) => ({
  phase: firstPhase(self.metadata),
  phaseTransitionTime: now,
  observedGeneration: self.metadata.generation,
  [self.kind === executionKind.kind ? 'deployItemCache' : 'subInstCache']: null,
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

/** The whole status in which a job begins that was given without its first phase, as the original does it. */
export const begun = (self: Self, now: string): JobStatus =>
  changed(
    (self.status ?? {}) as JobStatus,
    { set: { ...beginning(self, now), transitionTimes: { initTime: now } } },
    now,
  );
