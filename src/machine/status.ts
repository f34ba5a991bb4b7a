/**
 * From a decision to the status on the wire: phase, times, conditions, lastError. Waiting is no error inside, but
 * `lastError` is where people and tools look for the reason; that translation happens here and nowhere else. Pure.
 */
import { equal } from '../lib/json.ts';
import { shorten } from '../lib/masking.ts';
import { without, type View } from '../lib/objects.ts';
import { mergePatch } from '../lib/merge.ts';
import { conditionReasons, conditionTypes } from '../api/conditions.ts';
import type { Condition, JobStatus, LastError } from '../api/shared.ts';
import type { Awaited, ConditionChange, Problem, StatusChange } from './decision.ts';

/** A status as phase machines see it: of an installation, an execution or a deploy item. */
export type Status = View<JobStatus>;

/** The status of an object whose status is an `S`; empty where none was written yet. */
export const statusOf = <S extends Status>(self: object): S => ((self as { status?: S }).status ?? {}) as S;

/** The status after `change`. */
export function changed<S extends Status>(status: S, change: StatusChange<S>, now: string): S {
  const next = change.set ? mergePatch(status, change.set) : { ...status };
  const { conditions } = next;
  if (!change.conditions && !(conditions && change.settled?.length)) return next;
  const merged = mergeConditions(conditions ?? [], change.conditions ?? [], now);
  const left = merged.filter(({ type }) => !isSettled(type, change));
  if (left.length > 0) return { ...next, conditions: left };
  return without(next, 'conditions');
}

const isSettled = (type: string, { settled = [] }: StatusChange): boolean =>
  settled.some((one) => one === type);

/** Names beyond these are counted. */
const MAX_AWAITED = 10;
/** Between what is waited for and what else there is to know. */
const NOTE = '; ';

/** What holds only as long as the job is held up. */
const HELD_UP = [conditionTypes.Waiting, conditionTypes.RemoteUnavailable] as const;

/** The status of a job that stumbled over something other than a wait; since when servers are tried again is kept. */
export const withoutWait = <S extends Status>(status: S, now: string): S =>
  changed(status, { settled: [conditionTypes.Waiting] }, now);

/** The status with what is being waited for, or without. */
export function waitingFor<S extends Status>(status: S, awaited: Awaited | undefined, now: string): S {
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
export function inPhase<S extends Status>(
  status: S,
  phase: string,
  now: string,
  options: { readonly final: boolean },
): S {
  const next = { ...status, phase, ...(status.phase !== phase && { phaseTransitionTime: now }) };
  if (!options.final) return next;
  const transitionTimes = { ...status.transitionTimes, finishedTime: now };
  return { ...next, jobIDFinished: status.jobID, transitionTimes };
}

/** The status with `problem` as its last error, or without one. */
export function withProblem<S extends Status>(status: S, problem: Problem | undefined, now: string): S {
  if (!problem) return without(status, 'lastError');
  const { lastError: before } = status;
  const codes = problem.codes && problem.codes.length > 0 ? [...problem.codes] : undefined;
  const { operation, reason } = problem;
  // A status that is too big is refused, and the job with it would never end.
  const after = { operation, reason, message: shorten(problem.message), ...(codes && { codes }) };
  if (before && sameProblem(before, after)) return status;
  const moved = before?.operation === operation ? before.lastTransitionTime : now;
  return { ...status, lastError: { ...after, lastTransitionTime: moved, lastUpdateTime: now } };
}

function sameProblem(
  before: View<LastError>,
  after: Omit<View<LastError>, 'lastTransitionTime' | 'lastUpdateTime'>,
): boolean {
  return (
    before.operation === after.operation &&
    before.reason === after.reason &&
    before.message === after.message &&
    equal(before.codes ?? [], after.codes ?? [])
  );
}

/** Conditions by type; `lastTransitionTime` moves with the status, `lastUpdateTime` with anything. */
export function mergeConditions<C extends View<Condition>>(
  before: readonly C[],
  changes: readonly ConditionChange[],
  now: string,
): (C | Condition)[] {
  const result: (C | Condition)[] = [...before];
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
