/** Invariants of deploy items: their order, and that nothing stays installed after their deletion. */
import { hasFinishedJob, isBeingDeleted, isDeletionPhase, isFinished } from '../../../src/api/job.ts';
import { readDeployItems, type Execution } from '../../../src/api/kinds/execution.ts';
import { annotations } from '../../../src/api/labels.ts';
import { nameOf, short, type Exec, type Item } from '../cluster/objects.ts';
import type { Server } from '../cluster/server.ts';
import type { Outside } from '../landscape/deployer.ts';
import { above, itemsOf, templateOf } from './below.ts';
import type { Law } from './law.ts';

/** What has to come before an item and has not, if anything. */
export function missingBefore(item: Item, job: string, server: Server): string | undefined {
  const execution = above(server, item) as Exec | undefined;
  if (!execution) return undefined;
  const items = itemsOf(server, execution);
  const templates = readDeployItems(execution.spec as Execution['spec']);
  if (isBeingDeleted(item.metadata)) {
    // Obsolete items are deleted in any order.
    if (!isDeletionPhase(execution.status?.phase)) return undefined;
    const dependents = templates.filter((t) => t.dependsOn?.includes(templateOf(item)));
    return items.find((other) => dependents.some((t) => t.name === templateOf(other)))?.metadata.name;
  }
  const needs = templates.find((t) => t.name === templateOf(item))?.dependsOn ?? [];
  return needs.find(
    (need) =>
      !items.some(
        (other) =>
          templateOf(other) === need && hasFinishedJob(other, job) && other.status?.phase === 'Succeeded',
      ),
  );
}

const itemsWait: Law = {
  name: 'no item starts before its dependencies have finished',
  broken({ before, object, type }, server) {
    if (object.kind !== 'DeployItem' || type === 'DELETED') return undefined;
    const item = object as unknown as Item;
    const job = item.status?.jobID;
    const had = (before as unknown as Item | undefined)?.status?.jobID;
    if (job === undefined || job === had || isFinished(item)) return undefined;
    const missing = missingBefore(item, job, server);
    return missing && `${nameOf(object)} was given job ${short(job)} before ${missing} was done`;
  },
};

/** Items with delete-without-uninstall are forgotten. */
const nothingStaysInstalled = (outside: Outside): Law => ({
  name: 'an item is deleted only after it was uninstalled',
  broken({ object, type }) {
    if (object.kind !== 'DeployItem' || type !== 'DELETED') return undefined;
    const uid = object.metadata.uid ?? '';
    if (object.metadata.annotations?.[annotations.deleteWithoutUninstall] === 'true') {
      outside.forget(uid);
    }
    return outside.installed.has(uid) ? `${nameOf(object)} is gone and still installed` : undefined;
  },
});

export const itemLaws = (outside: Outside): readonly Law[] => [itemsWait, nothingStaysInstalled(outside)];
