/**
 * The conditions Ready, Reconciling and Stalled, by which kstatus, `kubectl wait` and Flux judge any object. They say
 * what phase and job ids say, and are written only with another change of the status. Pure.
 * @see docs/adr/0049-conditions-for-other-tools.md
 */
import {
  conditionReasons,
  conditionTypes,
  readinessConditions,
  type ReadinessCondition,
} from '../api/conditions.ts';
import { isFinalPhase, isFinished, phases } from '../api/job.ts';
import type { Condition } from '../api/shared.ts';
import { timestamp, type Clock } from '../lib/clock.ts';
import { cutEnd } from '../lib/cut.ts';
import { equal } from '../lib/json.ts';
import { mergePatch, type MergePatch } from '../lib/merge.ts';
import type { Obj, View } from '../runtime/types.ts';
import type { ConditionChange } from './decision.ts';
import { problemOf } from './obstacles.ts';
import { mergeConditions, statusOf, type Status } from './status.ts';

/**
 * Adds the conditions to a merge patch of a status.
 * @param target the object before the write
 */
export type AddReadiness = (target: View<Obj>, patch: object) => object;

/** @param isShown whether the conditions are enabled; otherwise each write removes old ones */
export const readinessAt =
  (clock: Clock, isShown: boolean): AddReadiness =>
  (target, patch) => {
    const after = mergePatch(statusOf(target), patch as MergePatch<Status>);
    const conditions = withReadiness(after, isShown ? readinessOf(after) : [], timestamp(clock));
    if (equal(after.conditions ?? [], conditions)) return patch;
    return { ...patch, conditions: conditions.length > 0 ? conditions : null };
  };

/** The other conditions, and then the wanted ones, so that the order does not depend on the history. */
function withReadiness(
  { conditions = [] }: Status,
  wanted: readonly ConditionChange[],
  now: string,
): readonly View<Condition>[] {
  const merged = mergeConditions(conditions, wanted, now);
  return [
    ...merged.filter(({ type }) => !isReadiness(type)),
    ...wanted.flatMap(({ type }) => merged.filter((one) => one.type === type)),
  ];
}

const isReadiness = (type: string): boolean => readinessConditions.some((one) => one === type);

/** Longer messages are cut: the whole text is in `lastError` or in another condition. */
const MAX_MESSAGE = 300;

/** The conditions that are present for this status; an object that never had a job has none. */
function readinessOf(status: Status): ConditionChange[] {
  const { jobID, phase, observedGeneration } = status as Status & { readonly observedGeneration?: number };
  if (!jobID) return [];
  const condition = (
    type: ReadinessCondition,
    is: ConditionChange['status'],
    why: Reason,
  ): ConditionChange => ({
    type,
    status: is,
    reason: why.reason,
    message: shortened(why.message),
    ...(observedGeneration !== undefined && { observedGeneration }),
  });
  if (!isFinished({ status })) {
    const why = reasonToWait(status);
    return [condition('Ready', 'Unknown', why), condition('Reconciling', 'True', why)];
  }
  if (phase !== phases.Succeeded) {
    const why = { reason: phase ?? phases.Failed, message: status.lastError?.message ?? 'the job failed' };
    return [condition('Ready', 'False', why), condition('Stalled', 'True', why)];
  }
  const drift = status.conditions?.find(({ type }) => type === conditionTypes.Drifted);
  if (drift) return [condition('Ready', 'False', drift)];
  return [condition('Ready', 'True', { reason: phase, message: 'the last job succeeded' })];
}

type Reason = Pick<Condition, 'reason' | 'message'>;

/** What holds up an unfinished job, what it waits for, or else its phase. */
function reasonToWait(status: Status): Reason {
  const { phase, conditions } = status;
  const held = conditions?.find(
    ({ type }) => type === conditionTypes.RemoteUnavailable || type === conditionTypes.Waiting,
  );
  if (held) return held;
  const problem = problemOf(status);
  if (problem) return problem;
  return phase && !isFinalPhase(phase)
    ? { reason: phase, message: `the job is in phase ${phase}` }
    : { reason: conditionReasons.JobNotStarted, message: 'the job has not started' };
}

const shortened = (message: string): string =>
  message.length <= MAX_MESSAGE ? message : `${cutEnd(message, MAX_MESSAGE - 1)}…`;
