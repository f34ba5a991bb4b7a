/** Rate limits: reconciles of one object per window, and retries of one namespace per second. */
import type { Key } from '../types.ts';

/** At most this number of reconciles of a key per `perMs`; further ones wait for the end of the window. */
export interface RateLimit {
  readonly reconciles: number;
  /** Default 10 s. */
  readonly perMs?: number;
}

const DEFAULT_WINDOW_MS = 10_000;
/** A shorter wait needs no timer. */
const SHORTEST_WAIT_MS = 50;
/** Expired windows are removed when there are this many. */
const SWEEP_SIZE = 1_000;

export class RateLimiter {
  readonly #reconciles: number;
  readonly #perMs: number;
  readonly #windows = new Map<Key, { start: number; count: number }>();
  #sweepAt = SWEEP_SIZE;

  constructor(limit: RateLimit) {
    this.#reconciles = limit.reconciles;
    this.#perMs = limit.perMs ?? DEFAULT_WINDOW_MS;
  }

  /** Counts a reconcile that starts now. @returns milliseconds that it must wait instead, or 0 if it may start */
  acquire(key: Key, now: number): number {
    const window = this.#windows.get(key);
    if (!window || now - window.start >= this.#perMs) {
      this.#sweep(now);
      this.#windows.set(key, { start: now, count: 1 });
      return 0;
    }
    if (window.count < this.#reconciles) {
      window.count++;
      return 0;
    }
    return Math.max(SHORTEST_WAIT_MS, window.start + this.#perMs - now);
  }

  forget(key: Key): void {
    this.#windows.delete(key);
  }

  #sweep(now: number): void {
    if (this.#windows.size < this.#sweepAt) return;
    for (const [key, { start }] of this.#windows) if (now - start >= this.#perMs) this.#windows.delete(key);
    this.#sweepAt = Math.max(SWEEP_SIZE, 2 * this.#windows.size);
  }
}

/** Allows `burst` at once and then `perSecond`: returns to each caller how long to wait. */
export class TokenBucket {
  readonly #perMs: number;
  readonly #burst: number;
  #tokens: number;
  #at: number | undefined;

  constructor(options: { readonly perSecond: number; readonly burst: number }) {
    this.#perMs = options.perSecond / 1_000;
    this.#burst = options.burst;
    this.#tokens = options.burst;
  }

  /** Takes a token, possibly a future one. @returns milliseconds until it is available */
  reserve(now: number): number {
    this.#refill(now);
    this.#tokens--;
    return this.#tokens >= 0 ? 0 : -this.#tokens / this.#perMs;
  }

  /** Takes a token if one is available. */
  tryTake(now: number): boolean {
    this.#refill(now);
    if (this.#tokens < 1) return false;
    this.#tokens--;
    return true;
  }

  /** Whether it is equal to a new bucket. */
  isFull(now: number): boolean {
    this.#refill(now);
    return this.#tokens >= this.#burst;
  }

  #refill(now: number): void {
    const passed = now - (this.#at ?? now);
    this.#at = now;
    this.#tokens = Math.min(this.#burst, this.#tokens + passed * this.#perMs);
  }
}

/** A bucket for each name; full buckets are removed. */
export class TokenBuckets {
  readonly #options: { readonly perSecond: number; readonly burst: number };
  readonly #buckets = new Map<string, TokenBucket>();
  #sweepAt = SWEEP_SIZE;

  constructor(options: { readonly perSecond: number; readonly burst: number }) {
    this.#options = options;
  }

  /** Number of buckets. */
  get size(): number {
    return this.#buckets.size;
  }

  /** Takes a token from the bucket of `name`, possibly a future one. @returns milliseconds until it is available */
  reserve(name: string, now: number): number {
    let bucket = this.#buckets.get(name);
    if (!bucket) {
      this.#sweep(now);
      bucket = new TokenBucket(this.#options);
      this.#buckets.set(name, bucket);
    }
    return bucket.reserve(now);
  }

  #sweep(now: number): void {
    if (this.#buckets.size < this.#sweepAt) return;
    for (const [name, bucket] of this.#buckets) if (bucket.isFull(now)) this.#buckets.delete(name);
    this.#sweepAt = Math.max(SWEEP_SIZE, 2 * this.#buckets.size);
  }
}
