/** Deletions and requested jobs that wait for a user. Pure. */
import { isSuspended } from '../../api/job.ts';
import { annotations } from '../../api/labels.ts';
import { selfCommand } from '../self-command.ts';
import { isDeletedWithoutJob, isRequestHeld } from '../tree/messages.ts';
import { nameOf, objectsIn, type Findable, type Finding } from './findable.ts';
import { rootFinder } from './roots.ts';

/** Objects below a root that a user deleted: nothing happens to them until a job of the root runs. */
export function deletedBelowRoot(all: Findable): readonly Finding[] {
  const rootOf = rootFinder(all);
  return objectsIn(all).flatMap((one) => {
    const { deletionTimestamp = '', name, namespace = '' } = one.metadata;
    const root = rootOf(one);
    const isRoot = one.kind === 'Installation' && root === name;
    if (isRoot || !isDeletedWithoutJob(one)) return [];
    return {
      check: 'deleted-below-root',
      object: nameOf(one),
      evidence: `it was deleted at ${deletionTimestamp}, but no job of its root "${root}" has begun since`,
      risk: 'starts a job of the whole tree, which uninstalls the object, and creates it again if the blueprint still contains it',
      command: `${selfCommand()} installations reconcile ${root} -n ${namespace}`,
    };
  });
}

/** Roots whose requested job does not start because they are suspended. */
export const heldRequest = ({ installations }: Findable): readonly Finding[] =>
  installations
    .filter((one) => isRequestHeld(one) && isSuspended(one.metadata))
    .map((one) => ({
      check: 'held-request',
      object: nameOf(one),
      evidence: `a job was requested, but the annotation ${annotations.suspended} holds jobs back`,
      risk: 'the requested job starts',
      command: `kubectl annotate installation ${one.metadata.name} -n ${one.metadata.namespace ?? ''} ${annotations.suspended}-`,
    }));
