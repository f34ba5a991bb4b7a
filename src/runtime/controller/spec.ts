/** How a controller is described by its author, and what the description means once defaults are filled in. */
import type { Timing } from './decide.ts';
import { DefinitionError } from '../errors.ts';
import { and, defaultPredicate, type GenerationMode, type Predicate } from '../sources/filters.ts';
import { checkFinalizer, defaultFinalizer } from './finalizer.ts';
import type { RateLimit } from '../queue/rate-limit.ts';
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

/** The author's part. Throwing means: try again after a growing delay; `NoRetryError` means: do not. */
export interface Reconciler<P extends Obj> {
  reconcile(primary: View<P>, ctx: Context<P>): Promise<UpdateControl<P>>;
  /** Undoes what reconcile did. Having it makes the runtime keep a finalizer on every primary. */
  cleanup?(primary: View<P>, ctx: Context<P>): Promise<DeleteControl>;
  /** Sees every failure of `reconcile`; may put it into the status and overrule the retry. */
  onError?(primary: View<P>, ctx: Context<P>, error: unknown): Promise<ErrorControl<P>>;
  /**
   * The primary has gone, cleaned up or not: lets go of what is remembered of it in this process. Called when no run of
   * it is under way, for every primary that goes, and maybe more than once.
   */
  forget?(primary: View<P>): void;
}

/** A controller as its author describes it; only name, kind and reconciler are needed. */
export interface ControllerSpec<P extends Obj> {
  /** Unique within a manager; own writes are recognised by it. */
  readonly name: string;
  readonly kind: Kind<P>;
  readonly reconciler: Reconciler<P>;
  /** Default: the name. */
  readonly fieldManager?: string;
  /** How many objects are worked on at a time. Default 10. */
  readonly maxConcurrent?: number;
  /**
   * `namespace`: namespaces take turns, and one of them has never all of `maxConcurrent`, unless that is 1.
   * Default `namespace` for namespaced kinds.
   */
  readonly fairness?: 'namespace' | 'none';
  /** After so long `ctx.signal` aborts; what the run makes of it is its business. Default: never. */
  readonly reconcileTimeoutMs?: number;
  /** Longest rest between two runs of an object, ±10 %; 0 switches it off. Default 10 h. */
  readonly syncPeriodMs?: number;
  /** Default `standard`. */
  readonly retry?: RetryPolicy | RetryPreset;
  readonly limit?: RateLimit;
  /**
   * Name of the finalizer, default `<plural>.<group>/finalizer` if there is a `cleanup`. `false`: no finalizer, and objects
   * that are being deleted are ignored. `{ handledBy: 'reconciler' }`: the runtime neither adds nor removes finalizers, and
   * `reconcile` is also called for objects that are being deleted.
   */
  readonly finalizer?: string | false | { readonly handledBy: 'reconciler' };
  /** How new generations are told: from the status, which the runtime then keeps; from memory; or not. */
  readonly generation?: GenerationMode;
  /** Whether events of own writes are dropped. Default `filter`. */
  readonly ownEvents?: 'filter' | 'deliver';
  /** Which events matter, on top of the defaults. */
  readonly filter?: Predicate<P>;
  /** `false`: only `filter` decides. */
  readonly defaults?: boolean;
  /** Events of a running primary for which `ctx.interrupt` aborts. */
  interruptWhen?(change: Change<P>): boolean;
  readonly sources?: readonly Source<P>[];
  readonly cache?: CacheOptions<P>;
  /**
   * Also counts the runs of each object by itself, in `espalier_object_reconcile_total` and
   * `espalier_object_reconcile_attempts`, until the object is gone. Default `false`: as many series as objects cost
   * memory here and in Prometheus.
   */
  readonly objectMetrics?: boolean;
}

/** What adds and removes finalizers. `none`: objects that are being deleted are ignored. */
type FinalizerMode =
  | { readonly type: 'runtime'; readonly name: string }
  | { readonly type: 'reconciler' }
  | { readonly type: 'none' };

/** A description with nothing left open. */
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

const DEFAULT_WORKERS = 10;
const DEFAULT_SYNC_MS = 10 * 3_600_000;
const SYNC_JITTER = 0.1;

/** @throws DefinitionError when parts of the description do not go together */
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

const BUILT_IN = new Set(['', 'apps', 'autoscaling', 'batch', 'extensions', 'policy']);
const BUILT_IN_K8S =
  /^(admissionregistration|apiextensions|apiregistration|authentication|authorization|certificates|coordination|discovery|events|flowcontrol\.apiserver|internal\.apiserver|networking|node|rbac\.authorization|resource|scheduling|storage|storagemigration)\.k8s\.io$/;

/** Whether a group belongs to Kubernetes itself, so that its kinds are not custom resources. */
const isBuiltIn = (group: string): boolean => BUILT_IN.has(group) || BUILT_IN_K8S.test(group);
