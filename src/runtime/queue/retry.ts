/** How long to wait before a failed run is tried again. */
import type { Rng } from '../../lib/rng.ts';

/** Says how long to wait before a failed run is tried again, and when to give up. */
export interface RetryPolicy {
  /**
   * Milliseconds before retry number `attempt` (1 is the first).
   * @returns undefined when the attempts are used up
   */
  delay(attempt: number, rng: Rng): number | undefined;
}

/** The shape of delays that grow. */
export interface Exponential {
  readonly initialMs: number;
  readonly factor: number;
  readonly maxMs: number;
  /** Share of the delay by which it may be longer or shorter. */
  readonly jitter?: number;
  /** How many retries there are; unlimited when absent. */
  readonly maxAttempts?: number;
}

/** Delays that grow by a factor up to a limit. */
export function exponential(shape: Exponential): RetryPolicy {
  const { initialMs, factor, maxMs, jitter = 0, maxAttempts = Infinity } = shape;
  return {
    delay(attempt, rng) {
      if (attempt > maxAttempts) return undefined;
      const ms = Math.min(maxMs, initialMs * factor ** Math.max(0, attempt - 1));
      return jittered(ms, jitter, rng);
    },
  };
}

/** `ms`, longer or shorter by at most the share `jitter`. */
export const jittered = (ms: number, jitter: number, rng: Rng): number =>
  ms * (1 + jitter * (2 * rng.next() - 1));

const jitter = 0.1;

/** Named policies; `growing` is what phases use that wait for the world: 0.5 s doubling to 60 s. */
export const retryPolicies = {
  standard: exponential({ initialMs: 1_000, factor: 2, maxMs: 300_000, jitter }),
  gradual: exponential({ initialMs: 2_000, factor: 1.5, maxMs: 300_000, jitter, maxAttempts: 5 }),
  fast: exponential({ initialMs: 5, factor: 2, maxMs: 1_000_000, jitter }),
  external: exponential({ initialMs: 1_000, factor: 2, maxMs: 60_000, jitter }),
  growing: exponential({ initialMs: 500, factor: 2, maxMs: 60_000, jitter }),
  none: { delay: () => undefined },
} as const satisfies Record<string, RetryPolicy>;

/** The name of a policy that is ready to be used. */
export type RetryPreset = keyof typeof retryPolicies;

/** The policy of a name, or the one given. Default `standard`: 1 s doubling to 5 min, ±10 %, without an end. */
export const retryPolicyOf = (policy: RetryPolicy | RetryPreset = 'standard'): RetryPolicy =>
  typeof policy === 'string' ? retryPolicies[policy] : policy;
