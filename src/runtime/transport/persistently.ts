/** Repeats a request that is no part of a reconcile, when its failure may pass: for installing and for the start. */
import { sleep, type Clock } from '../../lib/clock.ts';
import type { Rng } from '../../lib/rng.ts';
import { ApiError, EspalierError } from '../errors.ts';
import { isTemporary } from './failure.ts';
import { exponential } from '../queue/retry.ts';

/** About 20 s in all: nine tries. */
const pauses = exponential({ initialMs: 200, factor: 2, maxMs: 5_000, jitter: 0.1, maxAttempts: 8 });
/** A server that asks for more patience gets no more than this at a time. */
const MAX_ASKED_MS = 30_000;

interface Persistence {
  readonly clock: Clock;
  readonly rng: Rng;
  /** Ends a pause with its reason. */
  readonly signal?: AbortSignal | undefined;
  /** Called before each pause. */
  onPause?(error: EspalierError, tries: number, pauseMs: number): void;
  /** The error to end with when the last try has failed. */
  givenUp(error: EspalierError, tries: number): Error;
}

/**
 * Asks again after somebody else's write at the same time, and while the server is busy, broken or away: nine times in
 * about 20 s, or longer if the server asks for it.
 * @throws what `givenUp` answers; the errors of `ask` that do not pass; the reason of the signal
 */
export async function persistently<T>(ask: () => Promise<T>, how: Persistence): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof EspalierError) || !(isOutOfDate(error) || isTemporary(error))) throw error;
      const ms = pauses.delay(tries, how.rng);
      if (ms === undefined) throw how.givenUp(error, tries);
      const askedMs = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
      const pauseMs = Math.round(Math.max(ms, Math.min(askedMs, MAX_ASKED_MS)));
      how.onPause?.(error, tries, pauseMs);
      await sleep(how.clock, pauseMs, how.signal);
    }
  }
}

/** A conflict, also of two that create the object at the same time, or a server that answers from the past. */
const isOutOfDate = (error: EspalierError): boolean =>
  error instanceof ApiError && (error.status === 409 || error.status === 410);
