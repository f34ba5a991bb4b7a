/** The description of a controller, and its settings with defaults. */
import { isPositive } from '../../lib/positive.ts';
import { isBuiltIn } from '../built-in.ts';
import type { Timing } from './decide.ts';
import { DefinitionError } from '../errors.ts';
import { and, defaultPredicate, type GenerationMode, type Predicate } from '../sources/filters.ts';
import { checkFinalizer, defaultFinalizer } from './finalizer.ts';
import type { RateLimit } from '../queue/rate-limit.ts';
import { checkTotalLimit, type TotalLimit } from '../queue/throttle.ts';
import { retryPolicyOf, type RetryPolicy, type RetryPreset } from '../queue/retry.ts';
import type { Source } from '../sources/sources.ts';
import type {
  CacheOptions,
  Change,
  Context,
  DeleteControl,
  ErrorControl,
  Kind,
  Obj,
  UpdateControl,
  View,
} from '../types.ts';

/** The logic of a controller. An error is retried with growing delays, a `NoRetryError` is not retried. */
export interface Reconciler<P extends Obj> {
  reconcile(primary: View<P>, ctx: Context<P>): Promise<UpdateControl<P>>;
  /** Undoes what `reconcile` did. With a `cleanup`, the runtime adds a finalizer to every primary. */
  cleanup?(primary: View<P>, ctx: Context<P>): Promise<DeleteControl>;
  /** Called for each failure of `reconcile`; can write it to the status and change whether it is retried. */
  onError?(primary: View<P>, ctx: Context<P>, error: unknown): Promise<ErrorControl<P>>;
  /**
   * Drops what this process remembers about a primary: it is gone, with or without cleanup, or another replica has handled
   * it meanwhile. Called while it is not being reconciled, and possibly more than once: after a failure it is called
   * again, with growing delays, until it succeeds or the process ends.
   */
  forget?(primary: View<P>): void | Promise<void>;
}

/** Description of a controller; only name, kind and reconciler are required. */
export interface ControllerSpec<P extends Obj> {
  /** Unique within a manager; identifies own writes. */
  readonly name: string;
  readonly kind: Kind<P>;
  readonly reconciler: Reconciler<P>;
  /** Default: the name. */
  readonly fieldManager?: string;
  /** Maximum number of concurrent reconciles. Default 10. */
  readonly maxConcurrent?: number;
  /**
   * `namespace`: namespaces take turns, and none of them gets all of `maxConcurrent`, unless that is 1. Default
   * `namespace` for namespaced kinds.
   */
  readonly fairness?: 'namespace' | 'none';
  /**
   * A reconcile that takes longer leaves its worker to others, so that those which wait for slow servers do not hold up
   * other namespaces. A namespace still has less than `maxConcurrent` reconciles at a time, all of them together at most
   * ten times as many. Default: a reconcile keeps its worker. No effect without fairness, or if `maxConcurrent` is 1.
   */
  readonly freesWorkerAfterMs?: number;
  /** After this time `ctx.signal` aborts; the reconciler decides how to react. Default: never. */
  readonly reconcileTimeoutMs?: number;
  /** Maximum time between two reconciles of an object, ±10 %; 0 disables it. Default 10 h. */
  readonly syncPeriodMs?: number;
  /** Default `standard`. */
  readonly retry?: RetryPolicy | RetryPreset;
  /** Limits the reconciles of each object. */
  readonly limit?: RateLimit;
  /** Limits the reconciles of all objects together. */
  readonly totalLimit?: TotalLimit;
  /**
   * What happens if another client changes a field back after each write: `slow`, the default, delays the reconciles of
   * the primary, and reports the field and the other field manager; `ignore` does neither.
   */
  readonly fights?: 'slow' | 'ignore';
  /**
   * Name of the finalizer, default `<plural>.<group>/finalizer` if there is a `cleanup`. `false`: no finalizer, and objects
   * that are being deleted are ignored. `{ handledBy: 'reconciler' }`: the runtime neither adds nor removes finalizers, and
   * `reconcile` is also called for objects that are being deleted.
   */
  readonly finalizer?: string | false | { readonly handledBy: 'reconciler' };
  /**
   * How a new generation is recognised: from the status, which the runtime then updates; from memory; or not at all.
   */
  readonly generation?: GenerationMode;
  /** Whether events of own writes are dropped. Default `filter`. */
  readonly ownEvents?: 'filter' | 'deliver';
  /** Which events are handled, in addition to the default filter. */
  readonly filter?: Predicate<P>;
  /** `false`: only `filter` decides. */
  readonly defaults?: boolean;
  /** Events of an active primary for which `ctx.interrupt` aborts. */
  interruptWhen?(change: Change<P>): boolean;
  readonly sources?: readonly Source<P>[];
  readonly cache?: CacheOptions<P>;
  /**
   * Also counts the reconciles of each object, in `espalier_object_reconcile_total` and
   * `espalier_object_reconcile_attempts`, until the object is gone. Default `false`, because a series for each object
   * needs memory here and in Prometheus.
   */
  readonly objectMetrics?: boolean;
  /** Additional fields of all log lines of a reconcile, including the line about its failure. Called when it starts. */
  logFields?(primary: View<P>): object;
}

/** What adds and removes finalizers. `none`: objects that are being deleted are ignored. */
type FinalizerMode =
  | { readonly type: 'runtime'; readonly name: string }
  | { readonly type: 'reconciler' }
  | { readonly type: 'none' };

/** A description with all defaults filled in. */
export interface Settings<P extends Obj> {
  readonly spec: ControllerSpec<P>;
  readonly finalizer: FinalizerMode;
  readonly generation: GenerationMode;
  readonly admission: Predicate<P>;
  readonly timing: Timing;
  readonly maxConcurrent: number;
  readonly fairness: 'namespace' | 'none';
  readonly fieldManager: string;
  readonly ownEvents: 'filter' | 'deliver';
}

/** `freesWorkerAfterMs` for controllers that wait for servers of tenants: few reconciles that work take longer. */
export const SLOW_RECONCILE_MS = 10_000;

const DEFAULT_WORKERS = 10;
const DEFAULT_SYNC_MS = 10 * 3_600_000;
const SYNC_JITTER = 0.1;

/** @throws DefinitionError when the description is inconsistent */
export function settingsOf<P extends Obj>(spec: ControllerSpec<P>): Settings<P> {
  const finalizer = finalizerMode(spec);
  const generation = spec.generation ?? 'memory';
  if (generation === 'status' && isBuiltIn(spec.kind.group)) {
    throw new DefinitionError({
      message: `controller ${spec.name}: ${spec.kind.kind} is not a custom resource, so its status cannot hold an observed generation`,
    });
  }
  const maxConcurrent = spec.maxConcurrent ?? DEFAULT_WORKERS;
  if (!(maxConcurrent >= 1)) {
    throw new DefinitionError({ message: `controller ${spec.name}: maxConcurrent must be at least 1` });
  }
  checkTimes(spec);
  if (spec.totalLimit) checkTotalLimit(spec.name, spec.totalLimit);
  const names = (spec.sources ?? []).map((source) => source.name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice)
    throw new DefinitionError({ message: `controller ${spec.name}: two sources are named ${twice}` });
  const kept = finalizer.type === 'runtime' ? finalizer.name : undefined;
  const defaults = spec.defaults === false ? {} : (defaultPredicate(generation, kept) as Predicate<P>);
  return {
    spec,
    finalizer,
    generation,
    admission: and<P>(defaults, spec.filter ?? {}),
    timing: {
      retry: retryPolicyOf(spec.retry),
      syncMs: spec.syncPeriodMs ?? DEFAULT_SYNC_MS,
      syncJitter: SYNC_JITTER,
    },
    maxConcurrent,
    fairness: spec.kind.namespaced ? (spec.fairness ?? 'namespace') : 'none',
    fieldManager: spec.fieldManager ?? spec.name,
    ownEvents: spec.ownEvents ?? 'filter',
  };
}

function checkTimes<P extends Obj>(spec: ControllerSpec<P>): void {
  const refuse = (field: string, value: unknown): never => {
    throw new DefinitionError({
      message: `controller ${spec.name}: ${field} must be a positive number, not ${String(value)}`,
    });
  };
  for (const field of ['freesWorkerAfterMs', 'reconcileTimeoutMs'] as const)
    if (spec[field] !== undefined && !isPositive(spec[field])) refuse(field, spec[field]);
  const { syncPeriodMs = 0, limit } = spec;
  if (!(syncPeriodMs >= 0)) refuse('syncPeriodMs', syncPeriodMs);
  for (const [field, value] of Object.entries({ reconciles: 1, perMs: 1, ...limit }))
    if (!isPositive(value)) refuse(`limit.${field}`, value);
}

function finalizerMode<P extends Obj>({
  finalizer,
  reconciler,
  kind,
  name,
}: ControllerSpec<P>): FinalizerMode {
  if (finalizer === false) return { type: 'none' };
  if (typeof finalizer === 'object') return { type: 'reconciler' };
  if (!reconciler.cleanup) {
    if (finalizer === undefined) return { type: 'none' };
    throw new DefinitionError({
      message: `controller ${name}: a finalizer without a cleanup would never be removed`,
    });
  }
  const chosen = finalizer ?? defaultFinalizer(kind);
  checkFinalizer(chosen);
  return { type: 'runtime', name: chosen };
}
