/** An external service in memory, and a controller of the resources in it, on a clock that stands still. */
import type { Rng } from '../../../../src/lib/rng.ts';
import { externalController, type ExternalSpec } from '../../../../src/runtime/external/controller.ts';
import { isActive } from '../../../../src/runtime/external/index.ts';
import { Secret } from '../../../../src/runtime/core-kinds.ts';
import type {
  Created,
  ConnectionDetails,
  ExternalHandler,
  ExternalObject,
  ExternalState,
  Observation,
  Updated,
} from '../../../../src/runtime/external/types.ts';
import { exponential } from '../../../../src/runtime/queue/retry.ts';
import type { Controller } from '../../../../src/runtime/controller/controller.ts';
import type { Kind, View } from '../../../../src/runtime/types.ts';
import { settle } from '../../../support/clock.ts';
import { createWorld, noChance, type World } from '../support/world.ts';

export interface Bucket extends ExternalObject {
  spec?: {
    size?: number;
    tier?: string;
    managementPolicies?: string[];
    reclaimPolicy?: string;
    writeConnectionSecretToRef?: { name: string; namespace?: string };
  };
}

export const buckets: Kind<Bucket> = {
  group: 'example.io',
  version: 'v1',
  kind: 'Bucket',
  plural: 'buckets',
  namespaced: true,
};

interface Thing {
  size: number;
  state: ExternalState;
}

/** The service: its resources, its requests, and its next response. */
export class Cloud implements ExternalHandler<Bucket> {
  readonly things = new Map<string, Thing>();
  /** `create bucket-uid-1`, without observations. */
  readonly calls: string[] = [];
  /** Names that were observed. */
  readonly looks: string[] = [];
  connects = 0;
  disconnects = 0;
  /** The error of a step. */
  readonly faults: Partial<Record<'connect' | 'observe' | 'create' | 'update' | 'delete', Error>> = {};
  /** The response to a creation, and the initial state of the resource. */
  created: Created = {};
  details: ConnectionDetails | undefined;
  initially: ExternalState = 'ready';
  message: string | undefined;
  attributes: (() => Record<string, unknown>) | undefined;
  /** Runs during a step, before it has an effect. */
  during: (step: string, object: Bucket) => void | Promise<void> = () => undefined;

  connect(): Promise<ExternalHandler<Bucket>> {
    this.connects++;
    return this.faults.connect ? Promise.reject(this.faults.connect) : Promise.resolve(this);
  }

  async observe(object: Bucket, name: string): Promise<Observation> {
    this.looks.push(name);
    await this.#step('observe', object);
    const thing = this.things.get(name);
    if (!thing) return { exists: false, upToDate: false, state: 'unknown' };
    const isLate = object.spec?.tier === undefined && this.lateTier !== undefined;
    if (isLate) object.spec = { ...object.spec, tier: this.lateTier as string, size: 99 };
    return {
      exists: true,
      upToDate: thing.size === (isLate ? thing.size : (object.spec?.size ?? 0)),
      state: thing.state,
      lateInitialized: isLate,
      ...(this.message !== undefined && { message: this.message }),
      ...(this.details && { connectionDetails: this.details }),
      ...(this.attributes && { attributes: this.attributes() }),
    };
  }
  /** The service's choice for a missing `tier`. */
  lateTier: string | undefined;

  async create(object: Bucket, name: string): Promise<Created> {
    this.calls.push(`create ${name}`);
    await this.#step('create', object);
    this.things.set(this.created.externalName ?? name, {
      size: object.spec?.size ?? 0,
      state: this.initially,
    });
    return this.created;
  }

  async update(object: Bucket, name: string): Promise<Updated> {
    this.calls.push(`update ${name}`);
    await this.#step('update', object);
    const thing = this.things.get(name);
    if (thing) thing.size = object.spec?.size ?? 0;
    return {};
  }

  async delete(object: Bucket, name: string): Promise<void> {
    this.calls.push(`delete ${name}`);
    await this.#step('delete', object);
    const thing = this.things.get(name);
    if (thing && this.deletesAtOnce) this.things.delete(name);
    else if (thing) thing.state = 'deleting';
  }
  deletesAtOnce = true;

  disconnect(): Promise<void> {
    this.disconnects++;
    return Promise.resolve();
  }

  async #step(step: 'observe' | 'create' | 'update' | 'delete', object: Bucket): Promise<void> {
    await this.during(step, object);
    const fault = this.faults[step];
    if (fault) throw fault;
  }
}

export const FINALIZER = 'buckets.example.io/finalizer';
/** The first object of a fake cluster. */
export const KEY = 'A/1';
export const NAME = 'bucket-uid-1';

export interface Scene {
  readonly world: World;
  readonly cloud: Cloud;
  /** Times at which the service was observed or connected to, in seconds. */
  readonly connectedAt: number[];
  controller: Controller<Bucket>;
  start(): Promise<void>;
  put(spec?: Bucket['spec'], metadata?: Partial<Bucket['metadata']>, name?: string): Bucket;
  get(key?: string): Bucket | undefined;
  edit(patch: object, sub?: 'status'): Promise<void>;
  /** The conditions with status True, by name. */
  active(): string[];
  condition(type: string): { lastTransitionTime: string; reason: string; message: string } | undefined;
  secret(name: string): Secret | undefined;
  /** Writes of the object, without Events and Secrets. */
  writes(): string[];
}

export function createScene(
  spec: Partial<ExternalSpec<Bucket>> = {},
  options: { rng?: Rng; world?: World; cloud?: Cloud } = {},
): Scene {
  const world = options.world ?? createWorld();
  const cloud = options.cloud ?? new Cloud();
  const connectedAt: number[] = [];
  const ports = {
    client: world.cluster,
    caches: world.caches,
    clock: world.clock,
    rng: options.rng ?? noChance,
  };
  const controller = world.manager.add<Bucket>(
    externalController<Bucket>(
      {
        name: 'buckets',
        kind: buckets,
        connector: {
          connect() {
            connectedAt.push(world.clock.now() / 1_000);
            return cloud.connect();
          },
        },
        retry: exponential({ initialMs: 1_000, factor: 2, maxMs: 60_000 }),
        syncPeriodMs: 0,
        secretOf: (bucket) => bucket.spec?.writeConnectionSecretToRef,
        ...spec,
      },
      ports,
    ),
  );
  const get = (key = KEY): Bucket | undefined => world.cluster.read(buckets, key);
  return {
    world,
    cloud,
    connectedAt,
    controller,
    get,
    start: () => world.start(),
    put: (bucket = { size: 1 }, metadata = {}, name = '1') =>
      world.cluster.put(buckets, { metadata: { namespace: 'A', name, ...metadata }, spec: bucket }),
    async edit(patch, sub) {
      world.cluster.edit(buckets, KEY, patch, sub);
      await settle();
    },
    active: () => {
      const object = get() as View<Bucket>;
      return (['Creating', 'Updating', 'Deleting', 'Ready', 'Failed', 'Paused'] as const).filter((type) =>
        isActive(object, type),
      );
    },
    condition: (type) => get()?.status?.conditions?.find((each) => each.type === type),
    secret: (name) => world.cluster.read(Secret, `A/${name}`),
    writes: () => world.cluster.writes.filter((write) => write.includes('Bucket')),
  };
}

/** The marks of a create on an object, for tests that start in the middle. */
export const made = (wall: number, agoMs = 3_600_000) => ({
  finalizers: [FINALIZER],
  annotations: {
    'external.espalier.dev/name': NAME,
    'external.espalier.dev/create-pending': new Date(wall - agoMs - 1_000).toISOString(),
    'external.espalier.dev/create-succeeded': new Date(wall - agoMs).toISOString(),
  },
});
