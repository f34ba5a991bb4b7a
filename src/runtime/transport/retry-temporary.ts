/** Repeats requests outside of reconciles while their failure may be temporary: for the installation and the start. */
import { sleep, type Clock } from '../../lib/clock.ts';
import type { Rng } from '../../lib/rng.ts';
import { ApiError, EspalierError } from '../errors.ts';
import { isTemporary } from './failure.ts';
import { exponential } from '../queue/retry.ts';

/** Nine attempts in about 20 s. */
const pauses = exponential({ initialMs: 200, factor: 2, maxMs: 5_000, jitter: 0.1, maxAttempts: 8 });
/** Maximum pause that a server can request. */
const MAX_ASKED_MS = 30_000;

interface RetryOptions {
  readonly clock: Clock;
  readonly rng: Rng;
  /** Ends a pause; its reason is thrown. */
  readonly signal?: AbortSignal | undefined;
  /** Called before each pause. */
  onPause?(error: EspalierError, tries: number, pauseMs: number): void;
  /** The error to throw after the last attempt. */
  givenUp(error: EspalierError, tries: number): Error;
}

/**
 * Repeats the request after a conflict, and while the server is busy, broken or unreachable: nine attempts in about
 * 20 s, or longer if the server asks to wait.
 * @throws the error of `givenUp`; errors of `ask` that are not temporary; the reason of the signal
 */
export async function retryTemporary<T>(ask: () => Promise<T>, how: RetryOptions): Promise<T> {
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

/** A conflict, also of two concurrent creates, or a server with outdated data. */
const isOutOfDate = (error: EspalierError): boolean =>
  error instanceof ApiError && (error.status === 409 || error.status === 410);
