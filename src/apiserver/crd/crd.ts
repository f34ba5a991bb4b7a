/** The CRD controller: accepts names, serves versions, and cleans up after a deletion. */
import { timestamp } from '../../lib/clock.ts';
import type { World } from '../api.ts';
import { acceptNames, instancesRemoved, isTrue, statusOf, takenBy } from './conditions.ts';
import { conversionBy } from './conversion.ts';
import { acceptedBy, CRDS, kindsOf, specOf } from './kinds.ts';
import type { PostReview } from '../http/webhook-post.ts';
import type { Kind } from '../kinds/kinds.ts';
import { trackOwners } from '../apply/managed.ts';
import { forbidden } from '../status.ts';
import { CLEANUP_FINALIZER } from './strategy.ts';
import { cloneJson, equalJson } from '../types.ts';
import type { JsonObject, KubeObject } from '../types.ts';

/** @throws ApiError 403 for a new object of a kind whose definition is being deleted */
export function assertDefinitionStays(world: World, kind: Kind, name: string): void {
  if (kind.builtIn) return;
  const crd = world.store.get(CRDS, `${kind.plural}.${kind.group}`);
  if (crd?.obj.metadata.deletionTimestamp === undefined) return;
  throw forbidden(kind, name, 'create not allowed while custom resource definition is terminating');
}

/** Updates the registry when definitions change. */
export class CrdController {
  readonly #world: World;
  readonly #served = new Map<string, { readonly meaning: unknown; readonly kinds: readonly Kind[] }>();
  readonly #queue = new Set<string>();
  /** Deletes the instances of a definition that is being deleted. */
  readonly #deleteInstances: (kind: Kind) => Promise<void>;

  readonly #post: PostReview;

  /** @param post sends reviews to conversion webhooks */
  constructor(world: World, post: PostReview, deleteInstances: (kind: Kind) => Promise<void>) {
    this.#world = world;
    this.#post = post;
    this.#deleteInstances = deleteInstances;
    for (const key of world.store.resource(CRDS).entries.keys()) this.#sync(key);
    world.store.listeners.add((resource, change) => {
      if (resource.id === CRDS) {
        this.#enqueue(change.key);
        if (change.next === undefined && change.prev) this.#enqueueGroup(specOf(change.prev.obj).group);
      } else if (change.next === undefined) this.#instanceGone(resource.id);
    });
  }

  #enqueue(key: string): void {
    if (this.#queue.size === 0)
      queueMicrotask(() => {
        const keys = [...this.#queue];
        this.#queue.clear();
        for (const each of keys) this.#sync(each);
      });
    this.#queue.add(key);
  }

  #instanceGone(resource: string): void {
    const slash = resource.indexOf('/');
    const key = `${resource.slice(slash + 1)}.${resource.slice(0, slash)}`;
    const crd = this.#world.store.get(CRDS, key);
    if (crd?.obj.metadata.deletionTimestamp !== undefined) this.#enqueue(key);
  }

  #sync(key: string): void {
    const entry = this.#world.store.get(CRDS, key);
    if (!entry) {
      this.#unserve(key);
      return;
    }
    let crd = entry.obj;
    if (crd.metadata.deletionTimestamp !== undefined) {
      if (isTrue(crd, 'Established')) this.#serve(key, crd);
      this.#cleanUp(key, crd);
      return;
    }
    crd = this.#writeStatus(key, crd);
    if (isTrue(crd, 'Established')) this.#serve(key, crd);
    else this.#unserve(key);
  }

  #serve(key: string, crd: KubeObject): void {
    const present = this.#served.get(key);
    const meaning = { ...specOf(crd), names: acceptedBy(crd) };
    if (present && equalJson(present.meaning, meaning)) return;
    const { registry, hub } = this.#world;
    const kinds = kindsOf(crd, (webhook) => conversionBy(webhook, this.#world, this.#post));
    for (const kind of present?.kinds ?? []) registry.remove(kind);
    for (const kind of kinds) registry.add(kind);
    this.#served.set(key, { meaning, kinds });
    for (const kind of present?.kinds ?? []) hub.cut({ resource: kind.resource });
  }

  #unserve(key: string): void {
    const present = this.#served.get(key);
    if (!present) return;
    this.#served.delete(key);
    for (const kind of present.kinds) {
      this.#world.registry.remove(kind);
      this.#world.hub.cut({ resource: kind.resource });
    }
  }

  /** Judges the names of a definition. @returns the definition with its new status */
  #writeStatus(key: string, crd: KubeObject): KubeObject {
    const { group, names } = specOf(crd);
    const others = [...this.#world.store.resource(CRDS).entries.values()]
      .map(({ obj }) => obj)
      .filter((other) => other.metadata.name !== crd.metadata.name && specOf(other).group === group);
    const acceptance = acceptNames(names, acceptedBy(crd), takenBy(others.map(acceptedBy)));
    const status = statusOf(crd, acceptance, timestamp(this.#world.clock));
    if (equalJson(status, crd['status'])) return crd;
    return this.#commit(
      key,
      crd,
      (next) => {
        next['status'] = status;
      },
      'status',
    );
  }

  /** Other definitions may take the names of one that is gone. */
  #enqueueGroup(group: string): void {
    for (const { obj, key } of this.#world.store.resource(CRDS).entries.values())
      if (specOf(obj).group === group) this.#enqueue(key);
  }

  /** Deletes the remaining instances, then removes the finalizer of the definition. */
  #cleanUp(key: string, crd: KubeObject): void {
    if (!crd.metadata.finalizers?.includes(CLEANUP_FINALIZER)) return;
    const kind = this.#served.get(key)?.kinds[0];
    const spec = specOf(crd);
    const entries = this.#world.store.resource(`${spec.group}/${spec.names.plural}`).entries;
    if (entries.size === 0) {
      this.#commit(
        key,
        crd,
        (next) => {
          next.metadata.finalizers = (next.metadata.finalizers ?? []).filter((f) => f !== CLEANUP_FINALIZER);
          if (next.metadata.finalizers.length === 0) delete next.metadata.finalizers;
          const conditions = instancesRemoved(crd, timestamp(this.#world.clock));
          next['status'] = { ...(next['status'] as JsonObject), conditions };
        },
        '',
      );
      return;
    }
    const pending = [...entries.values()].some((e) => e.obj.metadata.deletionTimestamp === undefined);
    if (kind && pending) void this.#deleteInstances(kind);
  }

  #commit(key: string, crd: KubeObject, change: (next: KubeObject) => void, subresource: string): KubeObject {
    const next = cloneJson(crd);
    change(next);
    const kind = this.#world.registry.byResource(CRDS) as Kind;
    trackOwners({
      live: crd,
      object: next,
      kind,
      manager: 'kube-apiserver',
      time: timestamp(this.#world.clock),
      subresource,
    });
    const isDone = next.metadata.deletionTimestamp !== undefined && !next.metadata.finalizers;
    this.#world.store.commit(CRDS, key, undefined, isDone ? undefined : next);
    return next;
  }
}
