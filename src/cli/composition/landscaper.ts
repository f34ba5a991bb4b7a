/** The composition root: creates client, caches, controllers and deployers, connects them, and runs them. */
import { hostname } from 'node:os';
import { startHealthCheck } from '../../../controllers/health/index.ts';
import { startGarbageCollection } from '../../../deployers/container/index.ts';
import { deployerController, targetReaderOf } from '../../../deployers/sdk/controller.ts';
import { deployerMetrics } from '../../../deployers/sdk/metrics.ts';
import type { DeployerPlugin } from '../../../deployers/sdk/deployer.ts';
import { Closing } from '../../lib/closing.ts';
import {
  criticalProblemsRecord,
  recordBugs,
  withCriticalProblems,
  type ReportProblem,
} from '../../machine/critical.ts';
import { readinessAt } from '../../machine/readiness.ts';
import { podLookup, respectUpstreamLocks } from '../../landscape/upstream-locks.ts';
import { withTreeInLog } from '../../landscape/tree.ts';
import type { WorldKind } from '../../landscape/world.ts';
import { withTracing } from '../../landscape/tracing/controller.ts';
import { observeJobSpans } from '../../landscape/tracing/observer.ts';
import { startHealthServer, type HealthServer } from '../../observability/health.ts';
import { createManager, type StartableManager } from '../../runtime/manager/manager.ts';
import type { Client } from '../../runtime/types.ts';
import { defaults, type Configuration } from '../configuration/configuration.ts';
import { ensureCrds } from '../../landscape/ensure-crds.ts';
import { UsageError } from '../errors.ts';
import {
  fleetOf,
  identity,
  createProcessServices,
  type ProcessServices,
  type ProcessServicesOptions,
} from './process-services.ts';
import { controllerNames, deployerNames, itemTypes, type DeployerName } from '../names.ts';
import { addControllers, type AddController } from './controllers.ts';
import { kindsFor, readsTrees, type ProcessParts } from './needs.ts';
import { deployerPlugin } from './plugins.ts';

export interface LandscaperOptions extends ProcessServicesOptions {
  /** Names from `controllerNames`; default all. */
  readonly controllers?: readonly string[];
  /** Names from `deployerNames`; default all. */
  readonly deployers?: readonly string[];
  readonly metricsAddress?: { readonly host: string; readonly port: number };
  /** Whether to install or update the CustomResourceDefinitions first; default true. */
  readonly crds?: boolean;
  /** The pod of this process, for records of critical problems; default: from environment variables, or none. */
  readonly pod?: Pod;
  /** Also cancels the start. */
  readonly signal?: AbortSignal;
  /** Replaces the chosen deployers, or adds others; landscape tests use it to answer in their place. */
  readonly replacePlugins?: (chosen: readonly DeployerPlugin[]) => readonly DeployerPlugin[];
}

interface Pod {
  readonly name: string;
  readonly namespace: string;
}

export interface Landscaper {
  readonly client: Client;
  readonly manager: StartableManager;
  readonly health: HealthServer | undefined;
  stop(): Promise<void>;
}

export { controllerNames, deployerNames } from '../names.ts';

/**
 * Resolves when the controllers run.
 * @throws UsageError for unknown names; KubeconfigError, TransportError, ApiError if the API server cannot be used;
 * ShutdownError if the signal aborts first
 */
export async function startLandscaper(options: LandscaperOptions): Promise<Landscaper> {
  const { configuration = defaults, signal } = options;
  const controllers = chosen('controller', options.controllers, controllerNames);
  const deployers = chosen('deployer', options.deployers, deployerNames);
  const closing = new Closing();
  const onAbort = (): void => void closing.close();
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    const parts = { controllers, deployers };
    const kinds = kindsFor(parts, options.fleet !== undefined);
    const services = await createProcessServices({ ...options, kinds }, closing);
    const { client, clock, rng, log, metrics } = services;
    if (options.crds !== false && configuration.installsCrds)
      await ensureCrds(client, clock, log, {
        rng,
        signal: closing.signal,
        hasJournal: configuration.journal !== undefined,
      });
    const share = await fleetOf(options, services, parts, closing);
    const manager = createManager({ ...services, identity: identity(), ...(share && { share }) });
    closing.add(() => manager.stop());
    populate(manager, { ...services, kinds, signal: closing.signal }, parts, options);
    if (services.tracer && controllers.includes('installation')) {
      const holds = (tree: string): boolean => share?.holds(tree) ?? true;
      observeJobSpans(services.world, { tracer: services.tracer, clock: services.clock, holds });
    }

    const address = options.metricsAddress;
    const health = address && (await startHealthServer({ ...address, metrics, checks: manager.checks }));
    if (health) closing.add(() => health.close());
    await manager.start();
    if (controllers.includes('health') && configuration.health) {
      const ports = { client, write: manager.writer('health'), clock, rng, log };
      const { namespace, name } = configuration.health;
      const isOurs = (): boolean => share?.holds(`${namespace}/${name}`) ?? true;
      const check = startHealthCheck({ ...ports, isOurs, settings: configuration.health });
      closing.add(() => check.stop());
    }
    if (deployers.includes('container')) {
      const { container: settings } = configuration;
      const garbage = startGarbageCollection({ client, settings, clock, log });
      closing.add(() => garbage.stop());
    }
    return { client, manager, health, stop: () => closing.close() };
  } catch (error) {
    await closing.close();
    throw error;
  } finally {
    signal?.removeEventListener('abort', onAbort);
  }
}

/**
 * Adds controllers and deployers, wrapped with their common functions: upstream's locks, the tree in the log,
 * records of bugs.
 */
function populate(
  manager: StartableManager,
  services: PartServices,
  chosen: ProcessParts,
  { configuration = defaults, pod = podOf(process.env), replacePlugins = (own) => own }: LandscaperOptions,
): void {
  const { client, world, kinds, caches, clock, log, metrics, tracer } = services;
  const isPodThere = podLookup({ client, clock, ...(pod && { self: pod }) });
  const write = manager.writer('critical-problems');
  const report = pod && criticalProblemsRecord({ client, write, clock, log, pod });
  const add: AddController = (spec) => {
    // Every write of these controllers is part of a job, and jobs end: they cannot fight forever.
    const locked = respectUpstreamLocks({ ...spec, fights: 'ignore' }, () => world.syncObjects, isPodThere);
    const recorded = report ? withCriticalProblems(locked, report) : locked;
    const traced = tracer
      ? withTracing(recorded, caches.of(spec.kind, spec.cache), { tracer, clock })
      : recorded;
    manager.add(withTreeInLog(readsTrees(kinds) ? world : undefined, traced));
  };
  const readiness = readinessAt(clock, configuration.hasReadyConditions);
  const plugins = replacePlugins(pluginsOf(chosen.deployers, services, configuration));
  const servedTypes = new Set(plugins.map(({ type }) => type));
  addControllers(chosen.controllers, { ...services, readiness, servedTypes }, configuration, add);
  const shared = {
    ...services,
    readiness,
    responses: services.responses.target,
    metrics: deployerMetrics(metrics),
    textsOf: services.runnerOf,
  };
  const deps = { ...shared, reader: targetReaderOf(shared) };
  for (const plugin of plugins) {
    const name = chosen.deployers.find((one) => itemTypes[one] === plugin.type);
    const { settings, identity } = (name && configuration.deployers?.[name]) ?? {};
    const own = {
      ...deps,
      config: { strict: configuration.isStrict, readiness: configuration.readiness, ...settings },
      ...(identity !== undefined && { identity }),
    };
    add(deployerController(recordCrashes(plugin, report), own));
  }
}

interface PartServices extends ProcessServices {
  readonly kinds: readonly WorldKind[];
  readonly signal: AbortSignal;
}

/** The built-in deployers. */
function pluginsOf(
  names: readonly DeployerName[],
  services: ProcessServices,
  configuration: Configuration,
): readonly DeployerPlugin[] {
  const { client, clock } = services;
  const { downloads } = services.responses;
  const helm = {
    repositories: services.repositories,
    clock,
    chartsOf: services.runnerOf,
    descriptorsOf: services.runnerOf,
    downloads,
    ...configuration.helm,
  };
  const { withDefaults, trust } = services.repositories;
  const authorities = (): readonly string[] => trust.configured;
  const container = {
    client,
    textsOf: services.runnerOf,
    settings: configuration.container,
    withDefaults,
    authorities,
  };
  return names.map((name) => deployerPlugin(name, helm, container));
}

/** A crash of a plugin is shown in the item's status, and recorded as a critical problem as well. */
function recordCrashes(plugin: DeployerPlugin, report: ReportProblem | undefined): DeployerPlugin {
  if (!report) return plugin;
  const recording = recordBugs(plugin.name, report);
  return {
    ...plugin,
    apply: (run) => recording(run.item, () => plugin.apply(run)),
    remove: (run) => recording(run.item, () => plugin.remove(run)),
  };
}

/** Selects no controller, or no deployer. */
const NONE = 'none';

function chosen<const T extends string>(
  what: string,
  wanted: readonly string[] | undefined,
  known: readonly T[],
): readonly T[] {
  if (!wanted) return known;
  const names = wanted.filter((name) => name !== NONE);
  const unknown = names.filter((name) => !(known as readonly string[]).includes(name));
  if (unknown.length > 0) {
    throw new UsageError(
      `there is no ${what} "${unknown.join('", "')}"; known are ${known.join(', ')}, and ${NONE}`,
    );
  }
  if (names.length > 0 && names.length < wanted.length)
    throw new UsageError(`${NONE} cannot be combined with the name of a ${what}`);
  return known.filter((name) => names.includes(name));
}

const podOf = (env: NodeJS.ProcessEnv): Pod | undefined => {
  const namespace = env['MY_POD_NAMESPACE'];
  return namespace ? { name: env['MY_POD_NAME'] ?? hostname(), namespace } : undefined;
};
