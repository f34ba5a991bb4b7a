/**
 * A clock that stands still until a test moves it.
 *
 * Where time stands still, what goes round in circles never gives way to anything, not even to the limit of the test.
 * Such a circle asks for the time again and again, so the clock ends it.
 */
import type { Clock } from '../../src/lib/clock.ts';

/** About three times as often as the largest test asks. */
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

  /** @throws Error when it is asked for ever without the event loop turning */
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

  /** Moves time forward by `ms`, firing due timers in order and letting promises settle in between. */
  async advance(ms: number): Promise<void> {
    // Whoever asked may have swallowed it.
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

  /** How many timers are armed. */
  get pending(): number {
    return this.#timers.length;
  }
}

/** Lets everything that is ready to run, run: promise chains and immediates. */
export async function settle(turns = 20): Promise<void> {
  for (let i = 0; i < turns; i++) await new Promise<void>((resolve) => setImmediate(resolve));
}

const PATIENCE_MS = 20_000;

/** What has nothing left to wait for but the machine. @throws Error naming `what` when it does not come to an end all the same */
export async function inTime<T>(what: string, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} did not come in time`)), PATIENCE_MS);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
