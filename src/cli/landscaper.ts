/** The composition root: puts client, caches, controllers and deployers together and runs them. */
import { hostname } from 'node:os';
import { contextController } from '../../controllers/context/index.ts';
import { deployItemController } from '../../controllers/deployitem/index.ts';
import { executionController } from '../../controllers/execution/index.ts';
import { startHealthCheck } from '../../controllers/health/index.ts';
import { installationController } from '../../controllers/installation/index.ts';
import { syncObjectController } from '../../controllers/syncobject/index.ts';
import { targetSyncController } from '../../controllers/targetsync/index.ts';
import { helmDeployer, type HelmOptions } from '../../deployers/helm/index.ts';
import { manifestDeployer } from '../../deployers/manifest/index.ts';
import { mockDeployer } from '../../deployers/mock/index.ts';
import { deployerController, deployerMetrics, type DeployerPlugin } from '../../deployers/sdk/index.ts';
import { asideRunner } from '../blueprint/aside/runner.ts';
import type { TemplateRunner } from '../blueprint/work.ts';
import { createStock, type Stock } from '../components/stock.ts';
import { systemClock, type Clock } from '../lib/clock.ts';
import { Closing } from '../lib/closing.ts';
import type { Rng } from '../lib/rng.ts';
import { secureRng } from '../lib/secure-rng.ts';
import {
  criticalProblemsRecord,
  noteBugs,
  withCriticalProblems,
  type ReportProblem,
} from '../machine/critical.ts';
import { podLookup, withForeignLocks } from '../machine/foreign-locks.ts';
import { withTreeInLog } from '../machine/tree.ts';
import { createWorld, type World } from '../machine/world.ts';
import { startHealthServer, type HealthServer } from '../observability/health.ts';
import type { Logger } from '../observability/log.ts';
import { createMetrics, type Metrics } from '../observability/metrics.ts';
import { createCaches, type StartableCaches } from '../runtime/cache.ts';
import { createClient } from '../runtime/client.ts';
import { createClientPool, type ClientPool } from '../runtime/client-pool.ts';
import type { ControllerSpec } from '../runtime/controller.ts';
import { connect, type KubeconfigSource, type ServerAddress } from '../runtime/http.ts';
import { createManager, type LeaseSettings, type Manager } from '../runtime/manager.ts';
import type { Client, Obj } from '../runtime/types.ts';
import { defaults, type Configuration } from './configuration.ts';
import { ensureCrds } from '../machine/ensure-crds.ts';
import { UsageError } from './errors.ts';
import { controllerNames, deployerNames, type ControllerName, type DeployerName } from './names.ts';

export interface LandscaperOptions {
  readonly kubeconfig: KubeconfigSource;
  readonly log: Logger;
  readonly configuration?: Configuration;
  /** Names as in `controllerNames`; default all. */
  readonly controllers?: readonly string[];
  /** Names as in `deployerNames`; default all. */
  readonly deployers?: readonly string[];
  readonly metricsAddress?: { readonly host: string; readonly port: number };
  /** Install or update the CustomResourceDefinitions first; default true. */
  readonly crds?: boolean;
  /** Where this program runs, for the record of critical problems; default: as the environment says, or none. */
  readonly pod?: Pod;
  /** Work only while holding this Lease, so that of several replicas one works and the others stand by. */
  readonly lease?: { readonly namespace: string; readonly name: string };
  /** Called when another replica has taken over; nothing is written any more, and the process should end. */
  readonly onLeaseLost?: (error: Error) => void;
  /** Ends the start as well, which may take long when another replica works. */
  readonly signal?: AbortSignal;
  /** Stands between all controllers and the cluster; tests put a client in between that fails at the right moment. */
  readonly wrapClient?: (client: Client) => Client;
}

export interface Pod {
  readonly name: string;
  readonly namespace: string;
}

export interface Landscaper {
  readonly client: Client;
  readonly manager: Manager;
  readonly health: HealthServer | undefined;
  stop(): Promise<void>;
}

export { controllerNames, deployerNames } from './names.ts';

/**
 * Resolves when the controllers run.
 * @throws UsageError for unknown names; KubeconfigError, TransportError, ApiError when the server cannot be used;
 *   ShutdownError when the signal came first
 */
export async function startLandscaper(options: LandscaperOptions): Promise<Landscaper> {
  const { configuration = defaults, signal } = options;
  const controllers = chosen('controller', options.controllers, controllerNames);
  const deployers = chosen('deployer', options.deployers, deployerNames);
  const closing = new Closing();
  const onAbort = (): void => void closing.close();
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    const ground = await prepareGround(options, closing);
    const { client, clock, rng, log, metrics } = ground;
    if (options.crds !== false && configuration.installsCrds) await ensureCrds(client, clock, log);
    const lease = await leaseSettings(options, closing);
    const manager = createManager({ ...ground, identity: identity(), ...(lease && { lease }) });
    closing.add(() => manager.stop());
    populate(manager, ground, closing.signal, { controllers, deployers }, options);

    const address = options.metricsAddress;
    const health = address && (await startHealthServer({ ...address, metrics, checks: manager.checks }));
    if (health) closing.add(() => health.close());
    await manager.start();
    if (controllers.includes('health') && configuration.health) {
      const ports = { client, write: manager.writer('health'), clock, rng, log };
      const check = startHealthCheck({ ...ports, settings: configuration.health });
      closing.add(() => check.stop());
    }
    return { client, manager, health, stop: () => closing.close() };
  } catch (error) {
    await closing.close();
    throw error;
  } finally {
    signal?.removeEventListener('abort', onAbort);
  }
}

/** What everything in this process stands on. */
interface Ground {
  readonly client: Client;
  /** Where the cluster is, for targets that mean itself. */
  readonly self: ServerAddress;
  readonly caches: StartableCaches;
  readonly world: World;
  /** Clients of other clusters. */
  readonly sources: ClientPool;
  /** What was read from registries and archives. */
  readonly stock: Stock;
  /** Executes templates beside everything else. */
  readonly runner: TemplateRunner;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Logger;
  readonly metrics: Metrics;
}

async function prepareGround(options: LandscaperOptions, closing: Closing): Promise<Ground> {
  const { kubeconfig, log, wrapClient = (own: Client) => own } = options;
  const metrics = createMetrics({ process: true });
  const { registry } = metrics;
  const connection = await connect({ kubeconfig, ...common(log), registry });
  const client = wrapClient(createClient(connection));
  closing.add(() => client.close());
  const sources = createClientPool(clock, async (text) =>
    createClient(await connect({ kubeconfig: { text }, ...common(log) })),
  );
  closing.add(() => sources.close());
  const { configuration = defaults } = options;
  const stock = createStock({ clock, rng, signal: closing.signal, ...configuration.registry });
  closing.add(() => stock.close());
  const runner = asideRunner({ clock, ...configuration.templating });
  closing.add(() => runner.close());
  observeCache(stock, metrics);
  const caches = createCaches({ client, clock, rng, log, registry });
  const self = await connection.address();
  const world = createWorld(caches);
  return { client, self, caches, world, sources, stock, runner, clock, rng, log, metrics };
}

/** Under upstream's names. */
function observeCache(stock: Stock, metrics: Metrics): void {
  const labels = ['id'];
  const id = { id: 'components' };
  metrics.observed(
    { name: 'ociclient_cache_memory_usage_bytes', help: 'Bytes of fetched contents that are kept.', labels },
    () => [[id, stock.cache.size]],
  );
  metrics.observed(
    { name: 'ociclient_cache_items_total', help: 'Fetched contents that are kept.', labels },
    () => [[id, stock.cache.items]],
  );
}

const clock: Clock = systemClock;
const rng: Rng = secureRng;
const common = (log: Logger) => ({ userAgent: 'espalier', clock, rng, log }) as const;

/** The lease has connections of its own, so that nothing delays a renewal. */
async function leaseSettings(
  options: LandscaperOptions,
  closing: Closing,
): Promise<LeaseSettings | undefined> {
  const { lease, log, kubeconfig, onLeaseLost = () => undefined } = options;
  if (!lease) return undefined;
  const client = createClient(await connect({ kubeconfig, ...common(log) }));
  closing.add(() => client.close());
  log.info({ lease }, 'waiting until no other replica works');
  return { ...lease, client, onLost: onLeaseLost };
}

/** Adds controllers and deployers with what they share: foreign locks, the tree in the log, the record of bugs. */
function populate(
  manager: Manager,
  ground: Ground,
  signal: AbortSignal,
  chosen: { readonly controllers: readonly ControllerName[]; readonly deployers: readonly DeployerName[] },
  { configuration = defaults, pod = podOf(process.env) }: LandscaperOptions,
): void {
  const { client, world, log, metrics } = ground;
  const isPodThere = podLookup({ client, clock, ...(pod && { self: pod }) });
  const write = manager.writer('critical-problems');
  const report = pod && criticalProblemsRecord({ client, write, clock, log, pod });
  const add = (spec: ControllerSpec<Obj>): void => {
    const locked = withForeignLocks(spec, world.syncObjects, isPodThere);
    manager.add(withTreeInLog(world, report ? withCriticalProblems(locked, report) : locked));
  };
  const { limits } = configuration.templating;
  const helm = { stock: ground.stock, clock, limits, ...configuration.helm };
  const plugins = chosen.deployers.map((name) => deployerPlugin(name, helm));
  for (const name of chosen.controllers) {
    if (name === 'health' || (name === 'context' && configuration.contexts.isDisabled)) continue;
    add(
      controllerSpec(
        name,
        { ...ground, servedTypes: new Set(plugins.map(({ type }) => type)) },
        configuration,
        metrics,
      ) as ControllerSpec<Obj>,
    );
  }
  const deps = { ...ground, metrics: deployerMetrics(metrics), signal };
  for (const plugin of plugins) {
    add(deployerController(withRecord(plugin, report), deps) as unknown as ControllerSpec<Obj>);
  }
}

type ControllerPorts = Parameters<typeof installationController>[0] &
  Parameters<typeof executionController>[0];

function controllerSpec(
  name: Exclude<ControllerName, 'health'>,
  ports: ControllerPorts,
  configuration: Configuration,
  metrics: Metrics,
): unknown {
  const { world, client, clock } = ports;
  if (name === 'syncobject') return syncObjectController({ world, client });
  const entered = phaseMetric(metrics, name);
  const workers = { workers: configuration.workers[name] };
  switch (name) {
    case 'installation':
      return installationController({
        ...{ ...ports, ...workers, entered },
        ...(configuration.verification && { verification: configuration.verification }),
      });
    case 'execution':
      return executionController({ ...ports, ...workers, entered });
    case 'deployitem':
      return deployItemController({
        ...{ world, client, clock, ...workers },
        pickupTimeoutMs: configuration.pickupTimeoutMs,
      });
    case 'context':
      return contextController({ world, ...workers, ...configuration.contexts });
    case 'targetsync':
      return targetSyncController({ world, client, clock, sources: ports.sources, ...workers });
  }
}

function deployerPlugin(name: DeployerName, helm: HelmOptions): DeployerPlugin {
  switch (name) {
    case 'helm':
      return helmDeployer(helm);
    case 'manifest':
      return manifestDeployer();
    case 'mock':
      return mockDeployer();
  }
}

/** A crash of a plugin ends in the item's status; it belongs on record as well. */
function withRecord(plugin: DeployerPlugin, report: ReportProblem | undefined): DeployerPlugin {
  if (!report) return plugin;
  const noting = noteBugs(plugin.name, report);
  return {
    ...plugin,
    apply: (run) => noting(run.item, () => plugin.apply(run)),
    remove: (run) => noting(run.item, () => plugin.remove(run)),
  };
}

function phaseMetric(metrics: Metrics, controller: string): (phase: string) => void {
  const counter = metrics.counter({
    name: 'espalier_phase_transitions_total',
    help: 'Phases entered, by controller and phase.',
    labels: ['controller', 'phase'],
  });
  return (phase) => {
    counter.inc({ controller, phase });
  };
}

function chosen<const T extends string>(
  what: string,
  wanted: readonly string[] | undefined,
  known: readonly T[],
): readonly T[] {
  if (!wanted) return known;
  const unknown = wanted.filter((name) => !(known as readonly string[]).includes(name));
  if (unknown.length > 0) {
    throw new UsageError(`there is no ${what} "${unknown.join('", "')}"; known are ${known.join(', ')}`);
  }
  return known.filter((name) => wanted.includes(name));
}

const podOf = (env: NodeJS.ProcessEnv): Pod | undefined => {
  const namespace = env['MY_POD_NAMESPACE'];
  return namespace ? { name: env['MY_POD_NAME'] ?? hostname(), namespace } : undefined;
};

const identity = (): string => `${process.env['MY_POD_NAME'] ?? hostname()}-${String(process.pid)}`;
