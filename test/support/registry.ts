/**
 * A registry in this process that implements version 2 of Docker's protocol, as far as our clients need it, with both
 * kinds of login and faults on demand.
 */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

export interface TestRegistryOptions {
  /** Required credentials; without them access is anonymous. */
  readonly login?: { readonly username: string; readonly password: string };
  /** Kind of authentication; default bearer. */
  readonly auth?: 'basic' | 'bearer';
  /** Lifetime of tokens in seconds. */
  readonly tokenSeconds?: number;
  /** Blobs are stored elsewhere, as in large registries: this one answers with a redirect; true: to a path of its own. */
  readonly redirectsBlobs?: boolean | string;
  /** Serves TLS with this key and certificate in PEM; without it plain HTTP. */
  readonly tls?: { readonly key: string; readonly cert: string };
}

export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly authorization: string | undefined;
}

type Fault = (request: IncomingMessage, response: ServerResponse) => boolean;

export class TestRegistry {
  readonly manifests = new Map<string, { readonly mediaType: string; readonly bytes: Buffer }>();
  readonly blobs = new Map<string, Buffer>();
  readonly seen: Seen[] = [];
  /** Answers instead of the registry if it returns true. */
  fault: Fault | undefined;
  #tokens = new Set<string>();
  #issued = 0;
  readonly #options: TestRegistryOptions;
  readonly #server: Server;

  private constructor(options: TestRegistryOptions) {
    this.#options = options;
    const listener = (request: IncomingMessage, response: ServerResponse): void =>
      void this.#serve(request, response);
    this.#server = options.tls ? createTlsServer(options.tls, listener) : createServer(listener);
  }

  static async start(options: TestRegistryOptions = {}): Promise<TestRegistry> {
    const registry = new TestRegistry(options);
    await new Promise<void>((resolve) => registry.#server.listen(0, '127.0.0.1', resolve));
    return registry;
  }

  /** `host:port` */
  get address(): string {
    return `127.0.0.1:${String((this.#server.address() as AddressInfo).port)}`;
  }

  /** How many tokens were issued. */
  get issued(): number {
    return this.#issued;
  }

  /** Invalidates all issued tokens. */
  forgetTokens(): void {
    this.#tokens = new Set();
  }

  requests(path: RegExp, status?: number): readonly Seen[] {
    return this.seen.filter((one) => path.test(one.path) && (status === undefined || one.status === status));
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = request;
    const path = url.split('?')[0] ?? '';
    response.once('finish', () => {
      this.seen.push({ method, path, status: response.statusCode, authorization: headers.authorization });
    });
    if (this.fault?.(request, response)) return;
    const body = await bodyOf(request);
    if (path === '/token') {
      this.#token(request, response);
      return;
    }
    if (path.startsWith('/elsewhere/')) {
      sendBlob(response, this.blobs.get(path.slice('/elsewhere/'.length)));
      return;
    }
    if (!this.#mayEnter(request)) {
      this.#challenge(response, path);
      return;
    }
    this.#route(method, new URL(url, 'http://registry'), body, response, headers['content-type']);
  }

  #mayEnter({ headers: { authorization = '' } }: IncomingMessage): boolean {
    const { login, auth = 'bearer' } = this.#options;
    if (!login) return true;
    if (auth === 'basic') return authorization === basic(login);
    return authorization.startsWith('Bearer ') && this.#tokens.has(authorization.slice(7));
  }

  #challenge(response: ServerResponse, path: string): void {
    const repository = /^\/v2\/(.*)\/(?:manifests|blobs)\//.exec(path)?.[1] ?? '';
    const bearer = `Bearer realm="${this.#options.tls ? 'https' : 'http'}://${this.address}/token",service="test",scope="repository:${repository}:pull,push"`;
    response.setHeader('www-authenticate', this.#options.auth === 'basic' ? 'Basic realm="test"' : bearer);
    refuse(response, 401, 'UNAUTHORIZED');
  }

  #token({ headers: { authorization } }: IncomingMessage, response: ServerResponse): void {
    const { login, tokenSeconds = 300 } = this.#options;
    if (login && authorization !== basic(login)) {
      refuse(response, 401, 'UNAUTHORIZED');
      return;
    }
    const token = `token-${String(++this.#issued)}`;
    this.#tokens.add(token);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ token, expires_in: tokenSeconds }));
  }

  #route(method: string, url: URL, body: Buffer, response: ServerResponse, contentType = ''): void {
    const [, repository = '', kind = '', reference = ''] =
      /^\/v2\/(.+)\/(manifests|blobs)\/(.*)$/.exec(url.pathname) ?? [];
    if (kind === 'manifests') this.#manifest({ method, repository, reference, body, contentType }, response);
    else if (kind === 'blobs') this.#blob({ method, repository, reference, body, url }, response);
    else refuse(response, 404, 'NOT_FOUND');
  }

  #manifest(
    {
      method,
      repository,
      reference,
      body,
      contentType,
    }: Record<'method' | 'repository' | 'reference' | 'contentType', string> & { body: Buffer },
    response: ServerResponse,
  ): void {
    if (method === 'PUT') {
      for (const key of [reference, digestOf(body)]) {
        this.manifests.set(`${repository}:${key}`, { mediaType: contentType, bytes: body });
      }
      response.writeHead(201, { 'docker-content-digest': digestOf(body) }).end();
      return;
    }
    const found = this.manifests.get(`${repository}:${reference}`);
    if (!found) {
      refuse(response, 404, 'MANIFEST_UNKNOWN');
      return;
    }
    response.setHeader('content-type', found.mediaType);
    response.setHeader('docker-content-digest', digestOf(found.bytes));
    response.end(method === 'HEAD' ? undefined : found.bytes);
  }

  #blob(
    {
      method,
      repository,
      reference,
      body,
      url,
    }: Record<'method' | 'repository' | 'reference', string> & { body: Buffer; url: URL },
    response: ServerResponse,
  ): void {
    if (method === 'POST') {
      response.writeHead(202, { location: `/v2/${repository}/blobs/uploads/1?state=x` }).end();
    } else if (method === 'PUT') {
      const digest = url.searchParams.get('digest') ?? '';
      if (digest !== digestOf(body)) {
        refuse(response, 400, 'DIGEST_INVALID');
        return;
      }
      this.blobs.set(digest, body);
      response.writeHead(201).end();
    } else if (this.#options.redirectsBlobs && method === 'GET') {
      const { redirectsBlobs } = this.#options;
      const own = `http://localhost:${this.address.split(':')[1] ?? ''}/elsewhere/${reference}`;
      response.writeHead(307, { location: redirectsBlobs === true ? own : redirectsBlobs }).end();
    } else sendBlob(response, this.blobs.get(reference), method);
  }
}

const digestOf = (bytes: Buffer): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

const basic = ({ username, password }: { username: string; password: string }): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

function sendBlob(response: ServerResponse, bytes: Buffer | undefined, method = 'GET'): void {
  if (!bytes) refuse(response, 404, 'BLOB_UNKNOWN');
  else response.end(method === 'HEAD' ? undefined : bytes);
}

function refuse(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ errors: [{ code, message: 'said by the registry' }] }));
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
