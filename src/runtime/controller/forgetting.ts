/**
 * Calls the reconciler's `forget` for primaries that are gone, or that another process has handled meanwhile. A failed call is repeated with growing delays until it
 * succeeds or the controller stops, because there is no later event of the object that could repeat it.
 */
import type { Clock } from '../../lib/clock.ts';
import type { Rng } from '../../lib/rng.ts';
import type { Logger } from '../../observability/log.ts';
import { keyOf } from '../keys.ts';
import { exponential } from '../queue/retry.ts';
import type { Key, Obj, View } from '../types.ts';

interface ForgettingPorts<P extends Obj> {
  readonly controller: string;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Logger;
  forget?(primary: View<P>): void | Promise<void>;
  /** Whether an object of that name is being reconciled. */
  isActive(key: Key): boolean;
}

const DELAYS = exponential({ initialMs: 1_000, factor: 2, maxMs: 300_000, jitter: 0.1 });

export class Forgetting<P extends Obj> {
  readonly #ports: ForgettingPorts<P>;
  /** Cancels the retries that are due later. */
  readonly #pending = new Set<() => void>();
  #isStopped = false;

  constructor(ports: ForgettingPorts<P>) {
    this.#ports = ports;
  }

  /** Never rejects. @returns when the first attempt has ended; after a failure there are others */
  on(primary: View<P>): Promise<void> {
    return this.#attempt(primary, 1);
  }

  stop(): void {
    this.#isStopped = true;
    for (const cancel of this.#pending) cancel();
    this.#pending.clear();
  }

  async #attempt(primary: View<P>, attempt: number): Promise<void> {
    try {
      await this.#ports.forget?.(primary);
    } catch (error) {
      this.#onFailure(primary, attempt, error);
    }
  }

  #onFailure(primary: View<P>, attempt: number, err: unknown): void {
    const { controller, rng, log } = this.#ports;
    const retryMs = DELAYS.delay(attempt, rng) ?? 0;
    const fields = { controller, key: keyOf(primary), err, retryMs: Math.round(retryMs) };
    log.error(fields, 'cleaning up after a deleted object failed');
    this.#later(primary, attempt + 1, retryMs);
  }

  #later(primary: View<P>, attempt: number, ms: number): void {
    if (this.#isStopped) return;
    const { clock } = this.#ports;
    const cancel = clock.at(clock.now() + ms, () => {
      this.#pending.delete(cancel);
      // A new object of the same name is being reconciled: `forget` must not run at the same time.
      if (this.#ports.isActive(keyOf(primary))) this.#later(primary, attempt, ms);
      else void this.#attempt(primary, attempt);
    });
    this.#pending.add(cancel);
  }
}
