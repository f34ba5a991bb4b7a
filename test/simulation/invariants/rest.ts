/** What holds when nothing happens any more: nothing is unfinished, doubled, left behind, or out of step. */
import { hasOperation, isBeingDeleted, isFinished, isRoot } from '../../../src/api/job.ts';
import { annotations, labels, operations } from '../../../src/api/labels.ts';
import { keyOf } from '../../../src/runtime/keys.ts';
import type { Caches, View, Obj } from '../../../src/runtime/types.ts';
import { describeObject, isJobObject, kinds, nameOf, type Inst, type Item, type Stored } from '../cluster/objects.ts';
import type { Server } from '../cluster/server.ts';
import { above, templateOf } from './below.ts';

/** Roots whose deletion waits for a successor that nobody deletes: only the user can end that. */
const waitsForUser = (object: Inst): boolean =>
  object.status?.phase === 'InitDelete' && object.status.lastError?.reason === 'SiblingImport';

/** Jobs by the clock that are still to come; at most as many as the simulated user allows. */
function isRetryDue({ spec, metadata, status }: Inst): boolean {
  const limit = spec.automaticReconcile?.failedReconcile?.numberOfReconciles;
  if (limit === undefined || !status?.jobIDFinished || status.phase === 'Succeeded') return false;
  if (metadata.annotations?.[annotations.operation] || metadata.generation !== status.observedGeneration) return false;
  const counter = status.automaticReconcileStatus;
  const count = counter?.generation === metadata.generation && counter?.onFailed ? (counter.numberOfReconciles ?? 0) : 0;
  return count < limit;
}

/** Objects that are not at rest, with what they still have to do. */
export function unrest(server: Server): string[] {
  const found: string[] = server.list(kinds.context).length > 0 ? [] : ['there is no Context yet'];
  for (const object of server.list()) {
    if (!isJobObject(object)) continue;
    if (object.kind === 'Installation') {
      const inst = object as unknown as Inst;
      if (waitsForUser(inst)) continue;
      const isAsked = hasOperation(inst.metadata, operations.reconcile) || hasOperation(inst.metadata, operations.interrupt);
      const isToGo = isRoot(inst.metadata) && isBeingDeleted(inst.metadata) && inst.status?.phase !== 'DeleteFailed';
      const hasSuccessors = (inst.status?.dependentsToTrigger?.length ?? 0) > 0;
      if (!isFinished(inst) || isAsked || isToGo || hasSuccessors || isRetryDue(inst)) found.push(describeObject(object));
    } else if (!isFinished(object) || hasOperation(object.metadata, operations.interrupt)) {
      found.push(describeObject(object));
    }
  }
  for (const object of server.list()) {
    const owners = object.metadata.ownerReferences ?? [];
    const isGarbage = owners.length > 0 && owners.every(({ uid }) => !server.exists(uid));
    if (isGarbage) found.push(`${nameOf(object)} has lost its owner`);
  }
  return found;
}

/** What may not be there although everything has ended. */
export function leftovers(server: Server): string[] {
  const problems: string[] = [];
  const living = server.list().filter((object) => !isBeingDeleted(object.metadata));
  const doubles = new Map<string, Stored>();
  for (const object of living) {
    const id = placeOf(server, object);
    if (id === undefined) continue;
    const other = doubles.get(id);
    if (other) problems.push(`${nameOf(object)} and ${nameOf(other)} are for the same template`);
    doubles.set(id, object);
  }
  return problems;
}

/** What the object is made for; only one may be made for it. */
function placeOf(server: Server, object: Stored): string | undefined {
  if (object.kind === 'Installation') {
    const template = object.metadata.annotations?.[annotations.subinstallationName];
    return template && `${object.metadata.labels?.[labels.encompassedBy] ?? ''}/${template}`;
  }
  if (object.kind !== 'DeployItem') return undefined;
  const parent = above(server, object);
  return parent && `${parent.metadata.uid ?? ''}/${templateOf(object as unknown as Item)}`;
}

/** Where a cache of a process differs from the server. */
export function outOfStep(server: Server, caches: Caches): string[] {
  const problems: string[] = [];
  for (const cache of caches.all()) {
    const there = new Map(server.list(cache.kind).map((object) => [keyOf(object as View<Obj>), object]));
    for (const seen of cache.list()) {
      const key = keyOf(seen);
      const version = there.get(key)?.metadata.resourceVersion;
      if (version !== seen.metadata.resourceVersion)
        problems.push(`the cache has ${nameOf(seen)} at ${seen.metadata.resourceVersion ?? ''}, the server at ${version ?? 'none'}`);
      there.delete(key);
    }
    for (const object of there.values()) problems.push(`the cache lacks ${nameOf(object)}`);
    const { unconfirmed = 0 } = cache as { unconfirmed?: number };
    if (unconfirmed > 0) problems.push(`the cache of ${cache.name} waits for ${unconfirmed} own writes`);
  }
  return problems;
}

/** Everything that a deletion of all roots has to take along. */
export const remains = (server: Server): string[] =>
  server
    .list()
    .filter(
      (object) => isJobObject(object) || (object.metadata.ownerReferences?.length ?? 0) > 0,
    )
    .map(describeObject);

