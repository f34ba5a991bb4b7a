/**
 * A cluster for scenarios: the embedded API server, or the one that ESPALIER_TEST_KUBECONFIG names. Tests see
 * everything that happens in it, and wait for what they see, never for time to pass.
 */
import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { startApiServer, type ApiServer } from '../../src/apiserver/server.ts';
import { ensureCrds } from '../../src/landscape/ensure-crds.ts';
import {
  startLandscaper,
  type Landscaper,
  type LandscaperOptions,
} from '../../src/cli/composition/landscaper.ts';
import { defaults, type Configuration } from '../../src/cli/configuration/configuration.ts';
import { contextKind } from '../../src/api/kinds/context.ts';
import { API_VERSION } from '../../src/api/labels.ts';
import type { RunnerOf } from '../../src/blueprint/work.ts';
import { workerRunners, type WorkerRunners } from '../../src/blueprint/workers/runner.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { systemRng } from '../../src/lib/rng.ts';
import { createWorld, namespaceKind, type World } from '../../src/landscape/world.ts';
import { silentLogger } from '../../src/observability/log.ts';
import { createCaches } from '../../src/runtime/cache/cache.ts';
import { createClient } from '../../src/runtime/transport/client.ts';
import { AlreadyExists } from '../../src/runtime/errors.ts';
import { connect } from '../../src/runtime/transport/http.ts';
import type { Cache, Client, Obj, View } from '../../src/runtime/types.ts';
import { Faults } from './faults.ts';
import { Scene } from './scene.ts';
import { SkippingClock } from './skipping-clock.ts';

/** An observed event of an object; `gone` if it was deleted. */
export interface Sight {
  readonly object: View<Obj>;
  readonly gone: boolean;
}

export interface ControllerOptions {
  /** Default: installation, execution and deployitem. Scenes create their own Context. */
  readonly controllers?: readonly string[];
  /** Default: mock. For items of other types the test acts as the deployer. */
  readonly deployers?: readonly string[];
  readonly config?: Partial<Configuration>;
  readonly more?: Pick<Partial<LandscaperOptions>, 'log' | 'metricsAddress' | 'fleet' | 'tracing'>;
}

/** A running set of controllers, and its faults. */
export interface Controllers {
  readonly landscaper: Landscaper;
  readonly faults: Faults;
  /** Stops gracefully: running reconciles are finished. */
  stop(): Promise<void>;
  /** Stops like a killed process: from now on no request is sent. */
  crash(): Promise<void>;
}

export interface Cluster {
  readonly client: Client;
  readonly kubeconfig: string;
  /** The embedded server with its audit log; undefined for a real one. */
  readonly server: ApiServer | undefined;
  readonly world: World;
  /** The clock of the controllers: the machine's, until a test skips some time. */
  readonly clock: SkippingClock;
  /** All observed events of a namespace, in the order of each kind's watch. */
  history(namespace: string): readonly Sight[];
  /** Calls back after each observed event, until the returned function is called. */
  onChange(listener: () => void): () => void;
  /** Creates a namespace with a Context. */
  scene(): Promise<Scene>;
  /** Of each set of controllers that was started. */
  readonly faults: Faults[];
  stop(): Promise<void>;
}

const KUBECONFIG_KEY = 'ESPALIER_TEST_KUBECONFIG';

/** Whether the tests run on a server that is not embedded. */
export const isRealServer = (): boolean => Boolean(process.env[KUBECONFIG_KEY]);

/** @param options.simulate makes workloads ready although no container runs; only of the embedded server */
export async function startCluster({ simulate = false } = {}): Promise<Cluster> {
  const file = process.env[KUBECONFIG_KEY];
  const server = file ? undefined : await startApiServer({ listen: { tls: false }, simulate });
  const kubeconfig = server?.kubeconfig ?? readFileSync(file ?? '', 'utf8');
  const connection = await connect({
    kubeconfig: { text: kubeconfig },
    userAgent: 'scenario-test',
    clock: systemClock,
    log: silentLogger,
  });
  const client = createClient(connection);
  await ensureCrds(client, systemClock, silentLogger);

  const caches = createCaches({ client, clock: systemClock, rng: systemRng, log: silentLogger });
  const world = createWorld(caches);
  const histories = new Map<string, Sight[]>();
  const listeners = new Set<() => void>();
  for (const cache of caches.all()) watch(cache, histories, listeners);
  const life = new AbortController();
  setMaxListeners(0, life.signal);
  await caches.start(life.signal);

  const cluster: Cluster = {
    client,
    kubeconfig,
    server,
    world,
    clock: new SkippingClock(),
    faults: [],
    history: (namespace) => histories.get(namespace) ?? [],
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    scene: () => newScene(cluster),
    async stop() {
      life.abort(new Error('the tests are over'));
      await client.close();
      await server?.close();
    },
  };
  return cluster;
}

function watch(cache: Cache<Obj>, histories: Map<string, Sight[]>, listeners: Set<() => void>): void {
  cache.subscribe({
    name: 'scenario-test',
    ownEvents: 'deliver',
    on(change) {
      const namespace = change.obj.metadata.namespace ?? '';
      const history = histories.get(namespace) ?? [];
      histories.set(namespace, history);
      history.push({ object: change.obj, gone: change.type === 'delete' });
      for (const listener of listeners) listener();
    },
  });
}

async function newScene(cluster: Cluster): Promise<Scene> {
  const name = `scene-${randomBytes(4).toString('hex')}`;
  const { client } = cluster;
  const object = { apiVersion: 'v1', kind: 'Namespace' as const, metadata: { name } };
  await client.send({ verb: 'create', kind: namespaceKind, object });
  const scene = new Scene(cluster, name);
  await client.send({ verb: 'create', kind: contextKind, object: context(name, 'default') }).catch(orThere);
  await scene.until('the context is in view', () => cluster.world.contexts.get(`${name}/default`));
  return scene;
}

/** The context controller may have been faster. */
function orThere(error: unknown): void {
  if (!(error instanceof AlreadyExists)) throw error;
}

const context = (namespace: string, name: string): Obj => ({
  apiVersion: API_VERSION,
  kind: 'Context',
  metadata: { name, namespace },
});

/** All controllers of this process share them, because each worker takes a second to start from source. */
let workers: WorkerRunners | undefined;
const sharedRunners = (): RunnerOf =>
  (workers ??= workerRunners({ clock: systemClock, ...defaults.templating })).of;

export async function startControllers(
  cluster: Cluster,
  options: ControllerOptions = {},
): Promise<Controllers> {
  const { controllers = ['installation', 'execution', 'deployitem'], deployers = ['mock'] } = options;
  const faults = new Faults();
  cluster.faults.push(faults);
  const landscaper = await startLandscaper({
    kubeconfig: { text: cluster.kubeconfig },
    log: silentLogger,
    clock: cluster.clock,
    configuration: { ...defaults, ...options.config },
    controllers,
    deployers,
    crds: false,
    ...(!options.config?.templating && { runnerOf: sharedRunners() }),
    ...options.more,
    wrapClient: (client) => faults.around(client),
  });
  return {
    landscaper,
    faults,
    stop: () => landscaper.stop(),
    async crash() {
      faults.killAll();
      await landscaper.stop();
    },
  };
}

/** A cluster with controllers for the tests of the describe block that calls this. */
export function useCluster(options: ControllerOptions = {}): {
  readonly cluster: Cluster;
  readonly controllers: Controllers;
  scene(): Promise<Scene>;
} {
  let cluster: Cluster | undefined;
  let controllers: Controllers | undefined;
  before(async function () {
    this.timeout(30_000);
    cluster = await startCluster();
    controllers = await startControllers(cluster, options);
  });
  after(async function () {
    this.timeout(30_000);
    await controllers?.stop();
    await cluster?.stop();
  });
  const started = <T>(what: T | undefined): T => {
    if (what === undefined) throw new Error('the cluster is there only within tests');
    return what;
  };
  return {
    get cluster() {
      return started(cluster);
    },
    get controllers() {
      return started(controllers);
    },
    scene: () => started(cluster).scene(),
  };
}
