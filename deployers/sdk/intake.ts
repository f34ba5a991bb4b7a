/**
 * What must be done for a deploy item, according to the item alone. Pure.
 *
 * A running job continues to its end whatever happens to the deploy item, with one exception: if the item is deleted
 * while its job only retries a failure, it is uninstalled within that job, because the result of the failure does not
 * matter any more.
 */
import { annotations, operations } from '../../src/api/labels.ts';
import { hasOperation, isBeingDeleted, isFinished, isFinalPhase } from '../../src/api/job.ts';
import type { View } from '../../src/runtime/types.ts';
import type { DeployItem } from './kinds.ts';

/** `apply` installs or updates, `remove` uninstalls. */
export type Direction = 'apply' | 'remove';

type Intake =
  /** No job is open. */
  | { readonly do: 'nothing' }
  /** A developer requests a job for this item only. */
  | { readonly do: 'testReconcile' }
  /** Nothing about the item has changed, and its annotation says to skip the job in this case. */
  | { readonly do: 'shortcut' }
  | { readonly do: 'work'; readonly isNew: boolean; readonly direction: Direction };

export function intake(item: View<DeployItem>): Intake {
  if (hasOperation(item.metadata, operations.testReconcile)) return { do: 'testReconcile' };
  if (isFinished(item)) return { do: 'nothing' };
  const isNew = isJobNew(item);
  if (isNew && isUnchanged(item)) return { do: 'shortcut' };
  return { do: 'work', isNew, direction: directionOf(item, isNew) };
}

/** The job id is stored together with the removal of the last start time, so without a time the job has not started. */
export const isJobNew = ({ status }: Pick<View<DeployItem>, 'status'>): boolean =>
  !status?.phase || isFinalPhase(status.phase) || status.transitionTimes?.initTime === undefined;

function isUnchanged({ metadata, spec, status }: View<DeployItem>): boolean {
  return (
    spec.updateOnChangeOnly === true &&
    !isBeingDeleted(metadata) &&
    status?.phase === 'Succeeded' &&
    status.observedGeneration === metadata.generation
  );
}

function directionOf(item: View<DeployItem>, isNew: boolean): Direction {
  const { phase, lastError } = item.status ?? {};
  if (!isBeingDeleted(item.metadata)) return 'apply';
  if (isNew || phase === 'InitDelete' || phase === 'Deleting') return 'remove';
  const repeatsFailure = lastError !== undefined && !lastError.codes?.includes('ERR_UNFINISHED');
  return repeatsFailure ? 'remove' : 'apply';
}

/** Whether the deployed objects stay when the item is deleted. */
export const isLeftInPlace = (item: View<DeployItem>): boolean =>
  item.metadata.annotations?.[annotations.deleteWithoutUninstall] === 'true';
