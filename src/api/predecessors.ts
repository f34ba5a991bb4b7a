/** Errors of an installation about its predecessors: the siblings that export what it imports. */
import type { View } from '../lib/objects.ts';
import type { LastError } from './shared.ts';

/** Reasons in `status.lastError`. */
export const predecessorReasons = {
  /** Waits until all have finished the job. */
  finished: 'AllPredecessorsFinished',
  /** Failed because one has failed. */
  succeeded: 'AllPredecessorsSucceeded',
} as const;

/** Whether an installation waits for a predecessor, or failed because of one. */
export const concernsPredecessor = (error: View<Pick<LastError, 'reason'>> | undefined): boolean =>
  error?.reason === predecessorReasons.finished || error?.reason === predecessorReasons.succeeded;
