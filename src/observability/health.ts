/** HTTP server for Prometheus and for the probes of the kubelet. */
import { isIPv6, type AddressInfo } from 'node:net';
import { fastify, type FastifyInstance, type FastifyReply } from 'fastify';
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
  const { checks } = options;
  const server = fastify({ logger: false, forceCloseConnections: true });
  server.get('/metrics', async (_, reply) =>
    reply.type(options.metrics.contentType).send(await options.metrics.text()),
  );
  const current = typeof checks === 'function' ? checks : () => checks;
  serveProbe(server, '/healthz', () => current().filter((check) => check.probe === 'live'));
  serveProbe(server, '/readyz', () => current().filter((check) => check.probe === 'ready'));
  try {
    await server.listen({ host: options.host, port: options.port });
    return {
      url: urlOf(options.host, (server.server.address() as AddressInfo).port),
      close: () => server.close(),
    };
  } catch (error) {
    const { code } = error as { code?: string };
    const address = `${options.host}:${String(options.port)}`;
    const why = code === 'EADDRINUSE' ? 'the port is in use' : (error as Error).message;
    throw new HealthPortError(`cannot serve health and metrics on ${address}: ${why}`, { cause: error });
  }
}

/** With the address that was configured: fastify would name the loopback address instead of 0.0.0.0. */
const urlOf = (host: string, port: number): string =>
  `http://${isIPv6(host) ? `[${host}]` : host}:${String(port)}`;

function serveProbe(server: FastifyInstance, path: string, checks: () => readonly Check[]): void {
  server.get<{ Querystring: { verbose?: string } }>(path, (request, reply) => {
    const results = checks().map(ask);
    const isFine = results.every(({ problem }) => problem === undefined);
    if (isFine && request.query.verbose === undefined) return answer(reply, true, 'ok');
    const lines = results.map(({ name, problem }) =>
      problem === undefined ? `[+]${name} ok` : `[-]${name} failed: ${problem}`,
    );
    return answer(
      reply,
      isFine,
      [...lines, `${path.slice(1)} check ${isFine ? 'passed' : 'failed'}`, ''].join('\n'),
    );
  });
  server.get<{ Params: { name: string } }>(`${path}/:name`, (request, reply) => {
    const { name } = request.params;
    const check = checks().find((each) => each.name === name);
    if (!check) return reply.code(404).type('text/plain').send(`there is no check named ${name}`);
    const { problem } = ask(check);
    return answer(reply, problem === undefined, problem ?? 'ok');
  });
}

/** A check that throws has failed. */
function ask(check: Check): { readonly name: string; readonly problem: string | undefined } {
  try {
    return { name: check.name, problem: check.problem() };
  } catch (error) {
    return { name: check.name, problem: error instanceof Error ? error.message : String(error) };
  }
}

const answer = (reply: FastifyReply, isFine: boolean, text: string): FastifyReply =>
  reply
    .code(isFine ? 200 : 503)
    .type('text/plain; charset=utf-8')
    .send(text);
