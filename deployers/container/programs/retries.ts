/**
 * Retries requests for a while, because the result of an image depends on them and an API server may be
 * unavailable.
 */
import { sleep, type Clock } from '../../../src/lib/clock.ts';
import type { Logger } from '../../../src/observability/log.ts';
import { ServerFailure, TooManyRequests, TransportError, Unauthorized } from '../../../src/runtime/errors.ts';

/** Tokens stay valid this long after the time limit of the job. */
const RETRY_MS = 600_000;
const FIRST_PAUSE_MS = 500;
const LAST_PAUSE_MS = 15_000;

/** Retries a request for ten minutes while its failure may be temporary. @throws the last error of the request */
export async function withRetries<T>(
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
  request: () => Promise<T>,
): Promise<T> {
  const end = clock.now() + RETRY_MS;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(LAST_PAUSE_MS, pauseMs * 2)) {
    try {
      return await request();
    } catch (error) {
      if (!mayPass(error) || clock.now() >= end) throw error;
      log.warn({ err: error }, 'request to the API server failed; retrying');
    }
    await sleep(clock, pauseMs);
  }
}

/** Expired tokens count as temporary, because token files are renewed. */
const mayPass = (error: unknown): boolean =>
  [TransportError, ServerFailure, TooManyRequests, Unauthorized].some((kind) => error instanceof kind);
