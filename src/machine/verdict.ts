/** What a refused write means: another look, another attempt later, or the end of the job. Pure. */
import { isBeingDeleted, type MetaView } from '../api/job.ts';
import {
  AlreadyExists,
  ApiError,
  Conflict,
  Forbidden,
  Invalid,
  isFinal,
  isNamespaceTerminating,
  NotFound,
  ResponseTooLarge,
  TransportError,
} from '../runtime/errors.ts';
import type { Effect, Problem } from './decision.ts';

type Verdict =
  { readonly outcome: 'again' } | { readonly outcome: 'fail' | 'retry'; readonly problem: Problem };

/**
 * A refused write: is it worth another look, another attempt, or final?
 * @param self metadata of the object whose job it is: a namespace that goes takes nothing new any more, so a job in it
 *     has to end before the object itself can go
 */
export function judgeWrite(error: unknown, effect: Effect, self: MetaView): Verdict {
  if (error instanceof Conflict || error instanceof AlreadyExists || error instanceof NotFound) {
    return { outcome: 'again' };
  }
  const problem = {
    operation: 'write',
    reason: `Write${effect.kind.kind}`,
    message: sentenceOf(error, effect),
  };
  const isWebhookDown =
    error instanceof ApiError && /failed calling webhook|failed to call webhook/.test(error.message);
  if (isWebhookDown) return { outcome: 'retry', problem: { ...problem, codes: ['ERR_WEBHOOK'] } };
  const isPassing = isNamespaceTerminating(error) && !isBeingDeleted(self);
  if (
    error instanceof Invalid ||
    isFinal(error) ||
    isTooLarge(error) ||
    (error instanceof Forbidden && !isPassing)
  ) {
    return { outcome: 'fail', problem };
  }
  const isAnswer = error instanceof ApiError || error instanceof ResponseTooLarge;
  if (isAnswer || error instanceof TransportError) return { outcome: 'retry', problem };
  throw error;
}

/** What a server refused says by itself which object it was. */
function sentenceOf(error: unknown, effect: Effect): string {
  if (error instanceof ApiError) return error.message;
  return `${nameOf(effect)}: ${error instanceof Error ? error.message : String(error)}`;
}

/** API servers say it with a code, etcd behind them only in words, as trouble of the server. */
const isTooLarge = (error: unknown): boolean =>
  error instanceof ApiError &&
  (error.status === 413 || error.message.includes('etcdserver: request is too large'));

export function nameOf(effect: Effect): string {
  const { metadata } = effect.do === 'create' ? effect.object : effect.target;
  return `${effect.do} ${effect.kind.kind} ${metadata.namespace ?? ''}/${metadata.name}`;
}
