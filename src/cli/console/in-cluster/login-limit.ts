/**
 * Limits failed logins of each address, so that they cannot load the API server. After many failures of all addresses,
 * one failure is enough; an address without failures is never locked out by others.
 */
import type { Clock } from '../../../lib/clock.ts';

interface LoginLimit {
  /** Milliseconds until the address may try again; 0: now. */
  waitMs(address: string): number;
  failed(address: string): void;
}

const WINDOW_MS = 60_000;
export const MAX_FAILURES_OF_ADDRESS = 10;
const MAX_FAILURES = 200;

export function createLoginLimit(clock: Clock): LoginLimit {
  /** The latest last. */
  let failures: { readonly address: string; readonly at: number }[] = [];
  const wait = (matching: typeof failures, max: number): number => {
    const oldest = matching.at(-max);
    return oldest === undefined ? 0 : oldest.at + WINDOW_MS - clock.now();
  };
  return {
    waitMs(address) {
      failures = failures.filter(({ at }) => clock.now() - at < WINDOW_MS);
      const own = failures.filter((failure) => failure.address === address);
      return Math.max(
        wait(own, MAX_FAILURES_OF_ADDRESS),
        own.length === 0 ? 0 : wait(failures, MAX_FAILURES),
      );
    },
    failed(address) {
      failures.push({ address, at: clock.now() });
    },
  };
}
