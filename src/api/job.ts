/**
 * The job protocol as predicates on objects. A job walks down a tree when each object hands the job id to its
 * children. It ends from the leaves up: an object that is done sets `jobIDFinished` to `jobID` in the write that
 * sets the final phase.
 */
import { GROUP, annotations, operations, FINALIZER, TRUE, type OperationName } from './labels.ts';

/** The fields of `metadata` that the predicates read. Any object with Kubernetes metadata has them. */
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

/** The fields that the predicates read from an object that takes part in jobs. */
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

const NAMES: ReadonlySet<string> = new Set(Object.values(phases));

/** The phase as a label of metrics: a user who may write a status can store any string, and each would be a series. */
export const phaseLabel = (phase: string): string => (NAMES.has(phase) ? phase : 'other');

type FinalPhase = 'Succeeded' | 'Failed' | 'DeleteFailed';

/** A phase in which a job ends. */
export const isFinalPhase = (phase: string | undefined): phase is FinalPhase =>
  phase === 'Succeeded' || phase === 'Failed' || phase === 'DeleteFailed';

/** A phase of a deletion, including its failure. */
export const isDeletionPhase = (phase: string | undefined): boolean =>
  phase === 'InitDelete' || phase === 'TriggerDelete' || phase === 'Deleting' || phase === 'DeleteFailed';

const idOf = (id: string | undefined): string => id ?? '';

/** No job is running. An object that never had a job counts as finished. The phase alone does not determine this. */
export const isFinished = ({ status }: Pick<JobView, 'status'>): boolean =>
  idOf(status?.jobID) === idOf(status?.jobIDFinished);

/** The object has finished this job. */
export const hasFinishedJob = ({ status }: Pick<JobView, 'status'>, jobID: string): boolean =>
  idOf(status?.jobIDFinished) === jobID;

/** The object has received this job, finished or not. */
export const isTriggeredFor = ({ status }: Pick<JobView, 'status'>, jobID: string): boolean =>
  idOf(status?.jobID) === jobID;

/** A user has interrupted this job at the object: neither the object nor anything below it starts more work. */
export const isInterruptedIn = ({ metadata, status }: JobView, jobID: string): boolean =>
  jobID !== '' &&
  idOf(status?.jobID) === jobID &&
  (hasOperation(metadata, operations.interrupt) ||
    metadata.annotations?.[annotations.interruptedJob] === jobID);

/** The object has a new job id but no phase of that job yet. */
export const isJobUnstarted = (object: Pick<JobView, 'status'>): boolean =>
  !isFinished(object) && (!object.status?.phase || isFinalPhase(object.status.phase));

/** The phase a job starts in. */
export const firstPhase = (metadata: MetaView): 'Init' | 'InitDelete' =>
  isBeingDeleted(metadata) ? 'InitDelete' : 'Init';

/** A phase in which the objects below may not have started yet. */
export const isFirstPhase = (phase: string | undefined): boolean =>
  phase === 'Init' || phase === 'InitDelete';

/** The phase a failed job ends in. */
export const failedPhase = (metadata: MetaView): 'Failed' | 'DeleteFailed' =>
  isBeingDeleted(metadata) ? 'DeleteFailed' : 'Failed';

/**
 * Whether a root needs a new job id: no job is running, and a user requests one, or the root was deleted and had no
 * deletion job yet. After a failed deletion, only a user can request another job.
 */
export const isNewJobDue = (root: JobView): boolean =>
  isFinished(root) &&
  (hasOperation(root.metadata, operations.reconcile) ||
    (isBeingDeleted(root.metadata) && !isDeletionPhase(root.status?.phase)));

/** Whether jobs of this root are suspended, even if a user requests them. A deletion still starts. */
export const isSuspended = (metadata: MetaView): boolean =>
  hasAnnotation(metadata, annotations.suspended) && !isBeingDeleted(metadata);

/** Whether an installation has no parent installation; only roots create job ids. */
export const isRoot = (metadata: MetaView): boolean => parentInstallation(metadata) === undefined;

/** Name of the installation that owns the object, if there is one. */
export const parentInstallation = (metadata: MetaView): string | undefined =>
  metadata.ownerReferences?.find(
    (owner) => owner.kind === 'Installation' && owner.apiVersion.split('/')[0] === GROUP,
  )?.name;

export const isBeingDeleted = (metadata: MetaView): boolean => metadata.deletionTimestamp !== undefined;

export const hasFinalizer = (metadata: MetaView): boolean =>
  metadata.finalizers?.includes(FINALIZER) ?? false;

/** The finalizers of an object that does not have ours yet, with ours. */
export const withFinalizer = ({ finalizers = [] }: MetaView): string[] => [...finalizers, FINALIZER];

export const withoutFinalizer = ({ finalizers = [] }: MetaView): string[] =>
  finalizers.filter((name) => name !== FINALIZER);

/** The requested operation; unknown values are returned unchanged. */
export const operationOf = (metadata: MetaView): string | undefined =>
  metadata.annotations?.[annotations.operation];

export const hasOperation = (metadata: MetaView, operation: OperationName): boolean =>
  operationOf(metadata) === operation;

/** Whether a boolean annotation is set: only the exact value `true` counts. */
export const hasAnnotation = (metadata: MetaView, key: string): boolean =>
  metadata.annotations?.[key] === TRUE;
