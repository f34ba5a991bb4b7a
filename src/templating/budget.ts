/** What an execution may use up: so no template can hang the controller or take its memory. */
import type { Clock } from '../lib/clock.ts';
import { byteLength } from './go/go-string.ts';

export interface TemplateLimits {
  /** Size of the output and of any single text or list a function makes. */
  readonly maxOutputBytes: number;
  /** Nodes visited plus, for large results, their size. */
  readonly maxSteps: number;
  /** Depth of `template` calls; Go allows 100000, our stack does not. */
  readonly maxRecursion: number;
  /** Milliseconds of `clock.now()` an execution may take, nested ones included. */
  readonly timeoutMs: number;
}

export const DEFAULT_LIMITS: TemplateLimits = {
  maxOutputBytes: 16 * 2 ** 20,
  maxSteps: 5_000_000,
  maxRecursion: 500,
  timeoutMs: 10_000,
};

/** How a limit is raised, for messages. */
const moreWith = (key: string): string => `; templating.${key} of the configuration allows more`;

/** What an engine says when the output grows too large. */
export const outputTooLarge = ({ maxOutputBytes }: TemplateLimits): string =>
  `the output is larger than ${String(maxOutputBytes)} bytes${moreWith('maxOutputBytes')}`;

/** A limit was hit; evaluators may add the place. */
export class LimitError extends Error {}

export class Budget {
  readonly clock: Clock;
  readonly limits: TemplateLimits;
  readonly #deadline: number;
  #steps = 0;
  #nextLook = 1024;
  #depth = 0;

  /** @param deadline of `clock.now()`; default: the limit from now on */
  constructor(clock: Clock, limits: TemplateLimits, deadline = clock.now() + limits.timeoutMs) {
    this.clock = clock;
    this.limits = limits;
    this.#deadline = deadline;
  }

  /** Counts work done. @throws LimitError */
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

  /** Asks before something of this size is made. @throws LimitError */
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

  /** Goes one level deeper. @throws LimitError */
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
