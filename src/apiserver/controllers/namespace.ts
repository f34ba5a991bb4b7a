/** Deletes the objects of terminating namespaces, reports the progress, and removes the namespaces. */
import { timestamp } from '../../lib/clock.ts';
import type { World } from '../api.ts';
import type { InternalClient } from '../internal.ts';
import type { Kind } from '../kinds/kinds.ts';
import { resourceText } from '../status.ts';
import { cloneJson, equalJson } from '../types.ts';
import type { JsonObject, KubeObject } from '../types.ts';
import { KeyQueue } from './queue.ts';

interface Remainder {
  /** Number of remaining objects by resource. */
  readonly objects: ReadonlyMap<string, number>;
  /** Number of objects with each finalizer. */
  readonly finalizers: ReadonlyMap<string, number>;
}

export class NamespaceController {
  readonly #world: World;
  readonly #client: InternalClient;
  readonly #queue: KeyQueue<string>;
  readonly #stop: () => void;

  constructor(world: World, client: InternalClient) {
    this.#world = world;
    this.#client = client;
    this.#queue = new KeyQueue({
      run: (name) => this.#sync(name),
      textOf: (name) => name,
      clock: world.clock,
      log: world.log,
    });
    const listener: Parameters<typeof world.store.listeners.add>[0] = (resource, change) => {
      const object = change.next?.obj ?? change.prev?.obj;
      if (!object) return;
      if (resource.id === '/namespaces') {
        if (change.next && object.metadata.deletionTimestamp !== undefined)
          this.#queue.add(object.metadata.name);
      } else if (object.metadata.namespace !== undefined && this.#isTerminating(object.metadata.namespace))
        this.#queue.add(object.metadata.namespace);
    };
    world.store.listeners.add(listener);
    this.#stop = () => world.store.listeners.delete(listener);
    for (const name of world.store.resource('/namespaces').entries.keys())
      if (this.#isTerminating(name)) this.#queue.add(name);
  }

  stop(): void {
    this.#stop();
    this.#queue.stop();
  }

  #isTerminating(name: string): boolean {
    return this.#world.store.get('/namespaces', name)?.obj.metadata.deletionTimestamp !== undefined;
  }

  async #sync(name: string): Promise<void> {
    if (!this.#isTerminating(name)) return;
    const kinds = this.#world.registry.stored().filter((kind) => kind.namespaced);
    for (const kind of kinds) await this.#empty(kind, name);
    const left = this.#remainder(kinds, name);
    const live = this.#world.store.get('/namespaces', name)?.obj;
    if (!live) return;
    if (left.objects.size > 0) await this.#report(live, left);
    else await this.#finalize(live);
  }

  /** Scheduled pods are deleted without a grace period, because no kubelet confirms their end. */
  async #empty(kind: Kind, namespace: string): Promise<void> {
    for (const entry of this.#world.store.resource(kind.resource).list(`${namespace}/`)) {
      const isPod = kind.resource === '/pods';
      if (entry.obj.metadata.deletionTimestamp !== undefined && !isPod) continue;
      if (isPod && entry.obj.metadata.deletionGracePeriodSeconds === 0) continue;
      await this.#client.delete(kind, entry.obj, {
        propagationPolicy: 'Background',
        ...(isPod ? { gracePeriodSeconds: 0 } : {}),
      });
    }
  }

  #remainder(kinds: readonly Kind[], namespace: string): Remainder {
    const objects = new Map<string, number>();
    const finalizers = new Map<string, number>();
    for (const kind of kinds)
      for (const entry of this.#world.store.resource(kind.resource).list(`${namespace}/`)) {
        const text = resourceText(kind);
        objects.set(text, (objects.get(text) ?? 0) + 1);
        for (const finalizer of entry.obj.metadata.finalizers ?? [])
          finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + 1);
      }
    return { objects, finalizers };
  }

  async #report(live: KubeObject, left: Remainder): Promise<void> {
    const status = (live['status'] ?? {}) as JsonObject;
    const conditions = conditionsFor(
      left,
      (status['conditions'] ?? []) as JsonObject[],
      timestamp(this.#world.clock),
    );
    if (equalJson(conditions, status['conditions'])) return;
    const next = cloneJson(live);
    next['status'] = { ...status, conditions };
    await this.#client.request('PUT', `/api/v1/namespaces/${live.metadata.name}/status`, next);
  }

  /** Runs only once: a namespace with finalizers of other controllers would otherwise be written forever. */
  async #finalize(live: KubeObject): Promise<void> {
    const { finalizers = [] } = (live['spec'] ?? {}) as { finalizers?: readonly string[] };
    if (finalizers.length === 0) return;
    const next = cloneJson(live);
    next['spec'] = { finalizers: [] };
    await this.#client.request('PUT', `/api/v1/namespaces/${live.metadata.name}/finalize`, next);
  }
}

function conditionsFor(
  { objects, finalizers }: Remainder,
  old: readonly JsonObject[],
  now: string,
): JsonObject[] {
  const rest = [...objects]
    .sort()
    .map(([text, n]) => `${text.includes('.') ? text : `${text}.`} has ${n} resource instances`);
  const held = [...finalizers].sort().map(([name, n]) => `${name} in ${n} resource instances`);
  const wanted: [type: string, status: string, reason: string, message: string][] = [
    [
      'NamespaceDeletionDiscoveryFailure',
      'False',
      'ResourcesDiscovered',
      'All resources successfully discovered',
    ],
    [
      'NamespaceDeletionGroupVersionParsingFailure',
      'False',
      'ParsedGroupVersions',
      'All legacy kube types successfully parsed',
    ],
    [
      'NamespaceDeletionContentFailure',
      'False',
      'ContentDeleted',
      'All content successfully deleted, may be waiting on finalization',
    ],
    [
      'NamespaceContentRemaining',
      'True',
      'SomeResourcesRemain',
      `Some resources are remaining: ${rest.join(', ')}`,
    ],
    held.length > 0
      ? [
          'NamespaceFinalizersRemaining',
          'True',
          'SomeFinalizersRemain',
          `Some content in the namespace has finalizers remaining: ${held.join(', ')}`,
        ]
      : [
          'NamespaceFinalizersRemaining',
          'False',
          'ContentHasNoFinalizers',
          'All content-preserving finalizers finished',
        ],
  ];
  return wanted.map(([type, status, reason, message]) => {
    const before = old.find((condition) => condition['type'] === type);
    const isSame = before?.['status'] === status;
    return { type, status, lastTransitionTime: isSame ? before['lastTransitionTime'] : now, reason, message };
  });
}
