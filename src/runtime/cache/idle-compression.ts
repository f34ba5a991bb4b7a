/**
 * When the idle objects of a cache are compressed. Only caches with many objects do it: a small one would save little,
 * and its reads would take longer. It uses at most a fifth of the time, so that reconciles and probes continue.
 */
import { sleep, type Clock } from '../../lib/clock.ts';
import { collectGarbage } from '../../lib/collect-garbage.ts';

/** What is compressed. */
interface Compressible {
  readonly size: number;
  /** Number of objects that are compressed already. */
  readonly compressed: number;
  /** One round: yields after each object. */
  compressIdle(): Generator<void>;
}

/** Caches with fewer uncompressed objects stay as they are. */
export const MAX_UNCOMPRESSED = 1_000;
/** An object is compressed after one to two rounds without use. */
export const ROUND_MS = 30_000;
/** A round that compresses so many objects releases several megabytes. */
const MANY = 5_000;
const SLICE_MS = 4;
const REST_MS = 4 * SLICE_MS;

export class IdleCompression {
  readonly #store: Compressible;
  readonly #clock: Clock;
  #signal: AbortSignal | undefined;
  #isScheduled = false;

  constructor(store: Compressible, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  start(signal: AbortSignal): void {
    this.#signal = signal;
    this.consider();
  }

  /** Schedules a round if too many objects are uncompressed. Call it with each change and read. */
  consider(): void {
    const signal = this.#signal;
    if (this.#isScheduled || !signal || signal.aborted) return;
    if (this.#store.size - this.#store.compressed <= MAX_UNCOMPRESSED) return;
    this.#isScheduled = true;
    this.#round(signal)
      .catch(() => undefined)
      .finally(() => {
        this.#isScheduled = false;
        this.consider();
      });
  }

  /** @throws the reason of the signal */
  async #round(signal: AbortSignal): Promise<void> {
    await sleep(this.#clock, ROUND_MS, signal);
    const before = this.#store.compressed;
    let began = this.#clock.now();
    for (const _ of this.#store.compressIdle()) {
      if (this.#clock.now() - began < SLICE_MS) continue;
      await sleep(this.#clock, REST_MS, signal);
      began = this.#clock.now();
    }
    if (this.#store.compressed - before >= MANY) await collectGarbage();
  }
}
