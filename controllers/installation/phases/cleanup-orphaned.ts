/** Uninstalls sub-installations that the blueprint no longer contains, and waits until they are gone. */
import { hasFinishedJob, isBeingDeleted, isTriggeredFor } from '../../../src/api/job.ts';
import { advance, fail, wait } from '../../../src/machine/decision.ts';
import { interruptionOf } from '../../../src/landscape/item-end.ts';
import { listed } from '../../../src/machine/causes.ts';
import { waitForObjects } from '../awaiting.ts';
import { deleteOrphan } from '../children.ts';
import { handDown } from '../job.ts';
import { phase } from '../snapshot.ts';

export const cleanupOrphaned = phase({
  needs: ['children', 'ancestors'],
  next: ['ObjectsCreated'],
  decide(snapshot) {
    const jobID = snapshot.self.status?.jobID ?? '';
    const orphans = snapshot.children.filter((c) => isBeingDeleted(c.metadata));
    if (orphans.length === 0) {
      return advance('ObjectsCreated', { status: { set: { subInstCache: { orphanedSubs: null } } } });
    }
    const isBlocked = orphans.every((o) => hasFinishedJob(o, jobID) && o.status?.phase === 'DeleteFailed');
    const names = listed(orphans.map((o) => o.metadata.name));
    if (isBlocked) {
      return fail({
        operation: 'handlePhaseCleanupOrphaned',
        reason: 'AllOrphanedSubinstallationsFailed',
        message: `all orphaned subinstallations failed: ${names}`,
      });
    }
    const interruption = interruptionOf(snapshot.self, snapshot.ancestors);
    if (interruption && orphans.some((o) => !isTriggeredFor(o, jobID))) return fail(interruption);
    const problem = {
      operation: 'handlePhaseCleanupOrphaned',
      reason: 'OrphanedSubinstsStillDeleting',
      message: `sub-installations that are no longer part of the blueprint are being deleted: ${names}`,
    };
    return wait(problem, {
      ...waitForObjects(snapshot, 'DeletionPending', orphans),
      effects: [...orphans.flatMap(deleteOrphan), ...handDown(snapshot, orphans)],
    });
  },
});
