/**
 * A cluster for operators built on the runtime: the embedded API server, or the one that ESPALIER_TEST_KUBECONFIG
 * names. Every request of the operator under test is recorded, and can be made to fail. Tests wait for what they see.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { startApiServer } from '../../src/apiserver/server.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { systemRng } from '../../src/lib/rng.ts';
import { silentLogger, type Logger } from '../../src/observability/log.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import { createCaches } from '../../src/runtime/cache/cache.ts';
import { createClient } from '../../src/runtime/transport/client.ts';
import { CustomResourceDefinition, Namespace } from '../../src/runtime/core-kinds.ts';
import { AlreadyExists } from '../../src/runtime/errors.ts';
import { connect } from '../../src/runtime/transport/http.ts';
import { createManager, type StartableManager } from '../../src/runtime/manager/manager.ts';
import { getIfThere } from '../../src/runtime/transport/read.ts';
import type { Client, Key, Kind, Obj, Write } from '../../src/runtime/types.ts';
import { exponential } from '../../src/runtime/queue/retry.ts';
import { patience } from './patience.ts';
import { eventually } from './waiting.ts';

// ---------------------------------------------------------------- kinds

const core = { group: '', version: 'v1', namespaced: true } as const;

export interface ConfigMap extends Obj {
  data?: Record<string, string>;
}

/** Any object, described by its fields. */
export interface AnyObj extends Obj {
  spec?: Record<string, unknown>;
  [field: string]: unknown;
}

export const configMaps: Kind<ConfigMap> = { ...core, kind: 'ConfigMap', plural: 'configmaps' };
export const secrets: Kind<AnyObj> = { ...core, kind: 'Secret', plural: 'secrets' };
export const services: Kind<AnyObj> = { ...core, kind: 'Service', plural: 'services' };
export const deployments: Kind<AnyObj> = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  namespaced: true,
};
export const ingresses: Kind<AnyObj> = {
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'Ingress',
  plural: 'ingresses',
  namespaced: true,
};

/** A primary whose spec and status can have any fields. */
export interface Page extends Obj {
  spec: Record<string, unknown>;
  status?: Record<string, unknown>;
}

export const kindOfTest = (group: string, kind: string): Kind<AnyObj> => ({
  group,
  version: 'v1',
  kind,
  plural: `${kind.toLowerCase()}s`,
  namespaced: true,
});

export const pages = kindOfTest('runtime.test.example', 'Page') as unknown as Kind<Page>;

/** A CRD without validation. */
export const crdOf = ({ group, kind, plural }: Kind<never> | Kind): AnyObj => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
});

// ---------------------------------------------------------------- the cluster

export interface OperatorCluster {
  /** The client of the test itself; its requests are not recorded. */
  readonly client: Client;
  /** For programs that connect by themselves. */
  readonly kubeconfig: { readonly text: string };
  /** Creates a namespace for one test. */
  namespace(): Promise<string>;
  /** Creates a CRD, and waits until its kind is served. */
  install(crd: AnyObj): Promise<void>;
  /** A connection for an operator. */
  open(): Promise<WatchedClient>;
  stop(): Promise<void>;
}

const PATIENCE_MS = 50_000;

export async function startOperatorCluster(): Promise<OperatorCluster> {
  const file = process.env['ESPALIER_TEST_KUBECONFIG'];
  const server = file ? undefined : await startApiServer({ listen: { tls: false } });
  const kubeconfig = server?.kubeconfig ?? readFileSync(file ?? '', 'utf8');
  const open = async (userAgent: string): Promise<Client> =>
    createClient(
      await connect({ kubeconfig: { text: kubeconfig }, userAgent, clock: systemClock, log: silentLogger }),
    );
  const client = await open('operator-test');
  const opened: Client[] = [client];
  const cluster: OperatorCluster = {
    client,
    kubeconfig: { text: kubeconfig },
    async namespace() {
      const name = `operators-${randomBytes(4).toString('hex')}`;
      const object = { apiVersion: 'v1', kind: 'Namespace' as const, metadata: { name } };
      await client.send({ verb: 'create', kind: Namespace, object });
      return name;
    },
    async install(crd) {
      const kind = CustomResourceDefinition as Kind as Kind<AnyObj>;
      await client.send({ verb: 'create', kind, object: crd }).catch((error: unknown) => {
        if (!(error instanceof AlreadyExists)) throw error;
      });
      const { name } = crd.metadata;
      await eventually(`${name} is established`, async () => {
        const found = await client.get(CustomResourceDefinition, name);
        // A real server returns null before it has processed the CRD.
        const conditions = found.status?.conditions ?? [];
        return conditions.some(({ type, status }) => type === 'Established' && status === 'True');
      });
    },
    async open() {
      const watched = new WatchedClient(await open('operator'));
      opened.push(watched);
      return watched;
    },
    async stop() {
      await Promise.all(opened.map((each) => each.close()));
      await server?.close();
    },
  };
  await cluster.install(crdOf(pages));
  return cluster;
}

// ---------------------------------------------------------------- the operator's requests

export class WatchedClient implements Client {
  /** `apply ConfigMap a`: writes of this client in their order, without the namespace. */
  readonly writes: string[] = [];
  /** `get ConfigMap a`: reads of this client. */
  readonly reads: string[] = [];
  /** `watch configmaps labels`: open watches. */
  readonly watches: string[] = [];
  /** The error of a write, which is then not sent. */
  fault: (write: Write) => Error | undefined = () => undefined;
  /** Changes an object on its way to the server, as a webhook does. */
  rewrite: <T extends Obj>(object: T) => T = (object) => object;
  readonly #inner: Client;

  constructor(inner: Client) {
    this.#inner = inner;
  }

  get<T extends Obj>(kind: Kind<T>, key: Key, signal?: AbortSignal): Promise<T> {
    this.reads.push(`get ${kind.kind} ${nameIn(key)}`);
    return this.#inner.get(kind, key, signal);
  }

  list: Client['list'] = (kind, query, signal) => this.#inner.list(kind, query, signal);

  async *watch<T extends Obj>(...[kind, query, signal]: Parameters<Client['watch']>) {
    const what = [kind.plural, query.labels].filter(Boolean).join(' ');
    this.watches.push(what);
    try {
      yield* this.#inner.watch<T>(kind as unknown as Kind<T>, query, signal);
    } finally {
      this.watches.splice(this.watches.indexOf(what), 1);
    }
  }

  async send<T extends Obj>(write: Write<T>, signal?: AbortSignal): Promise<T> {
    const name = 'object' in write ? write.object.metadata.name : nameIn(write.key);
    this.writes.push([write.verb, write.sub, write.kind.kind, name].filter(Boolean).join(' '));
    const error = this.fault(write);
    if (error) throw error;
    const sent = 'object' in write ? { ...write, object: this.rewrite(write.object) } : write;
    return this.#inner.send(sent, signal);
  }

  raw: Client['raw'] = (...args) => this.#inner.raw(...args);

  close(): Promise<void> {
    return this.#inner.close();
  }
}

const nameIn = (key: Key): string => key.slice(key.indexOf('/') + 1);

// ---------------------------------------------------------------- the operator

/** One process with an operator in it. */
export interface OperatorProcess {
  readonly manager: StartableManager;
  readonly client: WatchedClient;
  stop(): Promise<void>;
}

export async function startProcess(
  cluster: OperatorCluster,
  add: (manager: StartableManager, client: WatchedClient) => void,
  log: Logger = silentLogger,
): Promise<OperatorProcess> {
  const client = await cluster.open();
  const deps = { client, clock: systemClock, rng: systemRng, log };
  const manager = createManager({
    ...deps,
    caches: createCaches({ ...deps, freeze: true }),
    metrics: createMetrics(),
    identity: 'operator-0',
    syncTimeoutMs: patience(PATIENCE_MS),
  });
  add(manager, client);
  try {
    await manager.start();
  } catch (error) {
    await manager.stop();
    throw error;
  }
  return { manager, client, stop: () => manager.stop() };
}

/** Retries at once, so that tests of failures do not wait. */
export const quickly = exponential({ initialMs: 20, factor: 1, maxMs: 20 });

export const read = <T extends Obj>(
  cluster: OperatorCluster,
  kind: Kind<T>,
  key: Key,
): Promise<T | undefined> => getIfThere(cluster.client, kind, key);
