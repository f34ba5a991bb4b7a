/** What a refused write means: repeat the reconcile, retry later, or end the job. Pure. */
import { isBeingDeleted, type MetaView } from '../api/job.ts';
import { messageOf } from '../lib/message-of.ts';
import { MAX_TRIES, outlookOf } from '../lib/outlook.ts';
import {
  AlreadyExists,
  ApiError,
  Conflict,
  Forbidden,
  isDefinitionTerminating,
  isNamespaceTerminating,
  NotFound,
  ResponseTooLarge,
  TransportError,
} from '../runtime/errors.ts';
import type { Effect, Problem } from './decision.ts';

type Verdict =
  { readonly outcome: 'repeat' } | { readonly outcome: 'fail' | 'retry'; readonly problem: Problem };

/**
 * Judges a refused write: `repeat` with the current objects when the event of the other write arrives, `retry` with back-off, or `fail`.
 * @param self metadata of the object that has the job. A terminating namespace accepts no new objects, so a deletion job in it
 *     must fail instead of waiting for the namespace
 * @param attempt number of retries before this one
 */
export function judgeWrite(error: unknown, effect: Effect, self: MetaView, attempt = 0): Verdict {
  if (error instanceof Conflict || error instanceof AlreadyExists || error instanceof NotFound) {
    return { outcome: 'repeat' };
  }
  const problem = {
    operation: 'write',
    reason: `Write${effect.kind.kind}`,
    message: sentenceOf(error, effect),
  };
  const isWebhookDown =
    error instanceof ApiError && /failed calling webhook|failed to call webhook/.test(error.message);
  if (isWebhookDown) return { outcome: 'retry', problem: { ...problem, codes: ['ERR_WEBHOOK'] } };
  if (isDefinitionTerminating(error)) return { outcome: 'retry', problem };
  const outlook = isTooLarge(error) ? 'final' : outlookOf(error);
  const isLost = isNamespaceTerminating(error) && isBeingDeleted(self);
  if (outlook === 'final' || isLost || (outlook === 'unknown' && !mayPass(error, attempt)))
    return { outcome: 'fail', problem };
  const isAnswer = error instanceof ApiError || error instanceof ResponseTooLarge;
  if (isAnswer || error instanceof TransportError) return { outcome: 'retry', problem };
  throw error;
}

/** Messages of the API server already name the object. */
function sentenceOf(error: unknown, effect: Effect): string {
  if (error instanceof ApiError) return error.message;
  return `${nameOf(effect)}: ${messageOf(error)}`;
}

/** A denial by roles, which an API server has not read yet; with the delays of the queue, these retries take about 7 s. */
const mayPass = (error: unknown, attempt: number): boolean =>
  error instanceof Forbidden && / cannot \S+ resource "/.test(error.message) && attempt < MAX_TRIES;

/** The refusal of etcd arrives as an internal error with a message. */
const isTooLarge = (error: unknown): boolean =>
  error instanceof ApiError && error.message.includes('etcdserver: request is too large');

export function nameOf(effect: Effect): string {
  const { metadata } = effect.do === 'create' ? effect.object : effect.target;
  return `${effect.do} ${effect.kind.kind} ${metadata.namespace ?? ''}/${metadata.name}`;
}
