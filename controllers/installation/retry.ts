/** Jobs that start on a schedule, after a failure or after a success. Pure. */
import {
  hasFinishedJob,
  isBeingDeleted,
  isFinished,
  isRoot,
  isSuspended,
  operationOf,
} from '../../src/api/job.ts';
import type { AutomaticReconcileStatus, Installation } from '../../src/api/kinds/installation.ts';
import { InvalidCron, nextTime, parseCron } from '../../src/lib/cron.ts';
import { isDuration, parseDuration } from '../../src/lib/duration.ts';
import type { View } from '../../src/runtime/types.ts';

type Counter = View<AutomaticReconcileStatus>;

export type Retry =
  | { readonly do: 'nothing' }
  /** Check again after `ms`. */
  | { readonly do: 'wait'; readonly ms: number }
  /** Store or clear the counter, without starting a job. */
  | { readonly do: 'note'; readonly counter: Counter | null }
  | { readonly do: 'start'; readonly counter: Counter }
  /** A job is due, but does not start because the spec has changed since the last job. */
  | { readonly do: 'rest' };

interface Schedule {
  readonly interval?: string | undefined;
  readonly cronSpec?: string | undefined;
}

const DEFAULT_MS = { failed: 5 * 60_000, succeeded: 24 * 3_600_000 };
/** Intervals below this limit, including `none`, would keep the controller busy; they disable the schedule. */
const MIN_INTERVAL_MS = 1_000;

/**
 * Decides what the schedule of an installation requires. Jobs are repeated only for a root whose job has ended,
 * without a requested operation and with an unchanged spec: a changed spec is rolled out only when a user requests
 * it.
 * @param now RFC 3339
 */
export function decideRetry(self: View<Installation>, now: string): Retry {
  const retry = decideBySchedule(self, now);
  if (self.metadata.generation === self.status?.observedGeneration) return retry;
  const isDue = retry.do === 'start' || (retry.do === 'note' && retry.counter !== null);
  return isDue && !isBeingDeleted(self.metadata) ? { do: 'rest' } : { do: 'nothing' };
}

function decideBySchedule(self: View<Installation>, now: string): Retry {
  const { automaticReconcile } = self.spec;
  if (!automaticReconcile || !isIdle(self)) return { do: 'nothing' };
  const stored = self.status?.automaticReconcileStatus;
  const isFailed = self.status?.phase !== 'Succeeded';
  const isCurrent =
    stored?.generation === self.metadata.generation && (stored?.onFailed ?? false) === isFailed;
  const counter = isCurrent ? stored : undefined;
  const { failedReconcile, succeededReconcile } = automaticReconcile;
  if (isFailed && failedReconcile) return afterFailure(self, failedReconcile, counter, now);
  if (!isFailed && succeededReconcile) return afterSuccess(self, succeededReconcile, counter, now);
  return stored && !counter ? { do: 'note', counter: null } : { do: 'nothing' };
}

/** A root whose job has ended, without a requested operation. */
const isIdle = (self: View<Installation>): boolean =>
  isRoot(self.metadata) &&
  isFinished(self) &&
  !hasFinishedJob(self, '') &&
  operationOf(self.metadata) === undefined &&
  !isSuspended(self.metadata);

/** The first retry starts at once, the others at intervals, until the limit is reached. */
function afterFailure(
  { metadata: { generation } }: View<Installation>,
  schedule: Schedule & { readonly numberOfReconciles?: number | undefined },
  counter: Counter | undefined,
  now: string,
): Retry {
  const count = counter?.numberOfReconciles ?? 0;
  const { numberOfReconciles: limit } = schedule;
  if (limit !== undefined && count >= limit) return { do: 'nothing' };
  const next = { generation, lastReconcileTime: now, onFailed: true, numberOfReconciles: count + 1 };
  if (!counter) return { do: 'start', counter: next };
  return whenDue(dueAfter(schedule, counter, DEFAULT_MS.failed), next, now);
}

/** At intervals; the first interval starts with the success. */
function afterSuccess(
  { metadata: { generation } }: View<Installation>,
  schedule: Schedule,
  counter: Counter | undefined,
  now: string,
): Retry {
  const reset = { generation, lastReconcileTime: now };
  if (!counter) return { do: 'note', counter: reset };
  const next = { ...reset, numberOfReconciles: (counter.numberOfReconciles ?? 0) + 1 };
  return whenDue(dueAfter(schedule, counter, DEFAULT_MS.succeeded), next, now);
}

function whenDue(due: number | undefined, next: Counter, now: string): Retry {
  if (due === undefined) return { do: 'nothing' };
  const leftMs = due - Date.parse(now);
  return leftMs < 0 ? { do: 'start', counter: next } : { do: 'wait', ms: leftMs + MIN_INTERVAL_MS };
}

/** Milliseconds since 1970; undefined if the schedule never matches. */
function dueAfter(
  { cronSpec, interval }: Schedule,
  { lastReconcileTime }: Counter,
  defaultMs: number,
): number | undefined {
  const last = Date.parse(lastReconcileTime ?? '1970-01-01T00:00:00Z');
  if (cronSpec) {
    try {
      return nextTime(parseCron(cronSpec), last);
    } catch (error) {
      if (error instanceof InvalidCron) return undefined;
      throw error;
    }
  }
  const ms = interval !== undefined && isDuration(interval) ? parseDuration(interval) : defaultMs;
  return ms < MIN_INTERVAL_MS ? undefined : last + ms;
}
