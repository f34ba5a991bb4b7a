/** One shard in this process: whether it is ours, what is being worked at in it, and since when it could be handed on. */
import type { Clock } from '../../lib/clock.ts';
import { ApiError, ShareLostError } from '../errors.ts';
import type { WorkPermit } from '../controller/share.ts';
import type { Writer } from '../types.ts';

/**
 * `none` → `taking`: the lease is asked for → `warming`: it is ours, the caches catch up → `held` → `draining`: what runs
 * ends, nothing begins → `releasing`: the lease is given back → `none`. A loss leads to `none` from everywhere.
 */
export type ShardState = 'none' | 'taking' | 'warming' | 'held' | 'draining' | 'releasing';

/** As long as a request may be on its way after we have given up waiting for its answer. */
export const DOUBT_MS = 5_000;

export class Shard {
  state: ShardState = 'none';
  readonly number: number;
  readonly #clock: Clock;
  readonly #mayWrite: () => boolean;
  readonly #onIdle: () => void;
  readonly #permits = new Set<(reason: Error) => void>();
  #doubtUntil = -Infinity;

  /**
   * @param mayWrite whether the process still counts as alive to the others
   * @param onIdle called when the last pass of a draining shard has ended
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

  /** Leases that are ours as far as we know. */
  get isOurs(): boolean {
    return this.state !== 'none' && this.state !== 'taking';
  }

  /** How long the lease has to be kept although there is nothing to do; Infinity while something is under way. */
  get busyMs(): number {
    return this.#permits.size > 0 ? Infinity : Math.max(0, this.#doubtUntil - this.#clock.now());
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

  /** Ends all passes against their will. */
  lose(why: string): void {
    this.state = 'none';
    const reason = lostError(this.number, why);
    for (const lose of [...this.#permits]) lose(reason);
    this.#permits.clear();
  }

  /** A write that nobody has answered may take effect yet; until then nobody else may begin. */
  #watched(write: Writer): Writer {
    return async (request, signal) => {
      try {
        return await write(request, signal);
      } catch (error) {
        if (!isAnswer(error)) this.#doubtUntil = this.#clock.now() + DOUBT_MS;
        throw error;
      }
    };
  }
}

/** It says for certain what became of the write. */
const isAnswer = (error: unknown): boolean => error instanceof ApiError || error instanceof ShareLostError;

const lostError = (shard: number, why: string): ShareLostError =>
  new ShareLostError({ message: `writes to shard ${String(shard)} are blocked: ${why}` });
