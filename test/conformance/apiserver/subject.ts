/**
 * The API server that the conformance suite runs against: the embedded server in this process, or the
 * kube-apiserver that ESPALIER_TEST_KUBECONFIG names. A scenario sees only HTTP.
 */
import { readFileSync } from 'node:fs';
import { Agent, request as httpsRequest } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { startApiServer } from '../../../src/apiserver/server.ts';
import type { ApiServer, ApiServerOptions } from '../../../src/apiserver/server.ts';
import { parseYaml } from '../../../src/lib/yaml.ts';
import { skip } from '../../support/skip.ts';
import { eventually, inTime } from '../../support/waiting.ts';
import { systemClock } from '../../../src/lib/clock.ts';

export type Json = any;

export interface Reply {
  readonly code: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
  readonly body: Json;
}

export interface RequestOptions {
  readonly body?: unknown;
  readonly type?: string;
  readonly accept?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A bearer token instead of the administrator's; null sends none. */
  readonly token?: string | null;
}

export interface WatchEvent {
  readonly type: string;
  readonly object: Json;
}

interface Credentials {
  readonly url: string;
  readonly ca: string;
  readonly token?: string;
  readonly cert?: string;
  readonly key?: string;
}

const EXTERNAL = process.env['ESPALIER_TEST_KUBECONFIG'];
export class Subject {
  #server: ApiServer | undefined;
  #credentials: Credentials | undefined;
  #agent = new Agent();
  #bare = new Agent();
  #namespaces = 0;
  /** Suites are created in the same millisecond. */
  static #subjects = 0;
  readonly #run = `${process.pid.toString(36)}-${systemClock.wall().toString(36)}-${String(++Subject.#subjects)}`;

  /** True if simulated controllers (or a controller manager) run on the subject. */
  readonly hasControllers = EXTERNAL === undefined;
  readonly isGenuine = EXTERNAL !== undefined;

  /** The embedded server; scenarios that need it call `skipUnlessEmbedded` first. */
  get server(): ApiServer {
    if (!this.#server) throw new Error('this scenario is for the embedded server');
    return this.#server;
  }

  async start(options: ApiServerOptions): Promise<void> {
    if (EXTERNAL !== undefined) this.#credentials = fromKubeconfig(EXTERNAL);
    else {
      this.#server = await startApiServer(options);
      this.#credentials = { url: this.#server.url, ca: this.#server.ca, token: this.#server.token };
    }
    const { ca, cert, key } = this.#credentials;
    this.#agent = new Agent({ keepAlive: true, ca, ...(cert === undefined ? {} : { cert, key }) });
    this.#bare = new Agent({ keepAlive: true, ca });
  }

  async stop(): Promise<void> {
    this.#agent.destroy();
    this.#bare.destroy();
    await this.#server?.close();
  }

  /** A separate namespace for each scenario. */
  async namespace(): Promise<string> {
    const name = `t${++this.#namespaces}-${this.#run}`;
    const reply = await this.post('/api/v1/namespaces', { metadata: { name } });
    expect(reply.code).to.equal(201);
    return name;
  }

  #open(method: string, path: string, options: RequestOptions): Promise<IncomingMessage> {
    const { url, token } = this.#credentials as Credentials;
    const bearer = options.token === undefined ? token : options.token;
    const isBare = options.token !== undefined;
    const body =
      options.body === undefined
        ? undefined
        : Buffer.isBuffer(options.body) || typeof options.body === 'string'
          ? options.body
          : JSON.stringify(options.body);
    return new Promise((resolve, reject) => {
      const request = httpsRequest(
        url + path,
        {
          method,
          agent: isBare ? this.#bare : this.#agent,
          headers: {
            accept: options.accept ?? 'application/json',
            'user-agent': 'conformance/1',
            ...(bearer ? { authorization: `Bearer ${bearer}` } : {}),
            ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
            ...(body === undefined || options.type === ''
              ? {}
              : { 'content-type': options.type ?? 'application/json' }),
            ...options.headers,
          },
        },
        resolve,
      );
      request.on('error', reject);
      request.end(body);
    });
  }

  async request(method: string, path: string, options: RequestOptions = {}): Promise<Reply> {
    const response = await this.#open(method, path, options);
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const isJson = text.startsWith('{');
    return {
      code: response.statusCode ?? 0,
      headers: response.headers,
      text,
      body: isJson ? (JSON.parse(text) as unknown) : undefined,
    };
  }

  get(path: string, options?: RequestOptions): Promise<Reply> {
    return this.request('GET', path, options);
  }

  post(path: string, body: unknown, options?: RequestOptions): Promise<Reply> {
    return this.request('POST', path, { body, ...options });
  }

  put(path: string, body: unknown, options?: RequestOptions): Promise<Reply> {
    return this.request('PUT', path, { body, ...options });
  }

  delete(path: string, body?: unknown, options?: RequestOptions): Promise<Reply> {
    return this.request('DELETE', path, { ...(body === undefined ? {} : { body }), ...options });
  }

  merge(path: string, body: unknown, options?: RequestOptions): Promise<Reply> {
    return this.request('PATCH', path, { body, type: 'application/merge-patch+json', ...options });
  }

  jsonPatch(path: string, body: unknown, options?: RequestOptions): Promise<Reply> {
    return this.request('PATCH', path, { body, type: 'application/json-patch+json', ...options });
  }

  strategic(path: string, body: unknown, options?: RequestOptions): Promise<Reply> {
    return this.request('PATCH', path, { body, type: 'application/strategic-merge-patch+json', ...options });
  }

  apply(path: string, body: unknown, manager: string, query = ''): Promise<Reply> {
    return this.request('PATCH', `${path}?fieldManager=${manager}${query}`, {
      body,
      type: 'application/apply-patch+yaml',
    });
  }

  /** Opens a watch; resolves once the response has begun. */
  async watch(path: string, options: RequestOptions = {}): Promise<Watch> {
    return new Watch(await this.#open('GET', path, options));
  }

  /** A watch whose response is not read until it is resumed. */
  stalledWatch(path: string): Promise<IncomingMessage> {
    return this.#open('GET', path, {});
  }

  /** Posts until the resource is served. */
  async eventuallyPost(path: string, body: unknown): Promise<Reply> {
    return eventually(`${path} is served`, async () => {
      const reply = await this.post(path, body);
      return reply.code !== 404 && reply;
    });
  }

  /** Repeats until `check` holds. @throws Error with the last answer */
  eventually(path: string, check: (reply: Reply) => boolean): Promise<Reply> {
    let reply: Reply | undefined;
    const look = async (): Promise<Reply | false> => {
      reply = await this.get(path);
      return check(reply) && reply;
    };
    const why = (): string => `; the last answer is ${reply?.text ?? ''}`;
    return eventually(`GET ${path} answers as expected`, look, { why });
  }
}

/** A watch as received from the server. */
export class Watch {
  readonly code: number;
  readonly #response: IncomingMessage;
  readonly #events: WatchEvent[] = [];
  #rest = '';
  #ended = false;
  #wake: (() => void) | undefined;

  constructor(response: IncomingMessage) {
    this.#response = response;
    this.code = response.statusCode ?? 0;
    response.setEncoding('utf8');
    response.on('data', (text: string) => {
      const lines = (this.#rest + text).split('\n');
      this.#rest = lines.pop() ?? '';
      for (const line of lines) if (line !== '') this.#events.push(JSON.parse(line) as WatchEvent);
      this.#wake?.();
    });
    const end = (): void => {
      this.#ended = true;
      this.#wake?.();
    };
    response.on('end', end);
    response.on('error', end);
    response.on('close', end);
  }

  /** The next event; undefined if the stream has ended. @throws Error if nothing arrives */
  async next(forMs?: number): Promise<WatchEvent | undefined> {
    while (this.#events.length === 0 && !this.#ended) {
      const arrived = new Promise<void>((resolve) => (this.#wake = resolve));
      await inTime('the next event of the watch', arrived, forMs === undefined ? {} : { forMs });
    }
    return this.#events.shift();
  }

  /** The next `count` events as `TYPE name`. */
  async take(count: number): Promise<WatchEvent[]> {
    const events: WatchEvent[] = [];
    while (events.length < count) {
      const event = await this.next();
      if (!event) break;
      events.push(event);
    }
    return events;
  }

  get hasEnded(): boolean {
    return this.#ended;
  }

  /** Waits until the server ends the stream. */
  async ended(): Promise<true> {
    return eventually('the server ends the watch', () => this.#ended);
  }

  close(): void {
    this.#response.destroy();
  }
}

function fromKubeconfig(file: string): Credentials {
  const config = parseYaml(readFileSync(file, 'utf8')) as Json;
  const cluster = config.clusters[0].cluster;
  const user = config.users[0].user;
  const pem = (inline: string | undefined, path: string | undefined): string | undefined =>
    inline === undefined ? path && readFileSync(path, 'utf8') : Buffer.from(inline, 'base64').toString();
  return {
    url: cluster.server,
    ca: pem(cluster['certificate-authority-data'], cluster['certificate-authority']) ?? '',
    token: user.token,
    ...optional('cert', pem(user['client-certificate-data'], user['client-certificate'])),
    ...optional('key', pem(user['client-key-data'], user['client-key'])),
  };
}

const optional = (member: 'cert' | 'key', value: string | undefined): object =>
  value === undefined ? {} : { [member]: value };

/** A subject for the describe block that calls this. */
export function useSubject(options: ApiServerOptions = {}): Subject {
  const subject = new Subject();
  before(async function () {
    this.timeout(30_000);
    await subject.start(options);
  });
  after(async () => {
    await subject.stop();
  });
  return subject;
}

/** For scenarios that need more than the HTTP interface. */
export function skipUnlessEmbedded(context: Mocha.Context, subject: Subject): void {
  if (subject.isGenuine) skip(context, 'it needs access to the internals of the embedded server');
}

/** For scenarios that need the namespace, garbage collection or service account controllers. */
export function skipUnlessControlled(context: Mocha.Context, subject: Subject): void {
  if (!subject.hasControllers) skip(context, 'this control plane runs no controllers');
}
