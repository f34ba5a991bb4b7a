/** Servers that no request can use, as users find them behind a misspelt address. They listen on loopback. */
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createPrivateKey } from 'node:crypto';
import { createAuthority, issueCertificate } from '../../src/lib/certificates.ts';
import { refusingPort } from './ports.ts';
import { systemClock } from '../../src/lib/clock.ts';

const DAY_MS = 24 * 3_600_000;

export interface UnusableServers {
  /** `host:port` of HTTPS with a certificate that no client trusts. */
  readonly untrusted: string;
  /** The authority that signed it, PEM, and the same address under a name that is not in the certificate. */
  readonly authority: string;
  /** Of HTTPS whose certificate has expired. */
  readonly expired: string;
  /** Of plain HTTP. */
  readonly plain: string;
  /** Of a server that does not speak HTTP. */
  readonly garbage: string;
  /** Of a server that closes connections. */
  readonly hangingUp: string;
  /** Where connections are refused. */
  readonly closed: string;
  /** Number of requests that were read. */
  readonly requests: () => number;
  stop(): Promise<void>;
}

export async function startUnusableServers(): Promise<UnusableServers> {
  const servers: Server[] = [];
  const sockets = new Set<Socket>();
  let requests = 0;
  const listen = async (server: Server): Promise<string> => {
    servers.push(server.on('connection', (socket: Socket) => sockets.add(socket)));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  };
  const answer = (_: unknown, response: { end(text: string): unknown }): void => {
    requests++;
    response.end('{}');
  };
  const authority = createAuthority('nobody-trusts-it');
  const secure = (until: number): Server => {
    const { certificate, key } = issueCertificate(authority, createPrivateKey(authority.key), {
      commonName: 'registry',
      usage: 'server',
      hosts: ['127.0.0.1', 'elsewhere.example'],
      validity: { from: systemClock.wall() - 2 * DAY_MS, until },
    });
    return createHttpsServer({ cert: certificate, key }, answer);
  };
  const refusing = await refusingPort();
  return {
    untrusted: await listen(secure(systemClock.wall() + DAY_MS)),
    authority: authority.certificate,
    expired: await listen(secure(systemClock.wall() - DAY_MS)),
    plain: await listen(createHttpServer(answer)),
    garbage: await listen(
      createServer((socket) => socket.on('error', () => undefined).end('SSH-2.0-none\r\n')),
    ),
    hangingUp: await listen(createServer((socket) => socket.destroy())),
    closed: `127.0.0.1:${String(refusing.port)}`,
    requests: () => requests,
    async stop() {
      refusing.release();
      for (const socket of sockets) socket.destroy();
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}
