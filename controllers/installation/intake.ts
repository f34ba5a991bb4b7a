/** Rules that come before the phases of an installation; the first that has an answer wins. Pure. */
import {
  failedPhase,
  firstPhase,
  hasAnnotation,
  hasFinalizer,
  hasOperation,
  isBeingDeleted,
  isFinished,
  isFirstPhase,
  isJobUnstarted,
  isNewJobDue,
  isRoot,
  isSuspended,
} from '../../src/api/job.ts';
import { FINALIZER, RECONCILE_REASON_RETRY, annotations, operations } from '../../src/api/labels.ts';
import { conditionReasons, conditionTypes } from '../../src/api/conditions.ts';
import { installationKind, type Installation } from '../../src/api/kinds/installation.ts';
import { letGo } from '../../src/landscape/abandoned.ts';
import { jobFor } from '../../src/landscape/begin.ts';
import {
  amend,
  patch,
  patchStatus,
  type Amendment,
  type PhaseCondition,
} from '../../src/machine/decision.ts';
import { INTERRUPTED, interruptNoted } from '../../src/landscape/item-end.ts';
import type { Intake } from '../../src/machine/reconcile.ts';
import { drift, updateRestConditions } from '../../src/landscape/rest-conditions.ts';
import { waitingFor } from '../../src/machine/status.ts';
import type { View } from '../../src/runtime/types.ts';
import { withoutExports } from './failed-status.ts';
import { fence, setOperation, type SubObject } from './job.ts';
import { judgeRetry } from './retry.ts';
import type { Inst } from './related-objects.ts';

export interface Facts {
  readonly now: string;
  /** A fresh job id, should one be needed. */
  readonly newJobID: string;
  /** Roots that `dependentsToTrigger` names. */
  readonly dependents: () => readonly Inst[];
  /** Sub-installations and the execution. */
  readonly below: () => readonly SubObject[];
  /** Of this job or of earlier ones. */
  readonly hasExports: () => boolean;
  /** Nobody is left to give it a job. */
  readonly isAbandoned: boolean;
}

type Rule = (self: View<Installation>, facts: Facts) => Intake | undefined;

/** Without our finalizer an object under deletion is none of our business any more. */
const alreadyLetGo: Rule = (self) =>
  isBeingDeleted(self.metadata) && !hasFinalizer(self.metadata) ? { effects: [], then: 'stop' } : undefined;

const abandoned: Rule = (self, { below, isAbandoned }) =>
  isAbandoned && below().length === 0 ? letGo(installationKind, self) : undefined;

/** Roots that import from here run again. Children need no push: the event of our end wakes them. */
const successorsToStart: Rule = (self, { dependents }) => {
  const names = (self.status?.dependentsToTrigger ?? []).map((d) => d.name);
  if (names.length === 0) return undefined;
  const roots = dependents().filter((s) => names.includes(s.metadata.name) && isRoot(s.metadata));
  const idle = roots.filter((s) => !isWaitingForUs(s) && !hasOperation(s.metadata, operations.reconcile));
  return {
    effects: [
      ...idle.map((s) => setOperation(s, operations.reconcile)),
      patchStatus(installationKind, self, { dependentsToTrigger: null }),
    ],
    then: 'continue',
  };
};

/** Its job has begun, but has not read any import yet: it will see what we have just exported. */
export const isWaitingForUs = (successor: Inst): boolean =>
  !isFinished(successor) && successor.status?.phase === 'Init';

/**
 * Passed down; whoever waits with nothing running below ends its job itself. The annotation goes last, so that an
 * interrupt that was cut short is carried to the end.
 */
const interruptAsked: Rule = (self, facts) => {
  if (!hasOperation(self.metadata, operations.interrupt)) return undefined;
  const objects = facts.below();
  const untold = objects.filter((o) => !hasOperation(o.metadata, operations.interrupt));
  const isWaitingAlone = isBeforeItsWork(self) && objects.every(isFinished);
  return {
    effects: [
      ...untold.map((o) => setOperation(o, operations.interrupt)),
      // What is told by a write has another version by it.
      ...(isWaitingAlone
        ? fence(
            self,
            objects.filter((o) => !untold.includes(o)),
          )
        : []),
      ...(isWaitingAlone ? [patchStatus(installationKind, self, interrupted(self, facts))] : []),
      patch(installationKind, self, { metadata: { annotations: interruptNoted(self) } }),
    ],
    then: 'continue',
  };
};

/** In a phase that waits for others before anything below is started. */
const isBeforeItsWork = (self: View<Installation>): boolean =>
  !isFinished(self) && (isJobUnstarted(self) || isFirstPhase(self.status?.phase));

function interrupted(self: View<Installation>, { now, hasExports }: Facts) {
  const phase = failedPhase(self.metadata);
  const status = waitingFor({ ...self.status, phase }, undefined, now);
  const { conditions = null } = hasExports() ? status : withoutExports(status, now);
  return {
    phase,
    phaseTransitionTime: now,
    jobIDFinished: self.status?.jobID,
    transitionTimes: { finishedTime: now },
    conditions,
    lastError: {
      ...INTERRUPTED,
      codes: ['ERR_FOR_INFO_ONLY'],
      lastTransitionTime: now,
      lastUpdateTime: now,
    },
  };
}

/** Only roots start jobs. */
const reconcileBelowTheRoot: Rule = (self) =>
  !isRoot(self.metadata) && hasOperation(self.metadata, operations.reconcile)
    ? {
        effects: [amend(installationKind, self, { dropAnnotations: reconcileAnnotations })],
        then: 'continue',
      }
    : undefined;

const reconcileAnnotations = {
  [annotations.operation]: operations.reconcile,
  [annotations.reconcileReason]: RECONCILE_REASON_RETRY,
};

const jobDue: Rule = (self, facts) => {
  if (!isRoot(self.metadata) || !(isNewJobDue(self) || hasChanged(self))) return undefined;
  if (isSuspended(self.metadata)) return undefined;
  const isMachine = self.metadata.annotations?.[annotations.reconcileReason] === RECONCILE_REASON_RETRY;
  return startJob(self, facts, isMachine ? {} : { automaticReconcileStatus: null });
};

/** The clock asks for a job, or the counter of such jobs has to be set or taken away. */
const retryDue: Rule = (self, facts) => {
  const retry = judgeRetry(self, facts.now);
  if (retry.do === 'start') return startJob(self, facts, { automaticReconcileStatus: retry.counter });
  if (retry.do !== 'note') return undefined;
  const status = { automaticReconcileStatus: retry.counter };
  return { effects: [patchStatus(installationKind, self, status)], then: 'continue' };
};

/** The id first: what a crash leaves of the second write is made up for by `askedForThisJob`. */
function startJob(self: View<Installation>, { now, newJobID }: Facts, more: object): Intake {
  return {
    effects: [
      patchStatus(installationKind, self, {
        ...more,
        ...jobFor(self, newJobID, now),
      }),
      amend(installationKind, self, takingUp(self)),
    ],
    then: 'continue',
    ...(hasAnnotation(self.metadata, annotations.ignore) && { event: ignoreIsIgnored }),
  };
}

const ignoreIsIgnored = {
  reason: 'IgnoreHasNoEffect',
  note: `a job was started although ${annotations.ignore} is set: the annotation has no effect; use ${annotations.suspended}=true to hold jobs back`,
};

/** What goes with the beginning of a job: the wish for it is gone, and the object is ours. */
const takingUp = (self: View<Installation>): Amendment => ({
  dropAnnotations: reconcileAnnotations,
  ...(isBeingDeleted(self.metadata) ? {} : everythingOurs),
});

const hasChanged = (self: View<Installation>): boolean =>
  hasAnnotation(self.metadata, annotations.reconcileIfChanged) &&
  isFinished(self) &&
  !isBeingDeleted(self.metadata) &&
  self.metadata.generation !== self.status?.observedGeneration;

const everythingOurs: Amendment = { addFinalizer: FINALIZER, specDefaults: { context: 'default' } };

const notYetOurs: Rule = (self) => {
  if (isBeingDeleted(self.metadata)) return undefined;
  if (hasFinalizer(self.metadata) && self.spec.context) return undefined;
  return { effects: [amend(installationKind, self, everythingOurs)], then: 'continue' };
};

/**
 * The second write of `jobDue` did not come to pass. The job has looked at nothing yet, so whoever asks for a job now
 * asks for this one.
 */
const askedForThisJob: Rule = (self) => {
  if (!isRoot(self.metadata) || !hasOperation(self.metadata, operations.reconcile)) return undefined;
  const hasJustBegun =
    isJobUnstarted(self) ||
    (!isFinished(self) && self.status?.phase === firstPhase(self.metadata) && !self.status.lastError);
  if (!hasJustBegun) return undefined;
  return { effects: [amend(installationKind, self, takingUp(self))], then: 'continue' };
};

/** What would go unnoticed at rest: retries that do not come, items that failed after their job. */
const atRest: Rule = (self, { now, below }) => {
  if (!isFinished(self) || isBeingDeleted(self.metadata)) return undefined;
  return updateRestConditions(
    installationKind,
    self,
    [...restingRetries(self, now), ...drift(self, below())],
    now,
  );
};

const restingRetries = (self: Inst, now: string): PhaseCondition[] =>
  judgeRetry(self, now).do === 'rest'
    ? [
        {
          type: conditionTypes.AutomaticReconcile,
          status: 'False',
          reason: conditionReasons.SpecChanged,
          message:
            'no scheduled job is started because the spec has changed since the last job; ' +
            `start one with ${annotations.operation}=${operations.reconcile}, or start one after every change with ${annotations.reconcileIfChanged}=true`,
        },
      ]
    : [];

const rules: readonly Rule[] = [
  alreadyLetGo,
  abandoned,
  successorsToStart,
  interruptAsked,
  reconcileBelowTheRoot,
  jobDue,
  askedForThisJob,
  notYetOurs,
  retryDue,
  atRest,
];

export function intake(self: View<Installation>, facts: Facts): Intake | undefined {
  for (const rule of rules) {
    const answer = rule(self, facts);
    if (answer) return answer;
  }
  return undefined;
}
