/** The machine's clock, which a test may advance: timers that are due by then fire as if the time had passed. */
import { systemClock, type Clock } from '../../src/lib/clock.ts';

interface Timer {
  readonly when: number;
  readonly fire: () => void;
  cancel: () => void;
}

export class SkippingClock implements Clock {
  #skippedMs = 0;
  #isHeld = false;
  readonly #timers = new Set<Timer>();

  now(): number {
    return systemClock.now() + this.#skippedMs;
  }

  wall(): number {
    return systemClock.wall() + this.#skippedMs;
  }

  at(when: number, fn: () => void): () => void {
    const timer: Timer = {
      when,
      cancel: () => undefined,
      fire: () => {
        this.#timers.delete(timer);
        fn();
      },
    };
    this.#timers.add(timer);
    this.#arm(timer);
    return () => {
      this.#timers.delete(timer);
      timer.cancel();
    };
  }

  advance(ms: number): void {
    this.#skippedMs += ms;
    for (const timer of this.#timers) {
      timer.cancel();
      this.#arm(timer);
    }
  }

  /** No timer fires until the returned function is called: what happens meanwhile, an event has caused. */
  hold(): () => void {
    this.#isHeld = true;
    for (const timer of this.#timers) timer.cancel();
    return () => {
      this.#isHeld = false;
      this.advance(0);
    };
  }

  #arm(timer: Timer): void {
    if (this.#isHeld) return;
    timer.cancel = systemClock.at(timer.when - this.#skippedMs, timer.fire);
  }
}
