/**
 * From a decision to the stored status: phase, times, conditions, lastError. A wait is not an error internally, but users and
 * tools look for its reason in `lastError`; only this file translates one into the other. Pure.
 */
import { equal } from '../lib/json.ts';
import { shorten } from '../lib/masking.ts';
import { without, type View } from '../lib/objects.ts';
import { mergePatch } from '../lib/merge.ts';
import { conditionReasons, conditionTypes, isObstacleReason } from '../api/conditions.ts';
import type { Condition, JobStatus, LastError } from '../api/shared.ts';
import type { Awaited, ConditionChange, Problem, StatusChange } from './decision.ts';

/** The status of an installation, an execution or a deploy item, as phase machines use it. */
export type Status = View<JobStatus>;

/** The status of an object; empty if it has none yet. */
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

/** Further names are only counted. */
const MAX_AWAITED = 10;

/** Conditions that are valid only while the job waits or retries. */
const WHILE_HELD = [conditionTypes.Waiting, conditionTypes.RemoteUnavailable] as const;

/** The status of a job that retries without waiting for an object; the condition about unavailable servers stays. */
export const withoutWait = <S extends Status>(status: S, now: string): S =>
  changed(status, { settled: [conditionTypes.Waiting] }, now);

/** The status with the condition `Waiting` for `awaited`, or without it. */
export function waitingFor<S extends Status>(status: S, awaited: Awaited | undefined, now: string): S {
  if (!awaited) return changed(status, { settled: WHILE_HELD }, now);
  const condition = {
    type: conditionTypes.Waiting,
    status: 'True',
    reason: awaited.reason,
    message: 'message' in awaited ? awaited.message : listOf(awaited.objects),
  } as const;
  return changed(status, { conditions: [condition], settled: [conditionTypes.RemoteUnavailable] }, now);
}

/** A wait that has just begun, or whose list of objects has changed, is shown after this time: most end before. */
const SHOWN_AFTER_MS = 2_000;
/** An obstacle is shown at least this long: its message may change with every retry, and each object above would be written. */
const OBSTACLE_SHOWN_MS = 10_000;

/**
 * How long `after` need not be stored, in milliseconds; 0 if it must be stored now. A change of what the job waits for may
 * be stored later, in one write with those that follow; any other difference may not.
 * @param before the stored status
 */
export function statusWriteDelayMs(before: Status, after: Status, now: string): number {
  const wait = waitIn(before);
  const shown = wait?.lastUpdateTime ?? before.phaseTransitionTime;
  const mayFlap = wait && isObstacleReason(wait.reason) && wait.reason !== conditionReasons.NotTakenUp;
  const shownMs = mayFlap ? OBSTACLE_SHOWN_MS : SHOWN_AFTER_MS;
  const isDescription = equal(withoutExplanation(before), withoutExplanation(after)) && !equal(before, after);
  if (shown === undefined || !isDescription) return 0;
  return Math.max(0, shownMs - (Date.parse(now) - Date.parse(shown)));
}

const waitIn = ({ conditions }: Status): View<Condition> | undefined =>
  conditions?.find(({ type }) => type === conditionTypes.Waiting);

/** Everything that the reasons of a wait do not determine. */
const withoutExplanation = ({ conditions = [], ...status }: Status): object => ({
  ...without(status, 'lastError'),
  conditions: conditions.filter(({ type }) => type !== conditionTypes.Waiting),
});

function listOf(objects: readonly string[]): string {
  const more = objects.length - MAX_AWAITED;
  return `waits for ${objects.slice(0, MAX_AWAITED).join(', ')}${more > 0 ? ` and ${String(more)} more` : ''}`;
}

/** The status in `phase`; a final phase also finishes the job. */
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

/** The status with `problem` as `lastError`, or without `lastError`. */
export function withProblem<S extends Status>(status: S, problem: Problem | undefined, now: string): S {
  if (!problem) return without(status, 'lastError');
  const { lastError: before } = status;
  const codes = problem.codes && problem.codes.length > 0 ? [...problem.codes] : undefined;
  const { operation, reason } = problem;
  // The API server refuses a status that is too large, and the job would never end.
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

/** Merges conditions by type. `lastTransitionTime` changes with the status, `lastUpdateTime` with every change. */
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
      old?.status === change.status &&
      old.reason === change.reason &&
      old.message === change.message &&
      old.observedGeneration === change.observedGeneration;
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
