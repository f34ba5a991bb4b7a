/** Requests that must not fail because an API server is away for a while: what an image has done depends on them. */
import { sleep, type Clock } from '../../../src/lib/clock.ts';
import type { Logger } from '../../../src/observability/log.ts';
import { ServerFailure, TooManyRequests, TransportError, Unauthorized } from '../../../src/runtime/errors.ts';

/** Tokens last this long after the time of the job. */
const PATIENCE_MS = 600_000;
const FIRST_PAUSE_MS = 500;
const LAST_PAUSE_MS = 15_000;

/** Repeats a request as long as its failure may pass by itself, for ten minutes. @throws what the request throws in the end */
export async function patiently<T>(
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
  request: () => Promise<T>,
): Promise<T> {
  const end = clock.now() + PATIENCE_MS;
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

/** Tokens are renewed in their files. */
const mayPass = (error: unknown): boolean =>
  [TransportError, ServerFailure, TooManyRequests, Unauthorized].some((kind) => error instanceof kind);
