/** What a run came to, and the status write that ends it. */
import { NoRetryError } from '../errors.ts';
import { HandledFailure } from './errors.ts';
import type { ExternalReconcile } from './external-reconcile.ts';
import type { ExternalObject, Result } from './types.ts';

/** An error is shown in the object already; a `NoRetryError` is not repeated. */
export interface Outcome {
  readonly result: Result;
  readonly error?: Error;
}

/** Nothing to do before something happens. */
export const REST: Outcome = { result: { requeue: false } };

/** @param after milliseconds to the next look */
export async function ended<M extends ExternalObject>(
  pass: ExternalReconcile<M>,
  after: number,
): Promise<Outcome> {
  await pass.storeStatus();
  return { result: { requeueAfterMs: after } };
}

/** @param reason one word in CamelCase */
export async function failed<M extends ExternalObject>(
  pass: ExternalReconcile<M>,
  reason: string,
  cause: unknown,
): Promise<Outcome> {
  const message = messageOf(cause);
  pass.note('fail', reason, message);
  pass.ctx.event('Warning', reason, message);
  await pass.storeStatus();
  if (cause instanceof NoRetryError) return { result: { requeue: false }, error: cause };
  return { result: { requeue: true }, error: new HandledFailure({ message, cause }) };
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
