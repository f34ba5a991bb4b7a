/** Work that keeps the thread for a while, and what else has to be done. */
import { sleep, type Clock } from './clock.ts';

/**
 * One piece of work at a time: after each one everything else has the thread for as long as the piece took, so that such
 * work never gets more than half of it.
 */
export class PacedTurns {
  #free: Promise<void> = Promise.resolve();

  /** @throws what `work` throws */
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
