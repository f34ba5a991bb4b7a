/** Resource limits of an execution, so that no template can block the controller or exhaust its memory. */
import type { Clock } from '../lib/clock.ts';
import { byteLength } from './go/go-string.ts';

export interface TemplateLimits {
  /** Maximum size of the output, and of any single string or list that a function creates. */
  readonly maxOutputBytes: number;
  /** Number of visited nodes, plus the size of large results. */
  readonly maxSteps: number;
  /** Depth of `template` calls; Go allows 100000, which our stack does not. */
  readonly maxRecursion: number;
  /** Maximum duration of an execution, including nested ones, in milliseconds of `clock.now()`. */
  readonly timeoutMs: number;
}

export const DEFAULT_LIMITS: TemplateLimits = {
  maxOutputBytes: 16 * 2 ** 20,
  maxSteps: 5_000_000,
  maxRecursion: 500,
  timeoutMs: 10_000,
};

/** How to raise a limit, for messages. */
const moreWith = (key: string): string => `; templating.${key} of the configuration allows more`;

/** The message of an engine if the output is too large. */
export const outputTooLarge = ({ maxOutputBytes }: TemplateLimits): string =>
  `the output is larger than ${String(maxOutputBytes)} bytes${moreWith('maxOutputBytes')}`;

/** A limit was exceeded; evaluators may add the position. */
export class LimitError extends Error {}

export class Budget {
  readonly clock: Clock;
  readonly limits: TemplateLimits;
  readonly #deadline: number;
  #steps = 0;
  #nextLook = 1024;
  #depth = 0;

  /** @param deadline time of `clock.now()`; default: now plus the limit */
  constructor(clock: Clock, limits: TemplateLimits, deadline = clock.now() + limits.timeoutMs) {
    this.clock = clock;
    this.limits = limits;
    this.#deadline = deadline;
  }

  /** Counts work that has been done. @throws LimitError */
  charge(steps: number): void {
    this.#steps += steps;
    if (this.#steps < this.#nextLook) return;
    this.#nextLook = this.#steps + 1024;
    if (this.#steps > this.limits.maxSteps) {
      throw new LimitError(
        `the template needs more than ${String(this.limits.maxSteps)} steps${moreWith('maxSteps')}`,
      );
    }
    if (this.clock.now() > this.#deadline) {
      throw new LimitError(
        `the template takes longer than ${String(this.limits.timeoutMs)} ms${moreWith('timeout')}`,
      );
    }
  }

  /** Called before an allocation of this size. @throws LimitError */
  reserve(size: number): void {
    if (size > this.limits.maxOutputBytes) {
      throw new LimitError(
        `a result of more than ${String(this.limits.maxOutputBytes)} bytes${moreWith('maxOutputBytes')}`,
      );
    }
    this.charge(size / 16);
  }

  checkText(text: string): void {
    if (text.length > 256) this.reserve(byteLength(text));
  }

  /** Enters a deeper level. @throws LimitError */
  enter(): void {
    if (++this.#depth > this.limits.maxRecursion) {
      throw new LimitError(
        `exceeded maximum template depth (${String(this.limits.maxRecursion)}), a fixed limit`,
      );
    }
  }

  leave(): void {
    this.#depth--;
  }
}
