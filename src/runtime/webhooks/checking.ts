/** Repeats a check of certificates and configuration while a webhook server runs. */
import { sleep, type Clock } from '../../lib/clock.ts';
import type { Logger } from '../../observability/log.ts';

/** A replica notices certificates of another replica within this time; they are created months ahead. */
export const CHECK_MS = 10 * 60_000;

/**
 * A failed check is repeated after the interval: the current certificates are valid for months.
 * @returns when the signal has aborted
 */
export async function checkPeriodically(
  check: () => Promise<void>,
  { clock, log, signal }: { readonly clock: Clock; readonly log: Logger; readonly signal: AbortSignal },
): Promise<void> {
  for (;;) {
    try {
      await sleep(clock, CHECK_MS, signal);
    } catch {
      return;
    }
    try {
      await check();
    } catch (error) {
      log.warn({ err: error }, 'checking certificates and webhook configuration failed');
    }
  }
}
