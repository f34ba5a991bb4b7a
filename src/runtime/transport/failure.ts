/** Classifies failed requests: the error, and whether and when the request is repeated (pure). */
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

/** After these errors, nothing was sent. */
const BEFORE_SENDING = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** The TransportError for an error of the socket layer. */
export function transportErrorFrom(
  error: unknown,
  server: string,
  ref: RequestRef,
  isIdempotent: boolean,
): TransportError {
  const code = codeOf(error);
  const hint = connectionAdvice(error, 'put its certificate authority into the kubeconfig');
  const isCertificate = connectionFault(error) === 'certificate';
  // No request is sent to a server that is not trusted or does not speak TLS.
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

/** Maximum number of attempts for a request. */
const MAX_TRIES = 4;
/** Maximum number of attempts if the server asks to wait. */
const MAX_TRIES_WHEN_ASKED = 8;
const MAX_ASKED_MS = 60_000;
const FIRST_PAUSE_MS = 200;

/**
 * Milliseconds to wait before the request is repeated; undefined if the failure is reported.
 *
 * A request that was rejected with 429, or with 503 and a Retry-After, was not processed, so any request may be
 * repeated. After other failures of the server or the connection, only idempotent requests are repeated. If the
 * server cannot be reached, the failure is reported at once, because callers have better delays.
 * @param tries number of attempts so far
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

/** The server has not reached a version yet and has already waited for it; the caller decides what to do. */
export const isVersionTooLarge = (error: unknown): boolean =>
  error instanceof ApiError && error.causes.some((cause) => cause.reason === 'ResourceVersionTooLarge');

/** Whether the failure may be temporary: the server is busy or broken, or cannot be reached. */
export const isTemporary = (error: unknown): boolean =>
  error instanceof TooManyRequests ||
  isBroken(error) ||
  (error instanceof TransportError && !isDefiniteFault(error.cause));

/** The server failed, for another reason than an unknown version. */
const isBroken = (error: unknown): boolean =>
  error instanceof ServerFailure && error.status !== 501 && error.status !== 505;

const wasRejected = (error: ApiError): boolean =>
  error instanceof TooManyRequests || (error.status === 503 && error.retryAfterMs !== undefined);

/** An open connection broke: usually a kept-alive one that the server closed meanwhile. */
const isReset = (error: TransportError): boolean => {
  const code = codeOf(error.cause);
  return !BEFORE_SENDING.has(code) && !isDefiniteFault(error.cause) && !code.includes('TIMEOUT');
};

const growing = (tries: number, rng: Rng): number =>
  FIRST_PAUSE_MS * 2 ** (tries - 1) * (0.8 + 0.4 * rng.next());
