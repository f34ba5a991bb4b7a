/** The goals of the controller runtime: measurements and their ratio to the goals; asserts nothing. */
import { createQueue } from '../../../src/runtime/queue/queue.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import {
  benchManager,
  collectGarbage,
  playStart,
  startBenchServer,
  type BenchReconcile,
  type BenchServer,
} from './scene.ts';
import { populatedEmbedded, populatedReal } from './populated.ts';
import { objectOf } from './objects.ts';
import { playSoak } from './soak.ts';
import { costOf, idleWorkflow, matching } from './workflow.ts';

const ROUNDS = 3;
const median = (numbers: readonly number[]): number =>
  [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] as number;

/** Processor time, because wall time depends on other programs on the machine as well. */
function processorMs(since: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1_000;
}

const perSecond = (count: number, ms: number): number => (count / ms) * 1_000;
/** Prints a measurement, its goal, and the factor by which it reaches or misses the goal. */
const show = (measured: string, value: number, unit: string, goal: number, isMost = false): void => {
  const margin = isMost ? goal / value : value / goal;
  const goalText = `goal: ${isMost ? 'at most' : 'at least'} ${String(goal)}`;
  const result =
    margin < 1
      ? `MISSED by a factor of ${(1 / margin).toFixed(2)}`
      : `reached by a factor of ${margin.toFixed(2)}`;
  console.log(`${measured}: ${value.toFixed(value < 10 ? 2 : 0)} ${unit} (${goalText}; ${result})`);
};

async function benchQueue(): Promise<void> {
  const COUNT = 1_000;
  const TIMES = 200;
  const keys = Array.from({ length: COUNT }, (_, i) => `space/object-${String(i)}`);
  const taken: number[] = [];
  const delayed: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const queue = createQueue(systemClock);
    const cpu = process.cpuUsage();
    for (let time = 0; time < TIMES; time++) {
      for (const key of keys) queue.add(key);
      for (let i = 0; i < COUNT; i++) (await queue.take())?.end();
    }
    taken.push(perSecond(COUNT * TIMES, processorMs(cpu)));
    const again = process.cpuUsage();
    for (let time = 0; time < TIMES; time++) {
      keys.forEach((key, i) => {
        queue.addAfter(key, 3_600_000 + ((i * 7_919) % COUNT), 'requeue');
      });
    }
    delayed.push(perSecond(COUNT * TIMES, processorMs(again)));
    queue.close();
  }
  show('queue: keys added, taken and finished', median(taken), 'per second of processor time', 500_000);
  show('queue: keys added with a delay', median(delayed), 'per second of processor time', 500_000);
}

/** @returns processor milliseconds for `count` reconciles of as many objects */
async function reconcileAll(
  kubeconfig: string,
  count: number,
  workers: number,
  reconcile: BenchReconcile,
): Promise<number> {
  let left = count;
  let onEnd: () => void = () => undefined;
  const bench = await benchManager(
    kubeconfig,
    async (object, ctx) => {
      const control = await reconcile(object, ctx);
      if (--left === 0) setImmediate(onEnd);
      return control;
    },
    workers,
  );
  await bench.manager.start();
  const ended = new Promise<void>((resolve) => {
    onEnd = resolve;
  });
  const cpu = process.cpuUsage();
  for (let i = 0; i < count; i++) {
    bench.controller.enqueue(`space-${String(i % 50)}/object-${String(i)}`);
  }
  await ended;
  const ms = processorMs(cpu);
  await bench.stop();
  return ms;
}

async function benchReconciles(): Promise<void> {
  const idle = 10_000;
  const writing = 1_000;
  const server = await startBenchServer({ count: idle, unsettled: 0, streams: false });
  const without: number[] = [];
  const withOne: number[] = [];
  // The first rounds run in a process that has just started, and are not counted.
  for (let round = -2; round < ROUNDS; round++) {
    const ms = await reconcileAll(server.kubeconfig, idle, 50, () => Promise.resolve({ write: 'none' }));
    const phase = `round-${String(round)}`;
    const writingMs = await reconcileAll(server.kubeconfig, writing, 50, (_, ctx) => {
      const object = ctx.draft();
      object.status.phase = phase;
      return Promise.resolve({ write: 'status', object });
    });
    if (round < 0) continue;
    without.push(perSecond(idle, ms));
    withOne.push(writingMs / writing);
  }
  server.stop();
  show('reconciles without a request, 50 workers', median(without), 'per second of processor time', 50_000);
  show('one reconcile with a status patch', median(withOne), 'ms of processor time', 1, true);
}

/** Size of an object as caches store it. */
const STORED_BYTES = JSON.stringify({
  ...objectOf(1),
  metadata: { ...objectOf(1).metadata, managedFields: undefined },
}).length;

async function benchStart(count: number): Promise<void> {
  console.log(
    `objects of ${String(JSON.stringify(objectOf(1)).length)} bytes, ${String(STORED_BYTES)} of them stored`,
  );
  for (const streams of [false, true]) {
    const how = streams ? 'streamed' : 'paged';
    await showStart(how, await startBenchServer({ count, unsettled: 0, streams }));
  }
}

async function showStart(how: string, server: BenchServer): Promise<void> {
  const {
    objects,
    wallMs,
    processorMs: cpuMs,
    heapBytes,
    residentBytes,
    idle,
    ...figures
  } = await playStart(server, { untilIdle: true });
  const { reconciles, queued, probes, healthy, longestBlockMs, longestSliceMs, editMs } = figures;
  console.log(
    `start on ${String(objects)} objects, ${how}: ${String(reconciles)} reconciles, ${String(queued)} keys queued, ${String(healthy)} of ${String(probes)} health probes succeeded`,
  );
  show(`  until caches are synced`, wallMs / 1_000, 's', how === 'paged' ? 10 : 5, true);
  show(`  processor time`, cpuMs / 1_000, 's', 3, true);
  show(`  longest block of the event loop`, longestBlockMs, 'ms', 50, true);
  show(`  longest block, as processor time`, longestSliceMs, 'ms', 50, true);
  show(`  from an edit to its reconcile`, editMs, 'ms', 50, true);
  show(`  resident memory`, residentBytes / 2 ** 20, 'MiB', 400, true);
  if (idle) {
    show(`  resident memory, with idle objects compressed`, idle.residentBytes / 2 ** 20, 'MiB', 400, true);
    show(`  processor time for the compression`, idle.processorMs / 1_000, 's', 3, true);
  }
  if (heapBytes !== undefined) {
    show(`  heap`, heapBytes / 2 ** 20, 'MiB', 220, true);
    show(`  heap, with idle objects compressed`, (idle?.heapBytes ?? 0) / 2 ** 20, 'MiB', 60, true);
    show(`  heap per object`, heapBytes / objects, 'bytes', 1.8 * STORED_BYTES + 300, true);
  }
}

/** A start on API servers with this many objects; filling them takes longer than the start. */
export async function benchPopulated(count: number, isReal: boolean): Promise<void> {
  await showStart('from the embedded API server', await populatedEmbedded(count));
  if (isReal) await showStart('from kube-apiserver', await populatedReal(count));
}

async function benchWorkflow(): Promise<void> {
  show(
    'reconcile of a workflow with 100 dependents that are up to date',
    await costOf(500, idleWorkflow(100)),
    'ms',
    2,
    true,
  );
  const { bytes, compare, recall } = matching();
  const size = `an object of ${String(bytes)} bytes`;
  show(`comparing ${size} by its managed fields`, await costOf(2_000, compare), 'ms', 0.3, true);
  show(
    `comparing ${size} with the response to the last apply`,
    await costOf(2_000, recall),
    'ms',
    0.05,
    true,
  );
}

/** From an event to its reconcile on an idle machine; wall time, because the latency counts. */
async function benchLatency(): Promise<void> {
  const server = await startBenchServer({ count: 1, unsettled: 0, streams: false });
  let onReconcile: () => void = () => undefined;
  const bench = await benchManager(server.kubeconfig, () => {
    onReconcile();
    return Promise.resolve({ write: 'none' });
  });
  await bench.manager.start();
  const waits: number[] = [];
  for (let i = 0; i < 200; i++) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    const startedAt = performance.now();
    await new Promise<void>((resolve) => {
      onReconcile = resolve;
      bench.controller.enqueue('space-0/object-0');
    });
    waits.push(performance.now() - startedAt);
  }
  await bench.stop();
  server.stop();
  show('from an event to its reconcile, idle controller', median(waits), 'ms', 2, true);
}

/** Sockets of the pool, of the one source, and one spare for the replacement of a watch. */
const SOCKETS = 32 + 1 + 1;

export async function benchSoak(count: number): Promise<void> {
  const { objects, reconciles, hours, heapRatio, heapBytes, sockets, unsettled } = await playSoak(
    count,
    (line) => {
      console.log(line);
    },
  );
  console.log(
    `${String(hours)} hours with ${String(objects)} objects: ${String(reconciles)} reconciles, heap ${(heapBytes / 2 ** 20).toFixed(0)} MiB at the end`,
  );
  if (heapRatio !== undefined)
    show('  ratio of the largest to the smallest heap after the first hour', heapRatio, '', 1.05, true);
  show('  sockets', sockets, 'at the peak', SOCKETS, true);
  console.log(`  objects not reconciled an hour after the last change: ${String(unsettled)} (goal: 0)`);
}

export async function benchRuntime(count: number): Promise<void> {
  if (!collectGarbage()) console.log('heap: not measured, start with node --expose-gc');
  await benchQueue();
  await benchReconciles();
  await benchLatency();
  await benchWorkflow();
  await benchStart(count);
}
