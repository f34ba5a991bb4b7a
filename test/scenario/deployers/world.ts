/**
 * Two API servers, host and target, and the deployers that run against the host, in real time over real
 * connections. The servers are embedded ones, or two of kube-apiserver if the tests run on real servers.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { DEPLOY_ITEM, type DeployItem } from '../../../deployers/sdk/kinds.ts';
import { namespaceKind } from '../../../src/landscape/world.ts';
import { systemClock as clock, timestamp } from '../../../src/lib/clock.ts';
import { parseYaml } from '../../../src/lib/yaml.ts';
import { createDiscovery } from '../../../src/runtime/transport/discovery.ts';
import { NoSuchKind, NotFound } from '../../../src/runtime/errors.ts';
import type { Client, Obj } from '../../../src/runtime/types.ts';
import { isRealServer } from '../../support/cluster.ts';
import type { Faults } from '../../support/faults.ts';
import { clientFor, startServer, type Server } from './servers.ts';
import { startDeployers, type Deployers, type Serving } from './serving.ts';
import { eventually, type Nothing } from '../../support/waiting.ts';

export const LS = 'landscaper.gardener.cloud';
const API = `${LS}/v1alpha1`;

/** Any object; tests read its fields freely. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Json = Obj & Record<string, any>;

export class World {
  readonly hostServer: Server;
  readonly targetServer: Server;
  readonly host: Client;
  readonly target: Client;
  readonly #helm: string | undefined;
  #deployers: Deployers | undefined;
  #serving: Serving;

  private constructor(
    servers: readonly [Server, Server],
    clients: readonly [Client, Client],
    helm: string | undefined,
    serving: Serving,
  ) {
    [this.hostServer, this.targetServer] = servers;
    [this.host, this.target] = clients;
    this.#helm = helm;
    this.#serving = serving;
  }

  /** @param helm path of the helm program */
  static async start(helm?: string, serving: Serving = {}): Promise<World> {
    const servers = await Promise.all([startServer(), startServer()]);
    const clients = await Promise.all([clientFor(servers[0], 'test'), clientFor(servers[1], 'test')]);
    const world = new World(servers, clients, helm, serving);
    await world.#prepare();
    await world.restart();
    return world;
  }

  async stop(): Promise<void> {
    await this.#deployers?.stop();
    for (const client of [this.host, this.target]) await client.close();
    for (const server of [this.hostServer, this.targetServer]) await server.close();
  }

  /** Faults for the requests of the deployers to the host. */
  get faults(): Faults {
    if (!this.#deployers) throw new Error('the deployers are not running');
    return this.#deployers.faults;
  }

  /** Stops the deployers, if they run, and starts them as a new process without memory. */
  async restart(serving = this.#serving): Promise<void> {
    this.#serving = serving;
    await this.#deployers?.stop();
    this.#deployers = await startDeployers(this.hostServer, this.#helm, serving);
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

  /** A Target in the namespace of the items. */
  async giveTarget(name: string, spec: object): Promise<void> {
    const metadata = { name, namespace: 'proj' };
    const all = { type: `${LS}/kubernetes-cluster`, ...spec };
    await this.create(this.host, { apiVersion: API, kind: 'Target', metadata, spec: all });
  }

  // ------------------------------------------------------------ items

  /** @param type with its domain, unless it is one of ours */
  async giveItem(
    name: string,
    type: string,
    config: object | undefined,
    more: {
      /** Name of the Target; false for none. */
      target?: string | false;
      timeout?: string;
      annotations?: Record<string, string>;
      context?: string;
      updateOnChangeOnly?: boolean;
    } = {},
  ): Promise<void> {
    const { target = 'cluster-a', timeout = '2m', annotations, context = 'default', ...spec } = more;
    const fullType = type.includes('/') ? type : `${LS}/${type}`;
    await this.create(this.host, {
      apiVersion: API,
      kind: 'DeployItem',
      metadata: {
        name,
        namespace: 'proj',
        annotations: {
          [`${LS}/deployer-type`]: fullType,
          [`${LS}/deployer-target-name`]: target || '.noTargetName',
          ...annotations,
        },
      },
      spec: {
        type: fullType,
        context,
        ...(target !== false && { target: { name: target, namespace: 'proj' } }),
        timeout,
        ...(config && { config }),
        ...spec,
      },
    });
  }

  item(name: string): Promise<DeployItem> {
    return this.host.get(DEPLOY_ITEM, `proj/${name}`);
  }

  async configure(name: string, config: object): Promise<void> {
    await this.edit(this.host, API, 'DeployItem', `proj/${name}`, { spec: { config } });
  }

  /** Acts as the core: starts the next job. */
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

  /** The problem in the status of the item, as soon as there is one. */
  problem(name: string): Promise<string> {
    return this.until(
      `${name} shows a problem`,
      async () => (await this.item(name)).status?.lastError?.message,
    );
  }

  /** The exports of the item; undefined without a secret. */
  async exported(name: string): Promise<unknown> {
    const { name: secret = `${name}-export` } = (await this.item(name)).status?.exportRef ?? {};
    const found = await this.find(this.host, 'v1', 'Secret', `proj/${secret}`);
    const { config } = (found?.['data'] ?? {}) as { config?: string };
    return config === undefined ? undefined : JSON.parse(Buffer.from(config, 'base64').toString());
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
      await this.#finishNamespaces();
      return (await this.find(this.host, API, 'DeployItem', `proj/${name}`)) === undefined;
    });
  }

  /** Acts as the namespace controller, which real servers leave to others. */
  async #finishNamespaces(): Promise<void> {
    if (!isRealServer()) return;
    for await (const { items } of this.target.list(namespaceKind, {})) {
      for (const { metadata } of items.filter((each) => each.metadata.deletionTimestamp !== undefined)) {
        const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: metadata.name }, spec: {} };
        await this.target.raw('PUT', `/api/v1/namespaces/${metadata.name}/finalize`, body);
      }
    }
  }

  /** Repeats the request until there is an answer; a kind that is not served yet gives none. */
  until<T>(what: string, ask: () => Promise<T>, why = (): string => ''): Promise<Exclude<T, Nothing>> {
    const orNoKind = (): Promise<T | undefined> =>
      ask().catch((error: unknown) => {
        if (error instanceof NoSuchKind) return undefined;
        throw error;
      });
    return eventually(what, orNoKind, { why });
  }
}
