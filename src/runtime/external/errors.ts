/** Errors of external resources, in addition to those of the runtime. */
import { EspalierError } from '../errors.ts';

/**
 * Thrown by `create` if the service may have created something: a timeout after the request was sent, or a broken
 * connection. If the service assigns names, nothing is created again until a user has checked.
 */
export class OutcomeUnknown extends EspalierError {}

/** The condition Failed of the object already shows the error. The reconcile is retried after a growing delay. */
export class HandledFailure extends EspalierError {}

/** The connection details cannot be written to the Secret that the object names. */
export class SecretRefused extends EspalierError {}
