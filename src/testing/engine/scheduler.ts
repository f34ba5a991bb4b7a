/**
 * Decides what happens next. Everything outside of the program (a request in transit, a response, a frame of a watch,
 * a timer, the user) is a step here; steps run one at a time, drawn from those that are possible, and all
 * consequences inside the program run to their end before the next step. The same seed gives the same order.
 */
import { VirtualClock } from './virtual-clock.ts';
import type { Chance } from './chance.ts';
import { Trace } from './trace.ts';
import { Violation } from '../violation.ts';

interface Step {
  readonly readyAt: number;
  readonly run: () => void;
}

/** More steps than any run needs: there is an endless loop. */
const MAX_STEPS = 400_000;

/** More timers than any program needs at one instant. */
const MAX_AT_ONCE = 5_000;

class Runaway extends Error {}

export class Scheduler {
  readonly clock = new VirtualClock();
  readonly trace = new Trace(this.clock);
  readonly #chance: Chance;
  readonly #steps: Step[] = [];
  #taken = 0;
  /** Timers that have fired since virtual time last moved. */
  #fired = 0;
  #failure: Error | undefined;
  /** Called after each step. */
  afterStep: () => void = () => undefined;

  constructor(chance: Chance) {
    this.#chance = chance;
  }

  get taken(): number {
    return this.#taken;
  }

  /** Something that may happen from `delayMs` on. */
  add(run: () => void, delayMs = 0): void {
    this.#steps.push({ readyAt: this.clock.now() + delayMs, run });
  }

  /** Ends the run after the current step with an error. The first error counts. */
  fail(error: Error): void {
    this.#failure ??= error;
  }

  /**
   * Runs steps until `isDone`, which is called after each of them, or until virtual time reaches `until`.
   * @throws the error of a step, or the one passed to `fail`
   */
  async run(until: number, isDone: () => boolean = () => false): Promise<void> {
    for (;;) {
      await settled();
      if (this.#failure) throw this.#failure;
      this.afterStep();
      if (isDone()) return;
      if (++this.#taken > MAX_STEPS) throw new Runaway(`more than ${MAX_STEPS} steps`);
      if (!this.#take(until)) return;
    }
  }

  /** One step. @returns false when none is left before `until` */
  #take(until: number): boolean {
    const { clock } = this;
    const before = clock.now();
    const isTaken = this.#takeFrom(clock, until);
    if (clock.now() > before) this.#fired = 0;
    return isTaken;
  }

  #takeFrom(clock: VirtualClock, until: number): boolean {
    if (clock.fire()) {
      if (++this.#fired > MAX_AT_ONCE)
        throw new Violation(
          'time passes',
          `${MAX_AT_ONCE} timers have fired while no time passed, so a timer of the operator sets itself again at once`,
        );
      return true;
    }
    const step = this.#draw(clock.now());
    if (step) {
      // Everything outside of the program takes some time.
      clock.moveTo(clock.now() + 1 + Math.floor(this.#chance.next() * 4));
      step.run();
      return true;
    }
    let next = clock.next ?? Infinity;
    for (const { readyAt } of this.#steps) next = Math.min(next, readyAt);
    if (next > until) {
      clock.moveTo(until);
      return false;
    }
    clock.moveTo(next);
    return true;
  }

  #draw(now: number): Step | undefined {
    let count = 0;
    for (const { readyAt } of this.#steps) if (readyAt <= now) count++;
    if (count === 0) return undefined;
    let wanted = Math.floor(this.#chance.next() * count);
    for (const [i, step] of this.#steps.entries()) {
      if (step.readyAt > now || wanted-- > 0) continue;
      this.#steps.splice(i, 1);
      return step;
    }
    return undefined;
  }
}

/** Promise chains have ended when the event loop turns; the second turn is for code that waits for a turn itself. */
const settled = async (): Promise<void> => {
  await turn();
  await turn();
};
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
