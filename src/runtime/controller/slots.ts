/** State of a controller about keys between reconciles; healthy idle keys have none. */
import type { Slot } from './decide.ts';
import { RateLimiter, type RateLimit } from '../queue/rate-limit.ts';
import type { Key } from '../types.ts';

export interface KeySlot extends Slot {
  /** Uid of the object that the slot belongs to. */
  readonly uid: string | undefined;
}

export class Slots {
  readonly #slots = new Map<Key, KeySlot>();
  readonly #limiter: RateLimiter | undefined;
  readonly #onForget: (key: Key) => void;

  /** @param onForget called with each key whose state is dropped */
  constructor(limit: RateLimit | undefined, onForget: (key: Key) => void = () => undefined) {
    this.#onForget = onForget;
    this.#limiter = limit && new RateLimiter(limit);
  }

  /** Number of keys with state. */
  get size(): number {
    return this.#slots.size;
  }

  /** The slot of an object; a new object of the same name gets a new slot. */
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

  /** Counts a reconcile that starts now. @returns milliseconds that it must wait instead, or 0 if it may start */
  limitedMs(key: Key, now: number): number {
    return this.#limiter?.acquire(key, now) ?? 0;
  }

  /** Drops a slot without state. */
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
