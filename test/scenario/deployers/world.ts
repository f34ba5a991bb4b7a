/** Two API servers in one process, host and target, with the deployers running against the host; real time, real wire. */
import { readdirSync, readFileSync } from 'node:fs';
import { helmDeployer } from '../../../deployers/helm/index.ts';
import { manifestDeployer } from '../../../deployers/manifest/index.ts';
import { mockDeployer } from '../../../deployers/mock/index.ts';
import { deployerController } from '../../../deployers/sdk/index.ts';
import { DEPLOY_ITEM, type DeployItem } from '../../../deployers/sdk/kinds.ts';
import { startApiServer, type ApiServer } from '../../../src/apiserver/server.ts';
import { createStock } from '../../../src/components/stock.ts';
import { sleep, systemClock as clock, timestamp } from '../../../src/lib/clock.ts';
import { seededRng } from '../../../src/lib/rng.ts';
import { parseYaml } from '../../../src/lib/yaml.ts';
import { silentLogger as log } from '../../../src/observability/log.ts';
import { createMetrics } from '../../../src/observability/metrics.ts';
import { createCaches } from '../../../src/runtime/caches.ts';
import { createClient } from '../../../src/runtime/client.ts';
import { createDiscovery } from '../../../src/runtime/discovery.ts';
import { NoSuchKind, NotFound } from '../../../src/runtime/errors.ts';
import { connect } from '../../../src/runtime/http.ts';
import { createManager } from '../../../src/runtime/manager.ts';
import type { Client, Obj } from '../../../src/runtime/types.ts';

export const LS = 'landscaper.gardener.cloud';
const API = `${LS}/v1alpha1`;
const PATIENCE_MS = 20_000;

/** Any object; tests look into it freely. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Json = Obj & Record<string, any>;

export class World {
  readonly hostServer: ApiServer;
  readonly targetServer: ApiServer;
  readonly host: Client;
  readonly target: Client;
  readonly #stops: (() => Promise<void>)[];

  private constructor(
    servers: readonly [ApiServer, ApiServer],
    clients: readonly [Client, Client],
    stops: (() => Promise<void>)[],
  ) {
    [this.hostServer, this.targetServer] = servers;
    [this.host, this.target] = clients;
    this.#stops = stops;
  }

  /** @param helm path of the helm program */
  static async start(helm?: string): Promise<World> {
    const servers = await Promise.all([startApiServer(), startApiServer()]);
    const [host, target, deployer] = await Promise.all([
      clientFor(servers[0], 'test'),
      clientFor(servers[1], 'test'),
      clientFor(servers[0], 'deployer'),
    ]);
    const world = new World(servers, [host, target], []);
    await world.#prepare();
    const rng = seededRng(1);
    const caches = createCaches({ client: deployer, clock, rng, log, freeze: true });
    const manager = createManager({
      client: deployer,
      caches,
      clock,
      rng,
      log,
      metrics: createMetrics(),
      identity: 'test',
    });
    const life = new AbortController();
    const self = { server: servers[0].url, caData: Buffer.from(servers[0].ca).toString('base64') };
    const deps = { client: deployer, caches, clock, rng, log, self, signal: life.signal };
    manager.add(deployerController(manifestDeployer(), deps));
    manager.add(deployerController(mockDeployer(), deps));
    const stock = createStock({ clock, rng, signal: life.signal, allowPlainHttp: true });
    manager.add(deployerController(helmDeployer({ stock, clock, executable: helm }), deps));
    await manager.start();
    world.#stops.push(
      () => manager.stop(),
      () => {
        life.abort();
        return stock.close();
      },
      ...[deployer, host, target].map((client) => () => client.close()),
      ...servers.map((server) => () => server.close()),
    );
    return world;
  }

  async stop(): Promise<void> {
    for (const step of this.#stops) await step();
  }

  async #prepare(): Promise<void> {
    const crds = readdirSync('crds').filter((file) => /deployitems|targets\.|contexts|executions/.test(file));
    for (const file of crds)
      await this.create(this.host, parseYaml(readFileSync(`crds/${file}`, 'utf8')) as Json);
    for (const [client, name] of [
      [this.host, 'proj'],
      [this.target, 'app'],
    ] as const) {
      await this.create(client, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    }
    await this.until('the kinds are served', async () => {
      await createDiscovery(this.host).kindOf(API, 'Context');
      return true;
    });
    await this.create(this.host, {
      apiVersion: API,
      kind: 'Context',
      metadata: { name: 'default', namespace: 'proj' },
    });
    await this.create(this.host, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'cluster-a-kc', namespace: 'proj' },
      stringData: { kubeconfig: this.targetServer.kubeconfig },
    });
    await this.create(this.host, {
      apiVersion: API,
      kind: 'Target',
      metadata: { name: 'cluster-a', namespace: 'proj' },
      spec: { type: `${LS}/kubernetes-cluster`, secretRef: { name: 'cluster-a-kc', key: 'kubeconfig' } },
    });
  }

  // ------------------------------------------------------------ objects

  async create(client: Client, object: Json): Promise<Json> {
    const kind = await createDiscovery(client).kindOf(object.apiVersion, object.kind);
    return (await client.send({ verb: 'create', kind, object })) as Json;
  }

  async find(client: Client, apiVersion: string, kindName: string, key: string): Promise<Json | undefined> {
    try {
      const kind = await createDiscovery(client).kindOf(apiVersion, kindName);
      return (await client.get(kind, key)) as Json;
    } catch (error) {
      if (error instanceof NotFound || error instanceof NoSuchKind) return undefined;
      throw error;
    }
  }

  configMap(key: string): Promise<Json | undefined> {
    return this.find(this.target, 'v1', 'ConfigMap', key);
  }

  async edit(
    client: Client,
    apiVersion: string,
    kindName: string,
    key: string,
    body: object,
    sub?: 'status',
  ): Promise<void> {
    const kind = await createDiscovery(client).kindOf(apiVersion, kindName);
    await client.send({ verb: 'merge', kind, key, body, ...(sub && { sub }) });
  }

  // ------------------------------------------------------------ items

  async giveItem(
    name: string,
    type: string,
    config: object,
    more: { target?: boolean; timeout?: string; annotations?: Record<string, string>; context?: string } = {},
  ): Promise<void> {
    const { target = true, timeout = '2m', annotations, context = 'default' } = more;
    await this.create(this.host, {
      apiVersion: API,
      kind: 'DeployItem',
      metadata: {
        name,
        namespace: 'proj',
        annotations: {
          [`${LS}/deployer-type`]: `${LS}/${type}`,
          [`${LS}/deployer-target-name`]: target ? 'cluster-a' : '.noTargetName',
          ...annotations,
        },
      },
      spec: {
        type: `${LS}/${type}`,
        context,
        ...(target && { target: { name: 'cluster-a', namespace: 'proj' } }),
        timeout,
        config,
      },
    });
  }

  item(name: string): Promise<DeployItem> {
    return this.host.get(DEPLOY_ITEM, `proj/${name}`);
  }

  async configure(name: string, config: object): Promise<void> {
    await this.edit(this.host, API, 'DeployItem', `proj/${name}`, { spec: { config } });
  }

  /** Plays the core: hands out the next job. */
  async kick(name: string, job: string): Promise<void> {
    const now = timestamp(clock);
    const status = {
      observedGeneration: (await this.item(name)).status?.observedGeneration ?? 0,
      jobID: job,
      jobIDGenerationTime: now,
      transitionTimes: { triggerTime: now, initTime: null, waitTime: null, finishedTime: null },
    };
    await this.edit(this.host, API, 'DeployItem', `proj/${name}`, { status }, 'status');
  }

  /** The item at the end of the job. */
  async finished(name: string, job: string): Promise<DeployItem> {
    let last = '';
    return this.until(
      `${name} finishes ${job}`,
      async () => {
        const item = await this.item(name);
        last = item.status?.lastError?.message ?? '';
        return item.status?.jobIDFinished === job ? item : undefined;
      },
      () => last,
    );
  }

  async run(name: string, job: string): Promise<DeployItem> {
    await this.kick(name, job);
    return this.finished(name, job);
  }

  async remove(name: string): Promise<void> {
    await this.host.send({ verb: 'delete', kind: DEPLOY_ITEM, key: `proj/${name}` });
  }

  async gone(name: string): Promise<void> {
    await this.until(`${name} is gone`, async () => {
      return (await this.find(this.host, API, 'DeployItem', `proj/${name}`)) === undefined;
    });
  }

  /** Asks again until there is an answer; a kind that is not served yet is none. */
  async until<T>(what: string, ask: () => Promise<T | undefined>, why = (): string => ''): Promise<T> {
    const end = clock.now() + PATIENCE_MS;
    for (;;) {
      const answer = await ask().catch((error: unknown) => {
        if (error instanceof NoSuchKind) return undefined;
        throw error;
      });
      if (answer) return answer;
      if (clock.now() > end) throw new Error(`timed out: ${what} ${why()}`.trim());
      await sleep(clock, 20);
    }
  }
}

async function clientFor(server: ApiServer, userAgent: string): Promise<Client> {
  return createClient(await connect({ kubeconfig: { text: server.kubeconfig }, userAgent, clock, log }));
}
