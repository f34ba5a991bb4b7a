/** What a plugin may throw, one class per consequence, and how anything else thrown is read. */
import type { ErrorCode } from '../../src/api/error-codes.ts';
import { isUnrecoverable } from '../../src/api/error-codes.ts';
import { connectionFault, isDefiniteFault } from '../../src/lib/connection.ts';
import type { Problem } from '../../src/machine/decision.ts';
import { ResponseTooLarge, Unauthorized, isFinal } from '../../src/runtime/errors.ts';

/** A failure in the form of `status.lastError`. Without an unrecoverable code the work is tried again. */
export class DeployerError extends Error {
  readonly operation: string;
  readonly reason: string;
  readonly codes: readonly ErrorCode[];

  constructor(
    operation: string,
    reason: string,
    message: string,
    codes: readonly ErrorCode[] = [],
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.operation = operation;
    this.reason = reason;
    const behind = options?.cause === undefined || isUnrecoverable(codes) ? [] : definiteCodes(options.cause);
    this.codes = behind.length === 0 ? codes : [...codes, ...behind];
  }

  override get name(): string {
    return this.constructor.name;
  }

  get problem(): Problem {
    const { operation, reason, message } = this;
    return { operation, reason, message, ...verdictOf(this.cause, this.codes) };
  }
}

/** What the user wrote cannot be carried out; ends the job. */
export class ConfigurationError extends DeployerError {
  constructor(operation: string, reason: string, message: string, options?: ErrorOptions) {
    super(operation, reason, message, ['ERR_CONFIGURATION_PROBLEM'], options);
  }
}

/** The other side does not accept the credentials; ends the job. */
export class UnauthorizedError extends DeployerError {
  constructor(operation: string, reason: string, message: string, options?: ErrorOptions) {
    super(operation, reason, message, ['ERR_UNAUTHORIZED'], options);
  }
}

/** Something that should always work did not; ends the job. */
export class InternalError extends DeployerError {
  constructor(operation: string, reason: string, message: string, options?: ErrorOptions) {
    super(operation, reason, message, ['ERR_INTERNAL_PROBLEM'], options);
  }
}

/** The time of the job is used up; ends the job. */
export class TimeoutError extends DeployerError {
  constructor(
    operation: string,
    reason: string,
    message: string,
    codes: readonly ErrorCode[] = ['ERR_TIMEOUT'],
    options?: ErrorOptions,
  ) {
    super(operation, reason, message, codes, options);
  }
}

/** Not now; another attempt may help, unless the cause says that none will. `info` keeps the log quiet. */
export class RetryError extends DeployerError {
  /** Milliseconds until the next attempt; undefined leaves it to the worker. */
  readonly afterMs: number | undefined;

  constructor(
    operation: string,
    reason: string,
    message: string,
    options: ErrorOptions & { readonly afterMs?: number; readonly info?: boolean } = {},
  ) {
    const codes = definiteCodes(options.cause);
    super(operation, reason, message, options.info ? [...codes, 'ERR_FOR_INFO_ONLY'] : codes, options);
    this.afterMs = options.afterMs;
  }
}

/** The core ended the job meanwhile; the status belongs to it. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError';

  constructor() {
    super('processing of the deployitem was interrupted');
  }
}

/** The sentence of whatever was thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Whether the error says that the program itself is wrong, the counterpart of a panic. */
export const isCrash = (error: unknown): boolean =>
  !(error instanceof Error) ||
  error instanceof TypeError ||
  error instanceof RangeError ||
  error instanceof ReferenceError ||
  error instanceof SyntaxError;

/** Operation and reason for errors that bring none. */
export interface Place {
  readonly operation: string;
  readonly reason: string;
}

/** What an error says about further attempts. */
const codesOf = (error: unknown): readonly ErrorCode[] =>
  error instanceof Unauthorized ? ['ERR_UNAUTHORIZED'] : definiteCodes(error);

const definiteCodes = (error: unknown): readonly ErrorCode[] =>
  isDefinite(error) ? ['ERR_CONFIGURATION_PROBLEM'] : [];

/** Whether another attempt would be in vain, also where an answer that was too large is the cause of something else. */
export const isDefinite = (error: unknown): boolean =>
  isFinal(error) || (ResponseTooLarge.in(error)?.isFinal() ?? false);

/**
 * What a failed connection means to the job: one that fails for good ends it, a name that is not found is tried again for a
 * minute, all else until the time of the item is used up.
 */
function verdictOf(cause: unknown, codes: readonly ErrorCode[]): Pick<Problem, 'codes' | 'remote'> {
  if (!(cause instanceof Error)) return { codes };
  if (isDefiniteFault(cause))
    return { codes: [...new Set([...codes, 'ERR_CONFIGURATION_PROBLEM' as const])] };
  return { codes, ...(connectionFault(cause) === 'name' && { remote: 'NameNotFound' as const }) };
}

/** Any error as a problem of the job: deployer errors as they are, refused credentials with their code. */
export function problemOf(error: unknown, place: Place): Problem {
  if (error instanceof DeployerError) return error.problem;
  return { ...place, message: messageOf(error), ...verdictOf(error, codesOf(error)) };
}

/** The same error, said to have happened at `place`; an error that knows its own place keeps it. */
export const at = (
  place: Place,
  error: unknown,
  say: (message: string) => string = (m) => m,
): DeployerError => {
  if (error instanceof DeployerError) return error;
  return new DeployerError(place.operation, place.reason, say(messageOf(error)), codesOf(error), {
    cause: error,
  });
};

/** Whether the job is over with this problem. */
export const endsJob = (problem: Problem): boolean => isUnrecoverable(problem.codes);
