/**
 * HTTP requests to registries: plain HTTP only if it is allowed and the server does not speak TLS, size limits,
 * redirects without credentials, and retries after temporary failures.
 */
import type { Dispatcher } from 'undici';
import { ByteBudget, shareOf, type ByteShare, type DownloadLimits } from '../lib/byte-budget.ts';
import { sleep, type Clock } from '../lib/clock.ts';
import { withBody } from '../lib/response-body.ts';
import type { Rng } from '../lib/rng.ts';
import { Agents, CONNECTIONS } from './agents.ts';
import { codeWithoutTls, ConnectionError, withTlsCode } from './connection-error.ts';
import { ContentInvalid, RegistryUnavailable, RepositoryUnusable } from './errors.ts';
import { failedNow, tooLarge } from './refusals.ts';
import { Places } from './places.ts';
import { Trust } from './trust.ts';

export interface RegistryRequest {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT';
  readonly url: URL;
  /** The server that named the URL, if a user did not. */
  readonly namedBy?: URL;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Larger responses are refused. */
  readonly maxBytes: number;
  /** The configuration key of the limit, if there is one. */
  readonly limitKey?: string;
  /** Description of the request for messages; never contains a query, which may hold a signature. */
  readonly what: string;
  /** Whether plain HTTP is used if the server does not speak TLS; see `mayUsePlainHttp` of the transport. */
  readonly mayUsePlainHttp?: boolean;
  /** Certificate authorities in PEM, trusted in addition to those of the configuration. */
  readonly authorities?: string | undefined;
  /** For which namespace it is sent; default: that is not known. */
  readonly namespace?: string | undefined;
}

export interface RegistryAnswer {
  readonly status: number;
  header(name: string): string | undefined;
  readonly body: Uint8Array;
}

interface TransportOptions {
  readonly clock: Clock;
  readonly rng: Rng;
  /** Whether `http://` is allowed, and plain HTTP for addresses without a scheme if the server does not speak TLS. */
  readonly allowPlainHttp?: boolean;
  /** Aborts all requests. */
  readonly signal?: AbortSignal;
  readonly userAgent?: string;
  /** Timeout of one request, even while data arrives; default 5 minutes. */
  readonly deadlineMs?: number;
  /** Memory budget for downloads, shared by all registries. */
  readonly budget?: DownloadLimits['budget'];
  /** Default: the authorities of Node. */
  readonly trust?: Trust;
}

const BUDGET_BYTES = 128 * 2 ** 20;
const DEADLINE_MS = 5 * 60_000;
const MAX_TRIES = 4;
/** How long a server is not asked again whether it speaks TLS. */
const PLAIN_MS = 5 * 60_000;
const MAX_REDIRECTS = 5;
const MAX_RETRY_AFTER_MS = 10_000;

export class Transport {
  readonly clock: Clock;
  readonly #options: TransportOptions;
  readonly #budget: ByteBudget;
  readonly #trust: Trust;
  readonly #agents: Agents;
  readonly #places = new Places(CONNECTIONS);
  /** Servers that answered over plain HTTP and do not speak TLS, and until when that is assumed. */
  readonly #plain = new Map<string, number>();

  constructor(options: TransportOptions) {
    this.clock = options.clock;
    this.#options = options;
    this.#budget = options.budget ?? new ByteBudget(BUDGET_BYTES);
    this.#trust = options.trust ?? new Trust();
    this.#agents = new Agents(this.#trust);
  }

  /** Whether a registry may be used without TLS if it does not speak TLS: its address does not say https://. */
  mayUsePlainHttp(address: string): boolean {
    return this.#options.allowPlainHttp === true && !hasScheme(address);
  }

  /** Whether the server has answered over plain HTTP, because it does not speak TLS. */
  isPlain(host: string): boolean {
    const until = this.#plain.get(host);
    if (until === undefined || until > this.clock.now()) return until !== undefined;
    this.#plain.delete(host);
    return false;
  }

  /**
   * The URL of a registry; without a scheme it begins with https.
   * @param address `host`, `host:port`, or either with a scheme
   * @throws RepositoryUnusable
   */
  urlOf(address: string): URL {
    const text = hasScheme(address) ? address : `https://${address}`;
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
    if (!request.mayUsePlainHttp) return this.#retrying(request);
    if (this.isPlain(request.url.host)) return this.#sendPlain(request);
    try {
      return await this.#attempts(request);
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error;
      const code = codeWithoutTls(error, request.url);
      if (code === undefined) throw error.problem;
      return this.#sendPlain(request, code);
    }
  }

  /** @param tlsCode why the connection with TLS failed just before */
  async #sendPlain(request: RegistryRequest, tlsCode?: string): Promise<RegistryAnswer> {
    const url = new URL(request.url);
    url.protocol = 'http:';
    const { host } = request.url;
    try {
      const answer = await this.#retrying({ ...request, url });
      if (tlsCode !== undefined) this.#plain.set(host, this.clock.now() + PLAIN_MS);
      return answer;
    } catch (error) {
      this.#plain.delete(host);
      throw tlsCode === undefined ? error : withTlsCode(error, tlsCode);
    }
  }

  async #retrying(request: RegistryRequest): Promise<RegistryAnswer> {
    try {
      return await this.#attempts(request);
    } catch (error) {
      throw error instanceof ConnectionError ? error.problem : error;
    }
  }

  /** @throws ConnectionError after the last attempt, and as `send` */
  async #attempts(request: RegistryRequest): Promise<RegistryAnswer> {
    for (let tries = 1; ; tries++) {
      let pause: number;
      try {
        const answer = await this.#followRedirects(request);
        if (!isPassing(answer.status)) return answer;
        pause = this.#pauseAfter(answer.header('retry-after'), tries);
        if (tries >= MAX_TRIES || pause > MAX_RETRY_AFTER_MS) throw failedNow(request, answer);
      } catch (error) {
        if (!(error instanceof ConnectionError)) throw error;
        if (tries >= MAX_TRIES || !error.wasEstablished) throw error;
        pause = this.#pauseAfter(undefined, tries);
      }
      await sleep(this.clock, pause, this.#options.signal);
    }
  }

  async close(): Promise<void> {
    await this.#agents.close();
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
      const answer = await this.#sendOnce({ ...request, url, headers }, request.namedBy ?? request.url);
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

  /** @param first the URL that a user chose */
  async #sendOnce(
    { method, url, headers, body, maxBytes, limitKey, what, authorities, namespace }: RegistryRequest,
    first: URL,
  ): Promise<RegistryAnswer> {
    const { signal, userAgent = 'espalier', deadlineMs = DEADLINE_MS } = this.#options;
    const deadline = AbortSignal.timeout(deadlineMs);
    const ending = signal ? AbortSignal.any([signal, deadline]) : deadline;
    const share = shareOf(namespace, url.host);
    let place: ByteShare | undefined;
    try {
      const chosenBy = this.#trust.chooserOf(url, first);
      place = await this.#places.take(url.origin, share, ending);
      const response = await this.#agents.for(authorities, chosenBy).request({
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
        key: share,
        clock: this.clock,
        signal: ending,
        tooLarge: () => tooLarge(what, url, maxBytes, limitKey),
      };
      // The response to HEAD contains the length of the body, but no body.
      const answer = method === 'HEAD' ? { ...response, headers: {} } : response;
      return registryAnswer(response, await withBody(answer, limits, (bytes) => bytes));
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (error instanceof ContentInvalid) throw error;
      if (deadline.aborted) {
        throw new RegistryUnavailable(
          `registry ${url.host} takes more than ${String(deadlineMs / 1000)} s for ${what}`,
          { cause: error },
        );
      }
      throw new ConnectionError(url, what, error, {
        problems: this.#trust.problems,
        allowsPlainHttp: this.#options.allowPlainHttp === true,
      });
    } finally {
      place?.release();
    }
  }
}

const registryAnswer = (
  { statusCode, headers }: Pick<Dispatcher.ResponseData, 'statusCode' | 'headers'>,
  body: Uint8Array,
): RegistryAnswer => ({
  status: statusCode,
  header: (name) => {
    const value = headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  },
  body,
});

const isPassing = (status: number): boolean =>
  status === 429 || status === 408 || (status >= 500 && status !== 501 && status !== 505);

const without = (headers: Readonly<Record<string, string>>, name: string): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).filter(([key]) => key !== name));

const hasScheme = (address: string): boolean => /^https?:\/\//.test(address);
