/**
 * Advances virtual time, but only while nothing happens: no reconcile is active or ready, no request has been sent, and
 * the event loop has turned several times since. All servers and controllers run in this process, so their sockets
 * deliver within a few turns; work in other processes, such as templates, belongs to an active reconcile.
 */
import { systemClock } from '../../../lib/clock.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** The case takes too long on the machine's clock. */
export class OutOfRealTime extends Error {
  override readonly name = 'OutOfRealTime';
}

/** What the driver observes. */
interface Activity {
  /** A number that changes with every request and every write. */
  mark(): number;
  /** Number of objects that are being reconciled, or could be. */
  pending(): number;
}

/** Turns without activity after which everything counts as quiet. */
const CALM_TURNS = 40;
/** The same after a timer that caused nothing at once. */
const CALM_TURNS_AFTER_TIMER = 6;

export class Driver {
  readonly clock: VirtualClock;
  readonly #activity: Activity;
  readonly #deadline: number;

  /** @param realMs how long the case may take on the machine's clock */
  constructor(clock: VirtualClock, activity: Activity, realMs: number) {
    this.clock = clock;
    this.#activity = activity;
    this.#deadline = systemClock.now() + realMs;
  }

  /**
   * Runs until `isDone`, which is asked whenever everything is quiet, or until virtual time reaches `limit`.
   * @returns whether it is done
   * @throws OutOfRealTime
   */
  async run(limit: number, isDone: () => boolean = () => false): Promise<boolean> {
    await this.#quiet(CALM_TURNS);
    for (;;) {
      if (isDone()) return true;
      if (!this.clock.fireNext(limit)) break;
      await this.#quiet(CALM_TURNS_AFTER_TIMER);
    }
    this.clock.moveTo(limit);
    await this.#quiet(CALM_TURNS);
    return isDone();
  }

  /** Advances virtual time while the promise waits for it. @throws OutOfRealTime, and what the promise throws */
  async during<T>(work: Promise<T>): Promise<T> {
    let isSettled = false;
    const settle = (): void => {
      isSettled = true;
    };
    work.then(settle, settle);
    while (!isSettled) {
      await this.#quiet(CALM_TURNS);
      // A promise of the caller may need some turns that show no activity.
      for (let i = 0; i < CALM_TURNS && !isSettled; i++) await turn();
      if (!isSettled) this.clock.fireNext(Infinity);
    }
    return work;
  }

  async #quiet(turnsAfterTimer: number): Promise<void> {
    let wanted = turnsAfterTimer;
    let mark = this.#activity.mark();
    for (let calm = 0; calm < wanted; calm++) {
      await turn();
      const seen = this.#activity.mark();
      if (seen !== mark || this.#activity.pending() > 0) [calm, mark, wanted] = [0, seen, CALM_TURNS];
      if (systemClock.now() > this.#deadline) throw new OutOfRealTime();
    }
  }
}

const turn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });
