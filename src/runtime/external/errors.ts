/** What can go wrong with an external resource besides what the runtime knows already. */
import { EspalierError } from '../errors.ts';

/**
 * Thrown by `create` when the service may have created something all the same: a timeout after the request was sent, a
 * connection that broke. With names that the service assigns, nothing more is created until a person has looked.
 */
export class OutcomeUnknown extends EspalierError {}

/** Shown in the object already, in the condition Failed. The run is repeated after a growing delay. */
export class HandledFailure extends EspalierError {}

/** The connection details cannot be published where the object says. */
export class SecretRefused extends EspalierError {}
