/**
 * The job protocol, as questions to an object. A job walks a tree from its root downwards by handing its id on, and ends
 * from the leaves upwards: whoever is done sets `jobIDFinished` to `jobID` in the write that sets the final phase.
 */
import { GROUP, annotations, operations, FINALIZER, TRUE, type OperationName } from './labels.ts';

/** What the questions need to know of `metadata`. Any object with Kubernetes metadata fits. */
export interface MetaView {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly deletionTimestamp?: string;
  readonly ownerReferences?: readonly {
    readonly apiVersion: string;
    readonly kind: string;
    readonly name: string;
    readonly uid: string;
    readonly controller?: boolean;
  }[];
}

/** What the questions need to know of an object that takes part in jobs. */
export interface JobView {
  readonly metadata: MetaView;
  readonly status?:
    | {
        readonly jobID?: string | undefined;
        readonly jobIDFinished?: string | undefined;
        readonly phase?: string | undefined;
      }
    | undefined;
}

export const phases = {
  Init: 'Init',
  CleanupOrphaned: 'CleanupOrphaned',
  ObjectsCreated: 'ObjectsCreated',
  Progressing: 'Progressing',
  Completing: 'Completing',
  Succeeded: 'Succeeded',
  Failed: 'Failed',
  InitDelete: 'InitDelete',
  TriggerDelete: 'TriggerDelete',
  Deleting: 'Deleting',
  DeleteFailed: 'DeleteFailed',
} as const;

type FinalPhase = 'Succeeded' | 'Failed' | 'DeleteFailed';

/** A phase in which a job ends. */
export const isFinalPhase = (phase: string | undefined): phase is FinalPhase =>
  phase === 'Succeeded' || phase === 'Failed' || phase === 'DeleteFailed';

/** A phase of the way down to removal, the failed end included. */
export const isDeletionPhase = (phase: string | undefined): boolean =>
  phase === 'InitDelete' || phase === 'TriggerDelete' || phase === 'Deleting' || phase === 'DeleteFailed';

const idOf = (id: string | undefined): string => id ?? '';

/** No job is running; an object that never had one counts as finished. Phases alone never answer this. */
export const isFinished = ({ status }: Pick<JobView, 'status'>): boolean =>
  idOf(status?.jobID) === idOf(status?.jobIDFinished);

/** The object has finished this very job. */
export const hasFinishedJob = ({ status }: Pick<JobView, 'status'>, jobID: string): boolean =>
  idOf(status?.jobIDFinished) === jobID;

/** The object has been given this job, finished or not. */
export const isTriggeredFor = ({ status }: Pick<JobView, 'status'>, jobID: string): boolean =>
  idOf(status?.jobID) === jobID;

/** The user has interrupted this job at the object: it starts nothing more, and neither does anything below. */
export const isInterruptedIn = ({ metadata, status }: JobView, jobID: string): boolean =>
  jobID !== '' &&
  idOf(status?.jobID) === jobID &&
  (hasOperation(metadata, operations.interrupt) ||
    metadata.annotations?.[annotations.interruptedJob] === jobID);

/** A job id has been set, but no phase of that job has been entered yet. */
export const isJobUnstarted = (object: Pick<JobView, 'status'>): boolean =>
  !isFinished(object) && (!object.status?.phase || isFinalPhase(object.status.phase));

/** The phase a job starts in. */
export const firstPhase = (metadata: MetaView): 'Init' | 'InitDelete' =>
  isBeingDeleted(metadata) ? 'InitDelete' : 'Init';

/** A phase in which a job may be before any of its work below has begun. */
export const isFirstPhase = (phase: string | undefined): boolean =>
  phase === 'Init' || phase === 'InitDelete';

/** The phase a failed job ends in. */
export const failedPhase = (metadata: MetaView): 'Failed' | 'DeleteFailed' =>
  isBeingDeleted(metadata) ? 'DeleteFailed' : 'Failed';

/**
 * Whether a root is to get a new job id: nothing is running, and the user asks, or it has been deleted and no deletion
 * job ran yet. After a failed deletion only the user can ask again.
 */
export const isNewJobDue = (root: JobView): boolean =>
  isFinished(root) &&
  (hasOperation(root.metadata, operations.reconcile) ||
    (isBeingDeleted(root.metadata) && !isDeletionPhase(root.status?.phase)));

/** No job is to be started for this root, whoever asks; its deletion is no such job. */
export const isSuspended = (metadata: MetaView): boolean =>
  hasAnnotation(metadata, annotations.suspended) && !isBeingDeleted(metadata);

/** An installation that no other installation owns; only such a one creates job ids. */
export const isRoot = (metadata: MetaView): boolean => parentInstallation(metadata) === undefined;

/** Name of the installation that owns the object, if any does. */
export const parentInstallation = (metadata: MetaView): string | undefined =>
  metadata.ownerReferences?.find(
    (owner) => owner.kind === 'Installation' && owner.apiVersion.split('/')[0] === GROUP,
  )?.name;

export const isBeingDeleted = (metadata: MetaView): boolean => metadata.deletionTimestamp !== undefined;

export const hasFinalizer = (metadata: MetaView): boolean =>
  metadata.finalizers?.includes(FINALIZER) ?? false;

/** The operation the user asks for; a word nobody knows is returned as it is. */
export const operationOf = (metadata: MetaView): string | undefined =>
  metadata.annotations?.[annotations.operation];

export const hasOperation = (metadata: MetaView, operation: OperationName): boolean =>
  operationOf(metadata) === operation;

/** Whether a boolean annotation is set; only the exact text `true` counts. */
export const hasAnnotation = (metadata: MetaView, key: string): boolean =>
  metadata.annotations?.[key] === TRUE;
