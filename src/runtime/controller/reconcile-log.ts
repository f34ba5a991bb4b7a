/** Log lines about reconciles: the fields that all lines of one have in common, and the level of a failure. */
import type { Rng } from '../../lib/rng.ts';
import type { Logger } from '../../observability/log.ts';
import { Conflict } from '../errors.ts';
import type { Obj, View } from '../types.ts';

/**
 * Fields of every line that is logged during a reconcile, whichever function logs it; created for the first line.
 * @param more fields that the controller adds
 */
export function reconcileFields(
  controller: string,
  primary: View<Obj>,
  rng: Rng,
  more: object = {},
): () => object {
  let fields: object | undefined;
  return () => (fields ??= { ...fieldsOf(controller, primary, rng), ...more });
}

const fieldsOf = (controller: string, { apiVersion, kind, metadata }: View<Obj>, rng: Rng): object => ({
  controller,
  reconcileID: randomId(rng),
  'resource.apiVersion': apiVersion,
  'resource.kind': kind,
  'resource.namespace': metadata.namespace,
  'resource.name': metadata.name,
  'resource.uid': metadata.uid,
  'resource.resourceVersion': metadata.resourceVersion,
  'resource.generation': metadata.generation,
});

/** 64 random bits, enough to find all lines of one reconcile. */
const randomId = (rng: Rng): string => word(rng) + word(rng);

const word = (rng: Rng): string =>
  Math.floor(rng.next() * 2 ** 32)
    .toString(16)
    .padStart(8, '0');

interface Failure {
  readonly error: unknown;
  /** The reconciler's `onError` handled it. */
  readonly isHandled: boolean;
  readonly willRetry: boolean;
  /** Milliseconds until the next reconcile, if there is one. */
  readonly waitMs: number | undefined;
}

/** Level: conflicts are info, handled failures debug, unhandled ones warnings, and final ones errors. */
export function logFailure(log: Logger, { error, isHandled, willRetry, waitMs }: Failure): void {
  const fields = { err: error instanceof Error ? error.message : String(error), requeueAfterMs: waitMs };
  if (!willRetry) {
    log.error({ ...fields, err: error }, 'reconcile failed, not retrying');
  } else if (error instanceof Conflict) {
    log.info(fields, 'object changed concurrently, retrying');
  } else if (isHandled) {
    log.debug(fields, 'reconcile failed, retrying');
  } else {
    log.warn(fields, 'reconcile failed, retrying');
  }
}
