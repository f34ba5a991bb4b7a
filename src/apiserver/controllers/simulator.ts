/**
 * Common functions of simulated workloads: find dependents, write statuses, read the annotation that requests
 * failures.
 */
import { timestamp } from '../../lib/clock.ts';
import type { World } from '../api.ts';
import type { InternalClient } from '../internal.ts';
import type { Kind } from '../kinds/kinds.ts';
import { cloneJson, equalJson, isObject } from '../types.ts';
import type { JsonObject, KubeObject, OwnerReference } from '../types.ts';

/** Advances one object by a step; returns the milliseconds until the next step, if any. */
export type Simulator = (bench: Workbench, live: KubeObject) => Promise<number | undefined>;

const SIMULATE = 'espalier.dev/simulate';

/** The failure that a pod template requests. */
type Trouble =
  { readonly kind: 'fail' | 'never-ready' | 'crash-loop' } | { readonly kind: 'delay'; readonly ms: number };

/** Milliseconds by which a timestamp in whole seconds can be too early. */
const MOST_MS_CUT_OFF = 999;

export class Workbench {
  readonly world: World;
  readonly manager: InternalClient;
  readonly kubelet: InternalClient;
  readonly #createdAt = new Map<string, number>();

  constructor(world: World, manager: InternalClient, kubelet: InternalClient) {
    this.world = world;
    this.manager = manager;
    this.kubelet = kubelet;
  }

  get now(): string {
    return timestamp(this.world.clock);
  }

  /**
   * When an object was created, in milliseconds since 1970, which its timestamp does not have: the time of the first
   * call, unless the object is certainly older, as after a restart.
   */
  createdAt(live: KubeObject): number {
    const uid = live.metadata.uid ?? '';
    const known = this.#createdAt.get(uid);
    if (known !== undefined) return known;
    const latest = Date.parse(live.metadata.creationTimestamp ?? '') + MOST_MS_CUT_OFF;
    const created = Math.min(latest, this.world.clock.wall());
    this.#createdAt.set(uid, created);
    return created;
  }

  /** Forgets when an object was created, because it is gone. */
  forget(uid: string): void {
    this.#createdAt.delete(uid);
  }

  kind(resource: string): Kind {
    const kind = this.world.registry.byResource(resource);
    if (!kind) throw new TypeError(`${resource} is not served`);
    return kind;
  }

  /** Objects of `resource` that `owner` controls, by name. */
  controlled(owner: KubeObject, resource: string): KubeObject[] {
    return this.world.store
      .byOwner(owner.metadata.uid ?? '')
      .filter((ref) => ref.resource === resource)
      .map((ref) => this.world.store.get(ref.resource, ref.key)?.obj)
      .filter((object) => object !== undefined)
      .filter((o) =>
        o.metadata.ownerReferences?.some((r) => r.uid === owner.metadata.uid && r.controller === true),
      )
      .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  }

  /** Creates an object for `owner` in its namespace. A refusal is in the log only, as owners have no field for it. */
  async create(owner: KubeObject, resource: string, object: JsonObject): Promise<void> {
    const kind = this.kind(resource);
    const { code, body } = await this.manager.create(kind, object, owner.metadata.namespace);
    if (code < 400 || code === 409) return;
    const { namespace, name } = owner.metadata;
    this.world.log.warn(
      { owner: `${owner.kind} ${String(namespace)}/${name}`, created: kind.kind, reason: body['message'] },
      'creating an object of a simulated workload failed',
    );
  }

  /** Writes a status that differs from the stored one. */
  async setStatus(
    resource: string,
    live: KubeObject,
    status: JsonObject,
    client = this.manager,
  ): Promise<void> {
    if (equalJson(live['status'] ?? {}, status)) return;
    const next = cloneJson(live);
    next['status'] = status;
    await client.update(this.kind(resource), next, 'status');
  }

  /** A pod created from a template, owned by `owner`. */
  podFrom(
    owner: KubeObject,
    template: JsonObject,
    extra: { name?: string; labels?: JsonObject; spec?: JsonObject; finalizers?: string[] },
  ): JsonObject {
    const meta = isObject(template['metadata']) ? template['metadata'] : {};
    return {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        ...(extra.name === undefined ? { generateName: `${owner.metadata.name}-` } : { name: extra.name }),
        namespace: owner.metadata.namespace,
        labels: { ...(meta['labels'] as JsonObject | undefined), ...extra.labels },
        ...(isObject(meta['annotations']) ? { annotations: meta['annotations'] } : {}),
        ...(extra.finalizers ? { finalizers: extra.finalizers } : {}),
        ownerReferences: [controllerRef(owner)],
      },
      spec: { ...(cloneJson(template['spec']) as JsonObject), ...extra.spec },
    };
  }
}

export const controllerRef = (owner: KubeObject): OwnerReference => ({
  apiVersion: owner.apiVersion,
  kind: owner.kind,
  name: owner.metadata.name,
  uid: owner.metadata.uid ?? '',
  controller: true,
  blockOwnerDeletion: true,
});

export const specOf = (object: KubeObject): JsonObject => (isObject(object['spec']) ? object['spec'] : {});
export const statusOf = (object: KubeObject): JsonObject =>
  isObject(object['status']) ? object['status'] : {};
export const numberIn = (object: JsonObject, member: string, otherwise: number): number =>
  typeof object[member] === 'number' ? object[member] : otherwise;
export const templateOf = (object: KubeObject): JsonObject => {
  const template = specOf(object)['template'];
  return isObject(template) ? template : {};
};

export function troubleOf(annotations: Readonly<Record<string, string>> | undefined): Trouble | undefined {
  const text = annotations?.[SIMULATE];
  if (text === 'fail' || text === 'never-ready' || text === 'crash-loop') return { kind: text };
  const delay = /^delay=(\d+)(ms|s|m)$/.exec(text ?? '');
  if (!delay) return undefined;
  const unit = { ms: 1, s: 1000, m: 60_000 }[delay[2] as 'ms' | 's' | 'm'];
  return { kind: 'delay', ms: Number(delay[1]) * unit };
}

/** Conditions with `wanted` merged in: the transition time changes only with the status. */
export function withConditions(old: unknown, wanted: readonly JsonObject[], now: string): JsonObject[] {
  const result = Array.isArray(old) ? [...(old as JsonObject[])] : [];
  for (const want of wanted) {
    const i = result.findIndex((c) => c['type'] === want['type']);
    const before = result[i];
    if (!before) {
      result.push({ lastTransitionTime: now, ...want });
      continue;
    }
    const isSame = before['status'] === want['status'];
    const { lastUpdateTime } = before;
    result[i] = {
      ...want,
      lastTransitionTime: isSame ? before['lastTransitionTime'] : now,
      ...('lastUpdateTime' in want && isSame && before['reason'] === want['reason']
        ? { lastUpdateTime }
        : {}),
    };
  }
  return result;
}

export const isReady = (pod: KubeObject): boolean =>
  pod.metadata.deletionTimestamp === undefined &&
  ((statusOf(pod)['conditions'] ?? []) as JsonObject[]).some(
    (c) => c['type'] === 'Ready' && c['status'] === 'True',
  );

export const isActive = (pod: KubeObject): boolean =>
  pod.metadata.deletionTimestamp === undefined &&
  !['Succeeded', 'Failed'].includes(String(statusOf(pod)['phase']));
