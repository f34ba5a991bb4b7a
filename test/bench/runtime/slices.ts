/**
 * How long this thread computes without giving way, as processor time: a machine that is busy with something else makes
 * a turn of the event loop longer on the wall, not here.
 */
import { existsSync, readFileSync } from 'node:fs';

/** Milliseconds between two looks; what is measured is too long by this much at most. */
const LOOK_MS = 2;

/** Of the main thread alone on Linux. */
const SCHEDULER = `/proc/${String(process.pid)}/task/${String(process.pid)}/schedstat`;

/** Milliseconds of processor time that this thread has used; elsewhere than on Linux that of all threads. */
const processorMs: () => number = existsSync(SCHEDULER)
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
      this.#look();
    }, LOOK_MS);
  }

  /** @returns milliseconds of processor time of the longest stretch */
  end(): number {
    clearInterval(this.#timer);
    this.#look();
    return this.#longest;
  }

  #look(): void {
    const now = processorMs();
    this.#longest = Math.max(this.#longest, now - this.#last);
    this.#last = now;
  }
}
