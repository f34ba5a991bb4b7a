/**
 * From a decision to the status on the wire: phase, times, conditions, lastError. Waiting is no error inside, but
 * `lastError` is where people and tools look for the reason; that translation happens here and nowhere else. Pure.
 */
import { equal } from '../lib/json.ts';
import { shorten } from '../lib/masking.ts';
import type { View } from '../lib/objects.ts';
import { mergePatch } from '../lib/merge.ts';
import { conditionReasons, conditionTypes } from '../api/conditions.ts';
import type { Awaited, ConditionChange, Problem, StatusChange } from './decision.ts';

/** The part of a status that all phase machines share. */
export interface JobStatus {
  phase?: string | undefined;
  phaseTransitionTime?: string | undefined;
  jobID?: string | undefined;
  jobIDFinished?: string | undefined;
  lastError?: LastError | undefined;
  conditions?: Condition[] | undefined;
  transitionTimes?:
    { triggerTime?: string; initTime?: string; waitTime?: string; finishedTime?: string } | undefined;
  [field: string]: unknown;
}

export interface LastError {
  operation: string;
  reason: string;
  message: string;
  codes?: string[] | undefined;
  lastTransitionTime: string;
  lastUpdateTime: string;
}

export interface Condition {
  type: string;
  status: string;
  reason: string;
  message: string;
  codes?: string[] | undefined;
  lastTransitionTime: string;
  lastUpdateTime: string;
}

/** The status after `change`. */
export function changed(status: JobStatus, change: StatusChange, now: string): JobStatus {
  const next = change.set ? mergePatch(status, change.set) : { ...status };
  if (change.conditions) next.conditions = mergeConditions(next.conditions ?? [], change.conditions, now);
  const { settled = [] } = change;
  if (next.conditions && settled.length > 0) {
    const left = next.conditions.filter(({ type }) => !settled.includes(type));
    if (left.length > 0) next.conditions = left;
    else delete next.conditions;
  }
  return next;
}

/** Names beyond these are counted. */
const MAX_AWAITED = 10;
/** Between what is waited for and what else there is to know. */
const NOTE = '; ';

/** What holds only as long as the job is held up. */
const HELD_UP = [conditionTypes.Waiting, conditionTypes.RemoteUnavailable];

/** The status of a job that stumbled over something other than a wait; since when servers are tried again is kept. */
export const withoutWait = (status: JobStatus, now: string): JobStatus =>
  changed(status, { settled: [conditionTypes.Waiting] }, now);

/** The status with what is being waited for, or without. */
export function waitingFor(status: JobStatus, awaited: Awaited | undefined, now: string): JobStatus {
  if (!awaited) return changed(status, { settled: HELD_UP }, now);
  const names = awaited.objects.slice(0, MAX_AWAITED).join(', ');
  const more = awaited.objects.length - MAX_AWAITED;
  const message = `waits for ${names}${more > 0 ? ` and ${more} more` : ''}${awaited.note ? `${NOTE}${awaited.note}` : ''}`;
  const condition = {
    type: conditionTypes.Waiting,
    status: 'True',
    reason: awaited.reason,
    message,
  } as const;
  return changed(status, { conditions: [condition], settled: [conditionTypes.RemoteUnavailable] }, now);
}

/** What is said beside the list of a wait for an item that nobody takes up. */
export function noteOfWait(conditions?: readonly View<Condition>[]): string | undefined {
  const { Waiting } = conditionTypes;
  const wait = conditions?.find((c) => c.type === Waiting && c.reason === conditionReasons.NotTakenUp);
  return wait?.message.slice(wait.message.indexOf(NOTE) + NOTE.length);
}

/** The status in `phase`; a final phase finishes the job in the same breath. */
export function inPhase(
  status: JobStatus,
  phase: string,
  now: string,
  options: { final: boolean },
): JobStatus {
  const next = { ...status, phase };
  if (status.phase !== phase) next.phaseTransitionTime = now;
  if (!options.final) return next;
  next.jobIDFinished = status.jobID;
  next.transitionTimes = { ...status.transitionTimes, finishedTime: now };
  return next;
}

/** The status with `problem` as its last error, or without one. */
export function withProblem(status: JobStatus, problem: Problem | undefined, now: string): JobStatus {
  const { lastError: before, ...rest } = status;
  if (!problem) return rest;
  const codes = problem.codes && problem.codes.length > 0 ? [...problem.codes] : undefined;
  const { operation, reason } = problem;
  // A status that is too big is refused, and the job with it would never end.
  const after = { operation, reason, message: shorten(problem.message), ...(codes && { codes }) };
  if (before && sameProblem(before, after)) return status;
  const moved = before?.operation === operation ? before.lastTransitionTime : now;
  return { ...rest, lastError: { ...after, lastTransitionTime: moved, lastUpdateTime: now } };
}

function sameProblem(
  before: LastError,
  after: Omit<LastError, 'lastTransitionTime' | 'lastUpdateTime'>,
): boolean {
  return (
    before.operation === after.operation &&
    before.reason === after.reason &&
    before.message === after.message &&
    equal(before.codes ?? [], after.codes ?? [])
  );
}

/** Conditions by type; `lastTransitionTime` moves with the status, `lastUpdateTime` with anything. */
export function mergeConditions(
  before: readonly Condition[],
  changes: readonly ConditionChange[],
  now: string,
): Condition[] {
  const result = [...before];
  for (const change of changes) {
    const at = result.findIndex((c) => c.type === change.type);
    const old = result[at];
    const same =
      old?.status === change.status && old.reason === change.reason && old.message === change.message;
    if (same) continue;
    const next: Condition = {
      ...change,
      lastTransitionTime: old?.status === change.status ? old.lastTransitionTime : now,
      lastUpdateTime: now,
    };
    if (at < 0) result.push(next);
    else result[at] = next;
  }
  return result;
}
