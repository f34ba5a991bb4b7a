/**
 * A clock that stands still until a test moves it.
 *
 * While time stands still, an endless loop never yields, not even to the timeout of the test. Such a loop reads the
 * clock over and over, so the clock ends it.
 */
import type { Clock } from '../../src/lib/clock.ts';

/** About three times as many reads as in the largest test. */
const MOST_ASKED = 200_000;
const CIRCLE = `the time was asked for ${String(MOST_ASKED)} times while it stood still: something goes round in circles, such as an object whose every run causes the next one at once`;

export class FakeClock implements Clock {
  #now = 0;
  readonly #epoch: number;
  #timers: { when: number; seq: number; fn: () => void }[] = [];
  #seq = 0;
  #asked = 0;
  #isCircle = false;

  /** @param start wall time at `now() === 0`, RFC 3339 */
  constructor(start = '2026-01-01T00:00:00Z') {
    this.#epoch = Date.parse(start);
  }

  /** @throws Error if the clock is read too often without a turn of the event loop */
  now(): number {
    if (this.#asked++ === 0) setImmediate(() => (this.#asked = 0));
    if (this.#asked > MOST_ASKED) {
      this.#isCircle = true;
      throw new Error(CIRCLE);
    }
    return this.#now;
  }

  wall(): number {
    return this.#epoch + this.#now;
  }

  at(when: number, fn: () => void): () => void {
    const timer = { when, seq: this.#seq++, fn };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((t) => t !== timer);
    };
  }

  /** Moves time forward by `ms`, fires due timers in order and lets promises settle in between. */
  async advance(ms: number): Promise<void> {
    // The caller may have swallowed the error.
    if (this.#isCircle) throw new Error(CIRCLE);
    const end = this.#now + ms;
    await settle();
    for (;;) {
      const due = this.#timers
        .filter((t) => t.when <= end)
        .sort((a, b) => a.when - b.when || a.seq - b.seq)[0];
      if (!due) break;
      this.#timers = this.#timers.filter((t) => t !== due);
      this.#now = Math.max(this.#now, due.when);
      due.fn();
      await settle();
    }
    this.#now = end;
    await settle();
  }

  /** Number of pending timers. */
  get pending(): number {
    return this.#timers.length;
  }
}

/** Runs everything that is ready to run: promise chains and immediates. */
export async function settle(turns = 20): Promise<void> {
  for (let i = 0; i < turns; i++) await new Promise<void>((resolve) => setImmediate(resolve));
}
