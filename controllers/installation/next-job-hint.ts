/**
 * Adds a hint to the error of a root whose job has failed: whether another job starts by itself, and how to start
 * one. Pure.
 */
import { isBeingDeleted, isRoot, isSuspended, operationOf } from '../../src/api/job.ts';
import { annotations, operations } from '../../src/api/labels.ts';
import { shorten } from '../../src/lib/masking.ts';
import { decideRetry } from './retry.ts';
import type { Inst, InstStatus } from './related-objects.ts';

/** The status at the end of a job, with the hint as the last line of the error. */
export function withNextJobHint(self: Inst, status: InstStatus): InstStatus {
  const { lastError } = status;
  if (!lastError || !isRoot(self.metadata) || operationOf(self.metadata) === operations.reconcile)
    return status;
  const { finishedTime = '' } = status.transitionTimes ?? {};
  const ended = { ...self, status };
  const retry = decideRetry(ended, finishedTime);
  const startsAutomatically = !isBeingDeleted(self.metadata) && (retry.do === 'start' || retry.do === 'wait');
  const hint = startsAutomatically ? 'spec.automaticReconcile starts another job' : howToStart(self);
  return { ...status, lastError: { ...lastError, message: shorten(`${lastError.message}\n${hint}`) } };
}

function howToStart({ metadata }: Inst): string {
  const { name, namespace = '' } = metadata;
  const command = `espalier installations reconcile ${name} -n ${namespace}`;
  const otherwise = `, or annotate it with ${annotations.operation}=${operations.reconcile}`;
  const suspended = isSuspended(metadata) ? `, once ${annotations.suspended} is removed` : '';
  const what = isBeingDeleted(metadata) ? 'the deletion is not retried' : 'no other job starts';
  return `${what} by itself, even when the cause is fixed; start one with: ${command}${otherwise}${suspended}`;
}
