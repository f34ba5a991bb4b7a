/** The HTTPS server for conversion requests of API servers. Its certificate can be replaced while it runs. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { systemClock } from '../../lib/clock.ts';
import { BodyRefused, REQUEST_TIMEOUT_MS, RequestBodies } from '../../lib/request-bodies.ts';
import { ServerConnections } from '../../lib/server-connections.ts';
import type { Logger } from '../../observability/log.ts';
import { EspalierError } from '../errors.ts';
import type { Conversion } from './conversion.ts';
import { answerReview } from './review.ts';

interface Identity {
  /** PEM. */
  readonly key: string;
  /** PEM. */
  readonly certificate: string;
}

interface ConversionServer {
  readonly port: number;
  /** Uses the certificate for new connections; open connections are not affected. */
  useIdentity(identity: Identity): void;
  /** Answers the requests that it has received, then closes all connections. */
  close(): Promise<void>;
}

/** The server cannot listen on its address. */
class WebhookPortError extends EspalierError {}

/** A request contains all objects of a list. */
const MAX_BODY_BYTES = 128 << 20;
/** Of all requests together. */
const MAX_BYTES = 256 << 20;

interface Answer {
  readonly code: number;
  readonly body: object;
}

/**
 * @param options.port 0 takes any free port
 * @param options.conversions by path
 * @throws WebhookPortError
 */
export async function startConversionServer(options: {
  readonly host: string;
  readonly port: number;
  readonly identity: Identity;
  readonly conversions: ReadonlyMap<string, Pick<Conversion, 'convert'>>;
  readonly log: Logger;
}): Promise<ConversionServer> {
  const { host, identity, conversions, log } = options;
  // Most operators have one version, and need no server.
  const { createServer } = await import('node:https');
  const bodies = new RequestBodies(MAX_BODY_BYTES, MAX_BYTES);
  const settings = { key: identity.key, cert: identity.certificate, requestTimeout: REQUEST_TIMEOUT_MS };
  const server = createServer(settings, (request, response) => {
    void answerTo({ request, response }, { conversions, log, bodies }).then(({ code, body }) => {
      const bytes = Buffer.from(JSON.stringify(body));
      response.writeHead(code, { 'content-type': 'application/json', 'content-length': bytes.length });
      response.end(bytes);
    });
  });
  const connections = new ServerConnections(server);
  await listen(server, host, options.port);
  return {
    port: (server.address() as AddressInfo).port,
    useIdentity: ({ key, certificate }) => {
      server.setSecureContext({ key, cert: certificate });
    },
    async close() {
      const closed = new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
      });
      await connections.close(systemClock, REQUEST_TIMEOUT_MS);
      await closed;
    },
  };
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host, port }, resolve);
    });
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    const why = code === 'EADDRINUSE' ? 'the port is in use' : message;
    throw new WebhookPortError({
      message: `cannot serve conversions on ${host}:${String(port)}: ${why}`,
      cause: error,
    });
  }
}

interface AnswerParts {
  readonly conversions: ReadonlyMap<string, Pick<Conversion, 'convert'>>;
  readonly log: Logger;
  readonly bodies: RequestBodies;
}

async function answerTo(
  exchange: { readonly request: IncomingMessage; readonly response: ServerResponse },
  { conversions, log, bodies }: AnswerParts,
): Promise<Answer> {
  const { request } = exchange;
  const [path = ''] = (request.url ?? '').split('?');
  const refuse = (code: number, message: string): Answer => ({ code, body: { message } });
  if (path === '/healthz') return refuse(200, 'ok');
  const conversion = conversions.get(path);
  if (!conversion) return refuse(404, `there is no conversion at ${path}`);
  if (request.method !== 'POST') return refuse(405, 'use POST');
  try {
    const { problem, ...answer } = answerReview(conversion, (await bodies.read(exchange)).toString('utf8'));
    if (problem !== undefined) log.warn({ path, problem }, 'conversion failed');
    return answer;
  } catch (error) {
    if (error instanceof BodyRefused) return refuse(error.statusCode, error.message);
    log.error({ path, err: error }, 'handling a conversion request failed');
    return refuse(500, (error as Error).message);
  }
}
