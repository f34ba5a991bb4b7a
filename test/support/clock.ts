/** A clock that stands still until a test moves it. */
import type { Clock } from '../../src/lib/clock.ts';

export class FakeClock implements Clock {
  #now = 0;
  readonly #epoch: number;
  #timers: { when: number; seq: number; fn: () => void }[] = [];
  #seq = 0;

  /** @param start wall time at `now() === 0`, RFC 3339 */
  constructor(start = '2026-01-01T00:00:00Z') {
    this.#epoch = Date.parse(start);
  }

  now(): number {
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
