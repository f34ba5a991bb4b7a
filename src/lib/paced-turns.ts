/**
 * Work that keeps the thread for a while, one piece at a time: after each piece everything else has the thread for as
 * long as the piece took, so that it never gets more than half of it.
 */
import { sleep, type Clock } from './clock.ts';

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
