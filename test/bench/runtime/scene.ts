/** A controller in status mode on the server of generated objects, and its measurements during a start. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { systemClock, type Clock } from '../../../src/lib/clock.ts';
import { systemRng as rng } from '../../../src/lib/rng.ts';
import { startHealthServer } from '../../../src/observability/health.ts';
import { silentLogger as log } from '../../../src/observability/log.ts';
import { createMetrics } from '../../../src/observability/metrics.ts';
import { createCaches } from '../../../src/runtime/cache/cache.ts';
import { MAX_UNCOMPRESSED } from '../../../src/runtime/cache/idle-compression.ts';
import { createClient } from '../../../src/runtime/transport/client.ts';
import { connect } from '../../../src/runtime/transport/http.ts';
import { createManager } from '../../../src/runtime/manager/manager.ts';
import { defaultResponses } from '../../../src/runtime/transport/responses.ts';
import type { Context, UpdateControl, View } from '../../../src/runtime/types.ts';
import { benchKind, type BenchObject } from './objects.ts';
import type { ServerTask } from './server.ts';
import { Slices } from './slices.ts';

/** Measurements after the caches have compressed idle objects. */
interface IdleFigures {
  readonly heapBytes: number | undefined;
  readonly residentBytes: number;
  /** Processor time of the compression. */
  readonly processorMs: number;
}

export interface StartFigures {
  /** Objects in the cache at the end. */
  readonly objects: number;
  readonly reconciles: number;
  /** Keys that the start added to the queue: an upper limit of its length. */
  readonly queued: number;
  /** Calls of `/healthz` during the start. */
  readonly probes: number;
  /** Calls that succeeded. */
  readonly healthy: number;
  readonly wallMs: number;
  readonly processorMs: number;
  /** Bytes of the heap that the start added; undefined without `--expose-gc`. */
  readonly heapBytes: number | undefined;
  /** Resident memory of the process after the start. */
  readonly residentBytes: number;
  /** Undefined without `untilIdle`. */
  readonly idle: IdleFigures | undefined;
  /** Longest time for which the event loop was blocked. */
  readonly longestBlockMs: number;
  /** The same in processor time, which other programs on the machine do not lengthen. */
  readonly longestSliceMs: number;
  /** From an edit on the server to the start of its reconcile, both processes included. */
  readonly editMs: number;
}

export interface BenchServer {
  readonly kubeconfig: string;
  edit(name: string): void;
  /** Stops the faults and the edits of the server. */
  stopFaults(): void;
  stop(): void;
}

export async function startBenchServer(task: ServerTask): Promise<BenchServer> {
  const file = join(import.meta.dirname, 'server.ts');
  const child = fork(file, [JSON.stringify(task)], { execArgv: ['--import=tsx'] });
  const [{ url }] = (await once(child, 'message')) as [{ url: string }];
  const kubeconfig = JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'bench',
    contexts: [{ name: 'bench', context: { cluster: 'bench', user: 'bench' } }],
    clusters: [{ name: 'bench', cluster: { server: url } }],
    users: [{ name: 'bench', user: {} }],
  });
  return {
    kubeconfig,
    edit: (name) => void child.send({ edit: name }),
    stopFaults: () => void child.send({ stopFaults: true }),
    stop: () => child.disconnect(),
  };
}

export type BenchReconcile = (
  object: View<BenchObject>,
  ctx: Context<BenchObject>,
) => Promise<UpdateControl<BenchObject>>;

/** A manager with one controller, not started. */
export async function benchManager(
  kubeconfig: string,
  reconcile: BenchReconcile,
  maxConcurrent = 10,
  clock: Clock = systemClock,
) {
  const userAgent = 'bench';
  // An inline kubeconfig is treated as a tenant's otherwise, whose lists are limited.
  const responses = defaultResponses.host;
  const client = createClient(
    await connect({ kubeconfig: { text: kubeconfig }, userAgent, clock, log, responses }),
  );
  const metrics = createMetrics();
  const caches = createCaches({ client, clock, rng, log, metrics });
  const manager = createManager({ client, caches, clock, rng, log, metrics, identity: 'bench' });
  const controller = manager.add<BenchObject>({
    name: 'bench',
    kind: benchKind,
    generation: 'status',
    maxConcurrent,
    reconciler: { reconcile },
  });
  const sum = async (pattern: RegExp): Promise<number> =>
    [...(await metrics.text()).matchAll(pattern)].reduce((all, [, n]) => all + Number(n), 0);
  const depth = (): Promise<number> => sum(/^workqueue_depth\{.*\} (\d+)$/gm);
  /** Keys that were ever put into the queue. */
  const added = (): Promise<number> => sum(/^workqueue_adds_total\{.*\} (\d+)$/gm);
  /** Whether the cache still has idle objects to compress. */
  const hasUncompressed = async (): Promise<boolean> =>
    (await sum(/^espalier_cache_objects\{.*\} (\d+)$/gm)) -
      (await sum(/^espalier_cache_compressed_objects\{.*\} (\d+)$/gm)) >
    MAX_UNCOMPRESSED;
  const stop = async (): Promise<void> => {
    await manager.stop();
    await client.close();
  };
  return { manager, controller, caches, metrics, depth, added, hasUncompressed, stop };
}

/**
 * Starts on the objects of a server, edits one, returns the measurements, and stops the server.
 * @param options `untilIdle`: also waits about a minute, until idle objects are compressed
 */
export async function playStart(
  server: BenchServer,
  options: { readonly untilIdle?: true } = {},
): Promise<StartFigures> {
  let reconciles = 0;
  let onReconcile: (key: string) => void = () => undefined;
  const bench = await benchManager(server.kubeconfig, (_, ctx) => {
    reconciles++;
    onReconcile(ctx.key);
    return Promise.resolve({ write: 'none' });
  });
  const { manager, metrics, caches } = bench;
  const health = await startHealthServer({ host: '127.0.0.1', port: 0, metrics, checks: manager.checks });
  let probes = 0;
  let healthy = 0;
  let isOver = false;
  const probing = (async () => {
    while (!isOver) {
      probes++;
      if ((await fetch(`${health.url}/healthz`)).ok) healthy++;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  collectGarbage();
  const heapBefore = process.memoryUsage().heapUsed;
  const lag = monitorEventLoopDelay({ resolution: 5 });
  lag.enable();
  const cpu = process.cpuUsage();
  const slices = new Slices();
  const startedAt = performance.now();
  await manager.start();
  const wallMs = performance.now() - startedAt;
  const longestSliceMs = slices.end();
  const { user, system } = process.cpuUsage(cpu);
  lag.disable();
  const queued = await bench.added();
  const name = 'object-7';
  const editedAt = performance.now();
  const edited = new Promise<void>((resolve) => {
    onReconcile = (key) => {
      if (key.endsWith(`/${name}`)) resolve();
    };
  });
  // The first list is over, but the watch may not be open; an edit before that is newer than the version of the list.
  server.edit(name);
  await edited;
  const editMs = performance.now() - editedAt;
  isOver = true;
  await probing;
  const heap = (): number | undefined =>
    collectGarbage() ? process.memoryUsage().heapUsed - heapBefore : undefined;
  const heapBytes = heap();
  const residentBytes = process.memoryUsage.rss();
  const idle = options.untilIdle && (await idleFigures(bench.hasUncompressed, heap));
  const figures = {
    objects: caches.of(benchKind).size,
    reconciles,
    queued,
    probes,
    healthy,
    wallMs,
    heapBytes,
    residentBytes,
    idle,
    editMs,
    processorMs: (user + system) / 1_000,
    longestBlockMs: lag.max / 1e6,
    longestSliceMs,
  };
  await health.close();
  await bench.stop();
  server.stop();
  return figures;
}

async function idleFigures(
  hasUncompressed: () => Promise<boolean>,
  heap: () => number | undefined,
): Promise<IdleFigures> {
  const cpuBefore = process.cpuUsage();
  while (await hasUncompressed()) await new Promise((resolve) => setTimeout(resolve, 1_000));
  const { user, system } = process.cpuUsage(cpuBefore);
  return {
    heapBytes: heap(),
    residentBytes: process.memoryUsage.rss(),
    processorMs: (user + system) / 1_000,
  };
}

/** @returns whether the garbage collector could be called */
export function collectGarbage(): boolean {
  const { gc } = globalThis as { gc?: () => void };
  gc?.();
  return gc !== undefined;
}
