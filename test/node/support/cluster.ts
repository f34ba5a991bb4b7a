/** The cluster of `make test-node`: requests, waiting, and the product in it. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { files, folders, images, NODE_NAME } from '../../../hack/node/settings.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import { createClient } from '../../../src/runtime/transport/client.ts';
import { connect } from '../../../src/runtime/transport/http.ts';
import type { Client, Obj } from '../../../src/runtime/types.ts';

const ROOT = join(import.meta.dirname, '../../..');
const POLL_MS = 250;

/** Namespace of the product. */
export const LS_SYSTEM = 'ls-system';
export const CONTROLLERS = 'app.kubernetes.io/name=espalier,app.kubernetes.io/component=controllers';
export const WEBHOOKS = 'app.kubernetes.io/name=espalier,app.kubernetes.io/component=webhooks';

export const kubeconfig = (): string => {
  const file = process.env['ESPALIER_TEST_NODE'];
  if (!file) throw new Error('these tests need the cluster that `make test-node` starts');
  return file;
};

interface Ended {
  readonly code: number | null;
  /** Standard output, then standard error. */
  readonly output: string;
}

function run(command: string, args: readonly string[], input?: string): Ended {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd: ROOT,
    input,
    encoding: 'utf8',
    maxBuffer: 64 << 20,
    env: { ...process.env, KUBECONFIG: kubeconfig() },
  });
  if (error) throw error;
  return { code: status, output: stdout + stderr };
}

const checked = (what: string, { code, output }: Ended): string => {
  if (code !== 0) throw new Error(`${what} failed: ${output.trim()}`);
  return output;
};

/** @returns its output @throws Error if it fails */
export const kubectl = (...args: readonly string[]): string =>
  checked(`kubectl ${args.slice(0, 4).join(' ')}`, run('kubectl', args));

/** Runs beside the test. @returns its end, whether it succeeded or not */
export function kubectlBeside(...args: readonly string[]): Promise<Ended> {
  const child = spawn('kubectl', args, { env: { ...process.env, KUBECONFIG: kubeconfig() } });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output }));
  });
}

export const apply = (...objects: readonly object[]): string => checked('kubectl apply', attempt(...objects));

/** As `apply`, but returns refusals. */
export const attempt = (...objects: readonly object[]): Ended =>
  run('kubectl', ['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));

/** The command line of the product, as built. @throws Error if it fails */
export const espalier = (...args: readonly string[]): string =>
  checked(`espalier ${args.join(' ')}`, run(process.execPath, [join(ROOT, 'dist/src/cli/main.js'), ...args]));

/** The same of the earlier version. */
export const earlierEspalier = (...args: readonly string[]): string =>
  checked(
    `the earlier espalier ${args.join(' ')}`,
    run(process.execPath, [join(folders.earlier, 'dist/src/cli/main.js'), ...args]),
  );

export const helm = (program: string, ...args: readonly string[]): string =>
  checked(`helm ${args.slice(0, 2).join(' ')}`, run(program, args));

/** A client that may do everything. Close it. */
export const connectClient = async (): Promise<Client> =>
  createClient(
    await connect({
      kubeconfig: { file: kubeconfig() },
      userAgent: 'espalier-test-node',
      clock: systemClock,
      log: silentLogger,
    }),
  );

/** Repeats until there is an answer; errors count as none. @throws Error after the time, with the last error */
export async function until<T>(
  what: string,
  seconds: number,
  ask: () => T | undefined | false | Promise<T | undefined | false>,
): Promise<T> {
  let reason = '';
  for (const end = Date.now() + seconds * 1000; Date.now() < end;) {
    try {
      const answer = await ask();
      if (answer !== undefined && answer !== false) return answer;
      reason = '';
    } catch (error) {
      reason = `: ${(error as Error).message}`;
    }
    await pause(POLL_MS);
  }
  throw new Error(`not within ${String(seconds)} s: ${what}${reason}`);
}

export interface Pod extends Obj {
  readonly spec: {
    readonly nodeName?: string;
    readonly containers: readonly { readonly name: string; readonly image: string }[];
    readonly initContainers?: readonly { readonly name: string; readonly restartPolicy?: string }[];
  };
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly containerStatuses?: readonly { readonly name: string; readonly restartCount: number }[];
  };
}

export async function podsOf(client: Client, labels: string, namespace = LS_SYSTEM): Promise<readonly Pod[]> {
  const path = `/api/v1/namespaces/${namespace}/pods?labelSelector=${encodeURIComponent(labels)}`;
  return ((await client.raw('GET', path)) as { items: Pod[] }).items;
}

export const isReady = ({ metadata, status }: Pod): boolean =>
  metadata.deletionTimestamp === undefined &&
  status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;

/** Installs the product of this tree, or changes what is installed, and waits until it is ready. */
export function install(options: readonly string[] = [], image: string = images.product): void {
  espalier('install', '-A', '--image', image, ...options);
  rolledOut('espalier');
}

export const rolledOut = (deployment: string, namespace = LS_SYSTEM): string =>
  kubectl('rollout', 'status', `deployment/${deployment}`, '-n', namespace, '--timeout=180s');

/** Deletes all landscapes and everything of the product, and the namespaces of the tests. */
export function uninstall(...namespaces: readonly string[]): void {
  for (const namespace of namespaces) {
    kubectl('delete', 'installations.landscaper.gardener.cloud', '--all', '-n', namespace, '--timeout=180s');
    kubectl('delete', 'namespace', namespace, '--timeout=120s');
  }
  espalier('uninstall', '--crds', '--yes');
  kubectl('delete', 'namespace', LS_SYSTEM, '--ignore-not-found', '--timeout=120s');
}

export const namespace = (name: string, labels: Readonly<Record<string, string>> = {}): object => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels },
});

type Service = 'kubelet' | 'api-server' | 'registry';

/** Ends a service of the node with SIGKILL; the node starts it again some seconds later. @returns when it runs again */
export const killService = (name: Service): Promise<void> => runsAgain(name, kill(name));

/** The same, but the service stays down until `use` has ended. */
export async function withoutService<T>(name: Service, use: () => Promise<T>): Promise<T> {
  writeFileSync(files.hold(name), '');
  const killed = kill(name);
  try {
    return await use();
  } finally {
    rmSync(files.hold(name));
    await runsAgain(name, killed);
  }
}

function kill(name: Service): string {
  const killed = readFileSync(files.processId(name), 'utf8');
  process.kill(Number(killed), 'SIGKILL');
  return killed;
}

async function runsAgain(name: Service, killed: string): Promise<void> {
  const file = files.processId(name);
  const current = (): string => (existsSync(file) ? readFileSync(file, 'utf8') : '');
  await until(`${name} runs again`, 30, () => !['', killed].includes(current()));
}

/** Kinds whose objects change all the time, or belong to others of the list. */
const UNSTABLE = /^(events|componentstatuses|endpoints|endpointslices|leases|controllerrevisions)(\.|$)/;

/** API, kind, namespace and name of all objects of the cluster. */
export function allNames(): readonly string[] {
  const resources = kubectl('api-resources', '--verbs=list', '-o', 'name')
    .split('\n')
    .filter((resource) => resource !== '' && !UNSTABLE.test(resource));
  const columns =
    'custom-columns=API:.apiVersion,KIND:.kind,NAMESPACE:.metadata.namespace,NAME:.metadata.name';
  return kubectl('get', resources.join(','), '-A', '--no-headers', '-o', columns)
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('Warning: '))
    .map((line) => line.trim().split(/\s+/).join(' '));
}

export { NODE_NAME, images };
