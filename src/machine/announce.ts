/** The events about the job of an object. */
import { conditionTypes } from '../api/conditions.ts';
import type { Logger } from '../observability/log.ts';
import type { Obj } from '../runtime/types.ts';
import type { Problem, StatusChange } from './decision.ts';
import type { Draft } from './draft.ts';
import type { Status } from './status.ts';

interface Ports {
  readonly log: Logger;
  readonly event: (type: 'Normal' | 'Warning', reason: string, note: string) => void;
}

/** An event when a warning that does not end the job appears or changes. */
export function announceWarnings<Self extends Obj, S extends Status>(
  { conditions = [] }: StatusChange<S>,
  { status }: Draft<Self, S>,
  ports: Ports,
): void {
  for (const { type, reason, message } of conditions) {
    const isKnown = status.conditions?.some((known) => known.type === type && known.message === message);
    if (type === conditionTypes.ValidateBlueprint && !isKnown) ports.event('Warning', reason, message);
  }
}

export function announceEnd<Self extends Obj, S extends Status>(
  { status: { phase, jobID } }: Draft<Self, S>,
  problem: Problem | undefined,
  reportsSuccess: boolean,
  ports: Ports,
): void {
  if (problem) ports.event('Warning', eventReason(problem.reason), problem.message);
  else if (reportsSuccess) ports.event('Normal', phase ?? '', `job ${jobID ?? ''} has finished`);
  ports.log.info({ phase, jobID, ...(problem && { reason: problem.reason }) }, 'job finished');
}

/**
 * Upstream's reasons in `lastError` name the check that failed, as if it had succeeded. An event names what happened,
 * because a list of events shows only the reason.
 */
const happened: Readonly<Record<string, string>> = {
  AllPredecessorsFinished: 'PredecessorsUnfinished',
  AllPredecessorsSucceeded: 'PredecessorFailed',
  CheckImportsHash: 'ImportsChanged',
  CheckObservedGeneration: 'ChangedDuringJob',
  ImportsSatisfied: 'ImportsNotSatisfied',
};

const eventReason = (reason: string): string =>
  Object.hasOwn(happened, reason) ? (happened[reason] ?? reason) : reason;
