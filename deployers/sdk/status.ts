/** The status of a deploy item during a job, as values. Fields and times are upstream's. Pure. */
import { failedPhase, firstPhase, isBeingDeleted, type MetaView } from '../../src/api/job.ts';
import { annotations, operations } from '../../src/api/labels.ts';
import type { DeployerInformation, DeployItem, DeployItemStatus } from '../../src/api/kinds/deployitem.ts';
import type { LastError } from '../../src/api/shared.ts';
import { asFailure, type Problem } from '../../src/machine/decision.ts';
import type { View } from '../../src/runtime/types.ts';
import { conditionTypes } from '../../src/api/conditions.ts';
import { joinKey } from '../../src/runtime/keys.ts';
import { judgeRemote } from '../../src/machine/remote.ts';
import { changed, mergeConditions, withProblem } from '../../src/machine/status.ts';
import { endsJob } from './errors.ts';
import type { Direction } from './intake.ts';
import type { Outcome } from './outcome.ts';
import { targetNameOf } from './responsible.ts';

/** The problem of a deploy item whose Target does not exist. Objects on its cluster can then only be left there. */
export function targetMissing(item: View<DeployItem>): Problem {
  const { metadata } = item;
  const place = { operation: 'reconcilePrivate', reason: 'NoTargetFound' };
  const target = `target ${joinKey(metadata.namespace, targetNameOf(item) ?? '')} does not exist`;
  if (!isBeingDeleted(metadata)) {
    const wayOut =
      'create it, or correct the reference to it, and start another job of the root installation';
    return { ...place, message: `setting deploy item to failed due to missing target: ${target}; ${wayOut}` };
  }
  const annotate = `${annotations.deleteWithoutUninstall}=true and ${annotations.operation}=${operations.reconcile}`;
  const message =
    `${target}, so the objects on its cluster cannot be uninstalled; create the target again, unless the namespace is being deleted, and ` +
    `repeat the deletion, or ` +
    `keep the objects: annotate the root installation with ${annotate}`;
  return { ...place, message };
}

/** Maximum number of errors in the status. */
const KEPT_ERRORS = 5;

/** The time and the author of a change. */
export interface Stamp {
  /** RFC 3339 with whole seconds. */
  readonly now: string;
  readonly deployer: DeployerInformation;
}

/** The status of a deploy item whose job starts now. */
export function begun(
  metadata: MetaView & { readonly generation?: number },
  before: DeployItemStatus | undefined,
  { now, deployer }: Stamp,
): DeployItemStatus {
  const {
    lastError: _last,
    firstError: _first,
    lastErrors: _errors,
    ...rest
  } = before ?? { observedGeneration: 0 };
  const { finishedTime: _finished, ...times } = rest.transitionTimes ?? {};
  return {
    ...changed(rest, { settled: [conditionTypes.RemoteUnavailable] }, now),
    phase: firstPhase(metadata),
    observedGeneration: metadata.generation ?? 0,
    lastReconcileTime: now,
    deployer,
    transitionTimes: { ...times, initTime: now },
  };
}

/** The status of a deploy item whose job ends now. */
export const ended = (status: DeployItemStatus, phase: string, now: string): DeployItemStatus => ({
  ...status,
  phase,
  ...(status.jobID !== undefined && { jobIDFinished: status.jobID }),
  transitionTimes: { ...status.transitionTimes, finishedTime: now },
});

/**
 * The status with a failure: as the last error, as the first error if there is none, and in the list, without
 * consecutive duplicates.
 */
export function failedWith(status: DeployItemStatus, problem: Problem, now: string): DeployItemStatus {
  const next = showing(status, problem, now);
  const { lastError } = next;
  if (!lastError) return next;
  const { firstError = lastError, lastErrors: errors = [] } = status;
  const newest = errors.at(-1);
  const lastErrors =
    newest && isSame(newest, lastError)
      ? [...errors.slice(0, -1), withCodes(newest, lastError)]
      : [...errors, lastError].slice(-KEPT_ERRORS);
  return { ...next, firstError: withCodes(firstError, lastError), lastErrors };
}

/** A retry that ends the job repeats the message of the attempts before, and adds codes. */
const withCodes = (error: LastError, last: LastError): LastError =>
  last.codes !== undefined && isSame(error, last) ? { ...error, codes: last.codes } : error;

const isSame = (a: LastError, b: LastError): boolean =>
  a.operation === b.operation && a.reason === b.reason && a.message === b.message;

/** The status with `problem` as its last error, or without one. */
const showing = (status: DeployItemStatus, problem: Problem | undefined, now: string): DeployItemStatus =>
  withProblem(status, problem, now);

/** What happens to the deploy item after a reconcile. */
export interface Settled {
  readonly status: DeployItemStatus;
  /** The job ended in this phase. */
  readonly end?: string;
  /** Everything was uninstalled: remove the finalizer. */
  readonly isReleased?: boolean;
  /** A failure to report. */
  readonly problem?: Problem;
}

interface ReconcileFacts {
  readonly direction: Direction;
  readonly metadata: MetaView;
  readonly now: string;
  /** Whether the plugin was called; failures before it do not change the phase. */
  readonly isInPlugin: boolean;
}

/** The status after an outcome. */
export function settle(before: DeployItemStatus, outcome: Outcome, facts: ReconcileFacts): Settled {
  const judged = withinLimit(before, outcome, facts.now);
  return settled(judged.before, judged.outcome, facts);
}

/**
 * A name that is not found for a minute fails the job. The start of the minute is stored, so a restart does not
 * matter.
 */
function withinLimit(
  before: DeployItemStatus,
  outcome: Outcome,
  now: string,
): { readonly before: DeployItemStatus; readonly outcome: Outcome } {
  const rest = changed(before, { settled: [conditionTypes.RemoteUnavailable] }, now);
  if (outcome.kind !== 'retry' || !outcome.problem.remote) return { before: rest, outcome };
  const { remote } = outcome.problem;
  const judged = judgeRemote(before, { ...outcome.problem, remote }, now, Infinity);
  if (judged.isOver) {
    const codes = [...(judged.problem.codes ?? []), 'ERR_CONFIGURATION_PROBLEM' as const];
    return { before: rest, outcome: { ...outcome, kind: 'fail', problem: { ...judged.problem, codes } } };
  }
  return { before: changed(before, { conditions: [judged.condition] }, now), outcome };
}

function settled(before: DeployItemStatus, outcome: Outcome, facts: ReconcileFacts): Settled {
  const status = withParts(before, outcome, facts.now);
  switch (outcome.kind) {
    case 'done':
      if (facts.direction === 'remove') return { status, isReleased: true };
      return settleEnd(showing(status, undefined, facts.now), outcome.phase ?? 'Succeeded', facts.now);
    case 'wait':
      return {
        status: showing(
          { ...status, phase: outcome.phase ?? waitingPhase(status, facts) },
          waitingFor(outcome.why),
          facts.now,
        ),
      };
    case 'retry':
    case 'fail': {
      if (outcome.kind === 'fail' || endsJob(outcome.problem)) {
        const last = failedWith(status, asFailure(outcome.problem), facts.now);
        return { ...settleEnd(last, failedPhase(facts.metadata), facts.now), problem: outcome.problem };
      }
      const failed = failedWith(status, outcome.problem, facts.now);
      return { status: { ...failed, phase: retryingPhase(status, facts) }, problem: outcome.problem };
    }
  }
}

const settleEnd = (status: DeployItemStatus, phase: string, now: string): Settled => ({
  status: ended(status, phase, now),
  end: phase,
});

function withParts(before: DeployItemStatus, { status, conditions }: Outcome, now: string): DeployItemStatus {
  return {
    ...before,
    ...(status !== undefined && { providerStatus: status as Record<string, unknown> }),
    ...(conditions && { conditions: mergeConditions(before.conditions ?? [], conditions, now) }),
  };
}

/** A removal that waits stays in InitDelete, as upstream, so users do not expect Deleting. */
const waitingPhase = (status: DeployItemStatus, facts: ReconcileFacts): string => {
  if (facts.direction === 'apply') return 'Progressing';
  return status.phase === 'Deleting' ? 'Deleting' : 'InitDelete';
};

const retryingPhase = (status: DeployItemStatus, facts: ReconcileFacts): string => {
  if (!facts.isInPlugin) return status.phase ?? firstPhase(facts.metadata);
  return facts.direction === 'apply' ? 'Progressing' : 'Deleting';
};

const waitingFor = (why: Problem | undefined): Problem | undefined =>
  why && { ...why, codes: [...new Set([...(why.codes ?? []), ...stillWaiting])] };

const stillWaiting = ['ERR_UNFINISHED', 'ERR_FOR_INFO_ONLY'] as const;
