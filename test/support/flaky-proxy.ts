/**
 * A bad connection: a proxy in front of an API server without TLS that rejects some requests, resets some
 * connections, delays some writes and cuts every watch after a while. Each fault is drawn from a seed, request by
 * request.
 */
import { once } from 'node:events';
import { createServer, request as send, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { seededRng, type Rng } from '../../src/lib/rng.ts';

/** `reset`: nothing arrived; `lost`: it took effect, but the response never arrived. */
const TROUBLES = [429, 500, 503, 409, 410, 'reset', 'lost'] as const;
export type Trouble = (typeof TROUBLES)[number];

const REASONS: Readonly<Record<number, string>> = {
  409: 'Conflict',
  410: 'Expired',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
};

export interface Weather {
  readonly seed: number;
  /** Share of requests with a fault. */
  readonly troubles: number;
  /** Share of writes that are delayed, and the maximum delay in milliseconds. */
  readonly delays: number;
  readonly maxDelayMs: number;
  /** Lifetime of a watch in milliseconds: minimum and maximum. */
  readonly watchMs: readonly [number, number];
}

export interface FlakyProxy {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  /** The faults so far. */
  readonly counts: Readonly<Record<string, number>>;
  stop(): Promise<void>;
}

/** @param target the API server, `http://HOST:PORT` */
export async function startFlakyProxy(target: string, weather: Weather): Promise<FlakyProxy> {
  const rng = seededRng(weather.seed);
  const counts: Record<string, number> = {};
  const count = (what: string): void => {
    counts[what] = (counts[what] ?? 0) + 1;
  };
  const life = new AbortController();
  const server = createServer((asked, answer) => {
    handle(asked, answer, { target, weather, rng, count, signal: life.signal }).catch(() =>
      asked.socket.destroy(),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    counts,
    async stop() {
      life.abort();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

interface Ports {
  readonly target: string;
  readonly weather: Weather;
  readonly rng: Rng;
  readonly signal: AbortSignal;
  count(what: string): void;
}

async function handle(asked: IncomingMessage, answer: ServerResponse, ports: Ports): Promise<void> {
  const { weather, rng, count, signal } = ports;
  const isWatch = new URL(asked.url ?? '/', ports.target).searchParams.has('watch');
  const isWrite = asked.method !== 'GET';
  count('requests');
  const trouble =
    rng.next() < weather.troubles ? TROUBLES[Math.floor(rng.next() * TROUBLES.length)] : undefined;
  const delayMs = isWrite && rng.next() < weather.delays ? rng.next() * weather.maxDelayMs : 0;
  const [shortest, longest] = weather.watchMs;
  const lifeMs = shortest + rng.next() * (longest - shortest);
  const body = await bodyOf(asked);
  if (delayMs > 0) {
    count('delayed');
    await pause(delayMs, undefined, { signal });
  }
  if (trouble !== undefined) count(String(trouble));
  if (trouble === 'reset') {
    asked.socket.destroy();
    return;
  }
  if (typeof trouble === 'number') {
    refuse(answer, trouble);
    return;
  }
  const reply = await forwarded(asked, body, ports);
  if (trouble === 'lost') {
    reply.destroy();
    asked.socket.destroy();
    return;
  }
  answer.writeHead(reply.statusCode ?? 502, reply.headers);
  reply.pipe(answer);
  answer.on('close', () => reply.destroy());
  reply.on('error', () => asked.socket.destroy());
  if (!isWatch) return;
  answer.flushHeaders();
  const cut = setTimeout(() => {
    count('watches cut');
    asked.socket.destroy();
  }, lifeMs);
  answer.on('close', () => {
    clearTimeout(cut);
  });
}

async function bodyOf(asked: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of asked) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

async function forwarded(asked: IncomingMessage, body: Buffer, { target }: Ports): Promise<IncomingMessage> {
  const { method, headers } = asked;
  const request = send(new URL(asked.url ?? '/', target), { method, headers });
  request.end(body);
  const [reply] = (await once(request, 'response')) as [IncomingMessage];
  return reply;
}

function refuse(answer: ServerResponse, code: number): void {
  const message = 'refused by a bad connection';
  const status = {
    apiVersion: 'v1',
    kind: 'Status',
    status: 'Failure',
    reason: REASONS[code],
    code,
    message,
  };
  if (code === 429) answer.setHeader('Retry-After', '1');
  answer.writeHead(code, { 'content-type': 'application/json' });
  answer.end(JSON.stringify(status));
}
