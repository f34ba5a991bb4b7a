/** The result of a reconcile of an external resource, and the status write that ends it. */
import { messageOf } from '../../lib/message-of.ts';
import { NoRetryError } from '../errors.ts';
import { HandledFailure } from './errors.ts';
import type { ExternalReconcile } from './external-reconcile.ts';
import type { Result } from './requeue.ts';
import type { ExternalObject } from './types.ts';

/** The status already shows the error; after a `NoRetryError` there is no retry. */
export interface Outcome {
  readonly result: Result;
  readonly error?: Error;
}

/** The next reconcile needs an event. */
export const WAIT_FOR_EVENT: Outcome = { result: {} };

export async function ended<M extends ExternalObject>(
  reconcile: ExternalReconcile<M>,
  requeueAfterMs: number,
): Promise<Outcome> {
  reconcile.synced(true, 'Reconciled');
  await reconcile.storeStatus();
  return { result: { requeueAfterMs } };
}

/** The resource does not exist, and the policies of the object do not allow its creation. */
export async function missing<M extends ExternalObject>(
  reconcile: ExternalReconcile<M>,
  requeueAfterMs: number,
): Promise<Outcome> {
  const message = `the resource ${reconcile.name ?? 'without a name'} does not exist, and spec.managementPolicies do not allow creating it`;
  reconcile.notReady('NotFound', message);
  reconcile.synced(false, 'NotFound', message);
  await reconcile.storeStatus();
  return { result: { requeueAfterMs } };
}

/** @param reason one word in CamelCase */
export async function failed<M extends ExternalObject>(
  reconcile: ExternalReconcile<M>,
  reason: string,
  cause: unknown,
): Promise<Outcome> {
  const message = messageOf(cause);
  reconcile.note('fail', reason, message);
  reconcile.synced(false, reason, message);
  reconcile.ctx.event('Warning', reason, message);
  await reconcile.storeStatus();
  if (cause instanceof NoRetryError) return { result: {}, error: cause };
  return { result: { backOff: true }, error: new HandledFailure({ message, cause }) };
}
