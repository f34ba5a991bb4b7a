/** What can go wrong between us and the cluster, one class per situation; told apart by `instanceof`. */
import { cutBetweenWords, cutMiddle } from '../lib/cut.ts';
import { isObject } from '../lib/objects.ts';

/** What every error is made from: its message, and the error behind it. */
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

  /** Whether another attempt cannot heal it. */
  isFinal(): boolean {
    return false;
  }
}

/** Whether another attempt at what failed with `error` would be in vain. */
export const isFinal = (error: unknown): boolean => error instanceof EspalierError && error.isFinal();

/** What a failed request was about, for messages and logs. */
export interface RequestRef {
  /** get, list, watch, create, update, patch, apply, delete, or an HTTP method. */
  readonly verb: string;
  /** The kind, or the path of a request outside the object verbs. */
  readonly kind: string;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly sub?: string | undefined;
}

/** One complaint of the server about one field. */
export interface Cause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

/** What an API server said when it refused a request, without the body. */
export interface ApiErrorFacts extends ErrorFacts {
  /** HTTP status code. */
  readonly status: number;
  /** `Status.reason`, such as `Conflict`; empty when the server sent none. */
  readonly reason: string;
  readonly ref: RequestRef;
  /** How long the server asks us to stay away. */
  readonly retryAfterMs?: number | undefined;
  readonly causes?: readonly Cause[] | undefined;
  /** The server's own sentence; absent when the message is ours. */
  readonly serverMessage?: string | undefined;
}

/** The server answered, and the answer was no. */
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

  /**
   * The same error, whose message says which server's words it repeats, on one line and not all of many. For servers that
   * anybody may have put up: what they say is shown to users and stored.
   * @param server such as `the server of target x`
   */
  attributedTo(server: string): this {
    if (this.#serverMessage === undefined) return this;
    // Line breaks, escape sequences of terminals, and what turns the direction of writing around.
    const message = this.#serverMessage.replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ');
    this.message = `cannot ${describe(this.ref)}: ${server} answered: ${cutBetweenWords(message, MAX_FOREIGN_MESSAGE)}`;
    return this;
  }
}

/** Of what a foreign server says. */
const MAX_FOREIGN_MESSAGE = 1024;
/** Of what any server says: more than a webhook's denial has. */
const MAX_MESSAGE = 16 * 1024;
/** Of a namespace and a name: both have at most 253 characters where a server takes them. */
const MAX_WHERE = 512;
/** Of what a server says, words that are far too long for one. */
const LONG_WORD = /\S{257,}/g;
const LEFT_OUT = '…';

/** 404: the object, or its kind, is not there. */
export class NotFound extends ApiError {}
/** 409: somebody wrote the object since it was read. */
export class Conflict extends ApiError {}
/** 409 to a create: the name is taken. */
export class AlreadyExists extends ApiError {}
/** 410, or an expired resource version: the history asked for is no longer kept. */
export class Gone extends ApiError {}
/** 422 and 400: the server will not take this body, however often it is sent. */
export class Invalid extends ApiError {}
/** 403: not allowed. */
export class Forbidden extends ApiError {}
/** 401: the credentials are not accepted. */
export class Unauthorized extends ApiError {}
/** 429: asked to slow down, see `retryAfterMs`. */
export class TooManyRequests extends ApiError {}
/** 5xx: the server failed; asking again later may help. */
export class ServerFailure extends ApiError {}

/** Whether a write was refused because its namespace is being deleted: nothing is created there any more. */
export const isNamespaceTerminating = (error: unknown): boolean =>
  error instanceof Forbidden &&
  (error.causes.some((cause) => cause.reason === 'NamespaceTerminating') ||
    error.message.includes('because it is being terminated'));

/** No answer came: refused, reset, timed out, or cut off in the middle. */
export class TransportError extends EspalierError {
  /** The request certainly had no effect, or repeating it has no further one. */
  readonly safeToRepeat: boolean;

  constructor(facts: ErrorFacts & { readonly safeToRepeat: boolean }) {
    super(facts);
    this.safeToRepeat = facts.safeToRepeat;
  }
}

/** A server answered with more, or with deeper nested data, than is read from it; its connection was ended. */
export class ResponseTooLarge extends EspalierError {
  /** Which limit: of bytes, of values, of nesting, of a single event of a watch, or of all pages of a list. */
  readonly excess: 'bytes' | 'elements' | 'depth' | 'frame' | 'list';
  readonly #isFinal: boolean;

  /** @param facts.isFinal whether the server is one of a tenant, whose job ends with this */
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

  /** In an error or its causes. */
  static in(error: unknown): ResponseTooLarge | undefined {
    let at = error;
    for (let steps = 0; at instanceof Error && steps < 20; steps++, at = at.cause) {
      if (at instanceof ResponseTooLarge) return at;
    }
    return undefined;
  }
}

/** Wraps a failure that another attempt cannot heal. */
export class NoRetryError extends EspalierError {
  override isFinal(): boolean {
    return true;
  }

  /** The same failure, marked as final; keeps its message. */
  static of(cause: unknown): NoRetryError {
    if (cause instanceof NoRetryError) return cause;
    return new NoRetryError({ message: cause instanceof Error ? cause.message : String(cause), cause });
  }
}

/** The program is put together wrongly: a cycle, a duplicate, an unknown name, a bad combination. */
export class DefinitionError extends EspalierError {}

/** Somebody wrote a name that no object can have, so no request can be sent for it, however often it is tried. */
export class InvalidObjectName extends DefinitionError {
  override isFinal(): boolean {
    return true;
  }
}

/** The server knows no such kind, now. */
export class NoSuchKind extends EspalierError {
  readonly apiVersion: string;
  readonly kind: string;

  constructor({
    apiVersion,
    kind,
    ...options
  }: ErrorOptions & { readonly apiVersion: string; readonly kind: string }) {
    super({
      message: `the server does not know kind ${kind} in ${apiVersion}; is its CustomResourceDefinition installed?`,
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

/** Something was read from a cache that nobody keeps. */
export class NotWatchedError extends EspalierError {}

/** The kubeconfig, or what it refers to, cannot be read or makes no sense. */
export class KubeconfigError extends EspalierError {}

/** What was worked at is another replica's now, or may be soon; nothing of it may be written any more. */
export class ShareLostError extends EspalierError {}

/** This process no longer leads, so it must not write. */
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
 * The error for an answer that is not 2xx.
 * @param statusCode HTTP status
 * @param body the parsed answer, preferably a `Status`; text and nothing at all are understood too
 * @param retryAfter value of the `Retry-After` header in seconds, when there was one
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
  const sentence =
    serverMessage ?? `the server answered ${String(statusCode)}${reason ? ` (${reason})` : ''}`;
  return new Class({
    message: `cannot ${describe(ref)}: ${sentence}`,
    status: statusCode,
    serverMessage,
    reason,
    ref,
    retryAfterMs: typeof seconds === 'number' && seconds >= 0 ? seconds * 1000 : undefined,
    causes: ref.kind === 'Secret' ? withoutTexts(details['causes']) : causesOf(details['causes']),
  });
}

function classOf(statusCode: number, reason: string): typeof ApiError {
  if (reason === 'AlreadyExists') return AlreadyExists;
  if (reason === 'Expired') return Gone;
  return classes[statusCode] ?? (statusCode >= 500 ? ServerFailure : ApiError);
}

/** `patch status of ConfigMap default/a` */
export function describe(ref: RequestRef): string {
  // The end of the sentence says why; a name that nobody would give must not push it out.
  const where = cutMiddle([ref.namespace, ref.name].filter(Boolean).join('/'), MAX_WHERE);
  return [ref.verb, ref.sub && `${ref.sub} of`, ref.kind, where].filter(Boolean).join(' ');
}

/** The server's own sentence; never its raw body, and never a value out of a Secret. */
function serverMessageIn(
  statusCode: number,
  status: Record<string, unknown>,
  ref: RequestRef,
): string | undefined {
  const message = status['message'];
  const isSecretRefused = ref.kind === 'Secret' && (statusCode === 422 || statusCode === 400);
  if (typeof message !== 'string' || message === '' || isSecretRefused) return undefined;
  // Servers repeat what they refuse, such as names, and secrets: nobody can mask a part of one.
  return cutBetweenWords(message.replace(LONG_WORD, LEFT_OUT), MAX_MESSAGE);
}

const causesOf = (causes: unknown): Cause[] => (Array.isArray(causes) ? causes.filter(isObject) : []);

const withoutTexts = (causes: unknown): Cause[] =>
  causesOf(causes).map(({ reason, field }) => ({ ...(reason && { reason }), ...(field && { field }) }));
