/**
 * HTTP requests to registries: plain HTTP only if it is allowed, size limits, redirects without credentials, and
 * retries after temporary failures.
 */
import { ByteBudget, type DownloadLimits } from '../lib/byte-budget.ts';
import { sleep, type Clock } from '../lib/clock.ts';
import {
  connectionAdvice,
  connectionCode,
  isDefiniteFault,
  TRUST_BY_ENVIRONMENT,
} from '../lib/connection.ts';
import { withBody } from '../lib/response-body.ts';
import { sizeText } from '../lib/sizes.ts';
import type { Rng } from '../lib/rng.ts';
import { loadAgent } from '../lib/undici.ts';
import type { Login } from './credentials.ts';
import { parseDocument } from './document.ts';
import {
  ContentInvalid,
  ContentTooLarge,
  RegistryMisconfigured,
  RegistryRefused,
  RegistryUnavailable,
  RepositoryUnusable,
  type ComponentProblem,
} from './errors.ts';

export interface RegistryRequest {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT';
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Larger responses are refused. */
  readonly maxBytes: number;
  /** The configuration key of the limit, if there is one. */
  readonly limitKey?: string;
  /** Description of the request for messages; never contains a query, which may hold a signature. */
  readonly what: string;
}

export interface RegistryAnswer {
  readonly status: number;
  header(name: string): string | undefined;
  readonly body: Uint8Array;
}

interface TransportOptions {
  readonly clock: Clock;
  readonly rng: Rng;
  /** Whether `http://` is allowed. */
  readonly allowPlainHttp?: boolean;
  /** Aborts all requests. */
  readonly signal?: AbortSignal;
  readonly userAgent?: string;
  /** Timeout of one request, even while data arrives; default 5 minutes. */
  readonly deadlineMs?: number;
  /** Memory budget for downloads, shared by all registries. */
  readonly budget?: DownloadLimits['budget'];
}

const BUDGET_BYTES = 128 * 2 ** 20;
const DEADLINE_MS = 5 * 60_000;
const MAX_TRIES = 4;
const MAX_REDIRECTS = 5;
const MAX_RETRY_AFTER_MS = 10_000;
const CONNECT_MS = 10_000;
const IDLE_TIMEOUT_MS = 30_000;

export class Transport {
  readonly clock: Clock;
  readonly #options: TransportOptions;
  readonly #budget: ByteBudget;
  readonly #agent = new (loadAgent())({
    connect: { timeout: CONNECT_MS },
    headersTimeout: IDLE_TIMEOUT_MS,
    bodyTimeout: IDLE_TIMEOUT_MS,
    connections: 16,
  });

  constructor(options: TransportOptions) {
    this.clock = options.clock;
    this.#options = options;
    this.#budget = options.budget ?? new ByteBudget(BUDGET_BYTES);
  }

  /**
   * The URL of a registry. Without a scheme it uses HTTPS, except for registries on this machine if plain HTTP is
   * allowed.
   * @param address `host`, `host:port`, or either with a scheme
   * @throws RepositoryUnusable
   */
  urlOf(address: string): URL {
    const hasScheme = /^https?:\/\//.test(address);
    const isLocal = this.#options.allowPlainHttp === true && isLoopback(address.replace(/^https?:\/\//, ''));
    const text = hasScheme ? address : `${isLocal ? 'http' : 'https'}://${address}`;
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (!url || url.host === '' || url.username + url.password + url.search + url.hash !== '') {
      throw new RepositoryUnusable(
        'the address of a registry must look like registry.example.org or https://registry.example.org',
      );
    }
    this.#checkScheme(url);
    return url;
  }

  #checkScheme(url: URL): void {
    if (url.protocol === 'https:' || (url.protocol === 'http:' && this.#options.allowPlainHttp)) return;
    throw new RepositoryUnusable(
      `registry ${url.host} uses plain HTTP, which is not allowed here; use https://, or allow it: registry.oci.allowPlainHttp in the configuration, --plain-http on the command line`,
    );
  }

  /**
   * Returns responses of any status except 429 and 5xx. @throws RegistryUnavailable, RegistryMisconfigured,
   * ContentInvalid, RepositoryUnusable
   */
  async send(request: RegistryRequest): Promise<RegistryAnswer> {
    for (let tries = 1; ; tries++) {
      let pause: number;
      try {
        const answer = await this.#followRedirects(request);
        if (!isPassing(answer.status)) return answer;
        pause = this.#pauseAfter(answer.header('retry-after'), tries);
        if (tries >= MAX_TRIES || pause > MAX_RETRY_AFTER_MS) throw failedNow(request, answer);
      } catch (error) {
        if (!(error instanceof ConnectionError)) throw error;
        if (tries >= MAX_TRIES || !error.wasEstablished) throw error.problem;
        pause = this.#pauseAfter(undefined, tries);
      }
      await sleep(this.clock, pause, this.#options.signal);
    }
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  #pauseAfter(retryAfter: string | undefined, tries: number): number {
    const asked = retryAfter === undefined ? Number.NaN : this.#retryAfterMs(retryAfter);
    if (asked >= 0) return asked;
    return 200 * 2 ** (tries - 1) * (0.8 + 0.4 * this.#options.rng.next());
  }

  /** The header Retry-After: seconds, or a date. */
  #retryAfterMs(text: string): number {
    if (/^\d+$/.test(text)) return Number(text) * 1000;
    return Math.max(0, Date.parse(text) - this.clock.wall());
  }

  async #followRedirects(request: RegistryRequest): Promise<RegistryAnswer> {
    let { url, headers = {} } = request;
    for (let hops = 0; ; hops++) {
      this.#checkScheme(url);
      const answer = await this.#sendOnce({ ...request, url, headers });
      const location = answer.header('location');
      const isRedirect = [301, 302, 303, 307, 308].includes(answer.status) && location !== undefined;
      if (!isRedirect || (request.method !== 'GET' && request.method !== 'HEAD')) return answer;
      const next = URL.canParse(location, url.href) ? new URL(location, url.href) : undefined;
      if (!next || hops >= MAX_REDIRECTS || (url.protocol === 'https:' && next.protocol !== 'https:')) {
        throw new ContentInvalid(
          `registry ${request.url.host} redirects ${request.what} to an address that is not allowed`,
        );
      }
      // Credentials of a registry are not sent to other servers that it redirects to.
      if (next.origin !== url.origin) headers = without(headers, 'authorization');
      url = next;
    }
  }

  async #sendOnce({
    method,
    url,
    headers,
    body,
    maxBytes,
    limitKey,
    what,
  }: RegistryRequest): Promise<RegistryAnswer> {
    const { signal, userAgent = 'espalier', deadlineMs = DEADLINE_MS } = this.#options;
    const deadline = AbortSignal.timeout(deadlineMs);
    const ending = signal ? AbortSignal.any([signal, deadline]) : deadline;
    try {
      const response = await this.#agent.request({
        origin: url.origin,
        path: url.pathname + url.search,
        method,
        headers: { 'user-agent': userAgent, ...headers },
        ...(body && { body }),
        signal: ending,
      });
      const limits = {
        maxBytes: method === 'HEAD' ? 0 : maxBytes,
        keepsEncoding: true,
        budget: this.#budget,
        key: url.host,
        clock: this.clock,
        signal: ending,
        tooLarge: () => tooLarge(what, url, maxBytes, limitKey),
      };
      // The response to HEAD contains the length of the body, but no body.
      const answer = method === 'HEAD' ? { ...response, headers: {} } : response;
      const bytes = await withBody(answer, limits, (body) => body);
      return {
        status: response.statusCode,
        header: (name) => {
          const value = response.headers[name];
          return Array.isArray(value) ? value.join(', ') : value;
        },
        body: bytes,
      };
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (error instanceof ContentInvalid) throw error;
      if (deadline.aborted) {
        throw new RegistryUnavailable(
          `registry ${url.host} takes more than ${String(deadlineMs / 1000)} s for ${what}`,
          { cause: error },
        );
      }
      throw new ConnectionError(url.host, what, error);
    }
  }
}

/** @param key absent for manifests and tokens, whose limits are not configurable */
export const tooLarge = (what: string, { host }: URL, maxBytes: number, key?: string): ContentTooLarge =>
  new ContentTooLarge(
    `registry ${host} answered the request for ${what} with more than ${sizeText(maxBytes)}` +
      (key === undefined ? '' : `; ${key} in the configuration raises this limit`),
  );

class ConnectionError extends Error {
  /** The connection was established and then broke; a retry may help. */
  readonly wasEstablished: boolean;
  readonly problem: ComponentProblem;

  constructor(host: string, what: string, cause: unknown) {
    super('broken connection', { cause });
    const code = connectionCode(cause);
    const where = `while fetching ${what}`;
    this.wasEstablished =
      !isDefiniteFault(cause) &&
      !/^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$|TIMEOUT/.test(code);
    const advice = connectionAdvice(cause, TRUST_BY_ENVIRONMENT);
    const verb = this.wasEstablished ? 'broke off' : 'cannot be reached';
    this.problem = advice
      ? new RegistryMisconfigured(`registry ${host} cannot be used (${code}), ${where}: ${advice}`, { cause })
      : new RegistryUnavailable(`registry ${host} ${verb} (${code}), ${where}`, { cause });
  }
}

const isPassing = (status: number): boolean =>
  status === 429 || status === 408 || (status >= 500 && status !== 501 && status !== 505);

function failedNow({ url, what }: RegistryRequest, answer: RegistryAnswer): RegistryUnavailable {
  return new RegistryUnavailable(
    `registry ${url.host} answers ${String(answer.status)} to the request for ${what}${errorCodeText(answer)}`,
  );
}

/** The credentials of a request. */
export interface LoginAttempt {
  readonly used: Login | undefined;
  /** Sources of credentials that cannot be used. */
  readonly problems: readonly string[];
}

/** An error for an unexpected response. From its body, only the error code is included. */
export function refusal(
  { url, what }: Pick<RegistryRequest, 'url' | 'what'>,
  answer: RegistryAnswer,
  login: LoginAttempt,
): Error {
  const { status } = answer;
  const said = errorCodeText(answer);
  if (status === 401 || status === 403) {
    const why = login.used
      ? 'its credentials are not accepted, or have too few rights'
      : 'there are no credentials for it; add a pull secret to the Context, or a file to registry.oci.configFiles in the configuration';
    const problems = login.used ? [] : login.problems;
    return new RegistryRefused(
      [`registry ${url.host} refuses ${what} (${String(status)}${said}): ${why}`, ...problems].join('; '),
    );
  }
  return new ContentInvalid(
    `registry ${url.host} answers ${String(status)} to the request for ${what}${said}`,
  );
}

function errorCodeText({ body }: RegistryAnswer): string {
  try {
    const { errors } = parseDocument(body, 'a refusal') as { errors?: { code?: unknown }[] };
    const code = errors?.[0]?.code;
    return typeof code === 'string' && /^[A-Z_]{1,40}$/.test(code) ? `, ${code}` : '';
  } catch {
    return '';
  }
}

const without = (headers: Readonly<Record<string, string>>, name: string): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).filter(([key]) => key !== name));

const isLoopback = (host: string): boolean =>
  /^(localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?(?:\/|$)/.test(host);
