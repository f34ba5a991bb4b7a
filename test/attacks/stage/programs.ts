/** The processes of an attack: an API server, and what `espalier install` runs, with its arguments and its memory. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { wordsFor } from '../../../src/cli/commands/install/names.ts';
import { productObjects } from '../../../src/cli/commands/install/objects.ts';
import { settingsFrom, type InstallSettings } from '../../../src/cli/commands/install/settings.ts';
import type { ConfigMap } from '../../../src/runtime/core-kinds.ts';
import type { Obj } from '../../../src/runtime/types.ts';
import { limitMemory, type MemoryLimit } from './memory.ts';

const root = join(import.meta.dirname, '../../..');
const PROGRAM = join(root, 'dist/src/cli/main.js');
const KEPT_LINES = 400;
const STOP_PATIENCE_MS = 8_000;
/** Prints what `silenceIn` reads. */
const SILENCE = join(import.meta.dirname, 'silence.mjs');

/** The main thread of a program gave nothing else a turn. */
interface Silence {
  readonly at: number;
  readonly ms: number;
  /** Processor time of the thread meanwhile. */
  readonly cpuMs: number;
}

function silenceIn(line: string): Silence | undefined {
  const [, ms, cpuMs] = /^silence (\d+) (\d+)$/.exec(line) ?? [];
  return ms === undefined ? undefined : { at: performance.now(), ms: Number(ms), cpuMs: Number(cpuMs) };
}

export class Program {
  readonly pid: number;
  readonly lines: string[] = [];
  readonly #silences: Silence[] = [];
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;

  constructor(nodeFlags: readonly string[], args: readonly string[], env: Readonly<Record<string, string>>) {
    this.#child = spawn(process.execPath, [...nodeFlags, PROGRAM, ...args], {
      cwd: root,
      env: { PATH: process.env['PATH'] ?? '', HOME: '/tmp', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.pid = this.#child.pid ?? 0;
    this.#ended = once(this.#child, 'exit');
    const keep = (chunk: Buffer): void => {
      for (const line of chunk.toString('utf8').split('\n')) {
        const silence = silenceIn(line);
        if (silence) this.#silences.push(silence);
        else if (line !== '') this.lines.push(line);
      }
      this.lines.splice(0, this.lines.length - KEPT_LINES);
    };
    this.#child.stdout?.on('data', keep);
    this.#child.stderr?.on('data', keep);
  }

  /** How it ended; undefined while it runs. */
  get end(): string | undefined {
    const { exitCode, signalCode } = this.#child;
    if (exitCode === null && signalCode === null) return undefined;
    const fatal = this.lines.filter((line) => /FATAL|heap|RangeError|Error:/.test(line)).at(-1);
    return `ended with ${signalCode ?? `code ${String(exitCode)}`}${fatal === undefined ? '' : `: ${fatal.slice(0, 200)}`}`;
  }

  /** The longest time without a turn since `start`, and the most processor time in one turn. */
  longestSilence(start: number): { readonly ms: number; readonly cpuMs: number } {
    const since = this.#silences.filter(({ at }) => at >= start);
    return {
      ms: Math.max(0, ...since.map(({ ms }) => ms)),
      cpuMs: Math.max(0, ...since.map(({ cpuMs }) => cpuMs)),
    };
  }

  /** SIGTERM, and SIGKILL if that has no effect. */
  async stop(): Promise<void> {
    if (this.end !== undefined) return;
    const hard = setTimeout(() => this.#child.kill('SIGKILL'), STOP_PATIENCE_MS);
    this.#child.kill('SIGTERM');
    await this.#ended;
    clearTimeout(hard);
  }
}

/** An API server in memory, with the CustomResourceDefinitions. It is not under attack and has no limits. */
export const serveApi = (kubeconfig: string): Program =>
  new Program(
    ['--max-old-space-size=6000'],
    ['apiserver', '--crds', '--host', '127.0.0.1', '--write-kubeconfig', kubeconfig],
    {},
  );

export interface LimitedProgram {
  readonly program: Program;
  readonly memory: MemoryLimit;
}

interface Container {
  readonly args: readonly string[];
  readonly command?: readonly string[];
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly resources: { readonly limits: { readonly memory: string } };
}

/** The API server of a program, its address, and the folder for its files. */
export interface Place {
  readonly kubeconfig: string;
  readonly port: number;
  readonly folder: string;
}

/** @param configuration file as for `espalier install --config` */
const settings = (configuration?: string, set: readonly string[] = []): InstallSettings =>
  settingsFrom({
    set,
    image: 'registry.example/espalier:test',
    namespace: 'ls-system',
    replicas: 1,
    crds: true,
    webhooks: true,
    allNamespaces: true,
    ...(configuration !== undefined && { config: configuration }),
  });

/** Runs what the Deployment of the controllers runs, on this API server and this port. */
export function control({ kubeconfig, port, folder }: Place, configuration?: string): LimitedProgram {
  const given = settings(configuration);
  return deployed(installedObject(given, 'Deployment ls-system/espalier'), {
    '--metrics-address': `127.0.0.1:${String(port)}`,
    '--config': installed(given, folder),
    '--kubeconfig': kubeconfig,
  });
}

function installedObject(given: InstallSettings, words: string): Obj {
  const found = productObjects(given).find((object) => wordsFor(object) === words);
  if (!found) throw new Error(`install creates no ${words}`);
  return found;
}

/** The file that the pods have in their ConfigMap. */
function installed(given: InstallSettings, folder: string): string {
  const file = join(folder, 'installed.yaml');
  const { data } = installedObject(given, 'ConfigMap ls-system/espalier') as ConfigMap;
  writeFileSync(file, data?.['configuration.yaml'] ?? '');
  return file;
}

/** The same for the Deployment of the webhooks. */
export function admit({ kubeconfig, port, folder }: Place): LimitedProgram {
  const given = settings();
  return deployed(installedObject(given, 'Deployment ls-system/espalier-webhooks'), {
    '--webhook-service': undefined,
    '--owner-role': undefined,
    '--config': installed(given, folder),
    '--webhook-url': `https://127.0.0.1:${String(port)}`,
    '--host': '127.0.0.1',
    '--port': String(port),
    '--cert-ns': 'ls-system',
    '--kubeconfig': kubeconfig,
  });
}

/** The same for the Deployment of the console, behind an ingress. */
export function display({ kubeconfig, port, folder }: Place): LimitedProgram {
  const set = ['enabled', 'trustForwardedHeaders', 'allowTargets', 'plans.enabled'];
  const given = settings(
    undefined,
    set.map((name) => `console.${name}=true`),
  );
  return deployed(installedObject(given, 'Deployment ls-system/espalier-console'), {
    '--config': installed(given, folder),
    '--host': '127.0.0.1',
    '--port': String(port),
    '--kubeconfig': kubeconfig,
  });
}

/** @param options of the command: instead of those in the Deployment, or in addition; undefined removes an option */
function deployed(deployment: Obj, options: Readonly<Record<string, string | undefined>>): LimitedProgram {
  const { spec } = deployment as Obj & {
    readonly spec: { readonly template: { readonly spec: { readonly containers: readonly Container[] } } };
  };
  const [container] = spec.template.spec.containers;
  if (!container) throw new Error('the Deployment has no container');
  const bytes = bytesOf(container.resources.limits.memory);
  const env = Object.fromEntries(container.env.flatMap(({ name, value }) => (value ? [[name, value]] : [])));
  const flags = [
    `--import=${SILENCE}`,
    ...nodeFlags(container.command ?? entrypoint(), env['NODE_OPTIONS'] ?? '', bytes),
  ];
  const kept = container.args.filter((arg) => !((arg.split('=')[0] ?? '') in options));
  const added = Object.entries(options).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${value}`],
  );
  const program = new Program(flags, [...kept, ...added], {
    NODE_ENV: 'production',
    MY_POD_NAME: 'espalier-0',
    MY_POD_NAMESPACE: 'ls-system',
    ...env,
  });
  return { program, memory: limitMemory(program.pid, bytes) };
}

/** `1Gi`, `512Mi` */
function bytesOf(quantity: string): number {
  const [, number = '', unit = ''] = /^(\d+)(Mi|Gi)$/.exec(quantity) ?? [];
  return Number(number) * (unit === 'Gi' ? 2 ** 30 : 2 ** 20);
}

/** The command of the image. */
function entrypoint(): readonly string[] {
  const text = readFileSync(join(root, 'Dockerfile'), 'utf8');
  return JSON.parse(/^ENTRYPOINT (\[.*\])$/m.exec(text)?.[1] ?? '[]') as string[];
}

const HEAP = '--max-old-space-size';

/**
 * The flags between `node` and the program. Node.js uses half of a small container's memory for its heap; here it
 * may not see the limit, so a flag sets it.
 */
function nodeFlags(command: readonly string[], options: string, bytes: number): readonly string[] {
  const flags = command.filter((word) => word.startsWith('--'));
  const isHeapChosen = [...flags, options].some((each) => each.includes(HEAP.slice(2)));
  return isHeapChosen ? flags : [...flags, `${HEAP}=${String(bytes / 2 ** 21)}`];
}
