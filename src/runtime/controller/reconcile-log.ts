/** Log lines about reconciles: the fields that all lines of one have in common, and the level of a failure. */
import { messageOf } from '../../lib/message-of.ts';
import { ProgrammingError, programmingErrorIn } from '../../lib/programming-error.ts';
import type { Rng } from '../../lib/rng.ts';
import type { Logger } from '../../observability/log.ts';
import { Conflict } from '../errors.ts';
import type { Obj, View } from '../types.ts';

/**
 * Fields of every line that is logged during a reconcile, whichever function logs it; created for the first line.
 * @param own fields of the controller, which are read at once; an error of it must not end the reconcile
 */
export function reconcileFields<P extends Obj>(
  controller: string,
  primary: View<P>,
  rng: Rng,
  own?: (primary: View<P>) => object,
): () => object {
  let fields: object | undefined;
  const more = own ? attempt(() => own(primary)) : {};
  return () => (fields ??= { ...fieldsOf(controller, primary, rng), ...more });
}

function attempt(fields: () => object): object {
  try {
    return fields();
  } catch (error) {
    return { logFields: `failed: ${String(error)}` };
  }
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

/**
 * Level: conflicts are info, handled failures debug, unhandled ones and mistakes of the program warnings, and final ones
 * errors.
 */
export function logFailure(log: Logger, { error, isHandled, willRetry, waitMs }: Failure): void {
  const fields = { err: messageOf(error), requeueAfterMs: waitMs };
  const mistake = programmingErrorIn(error);
  if (!willRetry) {
    log.error({ ...fields, err: error }, 'reconcile failed, not retrying');
  } else if (error instanceof Conflict) {
    log.info(fields, 'object changed concurrently, retrying');
  } else if (mistake) {
    log.warn({ ...fields, err: withStackOf(mistake, error) }, 'reconcile failed, retrying');
  } else if (isHandled) {
    log.debug(fields, 'reconcile failed, retrying');
  } else {
    log.warn(fields, 'reconcile failed, retrying');
  }
}

function withStackOf(mistake: Error, failure: unknown): Error {
  const { message } = failure as Error;
  const shown = new ProgrammingError(message);
  if (mistake.stack !== undefined) shown.stack = mistake.stack;
  return shown;
}
