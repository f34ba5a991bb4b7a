/**
 * The services that all controllers of a process share: connections, caches, component repositories, workers, and
 * the division of work among replicas.
 */
import { hostname } from 'node:os';
import type { Installation } from '../../api/kinds/installation.ts';
import { workerRunners } from '../../blueprint/workers/runner.ts';
import type { RunnerOf } from '../../blueprint/work.ts';
import {
  createComponentRepositories,
  type ComponentRepositories,
} from '../../components/component-repositories.ts';
import { systemClock, type Clock } from '../../lib/clock.ts';
import type { Closing } from '../../lib/closing.ts';
import type { Rng } from '../../lib/rng.ts';
import { secureRng } from '../../lib/secure-rng.ts';
import { cacheWithRequests } from '../../landscape/job-requests.ts';
import { deployItemKind } from '../../api/kinds/deployitem.ts';
import { createItemFleet } from '../../../deployers/sdk/item-fleet.ts';
import { createTreeFleet } from '../../landscape/tree-fleet.ts';
import { createWorld, type World, type WorldKind } from '../../landscape/world.ts';
import type { Logger } from '../../observability/log.ts';
import { createMetrics, type Metrics } from '../../observability/metrics.ts';
import { TracingSettingsError, type TracingConfiguration } from '../../observability/tracing/settings.ts';
import type { Tracer } from '../../observability/tracing/span.ts';
import { startTracing } from '../../observability/tracing/start.ts';
import { createCaches, type StartableCaches } from '../../runtime/cache/cache.ts';
import { createClient } from '../../runtime/transport/client.ts';
import { createClientPool, type ClientPool } from '../../runtime/transport/client-pool.ts';
import { connect, type KubeconfigSource, type ServerAddress } from '../../runtime/transport/http.ts';
import { createResponses, type Responses } from '../../runtime/transport/responses.ts';
import type { Share } from '../../runtime/controller/share.ts';
import type { CacheOptions, Client } from '../../runtime/types.ts';
import { defaults, type Configuration } from '../configuration/configuration.ts';
import { UsageError } from '../errors.ts';
import { packageInfo } from '../package.ts';
import { partsText, sharesTrees, type ProcessParts } from './needs.ts';
import { tracedRunners } from './traced-runner.ts';

export interface ProcessServicesOptions {
  readonly kubeconfig: KubeconfigSource;
  readonly log: Logger;
  /** Default: the system clock. */
  readonly clock?: Clock;
  readonly configuration?: Configuration;
  /**
   * Name of the fleet: replicas with the same name share the work. They must run the same controllers and
   * deployers.
   */
  readonly fleet?: FleetName;
  /** What the process reads; default: all kinds of the world. */
  readonly kinds?: readonly WorldKind[];
  /** Runs templates; default: worker processes of these controllers, which start with the first template. */
  readonly runnerOf?: RunnerOf;
  /** Exports traces with these settings and the standard environment variables; undefined: never. */
  readonly tracing?: TracingConfiguration;
  /** Wraps the client of all controllers; tests use it to inject failures. */
  readonly wrapClient?: (client: Client) => Client;
}

interface FleetName {
  /** Namespace of the Leases. */
  readonly namespace: string;
  /** Prefix of the Lease names. */
  readonly name: string;
  /** Milliseconds; default 15 000, 10 000 and 3 000. Must be the same for all replicas. */
  readonly timing?: {
    /** After this time without a renewal, other replicas take over the work. */
    readonly durationMs: number;
    /** How long a replica works without a renewal; shorter than the duration by at least the timeout of a request. */
    readonly renewDeadlineMs: number;
    readonly renewMs: number;
  };
}

/** The services of this process. */
export interface ProcessServices {
  readonly client: Client;
  /** Address of the API server, for targets that refer to their own cluster. */
  readonly self: ServerAddress;
  readonly caches: StartableCaches;
  readonly world: World;
  /** The options of the cache of installations, if they are not the default. */
  readonly installationCache?: CacheOptions<Installation>;
  /** Clients for other clusters. */
  readonly sources: ClientPool;
  /** Size limits for responses of servers. */
  readonly responses: Responses;
  /** Component repositories, with a cache. */
  readonly repositories: ComponentRepositories;
  /** Runs templates in worker processes. */
  readonly runnerOf: RunnerOf;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Undefined if traces are switched off. */
  readonly tracer?: Tracer;
}

/** In a pod, users of all namespaces name registries. */
export const registryOptions = (
  { registry }: Pick<Configuration, 'registry'>,
  kubeconfig: KubeconfigSource,
): Configuration['registry'] => ({
  ...(kubeconfig === 'in-cluster' && { localAddresses: 'none' as const }),
  ...registry,
});

export async function createProcessServices(
  options: ProcessServicesOptions,
  closing: Closing,
): Promise<ProcessServices> {
  const { kubeconfig, log, clock = systemClock, wrapClient = (own: Client) => own } = options;
  const metrics = createMetrics({ process: true });
  const { configuration = defaults } = options;
  const tracer = options.tracing && (await tracerOf(options.tracing, { clock, log, metrics }, closing));
  const responses = createResponses(configuration.limits.responses);
  const { host, target, downloads } = responses;
  const connection = await connect({ kubeconfig, ...common(log, clock), metrics, responses: host });
  const client = wrapClient(createClient(connection));
  closing.add(() => client.close());
  const sources = createClientPool(clock, async (text, usedBy) =>
    createClient(await connect({ kubeconfig: { text }, ...common(log, clock), responses: target, usedBy })),
  );
  closing.add(() => sources.close());
  const repositories = createComponentRepositories({
    clock,
    rng,
    signal: closing.signal,
    ...registryOptions(configuration, kubeconfig),
    report: ({ path, key }, problem) => {
      log.warn({ key, file: path, problem }, 'a configured file cannot be used');
    },
    downloads,
    componentLimits: configuration.limits,
  });
  closing.add(() => repositories.close());
  const runners = options.runnerOf ?? ownRunners(clock, configuration, closing);
  const runnerOf = tracer ? tracedRunners(runners) : runners;
  observeCache(repositories, metrics);
  const { watchNamespaces: namespaces } = configuration;
  const caches = createCaches({ client, clock, rng, log, metrics, ...(namespaces && { namespaces }) });
  const self = await connection.address();
  const installationCache = configuration.journal && cacheWithRequests;
  const world = createWorld(caches, installationCache, options.kinds);
  return {
    client,
    self,
    caches,
    world,
    ...(installationCache && { installationCache }),
    sources,
    responses,
    repositories,
    runnerOf,
    clock,
    rng,
    log,
    metrics,
    ...(tracer && { tracer }),
  };
}

/** Closed after everything that records spans. @throws UsageError for invalid environment variables */
async function tracerOf(
  tracing: TracingConfiguration,
  ports: { readonly clock: Clock; readonly log: Logger; readonly metrics: Metrics },
  closing: Closing,
): Promise<Tracer | undefined> {
  try {
    const service = { name: 'espalier', version: packageInfo().version, instance: identity() };
    const tracer = await startTracing(tracing, { ...ports, service });
    if (tracer) closing.add(() => tracer.close());
    return tracer;
  } catch (error) {
    if (error instanceof TracingSettingsError) throw new UsageError(error.message, { cause: error });
    throw error;
  }
}

function ownRunners(clock: Clock, { templating }: Configuration, closing: Closing): RunnerOf {
  const runners = workerRunners({ clock, ...templating });
  closing.add(() => runners.close());
  return runners.of;
}

/** Metrics with upstream's names. */
function observeCache(repositories: ComponentRepositories, metrics: Metrics): void {
  const labels = ['id'];
  const id = { id: 'components' };
  metrics.observed(
    { name: 'ociclient_cache_memory_usage_bytes', help: 'Bytes of fetched content in the cache.', labels },
    () => [[id, repositories.cache.size]],
  );
  metrics.observed(
    { name: 'ociclient_cache_items_total', help: 'Entries of fetched content in the cache.', labels },
    () => [[id, repositories.cache.items]],
  );
}

const rng: Rng = secureRng;
const common = (log: Logger, clock: Clock) => ({ userAgent: 'espalier', clock, rng, log }) as const;

/** The leases use separate connections, so that other requests do not delay renewals. */
export async function fleetOf(
  { fleet, kubeconfig, log, wrapClient = (own: Client) => own }: ProcessServicesOptions,
  { client, world, caches, metrics, responses, clock }: ProcessServices,
  parts: ProcessParts,
  closing: Closing,
): Promise<Share | undefined> {
  if (!fleet) return undefined;
  const own = wrapClient(
    createClient(await connect({ kubeconfig, ...common(log, clock), responses: responses.host })),
  );
  closing.add(() => own.close());
  const { namespace, name, timing } = fleet;
  const shared = {
    namespace,
    name,
    ...timing,
    client: own,
    clock,
    rng,
    log,
    metrics,
    identity: identity(),
    parts: partsText(parts),
  };
  return sharesTrees(parts)
    ? createTreeFleet({ ...shared, treeClient: client, world })
    : createItemFleet({ ...shared, itemClient: client, items: caches.of(deployItemKind) });
}

export const identity = (): string => `${process.env['MY_POD_NAME'] ?? hostname()}-${String(process.pid)}`;
