/**
 * Gives other tasks of the event loop a turn between synchronous pieces of work, so that probes and renewals are not
 * delayed.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from './clock.ts';

const SLICE_MS = 8;

export class Pace {
  readonly #clock: Clock;
  #since: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Undefined while the current turn of the event loop is short; otherwise wait for the next one. */
  rest(): Promise<void> | undefined {
    if (this.#since === undefined) {
      this.#since = this.#clock.now();
      setImmediate(() => {
        this.#since = undefined;
      });
      return undefined;
    }
    return this.#clock.now() - this.#since < SLICE_MS ? undefined : nextTurn();
  }
}
