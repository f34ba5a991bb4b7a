/** The composition root: puts client, caches, controllers and deployers together and runs them. */
import { hostname } from 'node:os';
import { contextController } from '../../controllers/context/index.ts';
import { deployItemController } from '../../controllers/deployitem/index.ts';
import { executionController } from '../../controllers/execution/index.ts';
import { startHealthCheck } from '../../controllers/health/index.ts';
import { installationController } from '../../controllers/installation/index.ts';
import { syncObjectController } from '../../controllers/syncobject/index.ts';
import { targetSyncController } from '../../controllers/targetsync/index.ts';
import { manifestDeployer } from '../../deployers/manifest/index.ts';
import { mockDeployer } from '../../deployers/mock/index.ts';
import { deployerController, type DeployerPlugin } from '../../deployers/sdk/index.ts';
import { createStock } from '../components/stock.ts';
import { systemClock } from '../lib/clock.ts';
import { secureRng } from '../lib/secure-rng.ts';
import {
  criticalProblemsRecord,
  noteBugs,
  withCriticalProblems,
  type ReportProblem,
} from '../machine/critical.ts';
import { podLookup, withForeignLocks } from '../machine/foreign-locks.ts';
import { withTreeInLog } from '../machine/tree.ts';
import { createWorld } from '../machine/world.ts';
import { startHealthServer, type HealthServer } from '../observability/health.ts';
import type { Logger } from '../observability/log.ts';
import { createMetrics, type Metrics } from '../observability/metrics.ts';
import { createCaches } from '../runtime/cache.ts';
import { createClient } from '../runtime/client.ts';
import { createClientPool, type ClientPool } from '../runtime/client-pool.ts';
import type { ControllerSpec } from '../runtime/controller.ts';
import { connect, type KubeconfigSource } from '../runtime/http.ts';
import { createManager, type Manager } from '../runtime/manager.ts';
import type { Client, Obj } from '../runtime/types.ts';
import { defaults, type Configuration } from './configuration.ts';
import { ensureCrds } from './ensure-crds.ts';
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

/** @throws UsageError for unknown names; KubeconfigError, TransportError, ApiError when the server cannot be used */
export async function startLandscaper(options: LandscaperOptions): Promise<Landscaper> {
  const { log, configuration = defaults } = options;
  const controllers = chosen('controller', options.controllers, controllerNames);
  const deployers = chosen('deployer', options.deployers, deployerNames);
  const clock = systemClock;
  const rng = secureRng;
  const metrics = createMetrics({ process: true });
  const connection = await connect({
    kubeconfig: options.kubeconfig,
    userAgent: 'espalier',
    clock,
    rng,
    log,
    registry: metrics.registry,
  });
  const { wrapClient = (own: Client) => own } = options;
  const client = wrapClient(createClient(connection));
  const life = new AbortController();
  const stopAll: (() => Promise<void>)[] = [() => client.close()];
  const stop = async (): Promise<void> => {
    life.abort();
    for (const step of stopAll.reverse()) await step();
  };
  try {
    if (options.crds !== false && configuration.installsCrds) await ensureCrds(client, clock, log);
    const sources = createClientPool(clock, async (text) =>
      createClient(await connect({ kubeconfig: { text }, userAgent: 'espalier', clock, rng, log })),
    );
    stopAll.push(() => sources.close());
    const caches = createCaches({ client, clock, rng, log, registry: metrics.registry });
    const manager = createManager({ client, caches, clock, rng, log, metrics, identity: identity() });
    stopAll.push(() => manager.stop());
    const world = createWorld(caches);
    const stock = createStock({ clock, rng, signal: life.signal, ...configuration.registry });
    stopAll.push(() => stock.close());
    const ports = { world, client, clock, rng, sources, stock };
    const { pod = podOf(process.env) } = options;
    const write = manager.writer('critical-problems');
    const isPodThere = podLookup({ client, clock, ...(pod && { self: pod }) });
    const report = pod && criticalProblemsRecord({ client, write, clock, log, pod });
    const add = (spec: ControllerSpec<Obj>): void => {
      const locked = withForeignLocks(spec, world.syncObjects, isPodThere);
      manager.add(withTreeInLog(world, report ? withCriticalProblems(locked, report) : locked));
    };
    for (const name of controllers) {
      if (name === 'health' || (name === 'context' && configuration.contexts.isDisabled)) continue;
      add(controllerSpec(name, ports, configuration, metrics) as ControllerSpec<Obj>);
    }
    const self = await connection.address();
    for (const name of deployers) {
      const deps = {
        self,
        client,
        caches,
        clock,
        rng,
        log,
        metrics: deployerMetrics(metrics),
        signal: life.signal,
      };
      add(
        deployerController(withRecord(deployerPlugin(name), report), deps) as unknown as ControllerSpec<Obj>,
      );
    }
    const address = options.metricsAddress;
    const health = address && (await startHealthServer({ ...address, metrics, checks: manager.checks }));
    if (health) stopAll.push(() => health.close());
    await manager.start();
    if (controllers.includes('health') && configuration.health) {
      const ports = { client, write: manager.writer('health'), clock, rng, log };
      const check = startHealthCheck({ ...ports, settings: configuration.health });
      stopAll.push(() => check.stop());
    }
    return { client, manager, health, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

type ControllerPorts = Parameters<typeof installationController>[0] & { readonly sources: ClientPool };

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
      return installationController({ ...ports, ...workers, entered });
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

function deployerPlugin(name: DeployerName): DeployerPlugin {
  switch (name) {
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

function deployerMetrics(metrics: Metrics) {
  const jobs = metrics.histogram({
    name: 'espalier_deployer_job_duration_seconds',
    help: 'Time from the start to the end of a deploy item job, by deployer and final phase.',
    labels: ['deployer', 'phase'],
  });
  const failures = metrics.counter({
    name: 'espalier_deployer_errors_total',
    help: 'Looks at a deploy item that failed, by deployer and reason.',
    labels: ['deployer', 'reason'],
  });
  return {
    jobEnded(deployer: string, phase: string, seconds: number) {
      jobs.observe({ deployer, phase }, seconds);
    },
    lookFailed(deployer: string, reason: string) {
      failures.inc({ deployer, reason });
    },
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

const identity = (): string => `${process.env['MY_POD_NAME'] ?? 'espalier'}-${String(process.pid)}`;
