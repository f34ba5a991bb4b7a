/** Whether a deployer has picked up a deploy item. Pure. */
import type { DeployItem } from '../api/kinds/deployitem.ts';
import { PICKUP_TIMEOUT } from './item-end.ts';
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
 * Reasons of jobs that ended before the deployer started. An interrupt is not included: a deployer that has not
 * seen it yet may have started.
 */
const BEFORE_START: readonly string[] = [PICKUP_TIMEOUT.reason, 'NoTargetFound', 'ValidateDeployItem'];

/**
 * Whether no deployer has ever picked up a job of the item, so nothing is installed: it never had a job, or all its
 * jobs ended before a deployer started. Only true for items that their current owner has created: an item restored
 * from a backup has lost its status, so its installed objects are unknown.
 * @param owner uid of its execution
 */
export function wasNeverPickedUp({ metadata, status }: View<DeployItem>, owner: string | undefined): boolean {
  if (!metadata.ownerReferences?.some(({ controller, uid }) => controller === true && uid === owner))
    return false;
  if (status?.jobID === undefined) return true;
  const { lastReconcileTime, deployer, providerStatus, exportRef, lastErrors = [] } = status;
  if ([lastReconcileTime, deployer, providerStatus, exportRef].some((trace) => trace !== undefined))
    return false;
  const reasons = lastErrors.map(({ reason }) => reason);
  // Deployers that write no other field write the observed generation. The pickup timeout writes it, too.
  const hasNoGeneration = !status.observedGeneration || reasons.includes(PICKUP_TIMEOUT.reason);
  return hasNoGeneration && reasons.length > 0 && reasons.every((reason) => BEFORE_START.includes(reason));
}
