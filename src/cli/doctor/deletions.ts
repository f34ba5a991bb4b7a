/** Deletions that do not end. Pure. */
import { isBeingDeleted, isFinished } from '../../api/job.ts';
import type { Obj, View } from '../../runtime/types.ts';
import type { TreeObject } from '../tree/tree.ts';
import { nameOf, objectsIn, someOf, type Findable, type Finding } from './findable.ts';
import { rootFinder } from './roots.ts';
import { selfCommand } from '../self-command.ts';

const STUCK_MS = 10 * 60_000;

/**
 * One finding for each root: everything below it waits for the same reason. A deletion whose job has failed is stuck at
 * once, because nothing repeats it.
 */
export function stuckDeletion(all: Findable): readonly Finding[] {
  const rootOf = rootFinder(all);
  const trees = new Map<string, View<Obj>[]>();
  const isLate = ({ metadata }: View<Obj>): boolean =>
    isBeingDeleted(metadata) && all.now - Date.parse(metadata.deletionTimestamp ?? '') > STUCK_MS;
  for (const one of objectsIn(all)) {
    if (!isLate(one) && !hasFailed(one)) continue;
    const tree = `${one.metadata.namespace ?? ''}/${rootOf(one)}`;
    trees.set(tree, [...(trees.get(tree) ?? []), one]);
  }
  return [
    ...[...trees.values()].flatMap(inTree),
    ...all.data.filter(isLate).map((one) => findingFor(one, [])),
  ];
}

const hasFailed = (one: TreeObject): boolean =>
  isBeingDeleted(one.metadata) && isFinished(one) && one.status?.phase === 'DeleteFailed';

/** The first is the highest: installations come before executions and deploy items. */
function inTree(objects: readonly View<Obj>[]): readonly Finding[] {
  const isRoot = ({ kind, metadata }: View<Obj>): boolean =>
    kind === 'Installation' && !metadata.ownerReferences?.length;
  const top = objects.find(isRoot) ?? objects[0];
  return top ? [findingFor(top, objects.filter((one) => one !== top).map(nameOf))] : [];
}

function findingFor(one: View<Obj>, below: readonly string[]): Finding {
  const { deletionTimestamp = '', finalizers = [], name, namespace = '' } = one.metadata;
  const { status } = one as View<Obj> & {
    readonly status?: { readonly lastError?: { readonly message?: string } };
  };
  const cause = status?.lastError?.message;
  return {
    check: 'stuck-deletion',
    object: nameOf(one),
    evidence:
      `deleted at ${deletionTimestamp}, and still has the finalizers ${finalizers.join(', ') || 'none'}` +
      (below.length > 0 ? `; below it: ${someOf(below)}` : '') +
      (cause === undefined ? '' : `; the last error is: ${cause}`),
    risk:
      one.kind === 'Installation'
        ? 'force-delete uninstalls nothing: deployed objects stay on the targets'
        : 'none; the command only shows the object',
    command:
      one.kind === 'Installation'
        ? `${selfCommand()} installations force-delete ${name} -n ${namespace} --dry-run`
        : `kubectl describe ${(one.kind ?? '').toLowerCase()} ${name} -n ${namespace}`,
    affects: below,
  };
}
