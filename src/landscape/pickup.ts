/** Whether a deployer has taken up a deploy item. Pure. */
import type { DeployItem } from '../api/kinds/deployitem.ts';
import { PICKUP_TIMEOUT } from './item-end.ts';
import type { View } from '../runtime/types.ts';

/** A deployer stamps the item when it takes up a job; the same second counts. */
export function isPickedUp({ status }: View<DeployItem>): boolean {
  const { lastReconcileTime, jobIDGenerationTime } = status ?? {};
  if (lastReconcileTime === undefined) return false;
  return (
    jobIDGenerationTime === undefined || Date.parse(lastReconcileTime) >= Date.parse(jobIDGenerationTime)
  );
}

/**
 * Reasons with which the job of an item ends before a deployer begins with it. An interrupt is none of them: a deployer that
 * has not heard of it yet may be at work with the job.
 */
const BEFORE_BEGIN: readonly string[] = [PICKUP_TIMEOUT.reason, 'NoTargetFound', 'ValidateDeployItem'];

/**
 * Whether no deployer has ever taken up any job of the item, so nothing of it is installed anywhere: it never had a job, or
 * its only jobs ended before a deployer had begun. Told only of an item that its present owner has created: one that came from
 * a backup has lost its status, and knows nothing of what it has installed.
 * @param owner uid of its execution
 */
export function wasNeverTakenUp({ metadata, status }: View<DeployItem>, owner: string | undefined): boolean {
  if (!metadata.ownerReferences?.some(({ controller, uid }) => controller === true && uid === owner))
    return false;
  if (status?.jobID === undefined) return true;
  const { lastReconcileTime, deployer, providerStatus, exportRef, lastErrors = [] } = status;
  if ([lastReconcileTime, deployer, providerStatus, exportRef].some((trace) => trace !== undefined))
    return false;
  const reasons = lastErrors.map(({ reason }) => reason);
  // Deployers that leave no other stamp note the generation; the pickup timeout does so as well.
  const isUnseen = !status.observedGeneration || reasons.includes(PICKUP_TIMEOUT.reason);
  return isUnseen && reasons.length > 0 && reasons.every((reason) => BEFORE_BEGIN.includes(reason));
}
