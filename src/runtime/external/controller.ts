/** A controller for external resources, and the description from which it is created. */
import type { Clock } from '../../lib/clock.ts';
import { equal } from '../../lib/json.ts';
import { isPositive } from '../../lib/positive.ts';
import type { Rng } from '../../lib/rng.ts';
import type { Metrics } from '../../observability/metrics.ts';
import type { ControllerSpec } from '../controller/controller.ts';
import { DefinitionError, NoRetryError } from '../errors.ts';
import { and, type Predicate } from '../sources/filters.ts';
import { checkFinalizer, defaultFinalizer } from '../controller/finalizer.ts';
import { byController } from '../sources/mappers.ts';
import { getIfThere } from '../transport/read.ts';
import { watchSource, type Source } from '../sources/sources.ts';
import type { Caches, Client, UpdateControl, View } from '../types.ts';
import { annotationOf, annotations } from './annotations.ts';
import type { Schema } from './check-schema.ts';
import type { ChangeLog } from './change-log.ts';
import { GRACE_MS } from './creation.ts';
import { Drifts } from './drift.ts';
import { HandledFailure } from './errors.ts';
import type { Initializer } from './initializers.ts';
import { byUid, type NameStrategy } from './names.ts';
import { decideRequeue, type Requeue } from './requeue.ts';
import type { Outcome } from './outcome.ts';
import type { ManagementPolicy } from './policies.ts';
import { referenceSource } from './reference-source.ts';
import type { Reference } from './references.ts';
import { ExternalResource } from './resource.ts';
import { Secret } from '../core-kinds.ts';
import { CONNECTION_LABEL, Publisher, type SecretPlace } from './secret.ts';
import type { Connector, ExternalObject, Observation } from './types.ts';

/** Description of the controller. Times are in milliseconds. */
export interface ExternalSpec<M extends ExternalObject> extends Pick<
  ControllerSpec<M>,
  | 'name'
  | 'kind'
  | 'maxConcurrent'
  | 'reconcileTimeoutMs'
  | 'syncPeriodMs'
  | 'retry'
  | 'limit'
  | 'filter'
  | 'cache'
> {
  readonly connector: Connector<M>;
  /** Default: `byUid` with the kind in lower case, so `bucket-<uid>`. */
  readonly names?: NameStrategy<M>;
  /**
   * Time between two observations of a resource that is up to date, or a function of the object, whose status has the last
   * observation. Default 60 s. The annotation of an object takes precedence.
   */
  readonly pollMs?: number | ((object: View<M>) => number);
  /** Random share by which this time is longer or shorter, below 1. Default 0.1. */
  readonly pollJitter?: number;
  /** Minimum for the annotation of an object and the results of `pollMs`. Default 10 s. */
  readonly minPollMs?: number;
  /** Time between two observations while the service is creating, updating or deleting. Default 30 s. */
  readonly pendingMs?: number;
  /** How long a created resource may be missing before it counts as not existing. Default 30 s. */
  readonly createGraceMs?: number;
  /**
   * The combinations of `spec.managementPolicies` that are allowed besides `*`, such as `crossplanePolicySets`. Others fail
   * with the reason `InvalidPolicy`. Default: all combinations with `Observe`, and none at all.
   */
  readonly policySets?: readonly (readonly ManagementPolicy[])[];
  /** Set fields of the object before the first step, in this order. */
  readonly initializers?: readonly Initializer<M>[];
  /** Fields of the spec that users may set by reference to other objects. */
  readonly references?: readonly Reference[];
  /**
   * Schema of `spec`, such as a zod schema. An object that does not match it fails with the reason `InvalidSpec` until it is
   * changed. The handler receives the spec as it is stored: let the CRD set defaults.
   */
  readonly specSchema?: Schema<M['spec']>;
  /**
   * Schema of the attributes of an existing resource. An observation that does not match it fails and is retried, except
   * during a deletion.
   */
  readonly attributesSchema?: Schema<Observation['attributes']>;
  /** Receives a record of each create, update and delete. Default: none. */
  readonly changeLog?: ChangeLog;
  /** Where to publish connection details, such as `specSecret`. Absent: nowhere, and no Secret is watched. */
  readonly secretOf?: (object: View<M>) => SecretPlace | undefined;
  /** Default `<plural>.<group>/finalizer`. */
  readonly finalizer?: string;
  /**
   * `cache` (default): decides based on the cache and own writes, and creations are guarded by the resource version.
   * `live`: reads the object from the server at the start of each reconcile.
   */
  readonly read?: 'cache' | 'live';
  readonly sources?: readonly Source<M>[];
}

/** Dependencies of a controller for external resources. */
export interface ExternalPorts {
  readonly client: Client;
  readonly caches: Caches;
  readonly clock: Clock;
  readonly rng: Rng;
  /** Absent: drifts are not counted. */
  readonly metrics?: Metrics;
}

const POLL_MS = 60_000;
const MIN_POLL_MS = 10_000;
const PENDING_MS = 30_000;
const POLL_JITTER = 0.1;
const RECONCILE_TIMEOUT_MS = 60_000;

/** Thrown when the result requests a growing delay although nothing failed. */
class BackOff extends HandledFailure {}

/** The resource without a controller, to call its steps one by one. */
export function externalResource<M extends ExternalObject>(
  spec: ExternalSpec<M>,
  ports: ExternalPorts,
): ExternalResource<M> {
  const finalizer = spec.finalizer ?? defaultFinalizer(spec.kind);
  checkFinalizer(finalizer);
  const { pollMs = POLL_MS, minPollMs = MIN_POLL_MS, pendingMs = PENDING_MS } = spec;
  const { createGraceMs: graceMs = GRACE_MS, pollJitter = POLL_JITTER } = spec;
  for (const [name, ms] of Object.entries({ pollMs, minPollMs, pendingMs })) {
    if (typeof ms === 'number' && !isPositive(ms))
      throw new DefinitionError({ message: `controller ${spec.name}: ${name} must be more than 0` });
  }
  if (!(graceMs >= 0))
    throw new DefinitionError({ message: `controller ${spec.name}: createGraceMs must not be negative` });
  if (!(pollJitter >= 0 && pollJitter < 1))
    throw new DefinitionError({ message: `controller ${spec.name}: pollJitter must be from 0 to below 1` });
  const { kind, connector, secretOf } = spec;
  const { client, clock, rng, caches, metrics } = ports;
  return new ExternalResource<M>({
    kind,
    connector,
    client,
    clock,
    rng,
    finalizer,
    pollMs,
    minPollMs,
    pendingMs,
    pollJitter,
    graceMs,
    policySets: spec.policySets,
    initializers: spec.initializers ?? [],
    references: (spec.references ?? []).map((reference) => ({ reference, cache: caches.of(reference.kind) })),
    specSchema: spec.specSchema,
    attributesSchema: spec.attributesSchema,
    changeLog: spec.changeLog,
    drifts: metrics && new Drifts(clock, metrics, spec.name),
    names: spec.names ?? byUid(kind.kind.toLowerCase()),
    manager: spec.name,
    publisher: secretOf && new Publisher({ client, kind, cache: secretCache(spec, caches) }),
    secretOf: secretOf ?? (() => undefined),
  });
}

/**
 * The controller, to pass to `Manager.add`.
 * @throws DefinitionError when the description is inconsistent
 */
export function externalController<M extends ExternalObject>(
  spec: ExternalSpec<M>,
  ports: ExternalPorts,
): ControllerSpec<M> {
  const resource = externalResource(spec, ports);
  const { name, kind, maxConcurrent, syncPeriodMs, limit, cache } = spec;
  const sources = [
    ...(spec.sources ?? []),
    ...(spec.secretOf ? [secretSource(spec, ports.caches)] : []),
    ...(spec.references ?? []).map((each) => referenceSource<M>(each, ports.caches.of(each.kind))),
  ];
  return {
    name,
    kind,
    sources,
    ...(maxConcurrent !== undefined && { maxConcurrent }),
    ...(syncPeriodMs !== undefined && { syncPeriodMs }),
    ...(limit && { limit }),
    ...(cache && { cache }),
    retry: spec.retry ?? 'external',
    reconcileTimeoutMs: spec.reconcileTimeoutMs ?? RECONCILE_TIMEOUT_MS,
    finalizer: { handledBy: 'reconciler' },
    generation: 'off',
    ownEvents: 'deliver',
    filter: and<M>(relevantChange, spec.filter ?? {}),
    reconciler: {
      async reconcile(primary, ctx) {
        const object =
          spec.read === 'live' ? await getIfThere(ports.client, kind, ctx.key, ctx.signal) : primary;
        if (!object) return { write: 'none' };
        return controlOf(await resource.reconcile(object as View<M>, ctx));
      },
      onError: (_, __, error) =>
        Promise.resolve(
          error instanceof HandledFailure
            ? { retry: true }
            : error instanceof NoRetryError
              ? { retry: false }
              : 'default',
        ),
      forget: (object) => {
        resource.forget(object);
      },
    },
  };
}

/** @throws HandledFailure for a retry after a growing delay; NoRetryError for no retry */
function controlOf<M extends ExternalObject>({ result, error }: Outcome): UpdateControl<M> {
  if (error instanceof NoRetryError) throw error;
  // If the object has changed meanwhile, the queue reconciles it at once anyway.
  const requeue: Requeue = decideRequeue(false, result, error);
  switch (requeue.when) {
    case 'now':
      return { write: 'none', requeueAfterMs: 1 };
    case 'later':
      return { write: 'none', requeueAfterMs: requeue.requeueAfterMs };
    case 'sync':
      return { write: 'none' };
    case 'backOff':
      throw error ?? new BackOff({ message: 'requeued with back-off' });
  }
}

/**
 * Updates that require a reconcile. A status that differs only in messages or in values reported by the service does
 * not: otherwise a service that numbers its messages would cause a reconcile after each of our writes. The times of
 * creations do not, either: otherwise a creation that always fails would be repeated without a delay.
 */
const relevantChange: Predicate<ExternalObject> = {
  update: (old, obj) => !equal(essence(old), essence(obj)),
};

function essence(object: View<ExternalObject>): unknown {
  const { metadata, status = {}, ...rest } = object;
  const { resourceVersion: _, managedFields: __, annotations: all = {}, ...identity } = metadata;
  const kept = Object.entries(all).filter(([name]) => !isMoment(name));
  // A user removes this mark after checking an interrupted creation.
  const isMarked = annotationOf(object, 'createPending') !== undefined;
  // Synced only says how the last reconcile ended.
  const lasting = status.conditions?.filter(({ type }) => type !== 'Synced');
  const conditions = lasting?.map(({ type, status: is }) => [type, is]);
  return [rest, identity, Object.fromEntries(kept), isMarked, status.id, conditions];
}

const isMoment = (name: string): boolean =>
  name === annotations.createPending ||
  name === annotations.createSucceeded ||
  name === annotations.createFailed;

/** Watches Secrets only in the namespaces of the objects. */
const secretCache = <M extends ExternalObject>({ cache }: ExternalSpec<M>, caches: Caches) =>
  caches.of(Secret, {
    labels: `${CONNECTION_LABEL}=true`,
    ...(cache?.namespaces && { namespaces: cache.namespaces }),
  });

/** If a Secret is changed or deleted, it is written again at once. Own writes are ignored. */
const secretSource = <M extends ExternalObject>(spec: ExternalSpec<M>, caches: Caches): Source<M> =>
  watchSource({
    name: 'connection-secrets',
    cache: secretCache(spec, caches),
    toPrimary: byController(spec.kind),
    ownEvents: 'filter',
  });
