/**
 * Garbage collection by owner references.
 *
 * An owner is absent if no object with that uid exists at the reference, waiting if it is being deleted in the
 * foreground, and solid otherwise. Dependents whose owners are all absent are deleted.
 */
import { timestamp } from '../../lib/clock.ts';
import { randomSuffix } from '../../lib/rng.ts';
import type { World } from '../api.ts';
import { splitApiVersion } from '../kinds/catalogue.ts';
import { CRDS } from '../crd/kinds.ts';
import type { InternalClient } from '../internal.ts';
import type { Kind } from '../kinds/kinds.ts';
import type { Change, OwnedRef, Resource } from '../store/storage.ts';
import type { KubeObject, OwnerReference } from '../types.ts';
import { storeKey } from '../store/view.ts';
import { KeyQueue } from './queue.ts';

type OwnerState = 'absent' | 'foreign' | 'waiting' | 'solid' | 'unknown';

const textOf = (ref: OwnedRef): string => `${ref.resource} ${ref.key}`;

export class GarbageCollector {
  readonly #world: World;
  readonly #client: InternalClient;
  readonly #queue: KeyQueue<OwnedRef>;
  readonly #stop: () => void;

  constructor(world: World, client: InternalClient) {
    this.#world = world;
    this.#client = client;
    this.#queue = new KeyQueue({ run: (ref) => this.#sync(ref), textOf, clock: world.clock, log: world.log });
    const listener = (resource: Resource, change: Change): void => {
      this.#notice(resource, change);
    };
    world.store.listeners.add(listener);
    this.#stop = () => world.store.listeners.delete(listener);
    for (const resource of world.store.resources())
      for (const entry of resource.entries.values())
        if (needsLook(entry.obj)) this.#queue.add({ resource: resource.id, key: entry.key });
  }

  stop(): void {
    this.#stop();
    this.#queue.stop();
  }

  #notice(resource: Resource, change: Change): void {
    const object = change.next?.obj ?? change.prev?.obj;
    if (!object) return;
    const { uid } = object.metadata;
    if (change.next && needsLook(object)) this.#queue.add({ resource: resource.id, key: change.key });
    const isGoing = change.next === undefined || object.metadata.deletionTimestamp !== undefined;
    if (uid !== undefined && isGoing) for (const ref of this.#world.store.byOwner(uid)) this.#queue.add(ref);
    this.#wakeOwners(change.prev?.obj.metadata.ownerReferences ?? []);
    if (resource.id === CRDS && change.next) this.#recheckUnknown();
  }

  /** Queues owners that wait for dependents, when one of these is deleted or removes its owner reference. */
  #wakeOwners(owners: readonly OwnerReference[]): void {
    for (const owner of owners) {
      const ref = this.#world.store.byUid(owner.uid);
      const live = ref && this.#world.store.get(ref.resource, ref.key)?.obj;
      if (ref && live && isHeldBack(live)) this.#queue.add(ref);
    }
  }

  /** A kind that is newly served may be the owner that was unknown before. */
  #recheckUnknown(): void {
    for (const resource of this.#world.store.resources())
      for (const entry of resource.entries.values())
        if (entry.obj.metadata.ownerReferences?.some((o) => this.#kindOf(o)?.builtIn === false))
          this.#queue.add({ resource: resource.id, key: entry.key });
  }

  async #sync(ref: OwnedRef): Promise<void> {
    const live = this.#world.store.get(ref.resource, ref.key)?.obj;
    const kind = this.#world.registry.byResource(ref.resource);
    if (!live || !kind) return;
    if (live.metadata.deletionTimestamp !== undefined) {
      if (live.metadata.finalizers?.includes('orphan')) return this.#orphan(kind, live);
      if (live.metadata.finalizers?.includes('foregroundDeletion')) return this.#foreground(kind, live);
      return;
    }
    if (live.metadata.ownerReferences) await this.#judge(kind, live, live.metadata.ownerReferences);
  }

  async #judge(kind: Kind, live: KubeObject, owners: readonly OwnerReference[]): Promise<void> {
    const states = owners.map((owner) => this.#stateOf(live, owner));
    if (states.includes('unknown')) return;
    const isSolid = states.includes('solid');
    if (isSolid) {
      const kept = owners.filter((_, i) => states[i] === 'solid');
      if (kept.length < owners.length) await this.#setOwners(kind, live, kept);
      return;
    }
    const foreign = owners.find((_, i) => states[i] === 'foreign');
    if (foreign) await this.#warnForeign(kind, live, foreign);
    const isWaiting = states.includes('waiting');
    const hasBlockers = this.#dependents(live).some(({ obj }) => blocks(obj, live));
    const own = live.metadata.finalizers ?? [];
    const policy = own.includes('orphan')
      ? 'Orphan'
      : (isWaiting && hasBlockers) || own.includes('foregroundDeletion')
        ? 'Foreground'
        : 'Background';
    await this.#client.delete(kind, live, {
      propagationPolicy: policy,
      preconditions: { uid: live.metadata.uid },
    });
  }

  #kindOf(owner: OwnerReference): Kind | undefined {
    return this.#world.registry.findByGroupKind(splitApiVersion(owner.apiVersion).group, owner.kind);
  }

  #stateOf(dependent: KubeObject, owner: OwnerReference): OwnerState {
    const kind = this.#kindOf(owner);
    if (!kind) return 'unknown';
    const { namespace } = dependent.metadata;
    if (kind.namespaced && namespace === undefined) return 'unknown';
    const found = this.#world.store.get(kind.resource, storeKey(kind, namespace ?? '', owner.name))?.obj;
    if (found?.metadata.uid !== owner.uid) {
      const elsewhere = this.#world.store.byUid(owner.uid);
      return elsewhere?.resource === kind.resource ? 'foreign' : 'absent';
    }
    const isWaiting =
      found.metadata.deletionTimestamp !== undefined &&
      found.metadata.finalizers?.includes('foregroundDeletion');
    return isWaiting ? 'waiting' : 'solid';
  }

  #dependents(owner: KubeObject): { kind: Kind; obj: KubeObject }[] {
    const { uid, namespace } = owner.metadata;
    if (uid === undefined) return [];
    return this.#world.store.byOwner(uid).flatMap((ref) => {
      const obj = this.#world.store.get(ref.resource, ref.key)?.obj;
      const kind = this.#world.registry.byResource(ref.resource);
      if (!obj || !kind) return [];
      return namespace !== undefined && obj.metadata.namespace !== namespace ? [] : [{ kind, obj }];
    });
  }

  async #foreground(kind: Kind, owner: KubeObject): Promise<void> {
    const dependents = this.#dependents(owner);
    if (!dependents.some(({ obj }) => blocks(obj, owner)))
      await this.#dropFinalizer(kind, owner, 'foregroundDeletion');
    for (const { obj } of dependents) {
      const ref = this.#world.store.byUid(obj.metadata.uid ?? '');
      if (ref && obj.metadata.deletionTimestamp === undefined) this.#queue.add(ref);
    }
  }

  async #orphan(kind: Kind, owner: KubeObject): Promise<void> {
    for (const dependent of this.#dependents(owner)) {
      const kept = (dependent.obj.metadata.ownerReferences ?? []).filter((o) => o.uid !== owner.metadata.uid);
      await this.#setOwners(dependent.kind, dependent.obj, kept);
    }
    await this.#dropFinalizer(kind, owner, 'orphan');
  }

  async #setOwners(kind: Kind, object: KubeObject, owners: readonly OwnerReference[]): Promise<void> {
    await this.#client.mergePatch(kind, object, {
      metadata: { uid: object.metadata.uid, ownerReferences: owners.length === 0 ? null : owners },
    });
  }

  async #dropFinalizer(kind: Kind, object: KubeObject, finalizer: string): Promise<void> {
    const { uid, resourceVersion, finalizers } = object.metadata;
    const kept = (finalizers ?? []).filter((f) => f !== finalizer);
    await this.#client.mergePatch(kind, object, {
      metadata: { uid, resourceVersion, finalizers: kept.length === 0 ? null : kept },
    });
  }

  async #warnForeign(kind: Kind, object: KubeObject, owner: OwnerReference): Promise<void> {
    const { name, namespace, uid } = object.metadata;
    const now = timestamp(this.#world.clock);
    const at = owner.apiVersion;
    await this.#client.request('POST', `/api/v1/namespaces/${namespace ?? 'default'}/events`, {
      metadata: { name: `${name}.${randomSuffix(this.#world.rng, 16)}`, namespace: namespace ?? 'default' },
      involvedObject: { kind: kind.kind, apiVersion: kind.apiVersion, name, namespace, uid },
      reason: 'OwnerRefInvalidNamespace',
      message: `ownerRef [${at}/${owner.kind}, namespace: ${namespace ?? ''}, name: ${owner.name}, uid: ${owner.uid}] does not exist in namespace ${JSON.stringify(namespace ?? '')}`,
      source: { component: 'garbage-collector-controller' },
      firstTimestamp: now,
      lastTimestamp: now,
      count: 1,
      type: 'Warning',
    });
  }
}

const isHeldBack = (object: KubeObject): boolean =>
  object.metadata.deletionTimestamp !== undefined &&
  (object.metadata.finalizers?.some((f) => f === 'orphan' || f === 'foregroundDeletion') ?? false);

const needsLook = (object: KubeObject): boolean =>
  isHeldBack(object) ||
  (object.metadata.ownerReferences !== undefined && object.metadata.deletionTimestamp === undefined);

const blocks = (dependent: KubeObject, owner: KubeObject): boolean =>
  dependent.metadata.ownerReferences?.some(
    (o) => o.uid === owner.metadata.uid && o.blockOwnerDeletion === true,
  ) ?? false;
