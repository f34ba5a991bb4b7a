/** Delays before failed reconciles are retried. */
import type { Rng } from '../../lib/rng.ts';

/** The delay before a failed reconcile is retried, and the maximum number of retries. */
export interface RetryPolicy {
  /**
   * Milliseconds before retry number `attempt` (1 is the first).
   * @returns undefined if there are no more retries
   */
  delay(attempt: number, rng: Rng): number | undefined;
}

/** Parameters of growing delays. */
export interface Exponential {
  readonly initialMs: number;
  readonly factor: number;
  readonly maxMs: number;
  /** Random share by which the delay is longer or shorter. */
  readonly jitter?: number;
  /** Maximum number of retries; unlimited if absent. */
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

/** Named policies. Phases that wait for other objects use `growing`: 0.5 s doubling to 60 s. */
export const retryPolicies = {
  standard: exponential({ initialMs: 1_000, factor: 2, maxMs: 300_000, jitter }),
  gradual: exponential({ initialMs: 2_000, factor: 1.5, maxMs: 300_000, jitter, maxAttempts: 5 }),
  fast: exponential({ initialMs: 5, factor: 2, maxMs: 1_000_000, jitter }),
  external: exponential({ initialMs: 1_000, factor: 2, maxMs: 60_000, jitter }),
  growing: exponential({ initialMs: 500, factor: 2, maxMs: 60_000, jitter }),
  none: { delay: () => undefined },
} as const satisfies Record<string, RetryPolicy>;

/** The name of a predefined policy. */
export type RetryPreset = keyof typeof retryPolicies;

/** The policy of a name, or the given one. Default `standard`: 1 s doubling to 5 min, ±10 %, unlimited. */
export const retryPolicyOf = (policy: RetryPolicy | RetryPreset = 'standard'): RetryPolicy =>
  typeof policy === 'string' ? retryPolicies[policy] : policy;
