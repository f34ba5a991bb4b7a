/** The HTTP server of the console: its pages, its data as JSON, and events. */
import type { AddressInfo } from 'node:net';
import { fastify, type FastifyInstance, type FastifyReply } from 'fastify';
import type { Clock } from '../../lib/clock.ts';
import type { Client } from '../../runtime/types.ts';
import { CommandError } from '../errors.ts';
import { lineFor } from '../report-error.ts';
import type { Asset } from './assets.ts';
import { createFeed, itemsOf, type Feed, type Topic } from './feed.ts';
import { flowBetween, flowWithin } from './flow.ts';
import { isOwnHost, isOwnOrigin, secretIn, securityHeaders, sessionCookie, type Sessions } from './guard.ts';
import { jobsOf, timelineOf } from './jobs.ts';
import type { WatchedModel } from './model.ts';
import { deletionOf, request as requestAction, rightsOf } from './requests.ts';
import { actions, type About, type Action } from './wire.ts';

interface ConsoleParts {
  readonly model: WatchedModel;
  readonly client: Client;
  readonly clock: Clock;
  readonly sessions: Sessions;
  readonly assets: ReadonlyMap<string, Asset>;
  readonly about: About;
  /** The port in links, cookies and Host headers. */
  readonly port: () => number;
}

interface Landscape {
  readonly Params: { readonly namespace: string; readonly name: string };
}

/** The server without a port, for tests. */
export function createServer(parts: ConsoleParts): FastifyInstance {
  const server = fastify({ logger: false, forceCloseConnections: true, bodyLimit: 16 * 1024 });
  // Browsers send other types to foreign origins without asking first.
  server.removeContentTypeParser('text/plain');
  const feed = createFeed(parts.model, parts.clock);
  server.addHook('onClose', () => {
    feed.close();
  });
  addGuards(server, parts);
  addSession(server, parts);
  addReads(server, parts);
  addJobs(server, parts);
  addActions(server, parts);
  addEvents(server, feed);
  addPages(server, parts);
  server.setErrorHandler((error, _, reply) => {
    const { status, statusCode } = error as { readonly status?: number; readonly statusCode?: number };
    return refuse(reply, status ?? statusCode ?? 500, lineFor(error));
  });
  return server;
}

/** Serves on loopback only. @throws CommandError if the port is not available */
export async function listen(server: FastifyInstance, port: number): Promise<number> {
  try {
    await server.listen({ host: '127.0.0.1', port });
    return (server.server.address() as AddressInfo).port;
  } catch (error) {
    const isInUse = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
    throw new CommandError(
      `cannot serve the console on port ${String(port)}: ${isInUse ? 'the port is in use' : (error as Error).message}; choose another with --port, or 0 for any free one`,
      { cause: error },
    );
  }
}

const refuse = (reply: FastifyReply, code: number, error: string): FastifyReply =>
  reply.code(code).send({ error });

function addGuards(server: FastifyInstance, { port, sessions }: ConsoleParts): void {
  server.addHook('onRequest', async (request, reply) => {
    reply.headers(securityHeaders).header('cache-control', 'no-store');
    const { host, origin, cookie } = request.headers;
    if (!isOwnHost(host, port()))
      return refuse(
        reply,
        403,
        `the Host header "${host ?? ''}" is not an address of this console; use 127.0.0.1`,
      );
    if (request.method !== 'GET' && request.method !== 'HEAD' && !isOwnOrigin(origin, host))
      return refuse(reply, 403, `the Origin header "${origin ?? ''}" is not that of this console`);
    const isOpen = !request.url.startsWith('/api/') || request.url === '/api/session';
    if (!isOpen && !sessions.isValid(secretIn(cookie, port())))
      return refuse(reply, 401, 'there is no session; open the link that espalier console printed');
    return undefined;
  });
}

function addSession(server: FastifyInstance, { sessions, port }: ConsoleParts): void {
  server.post<{ Body: { token: string } }>(
    '/api/session',
    { schema: { body: object({ token: { type: 'string' } }) } },
    (request, reply) => {
      const secret = sessions.exchange(request.body.token);
      if (secret === undefined)
        return refuse(reply, 401, 'the token is not valid; open the link that espalier console printed last');
      return reply.header('set-cookie', sessionCookie(port(), secret)).code(204).send();
    },
  );
}

const object = (properties: Readonly<Record<string, object>>): object => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

const LANDSCAPE = '/api/landscapes/:namespace/:name';

const missing = (reply: FastifyReply, { namespace, name }: Landscape['Params']): FastifyReply =>
  refuse(reply, 404, `there is no root installation ${name} in namespace ${namespace}`);

function addReads(server: FastifyInstance, { model, about }: ConsoleParts): void {
  server.get('/api/about', () => about);
  server.get('/api/landscapes', () => ({ items: itemsOf(model, { kind: 'landscapes' }) }));
  server.get('/api/flow', () => flowBetween(model.roots()));
  server.get<Landscape>(LANDSCAPE, ({ params }, reply) => {
    const root = model.root(params.namespace, params.name);
    return root ? { items: itemsOf(model, { kind: 'landscape', ...params }) } : missing(reply, params);
  });
  server.get<Landscape>(`${LANDSCAPE}/flow`, ({ params }, reply) => {
    const root = model.root(params.namespace, params.name);
    return root ? flowWithin(root) : missing(reply, params);
  });
  server.get<Landscape>(`${LANDSCAPE}/deletion`, ({ params }, reply) => {
    const root = model.root(params.namespace, params.name);
    return root ? deletionOf(root, model.roots()) : missing(reply, params);
  });
}

function addJobs(server: FastifyInstance, { model, client }: ConsoleParts): void {
  server.get<Landscape>(`${LANDSCAPE}/jobs`, ({ params: { namespace, name } }) =>
    jobsOf(client, namespace, name, model.root(namespace, name)),
  );
  server.get<{ Params: Landscape['Params'] & { readonly job: string } }>(
    `${LANDSCAPE}/jobs/:job`,
    async ({ params: { namespace, name, job } }, reply) =>
      (await timelineOf(client, namespace, name, model.root(namespace, name), job)) ??
      refuse(reply, 404, `there is no record of job ${job} of ${name}`),
  );
}

function addActions(server: FastifyInstance, { client }: ConsoleParts): void {
  server.get<Landscape>(`${LANDSCAPE}/rights`, ({ params }) => rightsOf(client, params.namespace));
  server.post<Landscape & { Body: { readonly action: Action; readonly uid: string } }>(
    `${LANDSCAPE}/actions`,
    { schema: { body: object({ action: { enum: actions }, uid: { type: 'string', minLength: 1 } }) } },
    async ({ params: { namespace, name }, body }, reply) => {
      await requestAction(client, `${namespace}/${name}`, body);
      return reply.code(204).send();
    },
  );
}

/** A viewer that reads more slowly than this is disconnected; it reconnects and receives a snapshot. */
const MAX_UNREAD_BYTES = 32 * 1024 * 1024;

function addEvents(server: FastifyInstance, feed: Feed): void {
  const query = { namespace: { type: 'string' }, name: { type: 'string' } };
  server.get<{ Querystring: { namespace?: string; name?: string } }>(
    '/api/events',
    { schema: { querystring: { type: 'object', properties: query } } },
    (request, reply) => {
      const { namespace, name } = request.query;
      const topic: Topic =
        namespace !== undefined && name !== undefined
          ? { kind: 'landscape', namespace, name }
          : { kind: 'landscapes' };
      reply.hijack();
      const { raw } = reply;
      raw.writeHead(200, {
        ...securityHeaders,
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
      });
      const close = feed.open(topic, (event, json) => {
        if (raw.writableLength > MAX_UNREAD_BYTES) raw.destroy();
        else raw.write(`event: ${event}\ndata: ${json}\n\n`);
      });
      raw.on('close', close);
    },
  );
}

/** Every other path belongs to the client, which reads it. */
function addPages(server: FastifyInstance, { assets }: ConsoleParts): void {
  const send = (reply: FastifyReply, name: string): FastifyReply => {
    const asset = assets.get(name);
    return asset ? reply.type(asset.type).send(asset.body) : refuse(reply, 404, `there is no file ${name}`);
  };
  server.get<{ Params: { file: string } }>('/assets/:file', ({ params }, reply) => send(reply, params.file));
  server.setNotFoundHandler((request, reply) =>
    request.method !== 'GET' || request.url.startsWith('/api/')
      ? refuse(reply, 404, `there is no ${request.method} ${request.url}`)
      : send(reply, 'index.html'),
  );
}
