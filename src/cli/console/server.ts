/** The HTTP server of the console: its pages, its data as JSON, and events. */
import type { AddressInfo } from 'node:net';
import { fastify, type FastifyInstance, type FastifyReply } from 'fastify';
import { parseBoundedJson } from '../../lib/json-bounds.ts';
import { readBodies } from '../../lib/fastify-bodies.ts';
import { readableJson } from '../../lib/printable.ts';
import { REQUEST_TIMEOUT_MS, RequestBodies } from '../../lib/request-bodies.ts';
import { CommandError } from '../errors.ts';
import type { Node } from '../tree/tree.ts';
import { Refused, type Access, type Viewer } from './access.ts';
import type { Asset } from './assets.ts';
import { eventsOf } from './events.ts';
import { addChanges } from './changes/routes.ts';
import { itemsOf, type Topic } from './feed.ts';
import { flowBetween, flowWithin } from './flow.ts';
import { securityHeaders } from './guard.ts';
import { jobsOf, timelineOf } from './jobs.ts';
import { addPods } from './pods/routes.ts';
import { deletionOf, request as requestAction, rightsOf } from './requests.ts';
import { LANDSCAPE, refuse, rootOf, viewerOf, type Landscape } from './routes.ts';
import { actions, type Action, type Login, type LoginInfo } from './wire.ts';

interface ConsoleParts {
  readonly access: Access;
  readonly assets: ReadonlyMap<string, Asset>;
  /** PEM; absent: HTTP. */
  readonly certificate?: { readonly cert: string; readonly key: string };
}

/** A token can have some kilobytes. */
const MAX_BODY_BYTES = 32 * 1024;
/** Of all bodies in memory together. */
const MAX_BYTES = 128 * MAX_BODY_BYTES;

/** The server without a port, for tests. */
export function createServer({ access, assets, certificate }: ConsoleParts): FastifyInstance {
  const server = fastify({
    logger: false,
    forceCloseConnections: true,
    requestTimeout: REQUEST_TIMEOUT_MS,
    ...(certificate && { https: certificate }),
  }) as unknown as FastifyInstance;
  // Browsers send other types to foreign origins without asking first.
  readBodies(server, new RequestBodies(MAX_BODY_BYTES, MAX_BYTES), 'application/json', parsed);
  server.setReplySerializer(readableJson);
  server.decorateRequest('viewer', undefined);
  server.addHook('onClose', () => {
    access.close();
  });
  server.setErrorHandler((error, _, reply) => {
    const { status, statusCode } = error as { readonly status?: number; readonly statusCode?: number };
    const message = error instanceof Refused ? error.message : access.describe(error);
    return refuse(reply, status ?? statusCode ?? 500, message);
  });
  addGuards(server, access);
  addSession(server, access);
  addReads(server);
  addJobs(server);
  addPods(server);
  addChanges(server);
  addActions(server);
  addEvents(server);
  addPages(server, assets);
  return server;
}

/** @throws Refused if the body is not JSON */
function parsed(body: Buffer): unknown {
  try {
    return parseBoundedJson(body.toString('utf8'));
  } catch (error) {
    throw new Refused(400, `the body is not JSON: ${(error as Error).message}`);
  }
}

/** @throws CommandError if the port is not available */
export async function listen(
  server: FastifyInstance,
  { host = '127.0.0.1', port }: { readonly host?: string; readonly port: number },
): Promise<number> {
  try {
    await server.listen({ host, port });
    return (server.server.address() as AddressInfo).port;
  } catch (error) {
    const isInUse = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
    throw new CommandError(
      `cannot serve the console on port ${String(port)}: ${isInUse ? 'the port is in use' : (error as Error).message}; choose another with --port, or 0 for any free one`,
      { cause: error },
    );
  }
}

const SESSION = '/api/session';
/** For the kubelet, which uses the address of the pod as host. */
const HEALTH = '/healthz';

const without: Readonly<Record<Login, string>> = {
  link: 'there is no session; open the link that espalier console printed',
  token: 'there is no session; log in',
};

function addGuards(server: FastifyInstance, access: Access): void {
  server.get(HEALTH, (_, reply) => reply.type('text/plain; charset=utf-8').send('Ok'));
  server.addHook('onRequest', async (request, reply) => {
    reply.headers(securityHeaders).header('cache-control', 'no-store');
    if (request.url === HEALTH) return undefined;
    const ownOrigin = access.originOf(request);
    const { origin } = request.headers;
    if (request.method !== 'GET' && request.method !== 'HEAD' && origin !== ownOrigin)
      return refuse(reply, 403, `the Origin header "${origin ?? ''}" is not that of this console`);
    if (!request.url.startsWith('/api/') || request.url === SESSION) return undefined;
    request.viewer = await access.viewerOf(request);
    return request.viewer ? undefined : refuse(reply, 401, without[access.login]);
  });
}

function addSession(server: FastifyInstance, access: Access): void {
  server.get(SESSION, (): LoginInfo => ({ login: access.login }));
  server.post<{ Body: { token: string } }>(
    SESSION,
    { schema: { body: object({ token: { type: 'string' } }) } },
    async (request, reply) => {
      const cookie = await access.start(request, request.body.token);
      return reply.header('set-cookie', cookie).code(204).send();
    },
  );
  server.delete(SESSION, (request, reply) =>
    reply.header('set-cookie', access.end(request)).code(204).send(),
  );
}

const object = (properties: Readonly<Record<string, object>>): object => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

function addReads(server: FastifyInstance): void {
  server.get('/api/about', (request) => viewerOf(request).about);
  server.get('/api/landscapes', (request) => ({
    items: itemsOf(viewerOf(request).model, { kind: 'landscapes' }),
  }));
  server.get('/api/flow', (request) => flowBetween(viewerOf(request).model.roots()));
  const aboutRoot = (path: string, answer: (root: Node, viewer: Viewer) => object): void => {
    server.get<Landscape>(`${LANDSCAPE}${path}`, (request) => answer(rootOf(request), viewerOf(request)));
  };
  aboutRoot('', ({ namespace, name }, { model }) => ({
    items: itemsOf(model, { kind: 'landscape', namespace, name }),
  }));
  aboutRoot('/flow', (root) => flowWithin(root));
  aboutRoot('/deletion', (root, { model }) => deletionOf(root, model.roots()));
  aboutRoot('/events', (root, { client }) => eventsOf(client, root));
}

function addJobs(server: FastifyInstance): void {
  server.get<Landscape>(`${LANDSCAPE}/jobs`, (request) => {
    const { client, model } = viewerOf(request);
    const { namespace, name } = request.params;
    return jobsOf(client, namespace, name, model.root(namespace, name));
  });
  server.get<{ Params: Landscape['Params'] & { readonly job: string } }>(
    `${LANDSCAPE}/jobs/:job`,
    async (request, reply) => {
      const { client, model } = viewerOf(request);
      const { namespace, name, job } = request.params;
      const timeline = await timelineOf(client, namespace, name, model.root(namespace, name), job);
      return timeline ?? refuse(reply, 404, `there is no record of job ${job} of ${name}`);
    },
  );
}

function addActions(server: FastifyInstance): void {
  server.get<Landscape>(`${LANDSCAPE}/rights`, (request) =>
    rightsOf(viewerOf(request).client, request.params.namespace),
  );
  server.post<Landscape & { Body: { readonly action: Action; readonly uid: string } }>(
    `${LANDSCAPE}/actions`,
    { schema: { body: object({ action: { enum: actions }, uid: { type: 'string', minLength: 1 } }) } },
    async (request, reply) => {
      const { client, onAction } = viewerOf(request);
      const landscape = `${request.params.namespace}/${request.params.name}`;
      await requestAction(client, landscape, request.body);
      onAction(request.body.action, landscape);
      return reply.code(204).send();
    },
  );
}

/** A viewer that reads more slowly than this is disconnected; it reconnects and receives a snapshot. */
const MAX_UNREAD_BYTES = 32 * 1024 * 1024;

function addEvents(server: FastifyInstance): void {
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
      const { feed, onEnd } = viewerOf(request);
      const { raw } = reply;
      const release = onEnd(() => raw.destroy());
      reply.hijack();
      raw.writeHead(200, {
        ...securityHeaders,
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
      });
      const close = feed.open(topic, (event, json) => {
        if (raw.writableLength > MAX_UNREAD_BYTES) raw.destroy();
        else raw.write(`event: ${event}\ndata: ${json}\n\n`);
      });
      raw.on('close', () => {
        close();
        release();
      });
    },
  );
}

/** Every other path belongs to the client, which reads it. */
function addPages(server: FastifyInstance, assets: ConsoleParts['assets']): void {
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
