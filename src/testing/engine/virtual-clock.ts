/** Virtual time: it stands still until the scheduler moves it, and timers fire one at a time, in order. */
import type { Clock } from '../../lib/clock.ts';
import { Heap, type HeapItem } from '../../runtime/queue/heap.ts';

interface Timer extends HeapItem {
  readonly when: number;
  readonly seq: number;
  readonly fn: () => void;
  isCancelled: boolean;
}

const EPOCH = Date.parse('2026-01-01T00:00:00Z');

export class VirtualClock implements Clock {
  readonly #timers = new Heap<Timer>((a, b) => a.when < b.when || (a.when === b.when && a.seq < b.seq));
  #now = 0;
  #seq = 0;

  now(): number {
    return this.#now;
  }

  wall(): number {
    return EPOCH + this.#now;
  }

  at(when: number, fn: () => void): () => void {
    const timer: Timer = { when, seq: this.#seq++, fn, isCancelled: false, place: -1 };
    this.#timers.push(timer);
    return () => {
      timer.isCancelled = true;
    };
  }

  /** When the next timer is due; undefined when none is armed. */
  get next(): number | undefined {
    for (let timer = this.#timers.peek(); timer; timer = this.#timers.peek()) {
      if (!timer.isCancelled) return timer.when;
      this.#timers.remove(timer);
    }
    return undefined;
  }

  /** Fires the next timer if it is due. @returns whether it was */
  fire(): boolean {
    const { next } = this;
    if (next === undefined || next > this.#now) return false;
    const timer = this.#timers.peek() as Timer;
    this.#timers.remove(timer);
    timer.fn();
    return true;
  }

  moveTo(when: number): void {
    this.#now = Math.max(this.#now, when);
  }
}
