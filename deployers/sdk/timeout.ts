/**
 * The time a job may take: `spec.timeout` from `transitionTimes.initTime` on, over all attempts. It is cooperative;
 * a checkpoint is the place where it is noticed and the name under which users find it.
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

/** The problem of a job whose time was used up at a checkpoint. */
export const timeoutAt = (checkpoint: string): Problem => ({
  ...timeoutPlace,
  message: `timeout at: "${checkpoint}"`,
  codes: ['ERR_TIMEOUT'],
});

/** Decides at a checkpoint; tests replace it. */
export interface TimeoutPolicy {
  /**
   * @param remaining milliseconds left
   * @returns milliseconds the caller may use
   * @throws TimeoutError when nothing is left
   */
  check(checkpoint: string, remaining: number): number;
}

/** A time-out as the item says it: past it, the next checkpoint ends the job with a TimeoutError. */
export const standardTimeouts: TimeoutPolicy = {
  check(checkpoint, remaining) {
    if (remaining > 0) return remaining;
    const { operation, reason, message } = timeoutAt(checkpoint);
    throw new TimeoutError({ operation, reason, message });
  },
};

/** Fails at exactly one checkpoint, whatever the time. */
export const failAt = (name: string): TimeoutPolicy => ({
  check(checkpoint, remaining) {
    if (checkpoint !== name) return remaining;
    throw new TimeoutError({
      operation: 'TestTimeoutChecker.TimeoutExceeded',
      reason: 'ProgressingTimeout',
      message: checkpoint,
    });
  },
});

/** The timeout with the last known problem in a second line, since the checkpoint alone explains nothing. */
export function withLastProblem(timeout: Problem, last: string | undefined): Problem {
  if (last === undefined || last === '' || last.startsWith('timeout at:')) return timeout;
  return { ...timeout, message: `${timeout.message}\nlast problem: ${last}` };
}
