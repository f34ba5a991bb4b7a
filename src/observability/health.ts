/** HTTP server for Prometheus and for the probes of the kubelet. */
import { messageOf } from '../lib/message-of.ts';
import { table } from '../lib/objects.ts';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { isIPv6, type AddressInfo } from 'node:net';
import { REQUEST_TIMEOUT_MS } from '../lib/request-bodies.ts';
import type { Metrics } from './metrics.ts';

/** A health check of the process. */
export interface Check {
  /** Path segment below the probe, for example `/readyz/sources`. */
  readonly name: string;
  /** `live` decides whether the process is restarted, `ready` whether it is ready for work. */
  readonly probe: 'live' | 'ready';
  /** The problem as a sentence; undefined if the check passes. */
  problem(): string | undefined;
}

/** The health server cannot listen on its address. */
export class HealthPortError extends Error {
  override readonly name = 'HealthPortError';
}

/** The server of `/metrics`, `/healthz` and `/readyz`; `url` contains the actual port. */
export interface HealthServer {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves `/metrics`, `/healthz` and `/readyz`; single checks are below their probe, `?verbose` lists all.
 * @param options.port 0 takes any free port
 * @param options.checks called for each request
 * @throws HealthPortError if the address is in use or does not belong to this machine
 */
export async function startHealthServer(options: {
  readonly host: string;
  readonly port: number;
  readonly metrics: Metrics;
  readonly checks: readonly Check[] | (() => readonly Check[]);
}): Promise<HealthServer> {
  const { checks, metrics } = options;
  const current = typeof checks === 'function' ? checks : () => checks;
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, (request, response) => {
    void answerOf(request, metrics, current).then(({ code, type, text }) => {
      response.writeHead(code, { 'content-type': type ?? TEXT, 'content-length': Buffer.byteLength(text) });
      // No page has a use for a body: what follows is not read.
      if (request.method !== 'GET' && request.method !== 'HEAD')
        response.once('finish', () => request.destroy());
      response.end(request.method === 'HEAD' ? '' : text);
    });
  });
  try {
    await listen(server, options);
    return {
      url: urlOf(options.host, (server.address() as AddressInfo).port),
      close: () => closed(server),
    };
  } catch (error) {
    const { code } = error as { code?: string };
    const address = `${options.host}:${String(options.port)}`;
    const why = code === 'EADDRINUSE' ? 'the port is in use' : (error as Error).message;
    throw new HealthPortError(`cannot serve health and metrics on ${address}: ${why}`, { cause: error });
  }
}

const listen = (server: Server, options: { readonly host: string; readonly port: number }): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: options.host, port: options.port }, resolve);
  });

const closed = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => {
      resolve();
    });
    server.closeAllConnections();
  });

/** With the address that was configured, such as 0.0.0.0. */
const urlOf = (host: string, port: number): string =>
  `http://${isIPv6(host) ? `[${host}]` : host}:${String(port)}`;

const TEXT = 'text/plain; charset=utf-8';

interface Answer {
  readonly code: number;
  readonly text: string;
  /** Content type; default: text. */
  readonly type?: string;
}

/** Never rejects: an error becomes an answer with code 500. */
async function answerOf(
  { method, url = '/' }: Pick<IncomingMessage, 'method' | 'url'>,
  metrics: Metrics,
  checks: () => readonly Check[],
): Promise<Answer> {
  try {
    if (method !== 'GET' && method !== 'HEAD') return { code: 405, text: 'use GET' };
    const { pathname, searchParams } = new URL(url, 'http://localhost');
    const [, path, name, ...rest] = pathname.split('/');
    if (path === 'metrics' && name === undefined)
      return { code: 200, type: metrics.contentType, text: await metrics.text() };
    const probe = PROBES[path ?? ''];
    if (!probe || rest.length > 0) return { code: 404, text: `there is no page ${pathname}` };
    const selected = checks().filter((check) => check.probe === probe);
    return name === undefined
      ? allOf(selected, `${path ?? ''} check`, searchParams.has('verbose'))
      : oneOf(selected, decodeURIComponent(name));
  } catch (error) {
    return { code: 500, text: messageOf(error) };
  }
}

const PROBES: Readonly<Record<string, Check['probe']>> = table({ healthz: 'live', readyz: 'ready' });

function allOf(checks: readonly Check[], title: string, isVerbose: boolean): Answer {
  const results = checks.map(ask);
  const isFine = results.every(({ problem }) => problem === undefined);
  if (isFine && !isVerbose) return answer(true, 'ok');
  const lines = results.map(({ name, problem }) =>
    problem === undefined ? `[+]${name} ok` : `[-]${name} failed: ${problem}`,
  );
  return answer(isFine, [...lines, `${title} ${isFine ? 'passed' : 'failed'}`, ''].join('\n'));
}

function oneOf(checks: readonly Check[], name: string): Answer {
  const check = checks.find((each) => each.name === name);
  if (!check) return { code: 404, text: `there is no check named ${name}` };
  const { problem } = ask(check);
  return answer(problem === undefined, problem ?? 'ok');
}

/** A check that throws has failed. */
function ask(check: Check): { readonly name: string; readonly problem: string | undefined } {
  try {
    return { name: check.name, problem: check.problem() };
  } catch (error) {
    return { name: check.name, problem: messageOf(error) };
  }
}

const answer = (isFine: boolean, text: string): Answer => ({ code: isFine ? 200 : 503, text });
