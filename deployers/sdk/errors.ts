/** Errors that a plugin can throw, one class per consequence, and how other errors are handled. */
import type { ErrorCode } from '../../src/api/error-codes.ts';
import { isUnrecoverable } from '../../src/api/error-codes.ts';
import { connectionFault } from '../../src/lib/connection.ts';
import { messageOf } from '../../src/lib/message-of.ts';
import { outlookOf } from '../../src/lib/outlook.ts';
import { isMistake } from '../../src/lib/programming-error.ts';
import type { Problem } from '../../src/machine/decision.ts';
import { ShutdownError, Unauthorized } from '../../src/runtime/errors.ts';

export { messageOf };

/** Where and why a deployer failed, in the form of `status.lastError`. */
export interface FailureDetails extends ErrorOptions {
  /** The step that failed, such as `TemplateChart`. */
  readonly operation: string;
  /** One word in CamelCase, such as `ChartNotFound`. */
  readonly reason: string;
  readonly message: string;
}

/** A failure in the form of `status.lastError`. Without an unrecoverable code it is retried. */
export class DeployerError extends Error {
  readonly operation: string;
  readonly reason: string;
  readonly codes: readonly ErrorCode[];

  constructor(failure: FailureDetails & { readonly codes?: readonly ErrorCode[] }) {
    const { operation, reason, message, codes = [], cause } = failure;
    super(message, failure);
    this.operation = operation;
    this.reason = reason;
    const behind = isUnrecoverable(codes) ? [] : definiteCodes(cause);
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

/** The configuration of the user cannot be applied; the job fails. */
export class ConfigurationError extends DeployerError {
  constructor(failure: FailureDetails) {
    super({ ...failure, codes: ['ERR_CONFIGURATION_PROBLEM'] });
  }
}

/** The target cluster or a registry rejects the credentials; the job fails. */
export class UnauthorizedError extends DeployerError {
  constructor(failure: FailureDetails) {
    super({ ...failure, codes: ['ERR_UNAUTHORIZED'] });
  }
}

/** An unexpected internal failure; the job fails. */
export class InternalError extends DeployerError {
  constructor(failure: FailureDetails) {
    super({ ...failure, codes: ['ERR_INTERNAL_PROBLEM'] });
  }
}

/** The job has timed out and fails. The codes are `ERR_TIMEOUT` unless others are given. */
export class TimeoutError extends DeployerError {
  constructor(failure: FailureDetails & { readonly codes?: readonly ErrorCode[] }) {
    super({ ...failure, codes: failure.codes ?? ['ERR_TIMEOUT'] });
  }
}

/** A failure that is retried, unless its cause is final. `info` adds `ERR_FOR_INFO_ONLY`, so the log level is lower. */
export class RetryError extends DeployerError {
  /** Milliseconds until the next attempt; undefined: the worker decides. */
  readonly requeueAfterMs: number | undefined;

  constructor(failure: FailureDetails & { readonly requeueAfterMs?: number; readonly info?: boolean }) {
    const codes = definiteCodes(failure.cause);
    super({ ...failure, codes: failure.info ? [...codes, 'ERR_FOR_INFO_ONLY'] : codes });
    this.requeueAfterMs = failure.requeueAfterMs;
  }
}

/** Another controller has ended the job meanwhile, so the status must not be written. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError';

  constructor() {
    super('processing of the deployitem was interrupted');
  }
}

/** Whether the error is a bug of the program, like a panic in Go. */
export const isCrash = (error: unknown): boolean =>
  !(error instanceof Error) || isMistake(error) || error instanceof SyntaxError;

/** Whether the cause is a connection that this process has closed, which says nothing about the deploy item. */
export function isShutdown(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof ShutdownError) return true;
  }
  return false;
}

/** Operation and reason for errors without them. */
export interface Place {
  readonly operation: string;
  readonly reason: string;
}

/** The codes of an error, which decide whether it is retried. */
const codesOf = (error: unknown): readonly ErrorCode[] =>
  error instanceof Unauthorized ? ['ERR_UNAUTHORIZED'] : definiteCodes(error);

const definiteCodes = (error: unknown): readonly ErrorCode[] =>
  isDefinite(error) ? ['ERR_CONFIGURATION_PROBLEM'] : [];

/** Whether retrying is useless. */
export const isDefinite = (error: unknown): boolean => outlookOf(error) === 'final';

/**
 * How the cause affects the job: a final one fails it, a name that is not found is retried for a minute, an unknown
 * one a few times, and all others until the deploy item times out.
 */
function verdictOf(
  cause: unknown,
  codes: readonly ErrorCode[],
): Pick<Problem, 'codes' | 'remote' | 'outlook'> {
  if (!(cause instanceof Error) || isUnrecoverable(codes)) return { codes };
  const outlook = outlookOf(cause);
  if (outlook === 'final') return { codes: [...codes, 'ERR_CONFIGURATION_PROBLEM'] };
  return {
    codes,
    ...(outlook === 'unknown' && { outlook }),
    ...(connectionFault(cause) === 'name' && { remote: 'NameNotFound' as const }),
  };
}

/** Converts any error to a problem of the job: deployer errors unchanged, rejected credentials with their code. */
export function problemOf(error: unknown, place: Place): Problem {
  if (error instanceof DeployerError) return error.problem;
  return { ...place, message: messageOf(error), ...verdictOf(error, codesOf(error)) };
}

/** The same error at `place`, unless it already has a place. */
export const at = (
  place: Place,
  error: unknown,
  say: (message: string) => string = (m) => m,
): DeployerError => {
  if (error instanceof DeployerError) return error;
  return new DeployerError({ ...place, message: say(messageOf(error)), codes: codesOf(error), cause: error });
};

/** Whether the job fails with this problem. */
export const endsJob = (problem: Problem): boolean => isUnrecoverable(problem.codes);
