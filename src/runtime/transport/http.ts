/** The connection to one cluster: sockets, credentials, lanes, repeated requests and metrics. */
import type { Dispatcher } from 'undici';
import { sleep, type Clock } from '../../lib/clock.ts';
import { shareOf } from '../../lib/byte-budget.ts';
import { BodyUnreadable, unpackedBody } from '../../lib/response-body.ts';
import { systemRng, type Rng } from '../../lib/rng.ts';
import type { Logger } from '../../observability/log.ts';
import type { Metrics } from '../../observability/metrics.ts';
import {
  describe,
  EspalierError,
  ResponseTooLarge,
  ShutdownError,
  TransportError,
  Unauthorized,
  type RequestRef,
} from '../errors.ts';
import { readAnswer, readRefusal, type AnswerPorts } from './answers.ts';
import { pauseBeforeRepeat, transportErrorFrom } from './failure.ts';
import { CredentialKeeper, type InUse } from './credentials.ts';
import { createRequestMetrics, type RequestMetrics } from './http-metrics.ts';
import type { Pools } from './pools.ts';
import { clientNodeCredentials } from './client-node.ts';
import { loadAccess, type Access, type KubeconfigSource } from './kubeconfig.ts';
import { Lanes, type Lane } from './lanes.ts';
import { inRequestSpan } from './request-span.ts';
import { defaultResponses, type ResponseLimits } from './responses.ts';
import { isIgnoredWarning, warningsIn } from './warnings.ts';
import { trimmedEnd } from '../../lib/trim.ts';

export type { KubeconfigSource } from './kubeconfig.ts';

/** The API server, the identity of the client, and limits. Several connections may count in the same `metrics`. */
export interface ConnectOptions {
  readonly kubeconfig: KubeconfigSource;
  readonly userAgent: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly rng?: Rng;
  readonly metrics?: Metrics;
  /** Field manager of writes; default `espalier`. */
  readonly fieldManager?: string;
  /** Maximum number of sockets for requests; watches and leases have others. Namespaces take turns. Default 32. */
  readonly maxSockets?: number;
  /**
   * Limits of responses. Default: those of a target for a kubeconfig that is given as text, otherwise those of the
   * host cluster, with one budget for the whole process.
   */
  readonly responses?: ResponseLimits;
  /** The namespace that uses the connection, for a fair share of the memory for responses; default: by server. */
  readonly usedBy?: string;
  /** Whether requests are parts of traces; default false. Requests to the host cluster would only blur them. */
  readonly isTraced?: boolean;
}

/** One request to an API server, and its priority. */
export interface HttpRequest {
  readonly method: string;
  /** With the query, without the server's address. */
  readonly path: string;
  readonly ref: RequestRef;
  readonly lane: Lane | 'lease';
  readonly body?: string;
  readonly contentType?: string;
  readonly accept?: string;
  /** Sending it twice has the same effect as sending it once. */
  readonly isIdempotent: boolean;
  /** A page of a list of several objects: if it is too large, the caller can request a smaller one. */
  readonly isPage?: boolean;
  /**
   * Called with the size of the response in bytes before it is parsed; an error that it throws is the result of the
   * request.
   */
  readonly onRead?: (bytes: number) => void;
  readonly signal?: AbortSignal | undefined;
}

/** How other clients reach the same server with their own credentials. */
export interface ServerAddress {
  readonly server: string;
  /** PEM in base64, as in a kubeconfig. */
  readonly caData?: string;
  readonly insecureSkipTlsVerify?: boolean;
}

/** The connection to one API server, shared by all its clients. `createClient` adds the verbs. */
export interface Connection {
  readonly server: string;
  address(): Promise<ServerAddress>;
  /** The namespace of the kubeconfig's context, or of the pod. */
  readonly namespace: string;
  readonly fieldManager: string;
  readonly clock: Clock;
  readonly responses: ResponseLimits;
  /**
   * The parsed JSON of the response, or its text if it is not JSON; undefined if it is empty.
   * @throws ApiError, TransportError, ResponseTooLarge, ShutdownError, or the reason of the signal
   */
  request(request: HttpRequest): Promise<unknown>;
  /** The raw body of a watch that the server has accepted. Never repeated; errors as above. */
  stream(request: Omit<HttpRequest, 'lane' | 'isIdempotent'>): Promise<AsyncIterable<Uint8Array>>;
  /** Ends all requests and closes all sockets. */
  close(): Promise<void>;
}

/**
 * Prepares a connection to an API server: sockets, credentials, repeats, metrics. No request is sent yet.
 * @throws KubeconfigError; an unreachable server is noticed by the first request only
 */
export async function connect(options: ConnectOptions): Promise<Connection> {
  const access = await loadAccess(options.kubeconfig, clientNodeCredentials());
  const metrics = createRequestMetrics(options.metrics, new URL(access.server).host);
  const connection = new HttpConnection(access, options, metrics);
  await connection.prepare();
  return connection;
}

class HttpConnection implements Connection {
  readonly server: string;
  readonly namespace: string;
  readonly fieldManager: string;
  readonly clock: Clock;
  readonly responses: ResponseLimits;
  readonly #userAgent: string;
  readonly #log: Logger;
  readonly #rng: Rng;
  readonly #metrics: RequestMetrics;
  readonly #lanes: Lanes;
  readonly #keeper: CredentialKeeper;
  readonly #answers: AnswerPorts;
  readonly #host: string;
  readonly #prefix: string;
  readonly #isTraced: boolean;
  readonly #warned = new Set<string>();
  #isClosed = false;

  constructor(access: Access, options: ConnectOptions, metrics: RequestMetrics) {
    const url = new URL(access.server);
    this.server = access.server;
    this.namespace = access.namespace;
    this.fieldManager = options.fieldManager ?? 'espalier';
    this.clock = options.clock;
    this.responses = options.responses ?? defaultsFor(options.kubeconfig);
    this.#userAgent = options.userAgent;
    this.#log = options.log;
    this.#rng = options.rng ?? systemRng;
    this.#metrics = metrics;
    const maxSockets = options.maxSockets ?? 32;
    this.#lanes = new Lanes(maxSockets, options.clock);
    this.#keeper = new CredentialKeeper(access, maxSockets, options.clock, options.log);
    this.#host = url.host;
    const share = shareOf(options.usedBy, url.host);
    this.#answers = { server: this.server, share, limits: this.responses, clock: this.clock };
    this.#prefix = trimmedEnd(url.pathname, '/');
    this.#isTraced = options.isTraced ?? false;
  }

  /** Reads the credentials once, so that an error is reported at the start. */
  async prepare(): Promise<void> {
    await this.#keeper.current();
  }

  async address(): Promise<ServerAddress> {
    const { ca, rejectUnauthorized } = (await this.#keeper.current()).credentials.tls;
    return {
      server: this.server,
      ...(ca && { caData: Buffer.from(ca).toString('base64') }),
      ...(rejectUnauthorized === false && { insecureSkipTlsVerify: true }),
    };
  }

  async request(request: HttpRequest): Promise<unknown> {
    let isRefreshed = false;
    for (let tries = 1; ; tries++) {
      let inUse: InUse | undefined;
      try {
        return await this.#inLane(request, async () => {
          inUse = await this.#keeper.current();
          return await this.#exchange(request, inUse);
        });
      } catch (error) {
        if (request.signal?.aborted) throw request.signal.reason;
        if (error instanceof Unauthorized && !isRefreshed && inUse && (await this.#keeper.refreshed(inUse))) {
          isRefreshed = true;
          continue;
        }
        // Requests of leases are not delayed; the lease decides when to retry.
        const pause =
          request.lane === 'lease'
            ? undefined
            : pauseBeforeRepeat(error, tries, request.isIdempotent, this.#rng);
        if (pause === undefined) throw error;
        this.#metrics.repeated(request.ref.verb, this.#host);
        this.#log.debug({ pauseMs: Math.round(pause), err: String(error) }, 'retrying request');
        await sleep(this.clock, pause, request.signal);
      }
    }
  }

  async stream(request: Omit<HttpRequest, 'lane' | 'isIdempotent'>): Promise<AsyncIterable<Uint8Array>> {
    const full = { ...request, lane: 'read', isIdempotent: true } as const;
    const inUse = await this.#keeper.current();
    try {
      return await this.#open(full, inUse);
    } catch (error) {
      if (!(error instanceof Unauthorized) || !(await this.#keeper.refreshed(inUse))) throw error;
      return await this.#open(full, await this.#keeper.current());
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#keeper.destroy();
  }

  async #inLane<R>(request: HttpRequest, run: () => Promise<R>): Promise<R> {
    if (request.lane === 'lease') return run();
    const since = this.clock.now();
    const leave = await this.#lanes.enter(request.lane, request.ref.namespace, request.signal);
    this.#metrics.waited(request.ref.verb, this.#host, this.clock.now() - since);
    try {
      return await run();
    } finally {
      leave();
    }
  }

  /** One request and its complete response. */
  async #exchange(request: HttpRequest, inUse: InUse): Promise<unknown> {
    const response = await this.#dispatch(request, inUse, (pools) =>
      request.lane === 'lease' ? pools.lease : pools.requests,
    );
    try {
      if (response.statusCode >= 300) throw await readRefusal(request, response, this.#answers);
      return await readAnswer(request, response, this.#answers);
    } catch (error) {
      if (error instanceof ResponseTooLarge) {
        this.#metrics.exceeded(request.ref.verb, this.#host, error.excess);
      }
      throw this.#translated(error, request);
    }
  }

  async #open(request: HttpRequest, inUse: InUse): Promise<AsyncIterable<Uint8Array>> {
    const response = await this.#dispatch(request, inUse, (pools) => pools.watches);
    if (response.statusCode >= 300) {
      throw this.#translated(await readRefusal(request, response, this.#answers), request);
    }
    return this.#translatedBody(request, response);
  }

  async *#translatedBody(
    request: HttpRequest,
    response: Dispatcher.ResponseData,
  ): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of unpackedBody(response)) yield chunk as Uint8Array;
    } catch (error) {
      throw this.#translated(error, request);
    }
  }

  /** One request, until the response begins. */
  #dispatch(
    request: HttpRequest,
    inUse: InUse,
    pick: (pools: Pools) => Dispatcher,
  ): Promise<Dispatcher.ResponseData> {
    const send = (): Promise<Dispatcher.ResponseData> => this.#send(request, inUse, pick);
    return this.#isTraced ? inRequestSpan(request, this.server, send) : send();
  }

  async #send(
    request: HttpRequest,
    { credentials, pools }: InUse,
    pick: (pools: Pools) => Dispatcher,
  ): Promise<Dispatcher.ResponseData> {
    if (this.#isClosed) throw this.#closed();
    const started = this.clock.now();
    let code = '<error>';
    try {
      const response = await pick(pools).request({
        // Without this option, undici closes the connection after a DELETE with a body, which all our deletes have.
        reset: false,
        method: request.method,
        path: this.#prefix + request.path,
        headers: {
          'user-agent': this.#userAgent,
          accept: request.accept ?? 'application/json',
          ...(request.body !== undefined && { 'content-type': request.contentType ?? 'application/json' }),
          ...credentials.headers,
        },
        ...(request.body !== undefined && { body: request.body }),
        ...(request.signal && { signal: request.signal }),
      });
      code = String(response.statusCode);
      this.#noteWarnings(response.headers['warning']);
      return response;
    } catch (error) {
      throw this.#translated(error, request);
    } finally {
      this.#metrics.sent(request, this.#host, code, this.clock.now() - started);
    }
  }

  /** Converts an error to a TransportError, unless it is one of ours or an abort. */
  #translated(error: unknown, request: HttpRequest): unknown {
    if (request.signal?.aborted) return request.signal.reason;
    if (this.#isClosed) return this.#closed(error);
    if (error instanceof EspalierError) return error;
    if (error instanceof BodyUnreadable) {
      const what = `${this.server}: ${error.message}, while trying to ${describe(request.ref)}`;
      return new TransportError({ message: what, safeToRepeat: request.isIdempotent, cause: error });
    }
    return transportErrorFrom(error, this.server, request.ref, request.isIdempotent);
  }

  #closed(cause?: unknown): ShutdownError {
    return new ShutdownError({ message: `the connection to ${this.server} is closed`, cause });
  }

  /** Logs warnings of the server, such as unknown fields, once per text. */
  #noteWarnings(header: string | string[] | undefined): void {
    if (!header) return;
    for (const warning of [header].flat().flatMap(warningsIn)) {
      if (this.#warned.has(warning) || this.#warned.size >= 200) continue;
      this.#warned.add(warning);
      const level = isIgnoredWarning(warning) ? 'debug' : 'warn';
      this.#log[level]({ server: this.server, warning }, 'warning from the API server');
    }
  }
}

/** A kubeconfig that is given as text is from a Target, so from a tenant. */
const defaultsFor = (source: KubeconfigSource): ResponseLimits =>
  typeof source === 'object' && 'text' in source ? defaultResponses.target : defaultResponses.host;
