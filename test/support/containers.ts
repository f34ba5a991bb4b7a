/** A cluster with the container deployer, for its scenarios: the embedded API server, or the one of ESPALIER_TEST_KUBECONFIG. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  POD,
  ROLE,
  ROLE_BINDING,
  SECRET,
  SERVICE_ACCOUNT,
  type Pod,
} from '../../deployers/container/kinds.ts';
import { CONTAINER_API_VERSION } from '../../deployers/container/contract.ts';
import { defaultSettings, type ContainerSettings } from '../../deployers/container/index.ts';
import { DEPLOY_ITEM, type DeployItem } from '../../deployers/sdk/kinds.ts';
import { startApiServer, type ApiServer } from '../../src/apiserver/server.ts';
import { API_VERSION, GROUP } from '../../src/api/labels.ts';
import { contextKind } from '../../src/api/kinds/context.ts';
import { targetKind } from '../../src/api/kinds/target.ts';
import { defaults } from '../../src/cli/configuration/configuration.ts';
import { startLandscaper, type Landscaper } from '../../src/cli/composition/landscaper.ts';
import { sleep, systemClock as clock, timestamp } from '../../src/lib/clock.ts';
import { ensureCrds } from '../../src/landscape/ensure-crds.ts';
import { configMapKind, namespaceKind } from '../../src/landscape/world.ts';
import { silentLogger as log } from '../../src/observability/log.ts';
import { createClient } from '../../src/runtime/transport/client.ts';
import { connect } from '../../src/runtime/transport/http.ts';
import { NotFound } from '../../src/runtime/errors.ts';
import { getIfThere } from '../../src/runtime/transport/read.ts';
import type { Client, Kind, Obj } from '../../src/runtime/types.ts';
import { Faults } from './faults.ts';
import { Kubelet } from './kubelet.ts';
import { reportPod } from './pod-run.ts';
import { eventually, type Nothing } from './waiting.ts';

export const containerConfigOf = (fields: object): object => ({
  apiVersion: CONTAINER_API_VERSION,
  kind: 'ProviderConfiguration',
  image: 'example.org/tool:1',
  ...fields,
});

/** An image that is a shell command. */
export const shell = (line: string, more: object = {}): object =>
  containerConfigOf({ command: ['/bin/sh', '-c'], args: [line], ...more });

export class ContainerWorld {
  readonly client: Client;
  readonly kubeconfig: string;
  readonly #server: ApiServer | undefined;
  readonly #rooms: Room[] = [];

  private constructor(client: Client, kubeconfig: string, server: ApiServer | undefined) {
    this.client = client;
    this.kubeconfig = kubeconfig;
    this.#server = server;
  }

  static async start(): Promise<ContainerWorld> {
    const file = process.env['ESPALIER_TEST_KUBECONFIG'];
    const server = file ? undefined : await startApiServer({ listen: { tls: false }, authorization: 'RBAC' });
    const kubeconfig = server?.kubeconfig ?? readFileSync(file ?? '', 'utf8');
    const client = createClient(
      await connect({ kubeconfig: { text: kubeconfig }, userAgent: 'test', clock, log }),
    );
    await ensureCrds(client, clock, log);
    return new ContainerWorld(client, kubeconfig, server);
  }

  async stop(): Promise<void> {
    for (const room of this.#rooms) await room.stop();
    await this.client.close();
    await this.#server?.close();
  }

  /** Separate namespaces for items and pods, without a deployer. */
  async room(settings: Partial<ContainerSettings> = {}): Promise<Room> {
    const id = randomBytes(4).toString('hex');
    const room = new Room(this, `items-${id}`, `pods-${id}`, settings);
    return this.#furnished(room);
  }

  /** One namespace for both, so that a fault hits all writes of the deployer. */
  narrowRoom(settings: Partial<ContainerSettings> = {}): Promise<Room> {
    const name = `both-${randomBytes(4).toString('hex')}`;
    return this.#furnished(new Room(this, name, name, settings));
  }

  async #furnished(room: Room): Promise<Room> {
    this.#rooms.push(room);
    for (const name of new Set([room.items, room.pods])) {
      await this.client.send({
        verb: 'create',
        kind: namespaceKind,
        object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
      });
    }
    await room.create(contextKind, {
      apiVersion: API_VERSION,
      kind: 'Context',
      metadata: { name: 'default', namespace: room.items },
    });
    // Where controllers of Kubernetes run, they create it in every namespace.
    const ca = {
      apiVersion: 'v1',
      kind: 'ConfigMap' as const,
      metadata: { name: 'kube-root-ca.crt', namespace: room.pods },
      data: { 'ca.crt': '' },
    };
    await room.create(configMapKind, ca);
    return room;
  }
}

/** A namespace for items and one for pods. */
export class Room {
  readonly world: ContainerWorld;
  readonly items: string;
  readonly pods: string;
  readonly settings: ContainerSettings;
  readonly #running = new Set<() => Promise<void>>();
  #outputs: ReadonlyMap<string, string> = new Map();

  constructor(world: ContainerWorld, items: string, pods: string, settings: Partial<ContainerSettings>) {
    this.world = world;
    this.items = items;
    this.pods = pods;
    this.settings = {
      ...defaultSettings,
      namespace: pods,
      garbageCollection: { isDisabled: true, everyMs: 3_600_000 },
      ...settings,
    };
  }

  get #client(): Client {
    return this.world.client;
  }

  // ------------------------------------------------------------ deployers and kubelets

  async deployer(): Promise<{
    readonly faults: Faults;
    readonly landscaper: Landscaper;
    crash(): Promise<void>;
  }> {
    const faults = new Faults();
    const landscaper = await startLandscaper({
      kubeconfig: { text: this.world.kubeconfig },
      log,
      configuration: { ...defaults, container: this.settings },
      controllers: [],
      deployers: ['container'],
      crds: false,
      wrapClient: (client) => faults.around(client),
    });
    const stop = () => landscaper.stop();
    this.#running.add(stop);
    return {
      faults,
      landscaper,
      crash: async () => {
        faults.killAll();
        this.#running.delete(stop);
        await landscaper.stop();
      },
    };
  }

  kubelet(): Kubelet {
    const kubelet = new Kubelet({
      client: this.#client,
      kubeconfig: this.world.kubeconfig,
      namespace: this.pods,
    });
    kubelet.start();
    this.#outputs = kubelet.outputs;
    this.#running.add(() => kubelet.stop());
    return kubelet;
  }

  /**
   * A kubelet that ends every pod at once with the given result.
   * @returns the pods that have run, by name
   */
  autopilot(end: (pod: Pod) => Promise<object>): readonly string[] {
    const runs: string[] = [];
    const life = new AbortController();
    const seen = new Set<string>();
    const loop = async (): Promise<void> => {
      while (!life.signal.aborted) {
        for (const pod of await this.list(POD)) {
          const uid = pod.metadata.uid ?? '';
          if (seen.has(uid) || pod.metadata.deletionTimestamp) continue;
          seen.add(uid);
          runs.push(pod.metadata.name);
          await this.report(pod, await end(pod)).catch(unlessGone);
        }
        await sleep(clock, 50, life.signal).catch(() => undefined);
      }
    };
    const running = loop();
    this.#running.add(() => {
      life.abort();
      return running;
    });
    return runs;
  }

  async stop(): Promise<void> {
    for (const stop of this.#running) await stop();
    this.#running.clear();
  }

  // ------------------------------------------------------------ objects

  create<T extends Obj>(kind: Kind<T>, object: T): Promise<T> {
    return this.#client.send({ verb: 'create', kind, object });
  }

  async list<T extends Obj>(kind: Kind<T>, namespace = this.pods): Promise<T[]> {
    const found: T[] = [];
    for await (const page of this.#client.list(kind, { namespace })) found.push(...page.items);
    return found;
  }

  async names(kind: Kind<Obj>, namespace?: string): Promise<string[]> {
    return (await this.list(kind, namespace)).map(({ metadata }) => metadata.name).sort();
  }

  /** All objects in the namespace of the pods that a deployer may have left behind. */
  async leftovers(): Promise<string[]> {
    const all = await Promise.all(
      [POD, SECRET, SERVICE_ACCOUNT, ROLE, ROLE_BINDING].map((kind) => this.names(kind)),
    );
    return all.flat().filter((name) => name !== 'default');
  }

  /** Value of a key in a secret, as a string. */
  async secret(name: string, key = 'config', namespace = this.pods): Promise<string | undefined> {
    const found = await getIfThere(this.#client, SECRET, `${namespace}/${name}`);
    const value = found?.data?.[key];
    return value === undefined ? undefined : Buffer.from(value, 'base64').toString();
  }

  stateSecrets = async () =>
    (await this.list(SECRET)).filter(
      ({ metadata }) => metadata.labels?.['container.deployer.landscaper.gardener.cloud/type'] === 'state',
    );

  async target(name: string, spec: object, secret?: Record<string, string>): Promise<void> {
    if (secret) {
      const object = {
        apiVersion: 'v1',
        kind: 'Secret' as const,
        metadata: { name, namespace: this.items },
        stringData: secret,
      };
      await this.create(SECRET, object);
    }
    const object = {
      apiVersion: API_VERSION,
      kind: 'Target',
      metadata: { name, namespace: this.items },
      spec: { type: 'example.org/thing', ...spec },
    };
    await this.create(targetKind, object);
  }

  // ------------------------------------------------------------ items

  async give(
    name: string,
    config: object,
    more: {
      readonly target?: string;
      readonly timeout?: string;
      readonly annotations?: Record<string, string>;
    } = {},
  ): Promise<void> {
    const type = `${GROUP}/container`;
    await this.create(DEPLOY_ITEM, {
      apiVersion: API_VERSION,
      kind: 'DeployItem',
      metadata: {
        name,
        namespace: this.items,
        annotations: { [`${GROUP}/deployer-type`]: type, ...more.annotations },
      },
      spec: {
        type,
        context: 'default',
        timeout: more.timeout ?? '5m',
        ...(more.target !== undefined && { target: { name: more.target, namespace: this.items } }),
        config: config as never,
      },
    });
  }

  item(name: string): Promise<DeployItem | undefined> {
    return getIfThere(this.#client, DEPLOY_ITEM, `${this.items}/${name}`);
  }

  async edit(name: string, body: object, sub?: 'status'): Promise<void> {
    await this.#client.send({
      verb: 'merge',
      kind: DEPLOY_ITEM,
      key: `${this.items}/${name}`,
      body,
      ...(sub && { sub }),
    });
  }

  configure(name: string, config: object): Promise<void> {
    return this.edit(name, { spec: { config } });
  }

  /** Acts as the core: starts the next job. */
  async kick(name: string, job: string): Promise<void> {
    const now = timestamp(clock);
    const observedGeneration = (await this.item(name))?.status?.observedGeneration ?? 0;
    const transitionTimes = { triggerTime: now, initTime: null, waitTime: null, finishedTime: null };
    const status = { observedGeneration, jobID: job, jobIDGenerationTime: now, transitionTimes };
    await this.edit(name, { status }, 'status');
  }

  finished(name: string, job: string): Promise<DeployItem> {
    return this.until(`${name} finishes ${job}`, async () => {
      const item = await this.item(name);
      return item?.status?.jobIDFinished === job ? item : undefined;
    });
  }

  async run(name: string, job: string): Promise<DeployItem> {
    await this.kick(name, job);
    return this.finished(name, job);
  }

  async remove(name: string): Promise<void> {
    await this.#client.send({ verb: 'delete', kind: DEPLOY_ITEM, key: `${this.items}/${name}` });
  }

  gone(name: string): Promise<true> {
    return this.until(`${name} is gone`, async () => !(await this.item(name)) || undefined);
  }

  // ------------------------------------------------------------ pods

  /** The only pod, if there is one; tests that act as the kubelet wait for it. */
  pod(wanted: (pod: Pod) => boolean = () => true): Promise<Pod> {
    return this.until('a pod', async () => (await this.list(POD)).find(wanted));
  }

  report(pod: Pod, status: object): Promise<Pod> {
    return reportPod(this.#client, pod, status);
  }

  noPod(): Promise<true> {
    return this.until('all pods are gone', async () => (await this.list(POD)).length === 0 || undefined);
  }

  until<T>(what: string, ask: () => Promise<T>): Promise<Exclude<T, Nothing>> {
    const why = async (): Promise<string> => `\n${await this.overview()}`;
    return eventually(what, ask, { why });
  }

  /** A description of the state, for waits that time out. */
  async overview(): Promise<string> {
    const items = await this.list(DEPLOY_ITEM, this.items);
    const pods = await this.list(POD);
    return [
      ...items.map(
        ({ metadata, status }) => `${metadata.name}: ${JSON.stringify({ ...status, lastErrors: undefined })}`,
      ),
      ...pods.map(({ metadata, status }) => `pod ${metadata.name}: ${JSON.stringify(status)}`),
      ...[...this.#outputs].map(([container, output]) => `${container} printed: ${output}`),
    ].join('\n');
  }
}

/** The deployer may have deleted the pod. */
function unlessGone(error: unknown): void {
  if (!(error instanceof NotFound)) throw error;
}

// ---------------------------------------------------------------- statuses that kubelets write

export const terminated = (name: string, exitCode: number, more: object = {}) => ({
  name,
  image: `${name}-image`,
  imageID: `sha256:${name}`,
  ready: false,
  restartCount: 0,
  state: { terminated: { exitCode, reason: exitCode === 0 ? 'Completed' : 'Error', ...more } },
});
export const waiting = (name: string, reason: string, message = '') => ({
  name,
  image: `${name}-image`,
  imageID: '',
  ready: false,
  restartCount: 0,
  state: { waiting: { reason, ...(message && { message }) } },
});
export const running = (name: string) => ({
  name,
  image: `${name}-image`,
  imageID: `sha256:${name}`,
  ready: true,
  restartCount: 0,
  state: { running: { startedAt: '2026-01-01T00:00:00Z' } },
});

export const podSucceeded = {
  phase: 'Succeeded',
  initContainerStatuses: [terminated('init', 0), terminated('wait', 0)],
  containerStatuses: [terminated('main', 0)],
};
export const podRunning = {
  phase: 'Running',
  initContainerStatuses: [terminated('init', 0), running('wait')],
  containerStatuses: [running('main')],
};
