/**
 * Runs helm as a child process, in a temporary folder with its files: kubeconfig, chart, values. Arguments never
 * pass through a shell.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { accessSync, constants, statSync } from 'node:fs';
import { systemClock } from '../../src/lib/clock.ts';

interface HelmCall {
  readonly args: readonly string[];
  readonly kubeconfig: string;
  /** Additional files by name; arguments refer to them as `{name}`. */
  readonly files: Readonly<Record<string, Uint8Array | string>>;
  /** Stops helm, first with SIGTERM, so that it can record the state of the release. */
  readonly signal: AbortSignal;
}

export interface HelmAnswer {
  readonly isOk: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

/** The helm program does not exist; the message says how to install or configure it. */
export class HelmMissing extends Error {
  override readonly name = 'HelmMissing';
}

export interface Helm {
  /** Major version, 3 or later. */
  readonly major: number;
  run(call: HelmCall): Promise<HelmAnswer>;
}

/** Time between SIGTERM and SIGKILL. */
const GRACE_MS = 5000;
const MAX_OUTPUT = 2 ** 20;
/** The only environment variables of this process that helm receives: PATH and the network proxies. */
const PASSED_VARIABLES = [
  'PATH',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
];

const found = new Map<string, Helm>();

/** @param wanted path or name of the program. @throws HelmMissing */
export function findHelm(wanted: string | undefined): Helm {
  const name = wanted || process.env['HELM_EXECUTABLE'] || 'helm';
  const path = name.includes('/') ? name : onPath(name);
  if (path === undefined || !isExecutable(path)) {
    throw new HelmMissing(
      `the helm program ${name} was not found: install Helm 3, or correct helm.executable of the configuration or HELM_EXECUTABLE, or remove both so that Espalier installs releases without the program`,
    );
  }
  const known = found.get(path);
  if (known) return known;
  const version = spawnSync(path, ['version', '--template', '{{.Version}}'], { encoding: 'utf8', env: {} });
  const major = /^v?(\d+)\./.exec(version.stdout)?.[1];
  if (version.status !== 0 || major === undefined || Number(major) < 3) {
    throw new HelmMissing(`${path} is not Helm 3 or later, according to "helm version"`);
  }
  const helm: Helm = { major: Number(major), run: (call) => runHelm(path, call) };
  found.set(path, helm);
  return helm;
}

const onPath = (name: string): string | undefined =>
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find(isExecutable);

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

async function runHelm(path: string, { args, kubeconfig, files, signal }: HelmCall): Promise<HelmAnswer> {
  const folder = await mkdtemp(join(tmpdir(), 'espalier-helm-'));
  try {
    await chmod(folder, 0o700);
    await mkdir(join(folder, 'home'));
    const all = { kubeconfig, ...files };
    for (const [name, content] of Object.entries(all))
      await writeFile(join(folder, name), content, { mode: 0o600 });
    const resolved = args.map((arg) =>
      arg.replace(/^\{([\w.-]+)\}$/, (_, name: string) => join(folder, name)),
    );
    return await execute(path, resolved, folder, signal);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function execute(
  path: string,
  args: readonly string[],
  folder: string,
  signal: AbortSignal,
): Promise<HelmAnswer> {
  // No code between this check and the listener is asynchronous.
  signal.throwIfAborted();
  const home = join(folder, 'home');
  const passed = PASSED_VARIABLES.flatMap((key) =>
    process.env[key] === undefined ? [] : [[key, process.env[key]] as const],
  );
  const child = spawn(path, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: folder,
    env: {
      ...Object.fromEntries(passed),
      HOME: home,
      KUBECONFIG: join(folder, 'kubeconfig'),
      HELM_CACHE_HOME: join(home, 'cache'),
      HELM_CONFIG_HOME: join(home, 'config'),
      HELM_DATA_HOME: join(home, 'data'),
      HELM_PLUGINS: join(home, 'plugins'),
    },
  });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] = (output[name] + text).slice(-MAX_OUTPUT);
    });
  }
  let cancelKill = (): void => undefined;
  const onAbort = (): void => {
    child.kill('SIGTERM');
    // The clock of the system, because the process runs in real time.
    cancelKill = systemClock.at(systemClock.now() + GRACE_MS, () => child.kill('SIGKILL'));
  };
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    signal.throwIfAborted();
    return { isOk: code === 0, ...output };
  } finally {
    signal.removeEventListener('abort', onAbort);
    cancelKill();
  }
}

/** The error message of helm without its log lines, which may contain values. */
export function errorMessageOf({ stderr }: HelmAnswer): string {
  const at = stderr.lastIndexOf('Error: ');
  const text = at < 0 ? (stderr.trim().split('\n').at(-1) ?? '') : stderr.slice(at + 'Error: '.length);
  return text.replace(/((?:parse template|tpl function execution for) )"(?:[^"\\]|\\.)*"/g, '$1[...]').trim();
}
