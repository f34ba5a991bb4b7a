/** What `espalier doctor` looks for: a table of pure functions over objects that were read once. */
import { isBeingDeleted, isFinalPhase, isFinished } from '../../api/job.ts';
import { labels } from '../../api/labels.ts';
import { lockName } from '../../landscape/upstream-locks.ts';
import { executionContext, installationContext } from '../../dataflow/scope.ts';
import { notPickedUpMessage } from '../../machine/status.ts';
import type { Obj, View } from '../../runtime/types.ts';
import type { Collected } from '../tree/collect.ts';
import { unservedFinalizer } from './finalizers.ts';
import { nameOf, objectsIn, type Findable, type Finding } from './findable.ts';
import { staleLease } from './leases.ts';

interface Check {
  readonly name: string;
  readonly find: (all: Findable) => readonly Finding[];
}

const STUCK_MS = 10 * 60_000;

export const checks: readonly Check[] = [
  { name: 'phase-without-job', find: phaseWithoutJob },
  { name: 'not-taken-up', find: notTakenUp },
  { name: 'unserved-finalizer', find: unservedFinalizer },
  { name: 'stuck-deletion', find: stuckDeletion },
  { name: 'missing-owner', find: missingOwner },
  { name: 'orphaned-export', find: orphanedExport },
  { name: 'leftover-lock', find: leftoverLock },
  { name: 'stale-lease', find: staleLease },
];

export const diagnose = (all: Findable): readonly Finding[] =>
  checks.flatMap(({ find }) =>
    [...find(all)].sort((a, b) => (a.object < b.object ? -1 : a.object > b.object ? 1 : 0)),
  );

/** No job runs, but the phase is one of a running job: no controller continues it. */
function phaseWithoutJob(all: Findable): readonly Finding[] {
  const rootOf = rootFinder(all);
  return objectsIn(all)
    .filter((one) => isFinished(one) && Boolean(one.status?.phase) && !isFinalPhase(one.status?.phase))
    .map((one) => ({
      check: 'phase-without-job',
      object: nameOf(one),
      evidence: `phase is "${one.status?.phase ?? ''}", but jobIDFinished equals jobID "${one.status?.jobID ?? ''}"`,
      risk: 'starts a job of the whole tree',
      command: `espalier installations reconcile ${rootOf(one)} -n ${one.metadata.namespace ?? ''}`,
    }));
}

/** Finds the name of an object's root. An object whose chain of parents is broken counts as its own root. */
export function rootFinder({ installations, executions }: Collected): (one: View<Obj>) => string {
  const at = ({ namespace = '' }: View<Obj>['metadata'], name: string): string => `${namespace}/${name}`;
  const byName = (objects: readonly View<Obj>[]): ReadonlyMap<string, View<Obj>> =>
    new Map(objects.map((one) => [at(one.metadata, one.metadata.name), one]));
  const [parents, managers] = [byName(installations), byName(executions)];
  const parentOf = ({ metadata }: View<Obj>): View<Obj> | undefined => {
    const owner = metadata.ownerReferences?.find(({ kind }) => kind === 'Installation')?.name;
    const parent = metadata.labels?.[labels.encompassedBy] ?? owner;
    const manager = metadata.labels?.[labels.executionManagedBy];
    return (
      (parent === undefined ? undefined : parents.get(at(metadata, parent))) ??
      (manager === undefined ? undefined : managers.get(at(metadata, manager)))
    );
  };
  return (one) => {
    const seen = new Set<View<Obj>>([one]);
    let root = one;
    for (let next = parentOf(one); next && !seen.has(next); next = parentOf(next)) {
      seen.add(next);
      root = next;
    }
    return root.metadata.name;
  };
}

function notTakenUp({ deployItems }: Findable): readonly Finding[] {
  return deployItems.flatMap((item) => {
    const message = isFinished(item) ? undefined : notPickedUpMessage(item.status?.conditions);
    if (message === undefined) return [];
    return {
      check: 'not-taken-up',
      object: nameOf(item),
      evidence: message,
      risk: 'none; starting the deployer is better if the type is meant to be supported',
      command: `kubectl get deployitem ${item.metadata.name} -n ${item.metadata.namespace ?? ''} -o jsonpath={.spec.type}`,
    };
  });
}

/** Deletions for which no better reason was found. */
function stuckDeletion(all: Findable): readonly Finding[] {
  const explained = new Set(unservedFinalizer(all).map(({ object }) => object));
  return [...objectsIn(all), ...all.data].flatMap((one: View<Obj>) => {
    const { deletionTimestamp = '', finalizers = [], name, namespace = '' } = one.metadata;
    const age = all.now - Date.parse(deletionTimestamp);
    if (!isBeingDeleted(one.metadata) || !(age > STUCK_MS) || explained.has(nameOf(one))) return [];
    return {
      check: 'stuck-deletion',
      object: nameOf(one),
      evidence: `deleted at ${deletionTimestamp}, and still has the finalizers ${finalizers.join(', ') || 'none'}`,
      risk:
        one.kind === 'Installation'
          ? 'force-delete uninstalls nothing: deployed objects stay on the targets'
          : 'none; the command only shows the object',
      command:
        one.kind === 'Installation'
          ? `espalier installations force-delete ${name} -n ${namespace} --dry-run`
          : `kubectl describe ${(one.kind ?? '').toLowerCase()} ${name} -n ${namespace}`,
    };
  });
}

/** Only owners of our own kinds: others cannot be looked up here. */
function missingOwner(all: Findable): readonly Finding[] {
  const uids = new Set(objectsIn(all).map(({ metadata }) => metadata.uid));
  return [...objectsIn(all), ...all.data].flatMap((one: View<Obj>) =>
    (one.metadata.ownerReferences ?? [])
      .filter(({ kind, uid }) => OWNERS.has(kind) && !uids.has(uid))
      .map((owner) => ({
        check: 'missing-owner',
        object: nameOf(one),
        evidence: `owner ${owner.kind} "${owner.name}" with uid ${owner.uid} does not exist`,
        risk: 'none; the garbage collector of the cluster deletes such objects, so check whether it runs',
        command: `kubectl describe ${(one.kind ?? '').toLowerCase()} ${one.metadata.name} -n ${one.metadata.namespace ?? ''}`,
      })),
  );
}

const OWNERS: ReadonlySet<string> = new Set(['Installation', 'Execution', 'DeployItem']);

/** Written by an installation or execution that no longer exists, and without an owner that would delete it. */
function orphanedExport({ installations, executions, data }: Findable): readonly Finding[] {
  const inNamespace = (one: View<Obj>, context: string): string =>
    `${one.metadata.namespace ?? ''} ${context}`;
  const sources = new Set([
    ...installations.map((one) => inNamespace(one, installationContext(one.metadata.name))),
    ...executions.map((one) => inNamespace(one, executionContext(one.metadata.name))),
  ]);
  return data.flatMap((one) => {
    const source = one.metadata.labels?.[labels.dataSource];
    const isOwned = (one.metadata.ownerReferences ?? []).length > 0;
    if (source === undefined || isOwned || sources.has(inNamespace(one, source))) return [];
    return {
      check: 'orphaned-export',
      object: nameOf(one),
      evidence: `its writer "${source}" does not exist, and it has no owner`,
      risk: 'installations that import it fail in their next job',
      command: `kubectl delete ${(one.kind ?? '').toLowerCase()} ${one.metadata.name} -n ${one.metadata.namespace ?? ''}`,
    };
  });
}

/** Upstream's lock of an installation or execution that does not exist; only a deletion leaves one behind. */
function leftoverLock(all: Findable): readonly Finding[] {
  const names = new Set(
    [...all.installations, ...all.executions].map(({ kind, metadata }) =>
      kind === 'Installation' || kind === 'Execution'
        ? `${metadata.namespace ?? ''}/${lockName(kind, metadata.uid ?? '')}`
        : '',
    ),
  );
  return (all.locks ?? []).flatMap((lock) => {
    const { name, namespace = '' } = lock.metadata;
    const { kind, name: locked, podName } = lock.spec;
    const isOther = kind !== 'Installation' && kind !== 'Execution';
    if (isOther || names.has(`${namespace}/${name}`)) return [];
    return {
      check: 'leftover-lock',
      object: nameOf(lock),
      evidence: `it locks ${kind} "${locked}" for pod "${podName}", but no such object has its uid`,
      risk: 'none; a lock belongs to one object, which no longer exists',
      command: `kubectl delete syncobject ${name} -n ${namespace}`,
    };
  });
}
