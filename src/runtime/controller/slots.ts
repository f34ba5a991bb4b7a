/** What a controller remembers about keys between runs; nothing about those that are at rest and well. */
import type { Slot } from './decide.ts';
import { RateLimiter, type RateLimit } from '../queue/rate-limit.ts';
import type { Key } from '../types.ts';

export interface KeySlot extends Slot {
  /** Which object of this name the slot is about. */
  readonly uid: string | undefined;
}

export class Slots {
  readonly #slots = new Map<Key, KeySlot>();
  readonly #limiter: RateLimiter | undefined;
  readonly #onForget: (key: Key) => void;

  /** @param onForget told of each key that nothing is to be remembered of */
  constructor(limit: RateLimit | undefined, onForget: (key: Key) => void = () => undefined) {
    this.#onForget = onForget;
    this.#limiter = limit && new RateLimiter(limit);
  }

  /** How many keys are remembered. */
  get size(): number {
    return this.#slots.size;
  }

  /** The slot of an object; a namesake of an earlier one starts afresh. */
  of(key: Key, uid: string | undefined): KeySlot {
    const known = this.#slots.get(key);
    if (known && known.uid === uid) return known;
    const slot: KeySlot = { uid, attempt: 0, gone: false, dirty: false };
    this.#slots.set(key, slot);
    return slot;
  }

  isParked(key: Key, uid: string | undefined): boolean {
    const parkedUid = this.#slots.get(key)?.parkedUid;
    return parkedUid !== undefined && parkedUid === uid;
  }

  /** Counts a run that starts now. Milliseconds it has to wait instead, or 0 when it may start. */
  limitedMs(key: Key, now: number): number {
    return this.#limiter?.acquire(key, now) ?? 0;
  }

  /** Lets go of a slot in which there is nothing to remember. */
  tidy(key: Key): void {
    const slot = this.#slots.get(key);
    if (slot?.attempt === 0 && slot.retryAt === undefined && slot.parkedUid === undefined) {
      this.#slots.delete(key);
    }
  }

  forget(key: Key): void {
    this.#slots.delete(key);
    this.#limiter?.forget(key);
    this.#onForget(key);
  }
}
