/** One timer of the clock for all that waits, set for the earliest of it. */
import type { Clock } from './clock.ts';

export class Alarm {
  readonly #clock: Clock;
  readonly #ring: () => void;
  #set: { readonly when: number; readonly cancel: () => void } | undefined;

  /** @param ring called once for each alarm that was set; one without a cause must do no harm */
  constructor(clock: Clock, ring: () => void) {
    this.#clock = clock;
    this.#ring = ring;
  }

  /** It rings at `when` or before. @param when as of the clock; Infinity asks for nothing */
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
