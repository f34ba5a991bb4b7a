/** Rules that run before the phases of an installation; the first rule that returns a result wins. Pure. */
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
import { releaseObject } from '../../src/landscape/abandoned.ts';
import { requestText } from '../../src/landscape/job-requests.ts';
import { jobFor } from '../../src/landscape/job-start.ts';
import {
  amend,
  patch,
  patchStatus,
  type Amendment,
  type PhaseCondition,
} from '../../src/machine/decision.ts';
import { INTERRUPTED, interruptAnnotations } from '../../src/landscape/item-end.ts';
import type { Intake } from '../../src/machine/reconcile.ts';
import { drift, updateIdleConditions } from '../../src/landscape/idle-conditions.ts';
import { waitingFor } from '../../src/machine/status.ts';
import type { View } from '../../src/runtime/types.ts';
import { withoutExports } from './failed-status.ts';
import { fence, setOperation, type SubObject } from './job.ts';
import { decideRetry } from './retry.ts';
import type { Inst } from './related-objects.ts';

export interface Facts {
  readonly now: string;
  /** The id for a new job, in case one starts. */
  readonly newJobID: string;
  /** Roots that `dependentsToTrigger` names. */
  readonly dependents: () => readonly Inst[];
  /** Sub-installations and the execution. */
  readonly below: () => readonly SubObject[];
  /** Exports of this job or of earlier ones. */
  readonly hasExports: () => boolean;
  /** Whether jobs are recorded, with who requested them. */
  readonly isJournaled?: boolean;
  /** The parent that would start its job no longer exists. */
  readonly isAbandoned: boolean;
}

type Rule = (self: View<Installation>, facts: Facts) => Intake | undefined;

/** An object under deletion without our finalizer is released; another reconcile is not necessary. */
const alreadyReleased: Rule = (self) =>
  isBeingDeleted(self.metadata) && !hasFinalizer(self.metadata) ? { effects: [], then: 'stop' } : undefined;

const abandoned: Rule = (self, { below, isAbandoned }) =>
  isAbandoned && below().length === 0 ? releaseObject(installationKind, self) : undefined;

/**
 * Starts the roots that import from this one. Children need no write: the event of this job's end triggers their
 * reconcile.
 */
const successorsToStart: Rule = (self, { dependents, isJournaled }) => {
  const names = new Set(self.status?.dependentsToTrigger?.map((d) => d.name));
  if (names.size === 0) return undefined;
  const roots = dependents().filter((s) => names.has(s.metadata.name) && isRoot(s.metadata));
  const idle = roots.filter((s) => !isWaitingForUs(s) && !hasOperation(s.metadata, operations.reconcile));
  return {
    effects: [
      ...idle.map((s) =>
        setOperation(
          s,
          operations.reconcile,
          isJournaled ? { [annotations.requestedBy]: self.metadata.name } : {},
        ),
      ),
      patchStatus(installationKind, self, { dependentsToTrigger: null }),
    ],
    then: 'continue',
  };
};

/** Its job has started but has not read any import yet, so it will use the new exports. */
export const isWaitingForUs = (successor: Inst): boolean =>
  !isFinished(successor) && successor.status?.phase === 'Init';

/**
 * Hands the interrupt down. An installation with nothing running below it ends its job itself. The annotation is
 * removed last, so an interrupt that fails halfway is repeated.
 */
const interruptRequested: Rule = (self, facts) => {
  if (!hasOperation(self.metadata, operations.interrupt)) return undefined;
  const objects = facts.below();
  const uninterrupted = objects.filter((o) => !hasOperation(o.metadata, operations.interrupt));
  const endsHere = hasStartedNothing(self) && objects.every(isFinished);
  return {
    effects: [
      ...uninterrupted.map((o) => setOperation(o, operations.interrupt)),
      // Objects that receive the annotation get a new resource version by that write.
      ...(endsHere
        ? fence(
            self,
            objects.filter((o) => hasOperation(o.metadata, operations.interrupt)),
          )
        : []),
      ...(endsHere ? [patchStatus(installationKind, self, interrupted(self, facts))] : []),
      patch(installationKind, self, { metadata: { annotations: interruptAnnotations(self) } }),
    ],
    then: 'continue',
  };
};

/** In a phase before anything below the installation starts. */
const hasStartedNothing = (self: View<Installation>): boolean =>
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

/** Only roots start jobs, so the annotation is removed from all others. */
const reconcileBelowRoot: Rule = (self) =>
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
  if (!isRoot(self.metadata) || !(isNewJobDue(self) || isChangedSinceJob(self))) return undefined;
  if (isSuspended(self.metadata)) return undefined;
  const isAutomatic = self.metadata.annotations?.[annotations.reconcileReason] === RECONCILE_REASON_RETRY;
  return startJob(self, facts, isAutomatic ? {} : { automaticReconcileStatus: null });
};

/** Starts a job that is due on a schedule, or updates its counter. */
const scheduledJob: Rule = (self, facts) => {
  const retry = decideRetry(self, facts.now);
  if (retry.do === 'start') return startJob(self, facts, { automaticReconcileStatus: retry.counter });
  if (retry.do !== 'note') return undefined;
  const status = { automaticReconcileStatus: retry.counter };
  return { effects: [patchStatus(installationKind, self, status)], then: 'continue' };
};

/** The job id is written first. If the second write is lost in a crash, the rule `repeatedRequest` makes up for it. */
function startJob(self: View<Installation>, { now, newJobID, isJournaled }: Facts, more: object): Intake {
  return {
    effects: [
      patchStatus(installationKind, self, {
        ...more,
        ...jobFor(self, newJobID, now),
      }),
      amend(installationKind, self, acceptJob(self, isJournaled ? newJobID : undefined)),
    ],
    then: 'continue',
    ...(hasAnnotation(self.metadata, annotations.ignore) && { event: ignoreIsIgnored }),
  };
}

const ignoreIsIgnored = {
  reason: 'IgnoreHasNoEffect',
  note: `a job was started although ${annotations.ignore} is set: the annotation has no effect; use ${annotations.suspended}=true to hold jobs back`,
};

/**
 * The changes of the object that a new job makes: it removes the request, and adds finalizer and defaults.
 * @param jobID of the job if jobs are recorded: the removed request is kept for the record
 */
const acceptJob = (self: View<Installation>, jobID?: string): Amendment => ({
  ...(jobID === undefined ? { dropAnnotations: reconcileAnnotations } : keepRequest(self, jobID)),
  ...(isBeingDeleted(self.metadata) ? {} : ownership),
});

/** Without a request, nothing is written: the record finds the reason in the status. */
function keepRequest(self: View<Installation>, jobID: string): Amendment {
  const predecessor = self.metadata.annotations?.[annotations.requestedBy];
  const dropAnnotations = {
    ...reconcileAnnotations,
    ...(predecessor !== undefined && { [annotations.requestedBy]: predecessor }),
  };
  if (!hasOperation(self.metadata, operations.reconcile)) return { dropAnnotations };
  return { dropAnnotations, setAnnotations: { [annotations.jobRequest]: requestText(self, jobID) } };
}

const isChangedSinceJob = (self: View<Installation>): boolean =>
  hasAnnotation(self.metadata, annotations.reconcileIfChanged) &&
  isFinished(self) &&
  !isBeingDeleted(self.metadata) &&
  self.metadata.generation !== self.status?.observedGeneration;

const ownership: Amendment = { addFinalizer: FINALIZER, specDefaults: { context: 'default' } };

const notYetOwned: Rule = (self) => {
  if (isBeingDeleted(self.metadata)) return undefined;
  if (hasFinalizer(self.metadata) && self.spec.context) return undefined;
  return { effects: [amend(installationKind, self, ownership)], then: 'continue' };
};

/**
 * The second write of `startJob` was lost. The job has not read anything yet, so a request for a new job is a
 * request for this one.
 */
const repeatedRequest: Rule = (self, { isJournaled }) => {
  if (!isRoot(self.metadata) || !hasOperation(self.metadata, operations.reconcile)) return undefined;
  const hasJustStarted =
    isJobUnstarted(self) ||
    (!isFinished(self) && self.status?.phase === firstPhase(self.metadata) && !self.status.lastError);
  if (!hasJustStarted) return undefined;
  const accepted = acceptJob(self, isJournaled ? self.status?.jobID : undefined);
  return { effects: [amend(installationKind, self, accepted)], then: 'continue' };
};

/** Reports scheduled retries that do not start, and items that failed after their job. */
const idle: Rule = (self, { now, below }) => {
  if (!isFinished(self) || isBeingDeleted(self.metadata)) return undefined;
  return updateIdleConditions(
    installationKind,
    self,
    [...blockedRetries(self, now), ...drift(self, below())],
    now,
  );
};

const blockedRetries = (self: Inst, now: string): PhaseCondition[] =>
  decideRetry(self, now).do === 'rest'
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
  alreadyReleased,
  abandoned,
  successorsToStart,
  interruptRequested,
  reconcileBelowRoot,
  jobDue,
  repeatedRequest,
  notYetOwned,
  scheduledJob,
  idle,
];

export function intake(self: View<Installation>, facts: Facts): Intake | undefined {
  for (const rule of rules) {
    const answer = rule(self, facts);
    if (answer) return answer;
  }
  return undefined;
}
