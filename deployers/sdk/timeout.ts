/**
 * The time a job may take: `spec.timeout` from `transitionTimes.initTime` on, over all attempts. A plugin has to check it by
 * calling `assertTimeLeft(step)`; the step is the name that the error shows to users.
 */
import { parseDuration } from '../../src/lib/duration.ts';
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
 * Milliseconds left of the job, negative when exceeded.
 * @param initTime when the job began, RFC 3339; absent counts as now
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

/** The problem of a job whose time was used up before this step. */
export const timeoutAt = (step: string): Problem => ({
  ...timeoutPlace,
  message: `timeout at: "${step}"`,
  codes: ['ERR_TIMEOUT'],
});

/** Decides whether a step may begin; tests replace it. */
export interface TimeoutPolicy {
  /**
   * @param remaining milliseconds left
   * @returns milliseconds the caller may use
   * @throws TimeoutError when nothing is left
   */
  check(step: string, remaining: number): number;
}

/** The timeout of the item: once it is exceeded, the next step ends the job with a TimeoutError. */
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

/** The timeout with the last known problem in a second line, since the name of the step alone explains nothing. */
export function withLastProblem(timeout: Problem, last: string | undefined): Problem {
  if (last === undefined || last === '' || last.startsWith('timeout at:')) return timeout;
  return { ...timeout, message: `${timeout.message}\nlast problem: ${last}` };
}
