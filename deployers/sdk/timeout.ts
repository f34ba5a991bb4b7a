/**
 * The timeout of a job: `spec.timeout` from `transitionTimes.initTime` on, over all attempts. A plugin must check it
 * by calling `assertTimeLeft(step)`; the error shows the step to users.
 */
import { formatDuration, parseDuration } from '../../src/lib/duration.ts';
import type { Problem } from '../../src/machine/decision.ts';
import { TimeoutError } from './errors.ts';

const DEFAULT_TIMEOUT_MS = 10 * 60_000;

const timeoutPlace = {
  operation: 'StandardTimeoutChecker.TimeoutExceeded',
  reason: 'ProgressingTimeout',
} as const;

/**
 * Milliseconds a job may take; Infinity for `none` and for zero.
 * @param timeout `spec.timeout`
 * @throws InvalidDuration
 */
export function timeoutMsOf(timeout: string | undefined): number {
  if (timeout === undefined || timeout === '') return DEFAULT_TIMEOUT_MS;
  const ms = parseDuration(timeout);
  return ms === 0 ? Infinity : ms;
}

/**
 * Milliseconds left of the job, negative after the timeout.
 * @param initTime when the job started, RFC 3339; absent counts as now
 * @param wallMs now, in milliseconds since 1970
 */
export function remainingMs(
  timeout: string | undefined,
  initTime: string | undefined,
  wallMs: number,
): number {
  const begun = initTime === undefined ? wallMs : Date.parse(initTime);
  return begun + timeoutMsOf(timeout) - wallMs;
}

/** The problem of a job that timed out before this step. */
export const timeoutAt = (step: string): Problem => ({
  ...timeoutPlace,
  message: `timeout at: "${step}"`,
  codes: ['ERR_TIMEOUT'],
});

/** Decides whether a step may start; tests replace it. */
export interface TimeoutPolicy {
  /**
   * @param remaining milliseconds left
   * @returns milliseconds for the caller
   * @throws TimeoutError when nothing is left
   */
  check(step: string, remaining: number): number;
}

/** The timeout of the deploy item: after it, the next step fails the job with a TimeoutError. */
export const standardTimeouts: TimeoutPolicy = {
  check(step, remaining) {
    if (remaining > 0) return remaining;
    const { operation, reason, message } = timeoutAt(step);
    throw new TimeoutError({ operation, reason, message });
  },
};

/** Fails at exactly one step, whatever the time. */
export const failAt = (name: string): TimeoutPolicy => ({
  check(step, remaining) {
    if (step !== name) return remaining;
    throw new TimeoutError({
      operation: 'TestTimeoutChecker.TimeoutExceeded',
      reason: 'ProgressingTimeout',
      message: step,
    });
  },
});

/**
 * The timeout with its length and the last known problem in a second line, because the name of the step explains little.
 * @param timeout `spec.timeout`
 * @param last message of the last error
 */
export function explained(problem: Problem, timeout: string | undefined, last: string | undefined): Problem {
  const limitMs = timeoutMsOf(timeout);
  const isKnown = last !== undefined && last !== '' && !last.startsWith('timeout at:');
  const more = [
    ...(limitMs === Infinity ? [] : [`the job has reached its timeout of ${formatDuration(limitMs)}`]),
    ...(isKnown ? [`last problem: ${last}`] : []),
  ];
  if (more.length === 0) return problem;
  return { ...problem, message: `${problem.message}\n${more.join('; ')}` };
}
