/**
 * How much of a controller's time each namespace used recently. Time is counted in two windows, the current and the
 * previous one, so a namespace without reconciles in both has no state.
 */
export const WINDOW_MS = 10_000;
/** A namespace that uses more than this in two windows is heavy: between an eighth and a quarter of the time. */
export const HEAVY_MS = 2_500;
/** Time that a failed reconcile counts in addition to its duration. */
export const FAILURE_MS = 100;

export class Usage {
  #window = 0;
  #current = new Map<string, number>();
  #previous = new Map<string, number>();

  charge(name: string, ms: number, now: number): void {
    if (!(ms > 0)) return;
    this.#turnOver(now);
    this.#current.set(name, (this.#current.get(name) ?? 0) + ms);
  }

  isHeavy(name: string, now: number): boolean {
    if (this.#current.size === 0 && this.#previous.size === 0) return false;
    this.#turnOver(now);
    return (this.#current.get(name) ?? 0) + (this.#previous.get(name) ?? 0) > HEAVY_MS;
  }

  #turnOver(now: number): void {
    const window = Math.floor(now / WINDOW_MS);
    if (window === this.#window) return;
    this.#previous = window === this.#window + 1 ? this.#current : new Map<string, number>();
    this.#current = new Map();
    this.#window = window;
  }
}
