/** What a plugin may throw, one class per consequence, and how anything else thrown is read. */
import type { ErrorCode } from '../../src/api/error-codes.ts';
import { isUnrecoverable } from '../../src/api/error-codes.ts';
import { connectionFault, isDefiniteFault } from '../../src/lib/connection.ts';
import type { Problem } from '../../src/machine/decision.ts';
import { ResponseTooLarge, Unauthorized, isFinal } from '../../src/runtime/errors.ts';

/** Where a deployer failed and why, in the form of `status.lastError`. */
export interface FailureDetails extends ErrorOptions {
  /** The step that failed, such as `TemplateChart`. */
  readonly operation: string;
  /** One word in CamelCase, such as `ChartNotFound`. */
  readonly reason: string;
  readonly message: string;
}

/** A failure in the form of `status.lastError`. Without an unrecoverable code the worker tries again. */
export class DeployerError extends Error {
  readonly operation: string;
  readonly reason: string;
  readonly codes: readonly ErrorCode[];

  constructor(failure: FailureDetails & { readonly codes?: readonly ErrorCode[] }) {
    const { operation, reason, message, codes = [], cause } = failure;
    super(message, failure);
    this.operation = operation;
    this.reason = reason;
    const behind = cause === undefined || isUnrecoverable(codes) ? [] : definiteCodes(cause);
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

/** The configuration that the user wrote cannot be carried out; ends the job. */
export class ConfigurationError extends DeployerError {
  constructor(failure: FailureDetails) {
    super({ ...failure, codes: ['ERR_CONFIGURATION_PROBLEM'] });
  }
}

/** The target cluster or a registry does not accept the credentials; ends the job. */
export class UnauthorizedError extends DeployerError {
  constructor(failure: FailureDetails) {
    super({ ...failure, codes: ['ERR_UNAUTHORIZED'] });
  }
}

/** Something that should always work did not; ends the job. */
export class InternalError extends DeployerError {
  constructor(failure: FailureDetails) {
    super({ ...failure, codes: ['ERR_INTERNAL_PROBLEM'] });
  }
}

/** The time of the job is used up; ends the job. The codes are `ERR_TIMEOUT` unless others are given. */
export class TimeoutError extends DeployerError {
  constructor(failure: FailureDetails & { readonly codes?: readonly ErrorCode[] }) {
    super({ ...failure, codes: failure.codes ?? ['ERR_TIMEOUT'] });
  }
}

/** A failure that another attempt may resolve, unless its cause is final. `info` adds `ERR_FOR_INFO_ONLY`, which keeps the log quiet. */
export class RetryError extends DeployerError {
  /** Milliseconds until the next attempt; undefined leaves it to the worker. */
  readonly requeueAfterMs: number | undefined;

  constructor(failure: FailureDetails & { readonly requeueAfterMs?: number; readonly info?: boolean }) {
    const codes = definiteCodes(failure.cause);
    super({ ...failure, codes: failure.info ? [...codes, 'ERR_FOR_INFO_ONLY'] : codes });
    this.requeueAfterMs = failure.requeueAfterMs;
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
  return new DeployerError({ ...place, message: say(messageOf(error)), codes: codesOf(error), cause: error });
};

/** Whether the job is over with this problem. */
export const endsJob = (problem: Problem): boolean => isUnrecoverable(problem.codes);
