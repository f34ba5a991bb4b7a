/**
 * Limits the reconciles of a whole controller per second. One worker at a time takes a key and waits for a token with it;
 * the other keys stay in the queue meanwhile, in their order. So an edit waits for one key at most, however many objects of
 * a first list are queued.
 */
import { sleep, type Clock } from '../../lib/clock.ts';
import { DefinitionError } from '../errors.ts';
import { TokenBucket } from './rate-limit.ts';

/** At most `burst` reconciles at once, and then `perSecond`, over all objects of a controller. */
export interface TotalLimit {
  readonly perSecond: number;
  /** Default: one. */
  readonly burst?: number;
}

/** @throws DefinitionError */
export function checkTotalLimit(controller: string, { perSecond, burst = 1 }: TotalLimit): void {
  if (perSecond > 0 && perSecond < Infinity && burst >= 1) return;
  throw new DefinitionError({
    message: `controller ${controller}: totalLimit needs perSecond above 0 and a burst of at least 1`,
  });
}

export class Throttle {
  readonly #clock: Clock;
  readonly #bucket: TokenBucket;
  readonly #life = new AbortController();
  /** Resolves when the last worker that entered has left. */
  #last: Promise<void> = Promise.resolve();

  constructor(clock: Clock, { perSecond, burst = 1 }: TotalLimit) {
    this.#clock = clock;
    this.#bucket = new TokenBucket({ perSecond, burst });
  }

  /** Resolves when no other worker is choosing a key. @returns to be called when the reconcile starts, or will not */
  async enter(): Promise<() => void> {
    const before = this.#last;
    let leave: () => void = () => undefined;
    this.#last = new Promise((resolve) => (leave = resolve));
    await before;
    return leave;
  }

  /** Waits for a token and takes it. @returns false if the controller was stopped first */
  async takeToken(): Promise<boolean> {
    const waitMs = this.#bucket.reserve(this.#clock.now());
    if (waitMs <= 0) return true;
    try {
      await sleep(this.#clock, waitMs, this.#life.signal);
      return true;
    } catch {
      return false;
    }
  }

  stop(): void {
    this.#life.abort();
  }
}
