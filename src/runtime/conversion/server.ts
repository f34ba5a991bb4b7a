/** The HTTPS server for conversion requests of API servers. Its certificate can be replaced while it runs. */
import type { IncomingMessage } from 'node:http';
import type { Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { ByteBudget, type ByteShare } from '../../lib/byte-budget.ts';
import { systemClock } from '../../lib/clock.ts';
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
/** Of all requests together; one client gets at most half of it. */
const MAX_BYTES = 256 << 20;
/** As long as API servers wait. A client that sends slowly does not keep others waiting for longer. */
const REQUEST_TIMEOUT_MS = 30_000;

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
  const budget = new ByteBudget(MAX_BYTES);
  const settings = { key: identity.key, cert: identity.certificate, requestTimeout: REQUEST_TIMEOUT_MS };
  const server = createServer(settings, (request, response) => {
    void answerTo(request, { conversions, log, budget }).then(({ code, body }) => {
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
  readonly budget: ByteBudget;
}

async function answerTo(
  request: IncomingMessage,
  { conversions, log, budget }: AnswerParts,
): Promise<Answer> {
  const [path = ''] = (request.url ?? '').split('?');
  const refuse = (code: number, message: string): Answer => ({ code, body: { message } });
  if (path === '/healthz') return refuse(200, 'ok');
  const conversion = conversions.get(path);
  if (!conversion) return refuse(404, `there is no conversion at ${path}`);
  if (request.method !== 'POST') return refuse(405, 'use POST');
  const length = Number(request.headers['content-length'] ?? MAX_BODY_BYTES);
  const tooLarge = refuse(413, `a review can have ${String(MAX_BODY_BYTES)} bytes`);
  if (length > MAX_BODY_BYTES) return tooLarge;
  let share: ByteShare | undefined;
  try {
    share = await budget.take(length, request.socket.remoteAddress ?? '', whenClosed(request));
    const text = await textOf(request);
    if (text === undefined) return tooLarge;
    const { problem, ...answer } = answerReview(conversion, text);
    if (problem !== undefined) log.warn({ path, problem }, 'conversion failed');
    return answer;
  } catch (error) {
    log.error({ path, err: error }, 'handling a conversion request failed');
    return refuse(500, (error as Error).message);
  } finally {
    share?.release();
  }
}

/** Aborts when the client has closed the connection. */
function whenClosed(request: IncomingMessage): AbortSignal {
  const life = new AbortController();
  request.once('close', () => {
    life.abort(new Error('the client has closed the connection'));
  });
  return life.signal;
}

/** @returns undefined if the body is too large */
async function textOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
