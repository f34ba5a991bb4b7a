/**
 * What follows a run. Pure: everything it depends on is in its arguments.
 *
 * The subtle case: an object fails and waits for its retry at 20 s; at 12 s somebody edits it. The edit runs at
 * once and is no retry. If it fails too, the retry still comes at 20 s, as if the edit had not happened.
 */
import type { Rng } from '../../lib/rng.ts';
import type { TimerKind } from '../queue/queue.ts';
import { jittered, type RetryPolicy } from '../queue/retry.ts';

/** What is remembered about a key while it is queued, running or failing. */
export interface Slot {
  /** Retries made since the last success. */
  attempt: number;
  /** When the next retry is due, as `Clock.now()`; absent when none is. */
  retryAt?: number;
  /** The object that has been let go of; its remaining events mean nothing. */
  parkedUid?: string;
  /** The primary is not there any more. */
  gone: boolean;
  /** An event arrived during the run. */
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
  /** Longest rest between two runs; 0 or less means for ever. */
  readonly syncMs: number;
  /** Share by which the rest varies, so that objects do not march in step. */
  readonly syncJitter: number;
}

export type Next =
  | { readonly do: 'drop' }
  | { readonly do: 'park'; readonly uid: string }
  | { readonly do: 'run' }
  | { readonly do: 'rest' }
  | { readonly do: 'wait'; readonly ms: number; readonly kind: TimerKind };

/** Accounts for the start of a run: one that begins when a retry is due is that retry. @returns whether it is one */
export function beginReconcile(slot: Slot, now: number): boolean {
  slot.dirty = false;
  if (slot.retryAt === undefined || slot.retryAt > now) return false;
  slot.attempt++;
  delete slot.retryAt;
  return true;
}

const middle: Rng = { next: () => 0.5 };

/** Whether a failure of the current run would not be retried. */
export const isLastAttempt = (slot: Slot, policy: RetryPolicy): boolean =>
  slot.retryAt === undefined && policy.delay(slot.attempt + 1, middle) === undefined;

/** The first rule that fits decides. */
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
  if (requeueAfterMs !== undefined) return { do: 'wait', ms: Math.max(0, requeueAfterMs), kind: 'requeue' };
  return syncWait(timing, rng);
}

/** The rest that ends by itself, or the one that does not. */
export const syncWait = (timing: Timing, rng: Rng): Next =>
  timing.syncMs > 0
    ? { do: 'wait', ms: jittered(timing.syncMs, timing.syncJitter, rng), kind: 'sync' }
    : { do: 'rest' };

/** Accounts for the end of a run: success and final failure start the count afresh. */
export function endReconcile(slot: Slot, result: ReconcileResult): void {
  if (!result.ok && result.retry) return;
  slot.attempt = 0;
  delete slot.retryAt;
}
