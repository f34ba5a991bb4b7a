/** Whether a deployer has taken up the job of a deploy item. Pure. */
import type { DeployItem } from '../api/kinds/deployitem.ts';
import type { View } from '../runtime/types.ts';

/** A deployer stamps the item when it takes up a job; the same second counts. */
export function isPickedUp({ status }: View<DeployItem>): boolean {
  const { lastReconcileTime, jobIDGenerationTime } = status ?? {};
  if (lastReconcileTime === undefined) return false;
  return (
    jobIDGenerationTime === undefined || Date.parse(lastReconcileTime) >= Date.parse(jobIDGenerationTime)
  );
}
