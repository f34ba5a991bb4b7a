/**
 * When a finished deploy item is reconciled again on a schedule. Pure, except that it reads executions from the
 * cache.
 */
import { isBeingDeleted, isFinished } from '../../src/api/job.ts';
import { labels } from '../../src/api/labels.ts';
import { joinKey } from '../../src/runtime/keys.ts';
import type { Store, View } from '../../src/runtime/types.ts';
import { CodecError } from './codec.ts';
import { ACTIVE_ANNOTATION, nextDueTime, type ContinuousReconcile } from './continuous.ts';
import type { DeployerPlugin } from './deployer.ts';
import type { DeployItem, ExecutionObject } from './kinds.ts';

/** The item's schedule; undefined if it has none or it is suspended. */
export function scheduleOf(
  { metadata, spec, status }: View<DeployItem>,
  plugin: DeployerPlugin,
): ContinuousReconcile | undefined {
  if (!plugin.schedule || status?.phase !== 'Succeeded' || isBeingDeleted(metadata)) return undefined;
  if (metadata.annotations?.[ACTIVE_ANNOTATION] === 'false') return undefined;
  try {
    return plugin.schedule(plugin.config.decode(spec.config));
  } catch (error) {
    if (error instanceof CodecError) return undefined;
    throw error;
  }
}

/** When the item is due next, in milliseconds since 1970; undefined: never. */
export const nextDue = (item: View<DeployItem>, plugin: DeployerPlugin): number | undefined =>
  nextDueTime(scheduleOf(item, plugin), item.status?.lastReconcileTime);

/** Whether the item's execution has an open job. The item must not start its own job then. */
export function isExecutionRunning(
  { metadata }: View<DeployItem>,
  executions: Pick<Store<ExecutionObject>, 'get'>,
): boolean {
  const name = metadata.labels?.[labels.executionManagedBy];
  const execution = name === undefined ? undefined : executions.get(joinKey(metadata.namespace, name));
  return execution !== undefined && !isFinished(execution);
}
