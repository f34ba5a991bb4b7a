/**
 * The same operator on controller-runtime and on our runtime, one after the other on one API server: how long a change
 * takes to reach the copy, how long the start with many objects takes, and the memory. Prints ratios.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ensureGoModule } from '../../../hack/go/module.ts';
import { systemClock as clock } from '../../../src/lib/clock.ts';
import { silentLogger as log } from '../../../src/observability/log.ts';
import { ConfigMap, Namespace } from '../../../src/runtime/core-kinds.ts';
import { createClient } from '../../../src/runtime/transport/client.ts';
import { connect } from '../../../src/runtime/transport/http.ts';
import type { Client } from '../../../src/runtime/types.ts';
import type { Server } from '../servers.ts';

const OBJECTS = 2_000;
const EDITS = 200;
const AT_ONCE = 32;
const IDLE_MS = 5_000;
/** Above this load average, other programs distort the figures. */
const QUIET_LOAD = 2;

const root = join(import.meta.dirname, '../../..');
const operators = {
  'controller-runtime': (): readonly string[] => [
    ensureGoModule({ name: 'go-operator', folder: join(root, 'hack/go-operator') }, (line) => {
      console.log(line);
    }),
  ],
  'our runtime': (): readonly string[] => [process.execPath, join(import.meta.dirname, 'equal-operator.mjs')],
} as const;

interface Figures {
  /** From the start of the process until its caches are filled, with all objects. */
  readonly startMs: number;
  /** From `startMs` until all copies exist. */
  readonly allMs: number;
  /** Processor time until all copies exist. */
  readonly processorMs: number;
  /** From the response to an edit to the event of the changed copy. */
  readonly medianMs: number;
  readonly p99Ms: number;
  readonly idleBytes: number;
  readonly busyBytes: number;
}

/** @throws GoModuleUnavailable if the operator on controller-runtime cannot be built */
export async function benchEqual(server: Server): Promise<void> {
  const commands = Object.entries(operators).map(([name, command]) => [name, command()] as const);
  const [load = 0] = loadavg();
  if (load >= QUIET_LOAD)
    console.log(
      `the load average is ${load.toFixed(1)}, above ${String(QUIET_LOAD)}: do not publish these figures`,
    );
  const folder = mkdtempSync(join(tmpdir(), 'espalier-equal-'));
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, server.kubeconfig);
  const connection = { kubeconfig: { text: server.kubeconfig }, userAgent: 'bench', clock, log };
  const client = createClient(await connect({ ...connection, maxSockets: AT_ONCE }));
  try {
    const all: Figures[] = [];
    for (const [name, command] of commands) {
      const figures = await measure(client, command, kubeconfig, name.replaceAll(/\W/g, '-'));
      console.log(`${name} on ${server.name}: ${describe(figures)}`);
      all.push(figures);
    }
    printRatios(all);
  } finally {
    await client.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(
  client: Client,
  command: readonly string[],
  kubeconfig: string,
  name: string,
): Promise<Figures> {
  const idleBytes = await idleMemory(client, command, kubeconfig, `${name}-idle`);
  const namespace = `${name}-busy`;
  await createNamespace(client, namespace);
  await inParallel(OBJECTS, (i) => createPrimary(client, namespace, i));
  const copies = new Copies(client, namespace);
  const spawnedAt = performance.now();
  const child = await started(command, kubeconfig, namespace);
  const syncedAt = performance.now();
  try {
    await copies.until(() => copies.count === OBJECTS);
    const allMs = performance.now() - syncedAt;
    const processorMs = processorMsOf(child);
    const waits: number[] = [];
    for (let i = 0; i < EDITS; i++) waits.push(await editOne(client, copies, namespace, i));
    waits.sort((a, b) => a - b);
    const at = (share: number): number => waits[Math.floor(waits.length * share)] as number;
    return {
      startMs: syncedAt - spawnedAt,
      allMs,
      processorMs,
      medianMs: at(0.5),
      p99Ms: at(0.99),
      idleBytes,
      busyBytes: residentBytes(child),
    };
  } finally {
    copies.stop();
    await stopped(child);
  }
}

async function idleMemory(
  client: Client,
  command: readonly string[],
  kubeconfig: string,
  namespace: string,
): Promise<number> {
  await createNamespace(client, namespace);
  const child = await started(command, kubeconfig, namespace);
  await pause(IDLE_MS);
  const bytes = residentBytes(child);
  await stopped(child);
  return bytes;
}

/** Milliseconds from the response to an edit to the event of the changed copy. */
async function editOne(client: Client, copies: Copies, namespace: string, i: number): Promise<number> {
  const value = `edited ${String(i)}`;
  const key = `${namespace}/object-${String(i)}`;
  await client.send({ verb: 'merge', kind: ConfigMap, key, body: { data: { value } } });
  const answeredAt = performance.now();
  await copies.until(() => copies.valueOf(`object-${String(i)}-copy`) === value);
  return Math.max(0, performance.now() - answeredAt);
}

/** The copies that exist, from a watch. */
class Copies {
  readonly #values = new Map<string, string | undefined>();
  readonly #life = new AbortController();
  #onChange: () => void = () => undefined;

  constructor(client: Client, namespace: string) {
    void this.#watch(client, namespace).catch(() => undefined);
  }

  get count(): number {
    return this.#values.size;
  }

  valueOf(name: string): string | undefined {
    return this.#values.get(name);
  }

  async until(isTrue: () => boolean): Promise<void> {
    while (!isTrue()) await new Promise<void>((resolve) => (this.#onChange = resolve));
  }

  stop(): void {
    this.#life.abort(new Error('measured'));
  }

  async #watch(client: Client, namespace: string): Promise<void> {
    for await (const frame of client.watch(ConfigMap, { namespace }, this.#life.signal)) {
      if (!('object' in frame) || !frame.object.metadata.name.endsWith('-copy')) continue;
      this.#values.set(frame.object.metadata.name, frame.object.data?.['value']);
      this.#onChange();
    }
  }
}

// ---------------------------------------------------------------- objects

const createNamespace = (client: Client, name: string): Promise<unknown> =>
  client.send({
    verb: 'create',
    kind: Namespace,
    object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
  });

const createPrimary = (client: Client, namespace: string, i: number): Promise<unknown> =>
  client.send({
    verb: 'create',
    kind: ConfigMap,
    object: {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace, name: `object-${String(i)}`, labels: { bench: 'yes' } },
      data: { value: 'first', text: 'lorem ipsum '.repeat(80) },
    },
  });

async function inParallel(count: number, work: (i: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let i = next++; i < count; i = next++) await work(i);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

// ---------------------------------------------------------------- processes

async function started(
  [program = '', ...args]: readonly string[],
  kubeconfig: string,
  namespace: string,
): Promise<ChildProcess> {
  const child = spawn(program, [...args, namespace], {
    env: { ...process.env, KUBECONFIG: kubeconfig },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ready = once(child.stdout, 'data');
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`${program} ended with code ${String(code)}`);
  });
  await Promise.race([ready, ended]);
  ended.catch(() => undefined);
  return child;
}

async function stopped(child: ChildProcess): Promise<void> {
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  await exit;
}

const residentBytes = ({ pid }: ChildProcess): number =>
  Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${String(pid)}/status`, 'utf8'))?.[1]) * 1_024;

/** User and system time; the kernel counts in hundredths of a second. */
function processorMsOf({ pid }: ChildProcess): number {
  const fields = readFileSync(`/proc/${String(pid)}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

// ---------------------------------------------------------------- results

const mib = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MiB`;

const describe = (figures: Figures): string =>
  [
    `caches synced after ${figures.startMs.toFixed(0)} ms`,
    `${String(OBJECTS)} copies in ${figures.allMs.toFixed(0)} ms`,
    `${figures.processorMs.toFixed(0)} ms of processor time`,
    `from an edit to the changed copy: median ${figures.medianMs.toFixed(2)} ms, 99 % within ${figures.p99Ms.toFixed(2)} ms`,
    `resident memory: ${mib(figures.idleBytes)} without objects, ${mib(figures.busyBytes)} at the end`,
  ].join('; ');

function printRatios([theirs, ours]: readonly Figures[]): void {
  if (!theirs || !ours) return;
  const ratios = Object.keys(theirs).map((name) => {
    const key = name as keyof Figures;
    return `${name} ${(ours[key] / theirs[key]).toFixed(2)}`;
  });
  console.log(`ratios of our runtime to controller-runtime (lower is better): ${ratios.join(', ')}`);
}
