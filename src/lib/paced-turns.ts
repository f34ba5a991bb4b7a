/** Runs long synchronous work with pauses for other tasks. */
import { sleep, type Clock } from './clock.ts';

/**
 * One piece of work at a time. After each, other tasks have the thread for as long as the piece took, so such work
 * uses at most half of the time.
 */
export class PacedTurns {
  #free: Promise<void> = Promise.resolve();

  /** @throws errors of `work` */
  run<R>(clock: Clock, work: () => R): Promise<R> {
    let tookMs = 0;
    const turn = this.#free.then(() => {
      const began = clock.now();
      try {
        return work();
      } finally {
        tookMs = clock.now() - began;
      }
    });
    const rest = (): Promise<void> => (tookMs > 0 ? sleep(clock, tookMs) : Promise.resolve());
    this.#free = turn.then(rest, rest);
    return turn;
  }
}
