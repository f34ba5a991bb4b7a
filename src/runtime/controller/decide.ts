/**
 * What happens after a reconcile. Pure: it depends on its arguments only.
 *
 * Example: an object fails, and its retry is due at 20 s. At 12 s a user edits it. The edit is reconciled at once and
 * does not count as a retry. If it fails too, the retry still starts at 20 s, as without the edit.
 */
import type { Rng } from '../../lib/rng.ts';
import type { TimerKind } from '../queue/queue.ts';
import { jittered, type RetryPolicy } from '../queue/retry.ts';

/** State of a key while it is queued, active or failing. */
export interface Slot {
  /** Number of retries since the last success. */
  attempt: number;
  /** When the next retry is due, as `Clock.now()`; absent if none is due. */
  retryAt?: number;
  /** Uid of an object that was released; its remaining events are ignored. */
  parkedUid?: string;
  /** The primary no longer exists. */
  gone: boolean;
  /** An event arrived during the reconcile. */
  dirty: boolean;
}

export type ReconcileResult =
  | { readonly ok: true; readonly removed?: string; readonly requeueAfterMs?: number }
  | {
      readonly ok: false;
      readonly error: unknown;
      readonly retry: boolean;
      readonly requeueAfterMs?: number;
    };

export interface Timing {
  readonly retry: RetryPolicy;
  /** Maximum time between two reconciles; 0 or less: unlimited. */
  readonly syncMs: number;
  /** Random share by which the time varies, so that objects are not all reconciled at the same time. */
  readonly syncJitter: number;
}

export type Next =
  | { readonly do: 'drop' }
  | { readonly do: 'park'; readonly uid: string }
  | { readonly do: 'run' }
  | { readonly do: 'rest' }
  | { readonly do: 'wait'; readonly ms: number; readonly kind: TimerKind };

/**
 * Called at the start of a reconcile. If a retry is due, the reconcile counts as that retry. @returns whether it does
 */
export function beginReconcile(slot: Slot, now: number): boolean {
  slot.dirty = false;
  if (slot.retryAt === undefined || slot.retryAt > now) return false;
  slot.attempt++;
  delete slot.retryAt;
  return true;
}

const middle: Rng = { next: () => 0.5 };

/** Whether a failure of the active reconcile would not be retried. */
export const isLastAttempt = (slot: Slot, policy: RetryPolicy): boolean =>
  slot.retryAt === undefined && policy.delay(slot.attempt + 1, middle) === undefined;

/** The first matching rule decides. */
export function next(slot: Slot, result: ReconcileResult, timing: Timing, now: number, rng: Rng): Next {
  if (slot.gone) return { do: 'drop' };
  if (result.ok && result.removed !== undefined) return { do: 'park', uid: result.removed };
  if (slot.dirty) return { do: 'run' };
  if (result.ok || !result.retry) return requeueOrSync(result.requeueAfterMs, timing, rng);
  if (slot.retryAt !== undefined && slot.retryAt > now) {
    return { do: 'wait', ms: slot.retryAt - now, kind: 'retry' };
  }
  const ms = timing.retry.delay(slot.attempt + 1, rng);
  return ms === undefined ? requeueOrSync(undefined, timing, rng) : { do: 'wait', ms, kind: 'retry' };
}

function requeueOrSync(requeueAfterMs: number | undefined, timing: Timing, rng: Rng): Next {
  if (requeueAfterMs !== undefined) return { do: 'wait', ms: requeueAfterMs, kind: 'requeue' };
  return syncWait(timing, rng);
}

/** Waits for the sync period, or without a time limit. */
export const syncWait = (timing: Timing, rng: Rng): Next =>
  timing.syncMs > 0
    ? { do: 'wait', ms: jittered(timing.syncMs, timing.syncJitter, rng), kind: 'sync' }
    : { do: 'rest' };

/** Called at the end of a reconcile: a success and a final failure reset the number of attempts. */
export function endReconcile(slot: Slot, result: ReconcileResult): void {
  if (!result.ok && result.retry) return;
  slot.attempt = 0;
  delete slot.retryAt;
}
