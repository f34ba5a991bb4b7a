/**
 * Waits until everything below is deleted, then releases the installation. Objects that were created after
 * TriggerDelete are deleted here as well, since no other code does. The annotation that skips the uninstall has no
 * effect on objects that already have a job.
 */
import { annotations } from '../../../src/api/labels.ts';
import { hasAnnotation, hasFinishedJob, isBeingDeleted, isRoot } from '../../../src/api/job.ts';
import { installationKind } from '../../../src/api/kinds/installation.ts';
import { causeOf, causesText } from '../../../src/machine/causes.ts';
import { fail, release, removeFinalizer, wait } from '../../../src/machine/decision.ts';
import { waitForObjects } from '../awaiting.ts';
import { deleteAll, handDown, type SubObject } from '../job.ts';
import { ownExecution } from '../related-objects.ts';
import { deleteObject } from '../objects.ts';
import { phase, type DataOrTarget, type Snapshot } from '../snapshot.ts';

/**
 * Exports of an orphan. Its parent continues and another child may export the same names, so they cannot wait for
 * the garbage collector. In all other cases the garbage collector deletes the exports.
 */
const exportsToDelete = ({
  self,
  ownExports,
}: Pick<Snapshot, 'self' | 'ownExports'>): readonly DataOrTarget[] =>
  !isRoot(self.metadata) && hasAnnotation(self.metadata, annotations.deleteIgnoreSuccessors)
    ? ownExports
    : [];

const isNotDeleted = ({ metadata }: SubObject): boolean => !isBeingDeleted(metadata);

export const deleting = phase({
  needs: ['children', 'execution', 'ownExports'],
  next: ['DeleteFailed'],
  decide(snapshot) {
    const { self } = snapshot;
    const remaining = [...snapshot.children, ...ownExecution(snapshot)];
    if (remaining.length === 0) {
      return release([
        ...exportsToDelete(snapshot).map(deleteObject),
        removeFinalizer(installationKind, self),
      ]);
    }
    const jobID = self.status?.jobID ?? '';
    const operation = 'handleReconcilePhase';
    if (remaining.some((o) => !hasFinishedJob(o, jobID))) {
      const message = 'deletion of some sub objects pending';
      return wait(
        { operation, reason: 'PendingSubobjects', message, codes: ['ERR_FOR_INFO_ONLY'] },
        {
          ...waitForObjects(snapshot, 'DeletionPending', remaining),
          effects: [...deleteAll(snapshot, remaining.filter(isNotDeleted)), ...handDown(snapshot, remaining)],
        },
      );
    }
    const causes = remaining.map((o) => causeOf(`${o.kind} ${o.metadata.name}`, o.status?.lastError));
    const message = `not all sub objects were deleted: ${causesText(causes)}`;
    return fail({ operation, reason: 'UndeletedSubobjects', message, codes: ['ERR_FOR_INFO_ONLY'] });
  },
});
