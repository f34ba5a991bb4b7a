/**
 * A day on a server that changes objects all the time and fails in every possible way: time runs several hundred
 * times as fast for the client, sockets and memory are real. Nothing may accumulate.
 */
import { systemClock, type Clock } from '../../../src/lib/clock.ts';
import { benchManager, collectGarbage, startBenchServer } from './scene.ts';
import { benchKind } from './objects.ts';

const HOURS = 24;
const HOUR_MS = 3_600_000;
/** Virtual milliseconds per real one: a virtual hour takes 15 s. */
const RATE = 240;
/** A timer that was set before the acceleration adapts to it within this many real milliseconds. */
const CHECK_MS = 100;

/** Runs in real time until `accelerate`, then `RATE` times as fast. */
class AcceleratedClock implements Clock {
  #rate = 1;
  #since = systemClock.now();
  #before = 0;
  readonly #epoch = systemClock.wall();

  accelerate(): void {
    this.#before = this.now();
    this.#since = systemClock.now();
    this.#rate = RATE;
  }

  now(): number {
    return this.#before + (systemClock.now() - this.#since) * this.#rate;
  }

  wall(): number {
    return this.#epoch + this.now();
  }

  at(when: number, fn: () => void): () => void {
    const arm = (): (() => void) => {
      const realMs = (when - this.now()) / this.#rate;
      return systemClock.at(systemClock.now() + Math.min(realMs, CHECK_MS), () => {
        if (realMs > CHECK_MS) cancel = arm();
        else fn();
      });
    };
    let cancel = arm();
    return () => {
      cancel();
    };
  }
}

export interface SoakFigures {
  readonly objects: number;
  readonly reconciles: number;
  readonly hours: number;
  /**
   * Largest heap after a garbage collection divided by the smallest one, without the first hour; undefined without
   * `--expose-gc`.
   */
  readonly heapRatio: number | undefined;
  readonly heapBytes: number;
  /** Peak number of sockets. */
  readonly sockets: number;
  /** Objects that had not been reconciled a virtual hour after the last change. */
  readonly unsettled: number;
}

const sockets = (): number =>
  process.getActiveResourcesInfo().filter((what) => what === 'TCPSocketWrap' || what === 'TLSWrap').length;

/** @param say receives a line each hour */
export async function playSoak(count: number, say: (line: string) => void): Promise<SoakFigures> {
  const server = await startBenchServer({ count, unsettled: 0, streams: true, isFaulty: true });
  let reconciles = 0;
  const clock = new AcceleratedClock();
  const bench = await benchManager(
    server.kubeconfig,
    (primary, ctx) => {
      reconciles++;
      const object = ctx.draft();
      object.status.observedGeneration = primary.metadata.generation;
      return Promise.resolve({ write: 'status', object });
    },
    10,
    clock,
  );
  let most = 0;
  const counting = setInterval(() => (most = Math.max(most, sockets())), 50);
  await bench.manager.start();
  clock.accelerate();
  const heaps: number[] = [];
  for (let hour = 1; hour <= HOURS; hour++) {
    await new Promise((resolve) => setTimeout(resolve, HOUR_MS / RATE));
    const isMeasured = collectGarbage();
    const { heapUsed } = process.memoryUsage();
    if (isMeasured) heaps.push(heapUsed);
    say(
      `  hour ${String(hour)}: ${String(reconciles)} reconciles, ${String(sockets())} sockets, heap ${(heapUsed / 2 ** 20).toFixed(0)} MiB`,
    );
  }
  server.stopFaults();
  await new Promise((resolve) => setTimeout(resolve, HOUR_MS / RATE));
  clearInterval(counting);
  const all = [...bench.caches.of(benchKind).list()];
  const unsettled = all.filter(
    ({ metadata, status }) => metadata.generation !== status.observedGeneration,
  ).length;
  await bench.stop();
  server.stop();
  const later = heaps.slice(1);
  return {
    objects: all.length,
    reconciles,
    hours: HOURS,
    sockets: most,
    unsettled,
    heapRatio: later.length > 0 ? Math.max(...later) / Math.min(...later) : undefined,
    heapBytes: later.at(-1) ?? 0,
  };
}
