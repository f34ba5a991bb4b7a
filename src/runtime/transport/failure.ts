/** Judges failed requests: what they are called, and whether and when to send them again (pure). */
import {
  connectionAdvice,
  connectionCode as codeOf,
  connectionFault,
  isDefiniteFault,
} from '../../lib/connection.ts';
import type { Rng } from '../../lib/rng.ts';
import {
  ApiError,
  describe,
  ServerFailure,
  TooManyRequests,
  TransportError,
  type RequestRef,
} from '../errors.ts';

/** Nothing was sent when one of these happened. */
const BEFORE_SENDING = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** The TransportError for whatever the socket layer threw. */
export function transportErrorFrom(
  error: unknown,
  server: string,
  ref: RequestRef,
  isIdempotent: boolean,
): TransportError {
  const code = codeOf(error);
  const hint = connectionAdvice(error, 'put its certificate authority into the kubeconfig');
  const isCertificate = connectionFault(error) === 'certificate';
  // No request gets as far as a server that is not trusted, or that does not speak TLS.
  const isUnsent = BEFORE_SENDING.has(code) || isDefiniteFault(error);
  const sentence = hint
    ? `cannot ${isCertificate ? 'trust' : 'use'} ${server} (${code}): ${hint}`
    : isUnsent
      ? `cannot reach ${server} (${code})`
      : `lost the connection to ${server} (${code})`;
  return new TransportError({
    message: `${sentence}, while trying to ${describe(ref)}`,
    safeToRepeat: isUnsent || isIdempotent,
    cause: error,
  });
}

/** Tries of one request, the first included. */
const MAX_TRIES = 4;
/** A server that asks for patience gets more of it. */
const MAX_TRIES_WHEN_ASKED = 8;
const MAX_ASKED_MS = 60_000;
const FIRST_PAUSE_MS = 200;

/**
 * Milliseconds to wait before sending the request again; undefined when the failure is to be reported.
 *
 * A 429, and a 503 that names a time, was turned away unread, so it may be repeated whatever it was. After other
 * failures of the server or the connection only requests without a second effect are repeated. A server that
 * cannot be reached at all is reported at once: callers and people wait better than we do.
 * @param tries how often it was sent already
 */
export function pauseBeforeRepeat(
  error: unknown,
  tries: number,
  isIdempotent: boolean,
  rng: Rng,
): number | undefined {
  if (error instanceof ApiError && wasRejected(error)) {
    if (tries >= MAX_TRIES_WHEN_ASKED) return undefined;
    return Math.min(error.retryAfterMs ?? growing(tries, rng) * 5, MAX_ASKED_MS);
  }
  if (!isIdempotent || tries >= MAX_TRIES || isVersionTooLarge(error)) return undefined;
  if (isBroken(error)) return growing(tries, rng);
  if (error instanceof TransportError && isReset(error)) return tries === 1 ? 0 : growing(tries, rng);
  return undefined;
}

/** The server does not know a version yet, and has waited for it already; who asked knows what to do. */
export const isVersionTooLarge = (error: unknown): boolean =>
  error instanceof ApiError && error.causes.some((cause) => cause.reason === 'ResourceVersionTooLarge');

/** Whether the failure may pass by itself: the server is busy or broken, or cannot be reached. */
export const isTemporary = (error: unknown): boolean =>
  error instanceof TooManyRequests ||
  isBroken(error) ||
  (error instanceof TransportError && !isDefiniteFault(error.cause));

/** The server failed, and not because it does not know what was asked. */
const isBroken = (error: unknown): boolean =>
  error instanceof ServerFailure && error.status !== 501 && error.status !== 505;

const wasRejected = (error: ApiError): boolean =>
  error instanceof TooManyRequests || (error.status === 503 && error.retryAfterMs !== undefined);

/** The connection was there and broke: typically a kept-alive one that the server closed meanwhile. */
const isReset = (error: TransportError): boolean => {
  const code = codeOf(error.cause);
  return !BEFORE_SENDING.has(code) && !isDefiniteFault(error.cause) && !code.includes('TIMEOUT');
};

const growing = (tries: number, rng: Rng): number =>
  FIRST_PAUSE_MS * 2 ** (tries - 1) * (0.8 + 0.4 * rng.next());
