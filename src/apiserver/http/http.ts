/**
 * The HTTP server: TLS and HTTP through fastify with one catch-all route. Bodies stay bytes; watches take over the
 * response.
 */
import fastify from 'fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { TLSSocket } from 'node:tls';
import { readBodies } from '../../lib/fastify-bodies.ts';
import { RequestBodies, REQUEST_TIMEOUT_MS } from '../../lib/request-bodies.ts';
import type { Handler } from './handler.ts';
import { tooLarge } from '../status.ts';

const BODY_LIMIT = 3_145_728;
/** Of all requests together. */
const MAX_BYTES = 128 << 20;

interface TlsMaterial {
  readonly key: string;
  readonly cert: string;
  readonly ca: string;
}

interface Listener {
  readonly port: number;
  close(): Promise<void>;
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

export async function listen(
  handler: Handler,
  host: string,
  port: number,
  tls: TlsMaterial | undefined,
): Promise<Listener> {
  const app = createApp(tls);
  // Bodies of clients whose credentials are refused are not kept: Node.js discards the rest after the answer.
  app.addHook('onRequest', async (request, reply) => {
    if (!hasBody(request.headers)) return undefined;
    const refusal = handler.refusalOf(incomingOf(request));
    if (!refusal) return undefined;
    return reply
      .code(refusal.code)
      .headers({ ...refusal.extra, ...refusal.headers })
      .send(refusal.body);
  });
  app.route({ method: METHODS, url: '*', handler: (request, reply) => serve(handler, request, reply) });
  await app.listen({ host, port });
  const address = app.server.address();
  if (address === null || typeof address === 'string') throw new TypeError('the server listens on no port');
  return {
    port: address.port,
    close: () => {
      app.server.closeAllConnections();
      return app.close();
    },
  };
}

function createApp(tls: TlsMaterial | undefined): FastifyInstance {
  const options = {
    requestTimeout: REQUEST_TIMEOUT_MS,
    exposeHeadRoutes: false,
    forceCloseConnections: true as const,
    keepAliveTimeout: 180_000,
    routerOptions: { ignoreTrailingSlash: false, maxParamLength: 10_000 },
    // Errors of the framework about a URL or a body are answered in the format of the API server.
    frameworkErrors: (error: Error, _request: FastifyRequest, reply: FastifyReply) => {
      void reply.code(400).send(failure(error.message, 400));
    },
  };
  const app = tls
    ? (fastify({
        ...options,
        https: {
          key: tls.key,
          cert: tls.cert,
          ca: tls.ca,
          requestCert: true,
          rejectUnauthorized: false,
          minVersion: 'TLSv1.2',
        },
      }) as unknown as FastifyInstance)
    : fastify(options);
  readBodies(app, new RequestBodies(BODY_LIMIT, MAX_BYTES), '*', (body) => body);
  app.setErrorHandler((error: Error & { code?: string; statusCode?: number }, _request, reply) => {
    const refusal = error.statusCode === 413 ? tooLarge(`limit is ${BODY_LIMIT}`) : undefined;
    const code = refusal?.code ?? error.statusCode ?? 500;
    void reply
      .code(code)
      .header('content-type', 'application/json')
      .send(JSON.stringify(refusal?.body ?? failure(error.message, code)));
  });
  app.server.on('connection', (socket: { setNoDelay(on: boolean): void }) => {
    socket.setNoDelay(true);
  });
  return app;
}

/** The Status for a request that did not reach a handler. */
const failure = (message: string, code: number): object => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message,
  reason: code < 500 ? 'BadRequest' : 'InternalError',
  code,
});

const EMPTY = Buffer.alloc(0);

const hasBody = (headers: FastifyRequest['headers']): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

const incomingOf = ({ raw, body, ip }: FastifyRequest): Parameters<Handler['handle']>[0] => ({
  method: raw.method ?? 'GET',
  url: raw.url ?? '/',
  headers: raw.headers,
  body: Buffer.isBuffer(body) ? body : EMPTY,
  remote: ip,
  socket: raw.socket as TLSSocket,
});

async function serve(handler: Handler, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const outgoing = await handler.handle(incomingOf(request));
  const response = reply.raw;
  reply.hijack();
  for (const [name, value] of Object.entries(outgoing.extra)) response.setHeader(name, value);
  for (const [name, value] of Object.entries(outgoing.headers)) response.setHeader(name, value);
  if (outgoing.type === 'bytes') {
    response.statusCode = outgoing.code;
    response.setHeader('content-length', outgoing.body.length);
    response.end(outgoing.body);
    return;
  }
  response.statusCode = 200;
  response.flushHeaders();
  const stop = outgoing.open({
    get queued() {
      return response.writableLength;
    },
    write: (chunk) => {
      if (!response.destroyed) response.write(chunk);
    },
    end: () => response.end(),
  });
  response.on('close', stop);
  response.on('error', stop);
  if (response.destroyed) stop();
}
