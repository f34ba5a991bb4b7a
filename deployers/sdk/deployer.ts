/**
 * The interface between a deployer and the SDK. A plugin names the type of deploy items that it handles, and
 * reconciles one at a time; the SDK implements the job protocol and is the only writer of the deploy item.
 */
import type { Clock } from '../../src/lib/clock.ts';
import type { Rng } from '../../src/lib/rng.ts';
import type { TextReader } from '../../src/lib/yaml-texts.ts';
import type { Logger } from '../../src/observability/log.ts';
import type { Tracer } from '../../src/observability/tracing/span.ts';
import type { Mapper } from '../../src/runtime/sources/mappers.ts';
import type { AddReadiness } from '../../src/machine/readiness.ts';
import type { ResponseLimits } from '../../src/runtime/transport/responses.ts';
import type { Cache, Caches, Client, Obj, View } from '../../src/runtime/types.ts';
import type { Codec } from './codec.ts';
import type { ContinuousReconcile } from './continuous.ts';
import type { HostApi } from './host.ts';
import type { Direction } from './intake.ts';
import type { ContextObject, DeployItem } from './kinds.ts';
import type { Outcome } from './outcome.ts';
import type { ItemPlan } from './item-plan.ts';
import type { TargetSelector } from './responsible.ts';
import type { KubeAccess } from './access.ts';
import type { ResolvedTarget, SelfCluster, TargetReader } from './target.ts';
import type { TimeoutPolicy } from './timeout.ts';
import type { DeployTrace } from './trace.ts';

/**
 * One type of deploy item, and how it is deployed.
 *
 * *Guarantees to the plugin*: a deploy item is never reconciled twice at the same time; `config` has been decoded by
 * the codec; `remove` is called only for deploy items that are being deleted. *Assumptions*: `apply` and `remove` are
 * idempotent, may be interrupted at any time and are then called again, and never block: if they have to wait for
 * something, they return `wait`. *Errors*: the codes of a `DeployerError` decide what happens, an `InterruptedError`
 * ends the reconcile silently, any other `Error` is retried; an error that is a bug, such as a TypeError, is shown
 * with reason Panic and retried after five minutes.
 */
export interface DeployerPlugin<C = unknown, S = unknown> {
  /** `spec.type` of the deploy items. */
  readonly type: string;
  /** Written to `status.deployer.name`. */
  readonly name: string;
  readonly version: string;
  /** The operation in errors about an unreadable configuration or status, such as `InitManifestOperation`. */
  readonly initOperation?: string;
  /** Prefix of the reason in errors about an unreadable configuration or status: `Parse` (default) or `Decode`. */
  readonly decodeReason?: 'Parse' | 'Decode';
  readonly config: Codec<C>;
  /**
   * The provider status lists objects on the target, as those of the manifest and helm deployers do: in
   * `managedResources`, and a release in `release`. The SDK then keeps one for each cluster to which the target leads,
   * and calls `remove` only if the one of the current cluster is not known to be empty.
   */
  readonly hasInventory?: boolean | undefined;
  /** Provider status; the SDK adds the codec's apiVersion and kind. Without a codec it is passed unchanged. */
  readonly status?: Codec<S>;
  apply(ctx: DeployContext<C, S>): Promise<Outcome<S>>;
  remove(ctx: DeployContext<C, S>): Promise<Outcome<S>>;
  /**
   * What `apply` or `remove` would change now. Writes to clusters of this context are dry runs, and its host rejects
   * them. Without this method, the changes are unknown.
   * @returns undefined if the changes are unknown
   * @throws PlanUnknown to say why they are; other errors if the job would fail
   */
  plan?(ctx: DeployContext<C, S>, direction: Direction): Promise<ItemPlan | undefined>;
  /** When a finished deploy item is reconciled again without a new job of its execution. */
  schedule?(config: C): ContinuousReconcile | undefined;
  /** Objects of the host cluster whose changes queue deploy items. */
  watches?(caches: Caches): readonly Watched[];
  /**
   * Ends work that may still be running for a deploy item without an open job: its job has just ended, or a watched
   * object has changed since. Retried when it throws.
   */
  onJobEnded?(item: View<DeployItem>, signal: AbortSignal): Promise<void>;
}

/** Objects of one kind, and their deploy items. */
export interface Watched {
  readonly cache: Cache<Obj>;
  readonly toItems: Mapper;
}

/** Returns the plugin; infers the types of configuration and status from its codecs. */
export const definePlugin = <C, S = unknown>(plugin: DeployerPlugin<C, S>): DeployerPlugin<C, S> => plugin;

/** What a plugin receives to reconcile one deploy item. */
export interface DeployContext<C = unknown, S = unknown> {
  readonly item: View<DeployItem>;
  readonly config: C;
  /** The stored provider status. */
  readonly previous: S | undefined;
  readonly context: View<ContextObject>;
  /** Undefined if the deploy item has none. */
  readonly target: ResolvedTarget | undefined;
  /** Another Target in the namespace of the deploy item. @throws RetryError when it cannot be read */
  readonly secondaryTarget: (name: string) => Promise<ResolvedTarget>;
  /** Other deploy items that manage the object with this uid and will keep it, according to the cache. */
  readonly alsoManagedBy: (uid: string) => readonly View<DeployItem>[];
  /** Secrets and config maps in the namespace of the deploy item. */
  readonly host: HostApi;
  /** Aborts on interruption, on shutdown, and when the job times out. */
  readonly signal: AbortSignal;
  /**
   * @returns milliseconds left for the job
   * @throws TimeoutError when the job has timed out
   */
  readonly assertTimeLeft: (name: string) => number;
  /**
   * Call it before changing anything outside of the host cluster: it stores phase Progressing, and a provider status
   * with which a later reconcile finds what a crash may leave behind.
   */
  begin(this: void, status?: S): Promise<void>;
  /** Kept in memory between reconciles of one job with one generation of the spec; lost when the process ends. */
  readonly scratch: Map<string, unknown>;
  /** When objects on the target are ready. */
  readonly readiness: ReadinessRules;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Logger;
  /** The trace of the job, and spans of the plugin. */
  readonly trace: DeployTrace;
  readonly event: (type: 'Normal' | 'Warning', reason: string, note: string) => void;
}

export const readinessRules = ['kstatus', 'landscaper'] as const;
/**
 * When objects on targets are ready. `kstatus`: by a rule for each kind, and by their conditions; `landscaper`: only the
 * six kinds that Landscaper waits for.
 */
export type ReadinessRules = (typeof readinessRules)[number];

/** Metrics of deployers. */
export interface DeployerMetrics {
  /** A job ended in `phase` after `seconds`. */
  jobEnded(deployer: string, phase: string, seconds: number): void;
  /** A reconcile failed with this reason. */
  reconcileFailed(deployer: string, reason: string): void;
}

/** Settings of the administrator; the defaults handle every deploy item of the type. */
export interface DeployerSettings {
  readonly targetSelector?: readonly TargetSelector[];
  /** Whether deploy items without a target are handled; default true. */
  readonly claimUntargeted?: boolean;
  readonly continuousReconcile?: { readonly enabled?: boolean };
  /** Whether a configuration with fields that the codec does not read fails the job; default false. */
  readonly strict?: boolean;
  /** When objects on targets are ready; default `kstatus`. */
  readonly readiness?: ReadinessRules;
  /** Maximum number of concurrent reconciles; default 30. */
  readonly workers?: number;
}

/** Dependencies of a deployer. */
export interface DeployerDeps {
  /** The host cluster, for secrets and tokens. */
  readonly client: Client;
  readonly caches: Caches;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Logger;
  /** Unique name of this instance; default `<name>-<unix seconds>-<random>`. */
  readonly identity?: string;
  readonly metrics?: DeployerMetrics;
  /** Default: no traces. */
  readonly tracer?: Tracer;
  readonly config?: DeployerSettings;
  /** Connects to a target cluster with its kubeconfig; default: the client of the runtime. */
  readonly connect?: (kubeconfig: string) => Promise<KubeAccess>;
  /** Limits for responses of target clusters; default: one set of limits for the whole process. */
  readonly responses?: ResponseLimits;
  readonly self?: SelfCluster;
  /** Reads YAML of the secrets of a namespace; default: in this thread, up to a few MiB. */
  readonly textsOf?: (namespace: string) => TextReader;
  /** Adds conditions to each status that is written; default: Ready, Reconciling and Stalled. */
  readonly readiness?: AddReadiness;
  /** Shared with other deployers of the process; default: not shared. */
  readonly reader?: TargetReader;
  readonly timeouts?: TimeoutPolicy;
  /** When it aborts, clients of target clusters are closed. */
  readonly signal?: AbortSignal;
}
