/**
 * The contract between a deployer and the SDK. A plugin says what it serves and answers one look at a time; the SDK
 * follows the job protocol and is the only one that writes the deploy item.
 */
import type { Clock } from '../../src/lib/clock.ts';
import type { Rng } from '../../src/lib/rng.ts';
import type { Logger } from '../../src/observability/log.ts';
import type { Mapper } from '../../src/runtime/sources/mappers.ts';
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

/**
 * One type of deploy item and how it is carried out.
 *
 * *Guarantees to the plugin*: never two looks at one item at a time; `config` has passed the codec; `remove` is
 * called only for items that are being deleted.
 * *Assumptions*: `apply` and `remove` are idempotent, may be cut off anywhere and are then called again, and never
 * block: when something has to happen first they answer `wait`.
 * *Errors*: `DeployerError`s decide by their codes, `InterruptedError` ends the look silently, any other `Error` is
 * tried again, and what only a bug throws is shown with reason Panic and tried again after five minutes.
 */
export interface DeployerPlugin<C = unknown, S = unknown> {
  /** `spec.type` of the items served. */
  readonly type: string;
  /** Goes to `status.deployer.name`. */
  readonly name: string;
  readonly version: string;
  /** Operation named when configuration or status cannot be read, such as `InitManifestOperation`. */
  readonly initOperation?: string;
  /** Begins the reason of a configuration or status that cannot be read: `Parse` (default) or `Decode`. */
  readonly decodeReason?: 'Parse' | 'Decode';
  readonly config: Codec<C>;
  /** Provider status; without a codec it is handed over as it is. */
  readonly status?: Codec<S>;
  apply(ctx: DeployContext<C, S>): Promise<Outcome<S>>;
  remove(ctx: DeployContext<C, S>): Promise<Outcome<S>>;
  /**
   * What `apply` or `remove` would change now. Clusters of the run answer writes as if and store nothing, its host
   * refuses them. Without it nobody can tell beforehand.
   */
  plan?(ctx: DeployContext<C, S>, direction: Direction): Promise<ItemPlan | undefined>;
  /** When the item is to be carried out again without being asked. */
  schedule?(config: C): ContinuousReconcile | undefined;
  /** Objects of the host cluster that wake items when they change. */
  watches?(caches: Caches): readonly Watched[];
  /**
   * Ends what may still run for an item without an open job: its job has just ended, by ourselves or by somebody else, or
   * something that is watched has changed since. Called again when it throws.
   */
  onJobEnded?(item: View<DeployItem>, signal: AbortSignal): Promise<void>;
}

/** Objects of one kind, and the items that they concern. */
export interface Watched {
  readonly cache: Cache<Obj>;
  readonly toItems: Mapper;
}

/** The plugin as it is; infers the types of configuration and status from its codecs. */
export const definePlugin = <C, S = unknown>(plugin: DeployerPlugin<C, S>): DeployerPlugin<C, S> => plugin;

/** What a plugin sees of one look at one item. */
export interface DeployContext<C = unknown, S = unknown> {
  readonly item: View<DeployItem>;
  readonly config: C;
  /** Provider status as last written. */
  readonly previous: S | undefined;
  readonly context: View<ContextObject>;
  /** Undefined when the item has none. */
  readonly target: ResolvedTarget | undefined;
  /** Another Target of the item's namespace. @throws RetryError when it cannot be had */
  readonly secondaryTarget: (name: string) => Promise<ResolvedTarget>;
  /** Other deploy items that manage the object with this uid and are going to keep it, as far as the cache knows. */
  readonly alsoManagedBy: (uid: string) => readonly View<DeployItem>[];
  /** Secrets and config maps beside the item. */
  readonly host: HostApi;
  /** Aborts on interruption, on shutdown, and when the time of the job is used up. */
  readonly signal: AbortSignal;
  /**
   * @returns milliseconds left for the job
   * @throws TimeoutError when there are none
   */
  readonly assertTimeLeft: (name: string) => number;
  /**
   * Makes it durable that work on the outside begins: phase Progressing, and a provider status under which a later
   * call finds what a crash may leave behind.
   */
  begin(this: void, status?: S): Promise<void>;
  /** Kept in memory between the looks of one job at one generation of the spec; lost with the process. */
  readonly scratch: Map<string, unknown>;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Logger;
  readonly event: (type: 'Normal' | 'Warning', reason: string, note: string) => void;
}

/** Counts and times, when somebody collects them. */
export interface DeployerMetrics {
  /** A job ended in `phase` after `seconds`. */
  jobEnded(deployer: string, phase: string, seconds: number): void;
  /** A look failed with this reason. */
  reconcileFailed(deployer: string, reason: string): void;
}

/** What the administrator of a deployer may choose; the defaults serve every item of its type. */
export interface DeployerSettings {
  readonly targetSelector?: readonly TargetSelector[];
  /** Whether items without a target are served; default true. */
  readonly claimUntargeted?: boolean;
  readonly continuousReconcile?: { readonly enabled?: boolean };
  /** Items worked on at the same time; default 30. */
  readonly workers?: number;
}

/** What the composition root hands to a deployer. */
export interface DeployerDeps {
  /** The host cluster: secrets, tokens. */
  readonly client: Client;
  readonly caches: Caches;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Logger;
  /** Unique name of this instance; default `<name>-<unix seconds>`. */
  readonly identity?: string;
  readonly metrics?: DeployerMetrics;
  readonly config?: DeployerSettings;
  /** Opens a target cluster by its kubeconfig; default: the runtime's client. */
  readonly connect?: (kubeconfig: string) => Promise<KubeAccess>;
  /** How large the answers of target clusters may be; default: one set of limits for the whole process. */
  readonly responses?: ResponseLimits;
  readonly self?: SelfCluster;
  /** Shared with other deployers of the process; default one of its own. */
  readonly reader?: TargetReader;
  readonly timeouts?: TimeoutPolicy;
  /** Closes the clients of target clusters. */
  readonly signal?: AbortSignal;
}
