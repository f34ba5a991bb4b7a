/** The HTTPS server for webhook requests of API servers. Its certificate can be replaced while it runs. */
import { fastify } from 'fastify';
import { readBodies } from '../lib/fastify-bodies.ts';
import { JsonTooLarge, parseBoundedJson } from '../lib/json-bounds.ts';
import { RequestBodies, REQUEST_TIMEOUT_MS } from '../lib/request-bodies.ts';
import type { InstallationLimits } from '../api/limits.ts';
import type { ValidatedResource } from '../api/validation/index.ts';
import { systemClock } from '../lib/clock.ts';
import { ServerConnections } from '../lib/server-connections.ts';
import type { Logger } from '../observability/log.ts';
import { webhookPath } from './configuration.ts';
import type { MaySkip } from './skip-rights.ts';
import { reviewLabelled, type Check } from './skipping.ts';
import { InvalidReview, review, reviewLargeItems, reviewBody, type LargeItemsCheck } from './review.ts';

export interface Identity {
  /** PEM. */
  readonly key: string;
  /** PEM. */
  readonly certificate: string;
}

export interface WebhookServer {
  readonly port: number;
  /** Uses the certificate for new connections; open connections are not affected. */
  useIdentity(identity: Identity): void;
  /** Keeps answering, but closes each connection with its next response, so that clients connect elsewhere. */
  drain(): void;
  /** Answers the requests that it has received, then closes all connections. */
  close(): Promise<void>;
}

/** The server cannot listen on its address. */
class WebhookPortError extends Error {
  override readonly name = 'WebhookPortError';
}

/** A request contains the new and the old object, each of which may have a few megabytes. */
const MAX_BODY_BYTES = 16 << 20;
/** Of all requests together: the pods of `espalier install` have 512 MiB, and a body needs several times its size. */
const MAX_BYTES = 48 << 20;
/** As long as API servers wait at most. */
const CLOSE_WITHIN_MS = 30_000;

/**
 * @param options.port 0 takes any free port
 * @throws WebhookPortError
 */
export async function startWebhookServer(options: {
  readonly host: string;
  readonly port: number;
  readonly identity: Identity;
  readonly resources: readonly ValidatedResource[];
  /** Default: the limits of an empty configuration. */
  readonly limits?: InstallationLimits | undefined;
  /** Default: in this thread. */
  readonly checkLargeItems?: LargeItemsCheck | undefined;
  /** Who may skip the validation with the label; default: API servers send no objects with the label. */
  readonly maySkip?: MaySkip | undefined;
  readonly log: Logger;
}): Promise<WebhookServer> {
  const { host, identity, resources, limits, checkLargeItems, maySkip, log } = options;
  const check: Check = (resource, body) =>
    checkLargeItems
      ? reviewLargeItems(resource, body, limits, checkLargeItems)
      : review(resource, body, limits);
  const validate: Check = (resource, body) =>
    maySkip ? reviewLabelled(resource, body, { maySkip, check, log }) : check(resource, body);
  const server = fastify({
    logger: false,
    // Only idle connections: requests that were received are answered.
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    requestTimeout: REQUEST_TIMEOUT_MS,
    https: { key: identity.key, cert: identity.certificate },
  });
  readBodies(server, new RequestBodies(MAX_BODY_BYTES, MAX_BYTES), 'application/json', parsed);
  const connections = new ServerConnections(server.server);
  let isDraining = false;
  server.addHook('onSend', async (_, reply) => {
    if (isDraining) reply.header('connection', 'close');
  });
  server.get('/healthz', (_, reply) => reply.type('text/plain; charset=utf-8').send('Ok'));
  for (const resource of resources) {
    server.post(webhookPath(resource), async (request) => {
      const { answer, object } = await validate(resource, request.body);
      if (!answer.allowed) log.info({ resource, object, reason: answer.status?.message }, 'request denied');
      return reviewBody(answer);
    });
  }
  server.setErrorHandler((error, _, reply) => {
    const { statusCode = 500, message } = error as { statusCode?: number; message?: string };
    if (statusCode >= 500) log.error({ err: error }, 'handling a request failed');
    return reply.code(statusCode).send({ message });
  });
  await listen(server, host, options.port);
  const address = server.server.address();
  return {
    port: typeof address === 'object' && address ? address.port : options.port,
    useIdentity: ({ key, certificate }) => {
      server.server.setSecureContext({ key, cert: certificate });
    },
    drain: () => {
      isDraining = true;
    },
    async close() {
      const closed = server.close();
      await connections.close(systemClock, CLOSE_WITHIN_MS);
      await closed;
    },
  };
}

/** @throws InvalidReview */
function parsed(body: Buffer): unknown {
  try {
    return parseBoundedJson(body.toString('utf8'));
  } catch (error) {
    if (error instanceof JsonTooLarge || error instanceof SyntaxError) throw new InvalidReview(error.message);
    throw error;
  }
}

async function listen(
  server: { listen(address: { host: string; port: number }): PromiseLike<unknown> },
  host: string,
  port: number,
): Promise<void> {
  try {
    await server.listen({ host, port });
  } catch (error) {
    const why =
      (error as { code?: string }).code === 'EADDRINUSE' ? 'the port is in use' : (error as Error).message;
    throw new WebhookPortError(`cannot serve webhooks on ${host}:${String(port)}: ${why}`, {
      cause: error,
    });
  }
}
