/** One timer of the clock for several deadlines, set for the earliest of them. */
import type { Clock } from './clock.ts';

export class Alarm {
  readonly #clock: Clock;
  readonly #ring: () => void;
  #set: { readonly when: number; readonly cancel: () => void } | undefined;

  /** @param ring called when the timer expires; it may be called without a due deadline, and must then do nothing */
  constructor(clock: Clock, ring: () => void) {
    this.#clock = clock;
    this.#ring = ring;
  }

  /** Calls `ring` at `when` or earlier. @param when as of the clock; Infinity sets no timer */
  by(when: number): void {
    if (this.#set && this.#set.when <= when) return;
    this.cancel();
    if (!Number.isFinite(when)) return;
    const cancel = this.#clock.at(when, () => {
      this.#set = undefined;
      this.#ring();
    });
    this.#set = { when, cancel };
  }

  cancel(): void {
    this.#set?.cancel();
    this.#set = undefined;
  }
}
