/** What a node of a tree says: what holds it up, its error, or what its deletion or its next job waits for. Pure. */
import { conditionReasons, conditionTypes, obstacleReasons } from '../../api/conditions.ts';
import {
  hasFinalizer,
  hasOperation,
  isBeingDeleted,
  isDeletionPhase,
  isFinalPhase,
  isFinished,
  isSuspended,
  parentInstallation,
} from '../../api/job.ts';
import { annotations, operations } from '../../api/labels.ts';
import { named, type Obstacle } from '../../machine/decision.ts';
import { notPickedUpMessage, problemOf } from '../../machine/obstacles.ts';
import { selfCommand } from '../self-command.ts';
import type { TreeObject } from './tree.ts';

/** What the message of a node is made of. */
interface Facts {
  readonly object: TreeObject;
  /** Name of the root of the tree that is shown. */
  readonly root: string;
  /** What holds up the job of the object, or of an object below. */
  readonly obstacle: Obstacle | undefined;
}

/** The error that the running job of this object retries, or what its deployer waits for. */
const ownProblem = (object: TreeObject): Obstacle | undefined =>
  isFinished(object) ? undefined : problemOf(object.status ?? {});

/** Whether the running job of this object retries an error, or waits for a deployer that does not exist. */
export const isRetrying = (object: TreeObject): boolean =>
  ownProblem(object)?.reason === conditionReasons.ReconcileError ||
  (object.kind === 'Execution' && !isFinished(object) && notPickedUpMessage(object.status) !== undefined);

/**
 * What holds up the job of an object or of an object below. The controllers show the same in conditions, but later: each change
 * is a write.
 * @param below of its children
 */
export function obstacleOf(
  object: TreeObject,
  below: readonly (Obstacle | undefined)[],
): Obstacle | undefined {
  if (isFinished(object)) return undefined;
  const own = ownProblem(object);
  const notPickedUp = notPickedUpMessage(object.status);
  const found = [
    own && { reason: own.reason, message: `${named(object)}: ${own.message}` },
    ...below,
    notPickedUp === undefined ? undefined : { reason: conditionReasons.NotTakenUp, message: notPickedUp },
  ].filter((one) => one !== undefined);
  const reason = obstacleReasons.find((each) => found.some((one) => one.reason === each));
  return found.find((one) => one.reason === reason);
}

export const messageOf = ({ object, root, obstacle }: Facts): string | undefined =>
  pendingDeletion(object) ??
  heldDeletion(object) ??
  ownProblem(object)?.message ??
  obstacle?.message ??
  withRest(hasFailed(object) ? errorOf(object) : undefined, atRest(object, root)) ??
  errorOf(object);

const errorOf = ({ status }: TreeObject): string | undefined => status?.lastError?.message || undefined;

const hasFailed = (object: TreeObject): boolean =>
  isFinished(object) && isFinalPhase(object.status?.phase) && object.status.phase !== 'Succeeded';

const withRest = (error: string | undefined, rest: string | undefined): string | undefined =>
  error === undefined || rest === undefined ? (error ?? rest) : `${error}; ${rest}`;

/** What an object without a running job waits for. */
const atRest = (object: TreeObject, root: string): string | undefined =>
  deletionWithoutJob(object, root) ?? heldRequest(object);

/** Whether the message is about waiting, not about a failure. */
export const isWait = ({ object, root, obstacle }: Facts): boolean =>
  isFinished(object)
    ? !hasFailed(object) && atRest(object, root) !== undefined
    : isWaiting(object.status) ||
      pendingDeletion(object) !== undefined ||
      (obstacle !== undefined && ownProblem(object) === undefined);

const isRootInstallation = ({ kind, metadata }: TreeObject): boolean =>
  kind === 'Installation' && parentInstallation(metadata) === undefined;

const command = (verb: string, name: string, namespace = ''): string =>
  `${selfCommand()} installations ${verb} ${name} -n ${namespace}`;

/** For a root that was deleted while its job runs: the deletion starts when the job ends. */
function pendingDeletion(object: TreeObject): string | undefined {
  const { metadata, status } = object;
  const isPending =
    isRootInstallation(object) &&
    isBeingDeleted(metadata) &&
    !isFinished(object) &&
    !isDeletionPhase(status?.phase);
  if (!isPending) return undefined;
  const end = command('interrupt', metadata.name, metadata.namespace);
  return `the deletion starts when the running job ends; to end the job now: ${end}`;
}

/** For an object whose deletion job is done: finalizers of other controllers hold it. */
function heldDeletion({ metadata, status }: TreeObject): string | undefined {
  const { finalizers = [] } = metadata;
  const isHeld =
    isBeingDeleted(metadata) &&
    isDeletionPhase(status?.phase) &&
    !hasFinalizer(metadata) &&
    finalizers.length > 0;
  return isHeld
    ? `the deletion waits for the finalizers of other controllers: ${finalizers.join(', ')}`
    : undefined;
}

/** For an object below a root that a user deleted: only a job of the root uninstalls it. */
function deletionWithoutJob(object: TreeObject, root: string): string | undefined {
  const { metadata } = object;
  if (isRootInstallation(object) || !isDeletedWithoutJob(object)) return undefined;
  const start = command('reconcile', root, metadata.namespace);
  return `it was deleted, and is uninstalled in the next job of the root installation; start one with: ${start}`;
}

/** Whether it was deleted, and no job has begun that uninstalls it. */
export const isDeletedWithoutJob = (object: TreeObject): boolean =>
  isBeingDeleted(object.metadata) &&
  hasFinalizer(object.metadata) &&
  isFinished(object) &&
  !isDeletionPhase(object.status?.phase);

/** For a root whose requested job does not start: it is suspended, or no controller has begun yet. */
function heldRequest(object: TreeObject): string | undefined {
  if (!isRequestHeld(object)) return undefined;
  return isSuspended(object.metadata)
    ? `a job was requested, and starts when the annotation ${annotations.suspended} is removed`
    : 'a job was requested, and has not started; if it does not start soon, check whether the controllers run';
}

/** Whether a job was requested although none runs. */
export const isRequestHeld = (object: TreeObject): boolean =>
  isRootInstallation(object) && hasOperation(object.metadata, operations.reconcile) && isFinished(object);

/** Upstream reports waiting as an error with a code; we use a condition. */
const isWaiting = (status: TreeObject['status']): boolean =>
  (status?.conditions ?? []).some(({ type }) => type === conditionTypes.Waiting) ||
  (status?.lastError?.codes ?? []).includes('ERR_UNFINISHED');

export function marksOf(object: TreeObject, isOutdated: boolean): string[] {
  const { metadata, status, kind } = object;
  const has = (type: string): boolean => status?.conditions?.some((c) => c.type === type) ?? false;
  return [
    ...(isOutdated && status?.phase ? ['outdated'] : []),
    ...(has(conditionTypes.Drifted) ? ['drifted'] : []),
    ...(has(conditionTypes.SharedObjects) ? ['shared objects'] : []),
    ...(has(conditionTypes.ObjectsLeftBehind) ? ['objects on another cluster'] : []),
    ...(kind === 'Installation' && isSuspended(metadata) ? ['suspended'] : []),
    ...(isBeingDeleted(metadata) && !isDeletionPhase(status?.phase) ? ['being deleted'] : []),
    ...(isRequestHeld(object) ? ['job requested'] : []),
  ];
}
