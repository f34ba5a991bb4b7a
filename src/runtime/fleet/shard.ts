/** One shard in this process: whether this process holds it, its active reconciles, and when it can be handed over. */
import type { Clock } from '../../lib/clock.ts';
import { ApiError, ShareLostError } from '../errors.ts';
import type { WorkPermit } from '../controller/share.ts';
import type { Writer } from '../types.ts';

/**
 * `none` → `taking`: the lease is requested → `warming`: the lease is held, the caches catch up → `held` →
 * `draining`: active reconciles end, no new ones start → `releasing`: the lease is released → `none`. A loss leads to
 * `none` from every state.
 */
export type ShardState = 'none' | 'taking' | 'warming' | 'held' | 'draining' | 'releasing';

/** How long a request may still be in flight after we have stopped waiting for its response. */
export const MAX_IN_FLIGHT_MS = 5_000;

export class Shard {
  state: ShardState = 'none';
  /** Whether this process has worked on the shard before. */
  wasHeld = false;
  readonly number: number;
  readonly #clock: Clock;
  readonly #mayWrite: () => boolean;
  readonly #onIdle: () => void;
  readonly #permits = new Set<(reason: Error) => void>();
  #inFlightUntil = -Infinity;

  /**
   * @param mayWrite whether other replicas still count this process as alive
   * @param onIdle called when the last reconcile of a draining shard has ended
   */
  constructor(number: number, clock: Clock, mayWrite: () => boolean, onIdle: () => void) {
    this.number = number;
    this.#clock = clock;
    this.#mayWrite = mayWrite;
    this.#onIdle = onIdle;
  }

  get isAdmitting(): boolean {
    return this.state === 'held' && this.#mayWrite();
  }

  /** Whether the lease is held, according to what this process knows. */
  get isOurs(): boolean {
    return this.state !== 'none' && this.state !== 'taking';
  }

  /** How long the lease must be kept although nothing is active; Infinity while a reconcile is active. */
  get busyMs(): number {
    return this.#permits.size > 0 ? Infinity : Math.max(0, this.#inFlightUntil - this.#clock.now());
  }

  hold(): void {
    this.state = 'held';
    this.wasHeld = true;
  }

  begin(onLost: (reason: Error) => void): WorkPermit {
    let isOver = false;
    let loss: Error | undefined;
    const lose = (reason: Error): void => {
      loss = reason;
      onLost(reason);
    };
    if (this.isAdmitting) this.#permits.add(lose);
    else lose(lostError(this.number, 'it was lost before the reconcile began'));
    return {
      fence: () => {
        if (loss) throw loss;
        if (!this.#mayWrite()) throw lostError(this.number, 'this replica could not renew its lease in time');
      },
      around: (write) => this.#watched(write),
      end: () => {
        if (isOver) return;
        isOver = true;
        this.#permits.delete(lose);
        if (this.#permits.size === 0 && this.state === 'draining') this.#onIdle();
      },
    };
  }

  /** Aborts all active reconciles. */
  lose(why: string): void {
    this.state = 'none';
    const reason = lostError(this.number, why);
    for (const lose of [...this.#permits]) lose(reason);
    this.#permits.clear();
  }

  /** A write without a response may still take effect; until then no other replica may start. */
  #watched(write: Writer): Writer {
    return async (request, signal) => {
      try {
        return await write(request, signal);
      } catch (error) {
        if (!isAnswer(error)) this.#inFlightUntil = this.#clock.now() + MAX_IN_FLIGHT_MS;
        throw error;
      }
    };
  }
}

/** Whether the result of the write is certain. */
const isAnswer = (error: unknown): boolean => error instanceof ApiError || error instanceof ShareLostError;

const lostError = (shard: number, why: string): ShareLostError =>
  new ShareLostError({ message: `writes to shard ${String(shard)} are blocked: ${why}` });
