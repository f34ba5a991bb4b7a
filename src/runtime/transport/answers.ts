/** Reads the response of an API server within the limits of its connection. */
import type { Dispatcher } from 'undici';
import type { Clock } from '../../lib/clock.ts';
import { parseExactJson } from '../../lib/exact-json.ts';
import { structureExcess } from '../../lib/json-scan.ts';
import { beginningOf, FREE_BYTES, withBody } from '../../lib/response-body.ts';
import { apiErrorFrom, describe, TransportError, type ApiError } from '../errors.ts';
import type { HttpRequest } from './http.ts';
import { tooLarge, type ResponseLimits } from './responses.ts';

type Response = Dispatcher.ResponseData;

export interface AnswerPorts {
  /** Base address, for messages. */
  readonly server: string;
  /** Key for the budget. */
  readonly share: string;
  readonly limits: ResponseLimits;
  readonly clock: Clock;
}

/**
 * The parsed JSON of a response, or its text if it is not JSON; undefined if it is empty.
 * @throws ResponseTooLarge, TransportError; errors of the connection
 */
export function readAnswer(
  request: HttpRequest,
  response: Response,
  { server, share, limits, clock }: AnswerPorts,
): Promise<unknown> {
  const { isPage = false, signal } = request;
  const maxElements = isPage ? limits.maxPageElements : limits.maxElements;
  const isParsed = isJson(response);
  return withBody(
    response,
    {
      ...(isParsed && { structure: { maxDepth: limits.maxDepth, maxElements } }),
      maxBytes: limits.maxBytes,
      budget: limits.budget,
      key: share,
      clock,
      signal,
      tooLarge: (excess) => tooLarge(excess, limits, server, describe(request.ref), isPage),
    },
    (bytes) => {
      request.onRead?.(bytes.length);
      const read = (): unknown => {
        const text = bytes.toString('utf8');
        if (text === '') return undefined;
        return isParsed ? parseAnswer(text, server, request) : text;
      };
      return limits.turns && bytes.length > FREE_BYTES ? limits.turns.run(clock, read) : read();
    },
  );
}

/**
 * Limits for error responses. A Status is much shorter, and a truncated one cannot be parsed. The host cluster
 * repeats rejected values, such as names that are nearly as long as a request.
 */
const MAX_REFUSAL_BYTES = { target: 256 * 1024, host: 8 * 2 ** 20 } as const;

/** The error for a response that is not 2xx. */
export async function readRefusal(
  request: HttpRequest,
  response: Response,
  { limits, clock }: Pick<AnswerPorts, 'limits' | 'clock'>,
): Promise<ApiError> {
  const bytes = await beginningOf(response, MAX_REFUSAL_BYTES[limits.of], clock);
  const text = bytes.toString('utf8');
  let body: unknown = text.slice(0, 200);
  try {
    if (!structureExcess(bytes, limits)) body = JSON.parse(text);
  } catch {
    // Responses of proxies are not JSON.
  }
  const retryAfter = Number(response.headers['retry-after']);
  return apiErrorFrom(
    response.statusCode,
    body,
    request.ref,
    Number.isFinite(retryAfter) ? retryAfter : undefined,
  );
}

const isJson = (response: Response): boolean =>
  String(response.headers['content-type'] ?? '').includes('json');

function parseAnswer(text: string, server: string, request: HttpRequest): unknown {
  try {
    return parseExactJson(text);
  } catch (error) {
    const what = `${server} answered ${request.method} ${request.path.split('?')[0] ?? ''} with broken JSON`;
    throw new TransportError({ message: what, safeToRepeat: request.isIdempotent, cause: error });
  }
}
