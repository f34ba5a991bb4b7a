/**
 * How long this thread computes without yielding, as processor time: other load on the machine lengthens a turn of
 * the event loop in wall time, but not here.
 */
import { existsSync, readFileSync } from 'node:fs';

/** Milliseconds between two measurements; a result is too long by at most this much. */
const CHECK_MS = 2;

/** Of the main thread alone on Linux. */
const SCHEDULER = `/proc/${String(process.pid)}/task/${String(process.pid)}/schedstat`;

/** Milliseconds of processor time of this thread; on other systems than Linux, of all threads. */
export const processorMs: () => number = existsSync(SCHEDULER)
  ? () => Number(readFileSync(SCHEDULER, 'utf8').split(' ')[0]) / 1e6
  : () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1_000;
    };

/** The longest stretches of computing so far. */
export class Slices {
  #last = processorMs();
  #longest = 0;
  #timer: NodeJS.Timeout;

  constructor() {
    this.#timer = setInterval(() => {
      this.#check();
    }, CHECK_MS);
  }

  /** @returns milliseconds of processor time of the longest stretch */
  end(): number {
    clearInterval(this.#timer);
    this.#check();
    return this.#longest;
  }

  #check(): void {
    const now = processorMs();
    this.#longest = Math.max(this.#longest, now - this.#last);
    this.#last = now;
  }
}
