/** The events about the job of an object. */
import { conditionTypes } from '../api/conditions.ts';
import type { Logger } from '../observability/log.ts';
import type { Obj } from '../runtime/types.ts';
import type { Problem, StatusChange } from './decision.ts';
import type { Draft } from './draft.ts';
import { eventReason } from './event-reason.ts';
import { obstacleBelow } from './obstacles.ts';
import type { Status } from './status.ts';

interface Ports {
  readonly log: Logger;
  /** Number of retries since the last reconcile that succeeded. */
  readonly attempt: number;
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

/** An event when a retry has not helped, and when the problem changes after that. */
export function announceRetry(before: Status, { reason, message }: Problem, { attempt, event }: Ports): void {
  const isKnown = before.lastError?.message === message;
  if (attempt === 1 || (attempt > 1 && !isKnown)) event('Warning', eventReason(reason), message);
}

/** An event when the status begins to show an error of an object below, or another one. */
export function announceObstacle(before: Status, after: Status, { event }: Ports): void {
  const obstacle = obstacleBelow(after);
  if (!obstacle || obstacle.reason === 'InProgress' || obstacle.message === obstacleBelow(before)?.message)
    return;
  event('Warning', eventReason(obstacle.reason), obstacle.message);
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
