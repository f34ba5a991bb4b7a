/** Whether a deployer has picked up a deploy item. Pure. */
import type { DeployItem } from '../api/kinds/deployitem.ts';
import { everHadJob } from '../api/duplicates.ts';
import { annotations } from '../api/labels.ts';
import { lastJobNeverStarted } from '../api/never-started.ts';
import type { View } from '../runtime/types.ts';

/** A deployer writes lastReconcileTime when it picks up a job. Times have whole seconds, so the same second counts. */
export function isPickedUp({ status }: View<DeployItem>): boolean {
  const { lastReconcileTime, jobIDGenerationTime } = status ?? {};
  if (lastReconcileTime === undefined) return false;
  return (
    jobIDGenerationTime === undefined || Date.parse(lastReconcileTime) >= Date.parse(jobIDGenerationTime)
  );
}

/**
 * Whether nothing is installed because no deployer has ever started a job of the item: it never had a job, or its last
 * job and all before it ended unstarted, which the writer of their ends has recorded. Errors and the absence of fields
 * prove nothing, since deployers may write only a phase. Only true for items that their current owner has created: an
 * item restored from a backup has lost its status, so its installed objects are unknown.
 * @param owner uid of its execution
 */
export function wasNeverPickedUp({ metadata, status }: View<DeployItem>, owner: string | undefined): boolean {
  if (!metadata.ownerReferences?.some(({ controller, uid }) => controller === true && uid === owner))
    return false;
  return !hasTraces(status) && (!everHadJob({ status }) || lastJobNeverStarted(status));
}

/** Maximum time between the write of a new item and its creation: a request in transit, and clocks that differ. */
const IN_TRANSIT_MS = 5 * 60_000;

/**
 * Whether nothing is installed although the owner cannot be asked: the item never had a job, and it was stored when its
 * execution wrote it. An item restored from a backup has lost its status, but was written long before.
 */
export function isAsCreated({ metadata, status }: View<DeployItem>): boolean {
  if (hasTraces(status) || everHadJob({ status })) return false;
  const written = Date.parse(metadata.annotations?.[annotations.reconcileTime] ?? '');
  return Math.abs(Date.parse(metadata.creationTimestamp ?? '') - written) <= IN_TRANSIT_MS;
}

/** Fields that only a deployer writes. */
const hasTraces = (status: View<DeployItem>['status']): boolean =>
  [status?.lastReconcileTime, status?.deployer, status?.providerStatus, status?.exportRef].some(
    (trace) => trace !== undefined,
  );
