/**
 * Deletes objects from a cluster, group by group. It never waits: each round deletes what is due and reports what
 * is left, and the caller repeats it. Only the object with the recorded uid is deleted; an object of the same name
 * from another owner stays.
 */
import { itemKey } from '../../../src/api/managed-objects.ts';
import { append } from '../../../src/lib/lists.ts';
import type { Logger } from '../../../src/observability/log.ts';
import { Conflict, NoSuchKind, NotFound } from '../../../src/runtime/errors.ts';
import { keyOf } from '../../../src/runtime/keys.ts';
import type { Kind, Obj, View } from '../../../src/runtime/types.ts';
import { chainDag } from '../../../src/workflow/dag.ts';
import { runGraph } from '../../../src/workflow/run-graph.ts';
import type { NodeState, Policy } from '../../../src/workflow/plan.ts';
import { RetryError, isDefinite, messageOf } from '../../sdk/errors.ts';
import type { KubeAccess } from '../../sdk/access.ts';
import type { DeployContext } from '../../sdk/deployer.ts';
import type { DeployItem } from '../../sdk/kinds.ts';
import { assignToGroups, TARGET_WITHOUT_ALL, type DeletionGroup, type ResourceType } from './groups.ts';
import { removalFor, isIntent } from './inventory.ts';
import { handedOverLabels, isOwned, type Ownership } from './label.ts';
import {
  describeRef,
  idOf,
  keyOfRef,
  type KubeObject,
  type ManagedResource,
  type ResourceRef,
} from './model.ts';
import { inParallel } from './parallel.ts';
import { deepMerge } from './strategy.ts';

export interface RemovePorts {
  readonly access: KubeAccess;
  /** Opens another target by its name, for groups that specify one. */
  secondary(name: string): Promise<KubeAccess>;
  readonly ownership: Ownership;
  readonly groups: readonly DeletionGroup[];
  /** Other deploy items that manage the object with this uid and will keep it. */
  alsoManagedBy(uid: string): readonly View<DeployItem>[];
  /** Reports an object that stays although the item managed it. */
  onLeftToOthers(note: string): void;
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** Called before each object. @throws TimeoutError */
  assertTimeLeft(name: string): unknown;
  /** Records the progress between rounds; may start empty at any time. */
  readonly progress: Progress;
}

export interface Progress {
  readonly gone: Set<string>;
  /** Objects that were left to other items, and reported. */
  readonly left: Set<string>;
  hasHooks: boolean;
}

/** What a removal needs to know about other deploy items, and how it reports objects that it leaves to them. */
export const leaveToOthersPorts = (ctx: Pick<DeployContext, 'alsoManagedBy' | 'event'>): LeaveToOthers => ({
  alsoManagedBy: (uid) => ctx.alsoManagedBy(uid),
  onLeftToOthers: (note) => {
    ctx.event('Normal', 'LeftToOthers', note);
  },
});

type LeaveToOthers = Pick<RemovePorts, 'alsoManagedBy' | 'onLeftToOthers'>;

export const newProgress = (): Progress => ({ gone: new Set(), left: new Set(), hasHooks: false });

/** The result of a round: objects that must be gone before the next group is deleted. */
interface Round {
  readonly left: readonly RemainingObject[];
}

export interface RemainingObject {
  readonly ref: ResourceRef;
  /** Why the object still exists, if the cluster said so. */
  readonly why: string;
}

export const CHECKPOINT = 'deployer: delete resources';

/**
 * One round over the entries.
 * @throws RetryError if a group cannot be processed at all, ApiError if the cluster cannot be read
 */
export async function removeRound(entries: readonly ManagedResource[], ports: RemovePorts): Promise<Round> {
  const due = await dueEntries(entries, ports);
  // A group that deletes all objects of a type only runs together with managed objects.
  if (due.length === 0 && ports.progress.gone.size === 0) return { left: [] };
  if (!ports.progress.hasHooks) {
    await inParallel(due, (entry) => runHooks(entry, ports));
    ports.progress.hasHooks = true;
  }
  const members = assignToGroups(due, ports.groups);
  const { groups } = ports;
  const left: RemainingObject[] = [];
  const remove = async (node: string): Promise<'removing' | 'removed'> => {
    const i = Number(node);
    const group = groups[i];
    if (group) append(left, await removeGroup(group, members[i] ?? [], ports));
    return left.length > 0 ? 'removing' : 'removed';
  };
  // The last group of the graph is deleted first.
  const nodes = groups.map((_, i) => String(i)).reverse();
  const states = new Map<string, NodeState>(nodes.map((node) => [node, 'doomed']));
  await runGraph({ dag: chainDag(nodes), policy: ONE_BY_ONE, limit: 1, states, remove });
  return { left };
}

const ONE_BY_ONE: Policy = { gate: 'ready', failFast: false };

/** Entries whose objects this item may delete. */
async function dueEntries(
  entries: readonly ManagedResource[],
  ports: RemovePorts,
): Promise<readonly ManagedResource[]> {
  const due = await inParallel(entries, async (entry) => {
    const removal = removalFor(entry);
    if (removal === 'leave') return [];
    if (ports.progress.gone.has(idOf(entry.resource))) return [];
    if (await isLeftToOthers(entry, ports)) return [];
    if (removal === 'delete' && !isIntent(entry)) return [entry];
    const live = await read(entry.resource, ports);
    return live && isOwned(ports.ownership, live) ? [entry] : [];
  });
  return due.flat();
}

/**
 * Whether other deploy items manage the object as well. It then stays, and its labels are changed to the other
 * item. If another item starts to manage the object while it is being deleted, that is not noticed; the item
 * recreates the object in its next job.
 */
async function isLeftToOthers(entry: ManagedResource, ports: RemovePorts): Promise<boolean> {
  const { uid } = entry.resource;
  const [next, ...more] = uid ? ports.alsoManagedBy(uid) : [];
  if (!uid || !next) return false;
  const id = idOf(entry.resource);
  if (ports.progress.left.has(id)) return true;
  await moveLabels(entry.resource, uid, next, ports);
  ports.progress.left.add(id);
  const items = [next, ...more].map(itemKey).join(', ');
  ports.onLeftToOthers(
    `${describeRef(entry.resource)} is not deleted because other deploy items also manage it: ${items}`,
  );
  return true;
}

/** Changes the labels of the recorded object to the other item, if they contain this item's name. */
async function moveLabels(
  ref: ResourceRef,
  uid: string,
  { metadata: { name, namespace = '' }, spec: { type } }: View<DeployItem>,
  ports: RemovePorts,
): Promise<void> {
  const live = await read(ref, ports);
  if (live?.metadata.uid !== uid) return;
  const labels = handedOverLabels(ports.ownership, { name, namespace, type }, live);
  if (!labels) return;
  const kind = await ports.access.kindOf(ref.apiVersion, ref.kind);
  const body = { metadata: { uid, labels } };
  try {
    await ports.access.client.send({ verb: 'merge', kind, key: keyOfRef(ref), body }, ports.signal);
  } catch (error) {
    // The object is deleted or was replaced: there is nothing to hand over.
    if (!(error instanceof NotFound || error instanceof Conflict)) throw error;
  }
}

async function removeGroup(
  group: DeletionGroup,
  members: readonly ManagedResource[],
  ports: RemovePorts,
): Promise<readonly RemainingObject[]> {
  if (group.is === 'custom' && group.targetName && !group.isEverything) {
    throw new RetryError({
      operation: 'delete',
      reason: 'DeleteWithUninstall',
      message: `failed deleting managed resources: ${TARGET_WITHOUT_ALL}`,
    });
  }
  if (group.is === 'custom' && group.isEverything) return removeEverything(group, ports);
  const left = await inParallel(members, (entry) => removeEntry(entry, group.isForced, ports));
  return left.flat();
}

// ---------------------------------------------------------------- one managed object

async function removeEntry(
  entry: ManagedResource,
  isForced: boolean,
  ports: RemovePorts,
): Promise<readonly RemainingObject[]> {
  ports.assertTimeLeft(CHECKPOINT);
  const ref = entry.resource;
  try {
    if (await isLeftToOthers(entry, ports)) return []; // the group may be processed long after the round started
    const kind = await ports.access.kindOf(ref.apiVersion, ref.kind);
    const remaining = await deleteRecorded(kind, entry, ports);
    if (remaining && isForced) await removeFinalizers(kind, remaining, ports.access, ports.signal);
    if (remaining) return [{ ref, why: STILL_EXISTS }];
  } catch (error) {
    if (!isAbsence(error)) return [failed(ref, error, ports)];
  }
  ports.progress.gone.add(idOf(ref));
  return [];
}

function failed(ref: ResourceRef, error: unknown, ports: RemovePorts): RemainingObject {
  if (ports.signal.aborted || isDefinite(error)) throw error;
  ports.log.warn({ object: describeRef(ref), err: messageOf(error) }, 'deleting an object failed');
  return { ref, why: messageOf(error) };
}

const isAbsence = (error: unknown): boolean => error instanceof NotFound || error instanceof NoSuchKind;

const STILL_EXISTS = 'it still exists, probably because of its finalizers';

/** Deletes the object with the recorded uid. @returns the object if it is not completely gone */
async function deleteRecorded(
  kind: Kind<Obj>,
  entry: ManagedResource,
  ports: RemovePorts,
): Promise<Obj | undefined> {
  const { uid } = entry.resource;
  try {
    return await sendDelete(kind, keyOfRef(entry.resource), ports.access, ports.signal, uid || undefined);
  } catch (error) {
    if (!(error instanceof Conflict) || !uid) throw error;
    const live = await read(entry.resource, ports);
    if (!live || live.metadata.uid === uid) throw error;
    if (!isOwned(ports.ownership, live)) return undefined; // another owner recreated it
    return sendDelete(kind, keyOfRef(entry.resource), ports.access, ports.signal, live.metadata.uid);
  }
}

/** @returns the object if the API server reports that it is not gone yet, but being deleted */
async function sendDelete(
  kind: Kind<Obj>,
  key: string,
  access: KubeAccess,
  signal: AbortSignal,
  uid: string | undefined,
): Promise<Obj | undefined> {
  const answer: Partial<Obj> | undefined = await access.client.send(
    { verb: 'delete', kind, key, propagation: 'Background', ...(uid && { uid }) },
    signal,
  );
  return answer?.metadata?.deletionTimestamp === undefined ? undefined : (answer as Obj);
}

/** Only of this object, and not of one that was created with its name meanwhile. */
async function removeFinalizers(
  kind: Kind<Obj>,
  object: Obj,
  access: KubeAccess,
  signal: AbortSignal,
): Promise<void> {
  const { uid } = object.metadata;
  const body = { metadata: { ...(uid && { uid }), finalizers: null } };
  await access.client.send({ verb: 'merge', kind, key: keyOf(object), body }, signal);
}

async function read(ref: ResourceRef, ports: RemovePorts): Promise<KubeObject | undefined> {
  try {
    const kind = await ports.access.kindOf(ref.apiVersion, ref.kind);
    return (await ports.access.client.get(kind, keyOfRef(ref), ports.signal)) as KubeObject;
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw error;
  }
}

/** Applies the annotations and patches that are configured for objects before their deletion. */
async function runHooks(entry: ManagedResource, ports: RemovePorts): Promise<void> {
  const { annotateBeforeDelete, patchBeforeDelete, resource } = entry;
  if (!annotateBeforeDelete && !patchBeforeDelete) return;
  const live = await read(resource, ports);
  if (!live || (resource.uid && live.metadata.uid !== resource.uid)) return;
  const annotations = { ...live.metadata.annotations, ...annotateBeforeDelete };
  const recorded = { ...live, metadata: { ...live.metadata, ...(annotateBeforeDelete && { annotations }) } };
  const object = (
    patchBeforeDelete ? deepMerge(recorded, patchBeforeDelete, 'from') : recorded
  ) as KubeObject;
  const kind = await ports.access.kindOf(resource.apiVersion, resource.kind);
  try {
    await ports.access.client.send({ verb: 'replace', kind, object }, ports.signal);
  } catch (error) {
    if (!(error instanceof NotFound)) throw error;
  }
}

// ---------------------------------------------------------------- all objects of a type

async function removeEverything(
  group: Extract<DeletionGroup, { is: 'custom' }>,
  ports: RemovePorts,
): Promise<readonly RemainingObject[]> {
  const access = group.targetName ? await ports.secondary(group.targetName) : ports.access;
  const left: RemainingObject[] = [];
  for (const type of group.resources) {
    for (const { kind, object } of await candidates(type, access, ports.signal)) {
      ports.assertTimeLeft(CHECKPOINT);
      const { uid } = object.metadata;
      const ref = { apiVersion: type.apiVersion, kind: type.kind, ...nameOf(object), ...(uid && { uid }) };
      if (await isLeftToOthers({ resource: ref }, { ...ports, access })) continue;
      try {
        const remaining = await sendDelete(kind, keyOfRef(ref), access, ports.signal, uid);
        if (!remaining) continue;
        if (group.isForced) await removeFinalizers(kind, remaining, access, ports.signal);
        left.push({ ref, why: STILL_EXISTS });
      } catch (error) {
        if (!isAbsence(error)) left.push(failed(ref, error, ports));
      }
    }
  }
  return left;
}

const nameOf = ({ metadata: { name, namespace } }: Obj): Pick<ResourceRef, 'name' | 'namespace'> => ({
  name,
  ...(namespace && { namespace }),
});

/** All objects of a type, on one cluster. */
export async function candidates(
  type: ResourceType,
  access: KubeAccess,
  signal: AbortSignal,
): Promise<readonly { readonly kind: Kind<Obj>; readonly object: Obj }[]> {
  let kind: Kind<Obj>;
  try {
    kind = await access.kindOf(type.apiVersion, type.kind);
  } catch (error) {
    if (error instanceof NoSuchKind) return [];
    throw error;
  }
  const scopes = kind.namespaced && type.namespaces ? type.namespaces : [undefined];
  const found: { kind: Kind<Obj>; object: Obj }[] = [];
  for (const namespace of scopes) {
    for await (const page of access.client.list(kind, namespace === undefined ? {} : { namespace }, signal)) {
      for (const object of page.items) {
        if (!type.names || type.names.has(object.metadata.name)) found.push({ kind, object });
      }
    }
  }
  return found;
}
