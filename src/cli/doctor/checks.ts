/** What `espalier doctor` looks for: a table of pure functions over objects that were read once. */
import { labels } from '../../api/labels.ts';
import { lockName } from '../../landscape/upstream-locks.ts';
import { executionContext, installationContext } from '../../dataflow/scope.ts';
import type { Obj, View } from '../../runtime/types.ts';
import { definitionsInDeletion, outdatedDefinitions } from './definitions.ts';
import { stuckDeletion } from './deletions.ts';
import { unservedFinalizer } from './finalizers.ts';
import { nameOf, objectsIn, type Findable, type Finding } from './findable.ts';
import { controllersNotRunning, differentParts, staleLease } from './fleets.ts';
import { deletedBelowRoot, heldRequest } from './held-objects.ts';
import { leftBehind } from './left-behind.ts';
import { jobNotBegun, notTakenUp, phaseWithoutJob } from './jobs.ts';
import { anotherDeployer } from './rivals.ts';
import { selfCommand } from '../self-command.ts';

interface Check {
  readonly name: string;
  readonly find: (all: Findable) => readonly Finding[];
}

/**
 * Causes come before their effects: a finding is omitted if an earlier one is about the same object, or affects it.
 * So one cause is one finding.
 */
export const checks: readonly Check[] = [
  { name: 'controllers-not-running', find: controllersNotRunning },
  { name: 'different-parts', find: differentParts },
  { name: 'definition-in-deletion', find: definitionsInDeletion },
  { name: 'outdated-definition', find: outdatedDefinitions },
  { name: 'another-deployer', find: anotherDeployer },
  { name: 'phase-without-job', find: phaseWithoutJob },
  { name: 'not-taken-up', find: notTakenUp },
  { name: 'held-request', find: heldRequest },
  { name: 'job-not-begun', find: jobNotBegun },
  { name: 'unserved-finalizer', find: unservedFinalizer },
  { name: 'deleted-below-root', find: deletedBelowRoot },
  { name: 'stuck-deletion', find: stuckDeletion },
  { name: 'left-behind', find: leftBehind },
  { name: 'missing-owner', find: missingOwner },
  { name: 'orphaned-export', find: orphanedExport },
  { name: 'leftover-lock', find: leftoverLock },
  { name: 'stale-lease', find: staleLease },
];

export function diagnose(all: Findable): readonly Finding[] {
  const explained = new Map<string, string>();
  return checks.flatMap(({ name, find }) => {
    const found = find(all).filter(({ object }) => (explained.get(object) ?? name) === name);
    for (const { object, affects = [] } of found)
      for (const one of [object, ...affects]) explained.set(one, name);
    return [...found].sort((a, b) => (a.object < b.object ? -1 : a.object > b.object ? 1 : 0));
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
      command: `${selfCommand()} doctor -n ${one.metadata.namespace ?? ''} --fix --check orphaned-export`,
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
      command: `${selfCommand()} doctor -n ${namespace} --fix --check leftover-lock`,
    };
  });
}
