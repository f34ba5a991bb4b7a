/**
 * What an item asks of its deployer, from the item alone. Pure.
 *
 * A job that runs is carried to its own end, whatever happens to the item meanwhile, with one exception: an item that is
 * deleted while its job only repeats a failure is removed within that job, since nobody waits for the failure any more.
 */
import { annotations, operations } from '../../src/api/labels.ts';
import { hasOperation, isBeingDeleted, isFinished, isFinalPhase } from '../../src/api/job.ts';
import type { View } from '../../src/runtime/types.ts';
import type { DeployItem } from './kinds.ts';

/** Which way a job goes: `apply` installs or updates, `remove` uninstalls. */
export type Direction = 'apply' | 'remove';

type Intake =
  /** No job is open. */
  | { readonly do: 'nothing' }
  /** A developer wants a job of the item's own. */
  | { readonly do: 'testReconcile' }
  /** Nothing about the item changed and it asked to be left alone then. */
  | { readonly do: 'shortcut' }
  | { readonly do: 'work'; readonly isNew: boolean; readonly direction: Direction };

export function intake(item: View<DeployItem>): Intake {
  if (hasOperation(item.metadata, operations.testReconcile)) return { do: 'testReconcile' };
  if (isFinished(item)) return { do: 'nothing' };
  const isNew = isJobNew(item);
  if (isNew && isUnchanged(item)) return { do: 'shortcut' };
  return { do: 'work', isNew, direction: directionOf(item, isNew) };
}

/** Whoever hands out a job id forgets when the last job began, so a missing time means that this one has not. */
const isJobNew = ({ status }: Pick<View<DeployItem>, 'status'>): boolean =>
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

/** Whether deletion is to forget what was deployed and leave it in place. */
export const isLeftInPlace = (item: View<DeployItem>): boolean =>
  item.metadata.annotations?.[annotations.deleteWithoutUninstall] === 'true';
