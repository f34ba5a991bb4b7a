/** The measured subject: controllers and mock deployer in this process, on a server in another one. */
import { defaults } from '../../src/cli/configuration/configuration.ts';
import { startLandscaper, type Landscaper } from '../../src/cli/composition/landscaper.ts';
import { isFinished } from '../../src/api/job.ts';
import { installationKind, type Installation } from '../../src/api/kinds/installation.ts';
import { createWorld, namespaceKind, type World } from '../../src/landscape/world.ts';
import { silentLogger } from '../../src/observability/log.ts';
import { splitKey } from '../../src/runtime/keys.ts';
import type { Client, Key } from '../../src/runtime/types.ts';
import { cpuMsOf } from './cpu.ts';
import type { Server } from './servers.ts';
import { NAMESPACE, root, type ShapeName } from './shapes.ts';
import { tally, type Tally } from './tally.ts';

export interface Subject {
  readonly name: string;
  readonly client: Client;
  createNamespaces(names: readonly string[]): Promise<void>;
  /** Creates roots of a shape and waits until all have succeeded. @param names may have a namespace @returns milliseconds */
  install(names: readonly string[], shape: ShapeName): Promise<number>;
  /** Deletes roots and waits until they are deleted. @returns milliseconds */
  uninstall(names: readonly string[]): Promise<number>;
  /**
   * Requests of the controllers and the deployer since the last call. Those of this benchmark, which creates and deletes
   * roots with the same client, are in the result.
   */
  requests(): Promise<Tally>;
  /** Processor time so far by process, in milliseconds. */
  cpuMs(): Readonly<Record<string, number>>;
  stop(): Promise<void>;
}

/**
 * kube-apiserver writes its log with a delay, and our controllers their events; after this time all counted requests
 * are in the log.
 */
const AUDIT_DELAY_MS = 1_000;
const POLL_MS = 5;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** @param collector URL that receives traces; default: no traces */
export async function subjectOn(server: Server, collector?: string): Promise<Subject> {
  const landscaper: Landscaper = await startLandscaper({
    kubeconfig: { text: server.kubeconfig },
    log: silentLogger,
    configuration: defaults,
    deployers: ['mock'],
    ...(collector !== undefined && { tracing: { enabled: true, endpoint: collector } }),
  });
  const { client, manager } = landscaper;
  const world = createWorld(manager.caches);
  const timed = async (send: (name: string) => Promise<unknown>, names: readonly string[], isDone: Test) => {
    const start = performance.now();
    await Promise.all(names.map(send));
    while (!names.every((name) => isDone(world, name))) await pause(POLL_MS);
    return performance.now() - start;
  };
  return {
    name: server.name,
    client,
    async createNamespaces(names) {
      for (const name of names) {
        const object = { apiVersion: 'v1', kind: 'Namespace' as const, metadata: { name } };
        await client.send({ verb: 'create', kind: namespaceKind, object });
      }
    },
    install: (names, shape) =>
      timed(
        (name) => client.send({ verb: 'create', kind: installationKind, object: rootAt(keyOf(name), shape) }),
        names,
        hasSucceeded,
      ),
    uninstall: (names) =>
      timed(
        (name) => client.send({ verb: 'delete', kind: installationKind, key: keyOf(name) }),
        names,
        (w, name) => w.installations.get(keyOf(name)) === undefined,
      ),
    async requests() {
      await pause(AUDIT_DELAY_MS);
      return tally(await server.audit());
    },
    cpuMs() {
      const { user, system } = process.cpuUsage();
      const servers = Object.entries(server.processes).map(([name, pid]) => [name, cpuMsOf(pid)] as const);
      return { controllers: (user + system) / 1000, ...Object.fromEntries(servers) };
    },
    async stop() {
      await landscaper.stop();
      await server.stop();
    },
  };
}

const keyOf = (name: string): Key => (name.includes('/') ? name : `${NAMESPACE}/${name}`);

function rootAt(key: Key, shape: ShapeName): Installation {
  const { namespace, name } = splitKey(key);
  const object = root(name, shape);
  return { ...object, metadata: { ...object.metadata, namespace: namespace ?? NAMESPACE } };
}

type Test = (world: World, name: string) => boolean;

function hasSucceeded(world: World, name: string): boolean {
  const installation = world.installations.get(keyOf(name));
  return installation?.status?.phase === 'Succeeded' && isFinished(installation);
}
