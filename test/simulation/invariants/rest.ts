/** Invariants when nothing happens any more: nothing is unfinished, duplicated, left behind, or out of date. */
import { hasOperation, isBeingDeleted, isFinished, isRoot } from '../../../src/api/job.ts';
import { annotations, labels, operations } from '../../../src/api/labels.ts';
import { keyOf } from '../../../src/runtime/keys.ts';
import type { Caches, View, Obj } from '../../../src/runtime/types.ts';
import {
  describeObject,
  isJobObject,
  kinds,
  nameOf,
  type Inst,
  type Item,
  type JobObject,
  type Stored,
} from '../cluster/objects.ts';
import type { Server } from '../cluster/server.ts';
import { above, templateOf } from './below.ts';

/** Roots whose deletion waits for a successor that is not deleted: only the user can end that. */
const waitsForUser = (object: Inst): boolean =>
  object.status?.phase === 'InitDelete' && object.status.lastError?.reason === 'SiblingImport';

/** Scheduled jobs still to come; at most as many as the simulated user allows. */
function isRetryDue({ spec, metadata, status }: Inst): boolean {
  const limit = spec.automaticReconcile?.failedReconcile?.numberOfReconciles;
  if (limit === undefined || !status?.jobIDFinished || status.phase === 'Succeeded') return false;
  if (metadata.annotations?.[annotations.operation] || metadata.generation !== status.observedGeneration)
    return false;
  const counter = status.automaticReconcileStatus;
  const count =
    counter?.generation === metadata.generation && counter?.onFailed ? (counter.numberOfReconciles ?? 0) : 0;
  return count < limit;
}

/** What an installation still has to do. */
function isBusy(inst: Inst): boolean {
  if (waitsForUser(inst)) return false;
  const { metadata, status } = inst;
  const isToGo = isRoot(metadata) && isBeingDeleted(metadata) && status?.phase !== 'DeleteFailed';
  return (
    !isFinished(inst) ||
    hasOperation(metadata, operations.reconcile) ||
    hasOperation(metadata, operations.interrupt) ||
    isToGo ||
    (status?.dependentsToTrigger?.length ?? 0) > 0 ||
    isRetryDue(inst)
  );
}

const isWorking = (object: Stored & JobObject): boolean =>
  object.kind === 'Installation'
    ? isBusy(object as Inst)
    : !isFinished(object) || hasOperation(object.metadata, operations.interrupt);

/** It has no owner any more, and has not been garbage collected yet. */
function isGarbage(server: Server, { metadata }: Stored): boolean {
  const owners = metadata.ownerReferences ?? [];
  return owners.length > 0 && owners.every(({ uid }) => !server.exists(uid));
}

/** Objects that are not at rest, and their remaining work. */
export function unrest(server: Server): string[] {
  const objects = server.list();
  return [
    ...(server.list(kinds.context).length > 0 ? [] : ['there is no Context yet']),
    ...objects.filter((object) => isJobObject(object) && isWorking(object)).map(describeObject),
    ...objects
      .filter((object) => isGarbage(server, object))
      .map((object) => `${nameOf(object)} has lost its owner`),
  ];
}

/** Objects that must not exist after everything has ended. */
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

/** The purpose of the object; only one object may have it. */
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
        problems.push(
          `the cache has ${nameOf(seen)} at ${seen.metadata.resourceVersion ?? ''}, the server at ${version ?? 'none'}`,
        );
      there.delete(key);
    }
    for (const object of there.values()) problems.push(`the cache lacks ${nameOf(object)}`);
    const { unconfirmed = 0 } = cache as { unconfirmed?: number };
    if (unconfirmed > 0) problems.push(`the cache of ${cache.name} waits for ${unconfirmed} own writes`);
  }
  return problems;
}

/** Everything that must be deleted with all roots. */
export const remains = (server: Server): string[] =>
  server
    .list()
    .filter((object) => isJobObject(object) || (object.metadata.ownerReferences?.length ?? 0) > 0)
    .map(describeObject);
