/** Repeats a check of certificates and configuration while a webhook server runs. */
import { sleep, type Clock } from '../../lib/clock.ts';
import type { Logger } from '../../observability/log.ts';

/** A replica notices certificates of another replica within this time; they are created months ahead. */
export const CHECK_MS = 10 * 60_000;

/**
 * A failed check is repeated after the interval: the current certificates are valid for months.
 * @param check returns milliseconds until the next check; default `CHECK_MS`
 * @param firstMs milliseconds until the first check
 * @returns when the signal has aborted
 */
export async function checkPeriodically(
  check: () => Promise<number | undefined>,
  {
    clock,
    log,
    signal,
    firstMs = CHECK_MS,
  }: {
    readonly clock: Clock;
    readonly log: Logger;
    readonly signal: AbortSignal;
    readonly firstMs?: number;
  },
): Promise<void> {
  for (let waitMs = firstMs; ;) {
    try {
      await sleep(clock, waitMs, signal);
    } catch {
      return;
    }
    waitMs = CHECK_MS;
    try {
      waitMs = (await check()) ?? CHECK_MS;
    } catch (error) {
      log.warn({ err: error }, 'checking certificates and webhook configuration failed');
    }
  }
}
