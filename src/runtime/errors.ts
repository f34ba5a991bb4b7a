/** Errors between the runtime and the cluster, one class per situation, to be distinguished by `instanceof`. */
import { cutBetweenWords, cutMiddle } from '../lib/cut.ts';
import { isNestedTooDeeply, messageOf } from '../lib/message-of.ts';
import { isObject, ownField } from '../lib/objects.ts';
import { outlookOfStatus, type Outlook } from '../lib/outlook.ts';
import type { RequestRef } from './request-ref.ts';
import { refusalOfSecret, withoutTexts } from './secret-refusal.ts';

/** Arguments of every error: its message, and its cause. */
export interface ErrorFacts extends ErrorOptions {
  /** What failed, on which object, why, and what to do; lower case, without a full stop. */
  readonly message: string;
}

/** The base class of all errors of the runtime. */
export class EspalierError extends Error {
  constructor(facts: ErrorFacts) {
    super(facts.message, facts);
  }

  override get name(): string {
    return this.constructor.name;
  }

  /** Whether retrying is useless. */
  isFinal(): boolean {
    return false;
  }

  /** What a repetition can achieve; undefined: the cause decides. */
  get outlook(): Outlook | undefined {
    return this.isFinal() ? 'final' : undefined;
  }
}

/** Whether retrying the operation that failed with `error` is useless. */
export const isFinal = (error: unknown): boolean =>
  (error instanceof EspalierError && error.isFinal()) || isNestedTooDeeply(error);

export type { RequestRef } from './request-ref.ts';

/** One finding of the server about one field. */
export interface Cause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

/** The response of an API server that rejected a request, without its body. */
export interface ApiErrorFacts extends ErrorFacts {
  /** HTTP status code. */
  readonly status: number;
  /** `Status.reason`, such as `Conflict`; empty when the server sent none. */
  readonly reason: string;
  readonly ref: RequestRef;
  /** The server's Retry-After, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  readonly causes?: readonly Cause[] | undefined;
  /** The server's message; absent if the message is ours. */
  readonly serverMessage?: string | undefined;
}

/** The server responded with an error. */
export class ApiError extends EspalierError {
  readonly status: number;
  readonly reason: string;
  readonly ref: RequestRef;
  readonly retryAfterMs: number | undefined;
  readonly causes: readonly Cause[];
  readonly #serverMessage: string | undefined;

  constructor(facts: ApiErrorFacts) {
    super(facts);
    this.status = facts.status;
    this.reason = facts.reason;
    this.ref = facts.ref;
    this.retryAfterMs = facts.retryAfterMs;
    this.causes = facts.causes ?? [];
    this.#serverMessage = facts.serverMessage;
  }

  /** The server's own message, without the request; undefined if it sent none or one that may contain a secret. */
  get serverMessage(): string | undefined {
    return this.#serverMessage;
  }

  override get outlook(): Outlook {
    // A namespace that is being deleted may be created again.
    return isNamespaceTerminating(this) ? 'passing' : outlookOfStatus('api', this.status);
  }

  /**
   * The same error with a message that names the server it comes from, in one line and shortened. For servers of
   * tenants, whose messages are shown to users and stored.
   * @param server such as `the server of target x`
   */
  attributedTo(server: string): this {
    if (this.#serverMessage === undefined) return this;
    // Line breaks, escape sequences of terminals, and characters that change the writing direction.
    const message = this.#serverMessage.replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ');
    this.message = `cannot ${describe(this.ref)}: ${server} answered: ${cutBetweenWords(message, MAX_FOREIGN_MESSAGE)}`;
    return this;
  }
}

/** Maximum length of a message of a tenant's server. */
const MAX_FOREIGN_MESSAGE = 1024;
/** Maximum length of a message of any server; a webhook's denial is shorter. */
const MAX_MESSAGE = 16 * 1024;
/** Maximum length of namespace and name; each has at most 253 characters if a server accepted it. */
const MAX_WHERE = 512;
/** Words in a server's message that are too long to be readable. */
const LONG_WORD = /\S{257,}/g;
const LEFT_OUT = '…';

/** 404: the object or its kind does not exist. */
export class NotFound extends ApiError {}
/** 409: the object was changed since it was read. */
export class Conflict extends ApiError {}
/** 409 for a create: an object of this name already exists. */
export class AlreadyExists extends ApiError {}
/** 410, or an expired resource version: the server no longer has this part of the history. */
export class Gone extends ApiError {}
/** 422 and 400: the server does not accept this body; retrying is useless. */
export class Invalid extends ApiError {}
/** 403: not allowed. */
export class Forbidden extends ApiError {}
/** 401: the credentials are not accepted. */
export class Unauthorized extends ApiError {}
/** 429: too many requests, see `retryAfterMs`. */
export class TooManyRequests extends ApiError {}
/** 5xx: the server failed; retrying later may help. */
export class ServerFailure extends ApiError {}

/** Whether a write was rejected because its namespace is being deleted, so nothing can be created in it. */
export const isNamespaceTerminating = (error: unknown): boolean =>
  error instanceof Forbidden &&
  (error.causes.some((cause) => cause.reason === 'NamespaceTerminating') ||
    error.message.includes('because it is being terminated'));

/**
 * Whether a write was rejected because the definition of its kind is being deleted. API servers answer with 405 and
 * this sentence.
 */
export const isDefinitionTerminating = (error: unknown): boolean =>
  error instanceof ApiError &&
  error.message.includes('not allowed while custom resource definition is terminating');

/** No complete response: the connection was refused, reset, closed, or timed out. */
export class TransportError extends EspalierError {
  /** The request certainly had no effect, or repeating it has no additional effect. */
  readonly safeToRepeat: boolean;

  constructor(facts: ErrorFacts & { readonly safeToRepeat: boolean }) {
    super(facts);
    this.safeToRepeat = facts.safeToRepeat;
  }
}

/** The response exceeds a limit of size or nesting; its connection was closed. */
export class ResponseTooLarge extends EspalierError {
  /** Which limit: bytes, values, nesting, a single event of a watch, or all pages of a list. */
  readonly excess: 'bytes' | 'elements' | 'depth' | 'frame' | 'list';
  readonly #isFinal: boolean;

  /** @param facts.isFinal whether the server belongs to a tenant, whose job then fails */
  constructor(
    facts: ErrorFacts & { readonly excess: ResponseTooLarge['excess']; readonly isFinal: boolean },
  ) {
    super(facts);
    this.excess = facts.excess;
    this.#isFinal = facts.isFinal;
  }

  override isFinal(): boolean {
    return this.#isFinal;
  }

  /** The first of this class among an error and its causes. */
  static in(error: unknown): ResponseTooLarge | undefined {
    let at = error;
    for (let steps = 0; at instanceof Error && steps < 20; steps++, at = at.cause) {
      if (at instanceof ResponseTooLarge) return at;
    }
    return undefined;
  }
}

/** Wraps an error for which retrying is useless. */
export class NoRetryError extends EspalierError {
  override isFinal(): boolean {
    return true;
  }

  /** The same error, marked as final; keeps its message. */
  static of(cause: unknown): NoRetryError {
    if (cause instanceof NoRetryError) return cause;
    return new NoRetryError({ message: messageOf(cause), cause });
  }
}

/** The program is inconsistent: a cycle, a duplicate, an unknown name, or an invalid combination. */
export class DefinitionError extends EspalierError {}

/** A name is not a valid object name, so no request can be sent for it; retrying is useless. */
export class InvalidObjectName extends DefinitionError {
  override isFinal(): boolean {
    return true;
  }
}

/** The server does not serve this kind at the moment. */
export class NoSuchKind extends EspalierError {
  readonly apiVersion: string;
  readonly kind: string;

  constructor({
    apiVersion,
    kind,
    install,
    ...options
  }: ErrorOptions & {
    readonly apiVersion: string;
    readonly kind: string;
    /** The command that installs it. */
    readonly install?: string;
  }) {
    const advice = install
      ? `install its CustomResourceDefinition: ${install}`
      : 'is its CustomResourceDefinition installed?';
    super({
      message: `the server does not know kind ${kind} in ${apiVersion}; ${advice}`,
      ...options,
    });
    this.apiVersion = apiVersion;
    this.kind = kind;
  }
}

/** A source of events cannot be used. */
export class SourceError extends EspalierError {
  readonly source: string;

  constructor(facts: ErrorFacts & { readonly source: string }) {
    super(facts);
    this.source = facts.source;
  }
}

/** A read from a cache that is not started. */
export class NotWatchedError extends EspalierError {}

/** The kubeconfig, or a file that it refers to, cannot be read or is invalid. */
export class KubeconfigError extends EspalierError {}

/** Another replica is now responsible for the object, or will be soon; this process must not write it any more. */
export class ShareLostError extends EspalierError {}

/** This process is no longer the leader, so it must not write. */
export class LeadershipLostError extends EspalierError {}

/** The process is stopping. */
export class ShutdownError extends EspalierError {}

const classes: Readonly<Record<number, typeof ApiError>> = {
  400: Invalid,
  401: Unauthorized,
  403: Forbidden,
  404: NotFound,
  409: Conflict,
  410: Gone,
  422: Invalid,
  429: TooManyRequests,
};

/**
 * The error for a response that is not 2xx.
 * @param statusCode HTTP status
 * @param body the parsed response, usually a `Status`; text or undefined are accepted, too
 * @param retryAfter value of the `Retry-After` header in seconds, if there was one
 */
export function apiErrorFrom(
  statusCode: number,
  body: unknown,
  ref: RequestRef,
  retryAfter?: number,
): ApiError {
  const status = isObject(body) ? body : {};
  const details = isObject(status['details']) ? status['details'] : {};
  const reason = typeof status['reason'] === 'string' ? status['reason'] : '';
  const seconds = retryAfter ?? details['retryAfterSeconds'];
  const Class = classOf(statusCode, reason);
  const serverMessage = serverMessageIn(statusCode, status, ref);
  const sentence = isUnserved(statusCode, ref)
    ? 'the server does not serve this kind and version; check that its CustomResourceDefinition is installed'
    : isWithoutStatus(statusCode, ref, details)
      ? WITHOUT_STATUS
      : (serverMessage ?? `the server answered ${String(statusCode)}${reason ? ` (${reason})` : ''}`);
  return new Class({
    message: `cannot ${describe(ref)}: ${sentence}`,
    status: statusCode,
    serverMessage,
    reason,
    ref,
    retryAfterMs: typeof seconds === 'number' && seconds >= 0 ? seconds * 1000 : undefined,
    causes: ref.kind === 'Secret' ? withoutTexts(causesOf(details['causes'])) : causesOf(details['causes']),
  });
}

/** Collections of served kinds exist, even if they are empty or their namespace is missing. */
const isUnserved = (statusCode: number, { verb }: RequestRef): boolean =>
  statusCode === 404 && (verb === 'list' || verb === 'watch');

const WITHOUT_STATUS =
  'the kind has no status subresource, or the object does not exist; set subresources: { status: {} } in the version of the CustomResourceDefinition';

/** A server that knows the subresource names the missing object in the details. */
const isWithoutStatus = (statusCode: number, { sub }: RequestRef, details: object): boolean =>
  statusCode === 404 && sub === 'status' && !('name' in details);

function classOf(statusCode: number, reason: string): typeof ApiError {
  if (reason === 'AlreadyExists') return AlreadyExists;
  if (reason === 'Expired') return Gone;
  return classes[statusCode] ?? (statusCode >= 500 ? ServerFailure : ApiError);
}

/** `patch status of ConfigMap default/a` */
export function describe(ref: RequestRef): string {
  // The end of the message contains the reason, so a very long name must be shortened.
  const where = cutMiddle([ref.namespace, ref.name].filter(Boolean).join('/'), MAX_WHERE);
  return [ref.verb, ref.sub && `${ref.sub} of`, ref.kind, where].filter(Boolean).join(' ');
}

/** The server's message; never its raw body, and never a value of a Secret. */
function serverMessageIn(
  statusCode: number,
  status: Record<string, unknown>,
  ref: RequestRef,
): string | undefined {
  const message = status['message'];
  const isSecretRefused = ref.kind === 'Secret' && (statusCode === 422 || statusCode === 400);
  if (isSecretRefused) return refusalOfSecret(ref.name, ownField(status['details'], 'causes'));
  if (typeof message !== 'string' || message === '') return undefined;
  // Servers repeat the rejected value, which may be a secret; a part of it could not be masked.
  return cutBetweenWords(message.replace(LONG_WORD, LEFT_OUT), MAX_MESSAGE);
}

const causesOf = (causes: unknown): Cause[] => (Array.isArray(causes) ? causes.filter(isObject) : []);
