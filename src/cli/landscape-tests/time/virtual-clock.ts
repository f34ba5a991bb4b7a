/** A clock that stands still until the driver of a test moves it. Timers fire in the order of their times. */
import type { Clock } from '../../../lib/clock.ts';
import { Heap, type HeapItem } from '../../../runtime/queue/heap.ts';

interface Timer extends HeapItem {
  readonly when: number;
  readonly seq: number;
  readonly fn: () => void;
  isSet: boolean;
}

export class VirtualClock implements Clock {
  readonly #epoch: number;
  readonly #timers = new Heap<Timer>((a, b) => a.when < b.when || (a.when === b.when && a.seq < b.seq));
  #now = 0;
  #seq = 0;

  /** @param startedAt wall time when `now()` is 0, in milliseconds since 1970 */
  constructor(startedAt: number) {
    this.#epoch = startedAt;
  }

  now(): number {
    return this.#now;
  }

  wall(): number {
    return this.#epoch + this.#now;
  }

  at(when: number, fn: () => void): () => void {
    const timer: Timer = { when, seq: this.#seq++, fn, isSet: true, place: 0 };
    this.#timers.push(timer);
    return () => {
      this.#drop(timer);
    };
  }

  /** When the next timer is due; undefined without timers. */
  get next(): number | undefined {
    return this.#timers.peek()?.when;
  }

  /** Moves to the next timer, and fires all that are due then. @returns false if none is due until `limit` */
  fireNext(limit: number): boolean {
    const { next } = this;
    if (next === undefined || next > limit) return false;
    this.#now = Math.max(this.#now, next);
    // A timer that a fired one sets for now fires in the next step, so that promises settle before.
    const last = this.#seq;
    for (
      let due = this.#timers.peek();
      due && due.when <= this.#now && due.seq < last;
      due = this.#timers.peek()
    ) {
      this.#drop(due);
      due.fn();
    }
    return true;
  }

  /** Moves forward over a time in which no timer is due. */
  moveTo(when: number): void {
    this.#now = Math.max(this.#now, when);
  }

  #drop(timer: Timer): void {
    if (!timer.isSet) return;
    timer.isSet = false;
    this.#timers.remove(timer);
  }
}
