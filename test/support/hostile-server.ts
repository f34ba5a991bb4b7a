/** An API server of a malicious tenant: its responses to all requests are far too large. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';

const PIECE = 64 * 1024;
/** Size of one response of the attack. */
const ATTACK_BYTES = 250 * 1024 * 1024;
const LEAF_BYTES = 15 * 1024 * 1024;

const json = { 'content-type': 'application/json' };

/** The same piece over and over, at the pace of the reader. */
function repeat(to: NodeJS.WritableStream, piece: string, bytes: number, tail: string): void {
  let left = bytes;
  const send = (): void => {
    while (left > 0) {
      left -= piece.length;
      if (!to.write(piece)) {
        to.once('drain', send);
        return;
      }
    }
    to.end(tail);
  };
  send();
}

const values =
  (piece: string, bytes = ATTACK_BYTES) =>
  (response: ServerResponse) => {
    response.writeHead(200, json).write('{"metadata":{"name":"a"},"data":[');
    repeat(response, piece.repeat(Math.ceil(PIECE / piece.length)), bytes, '0]}');
  };

let bomb: Buffer | undefined;

export const attacks = {
  'nested arrays': (response: ServerResponse) => {
    response.writeHead(200, json);
    repeat(response, '['.repeat(PIECE), ATTACK_BYTES / 2, ']');
  },
  'very many empty objects': values('{},'),
  'an endless string': (response: ServerResponse) => {
    response.writeHead(200, json).write('"');
    repeat(response, 'x'.repeat(PIECE), ATTACK_BYTES, '"');
  },
  'a small body that unpacks to a large one': (response: ServerResponse) => {
    bomb ??= gzipSync(Buffer.alloc(ATTACK_BYTES, ' '));
    response.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end(bomb);
  },
  'as many bytes as allowed': values(`"${'x'.repeat(1_000)}",`, LEAF_BYTES),
  'as many values as allowed': (response: ServerResponse) => {
    const fields = Array.from({ length: 130_000 }, (_, i) => `"${i.toString(36)}-${'y'.repeat(40)}":0`);
    response.writeHead(200, json).end(`{"metadata":{"name":"a"},${fields.join(',')}}`);
  },
  'endless pages': (response: ServerResponse) => {
    response.writeHead(200, json).write('{"metadata":{"continue":"more","resourceVersion":"1"},"items":[');
    const item = JSON.stringify({ metadata: { name: 'a' }, data: { x: 'x'.repeat(PIECE) } });
    repeat(response, `${item},`, LEAF_BYTES / 4, `${item}]}`);
  },
} as const satisfies Readonly<Record<string, (response: ServerResponse) => void>>;

export type Attack = keyof typeof attacks;

export interface HostileServer {
  readonly url: string;
  readonly kubeconfig: string;
  /** Sets its response from now on. */
  attack: Attack;
  close(): Promise<void>;
}

/** Listens on loopback only. */
export async function startHostileServer(attack: Attack): Promise<HostileServer> {
  const server = createServer((request, response) => {
    response.on('error', () => undefined);
    request.resume().on('end', () => {
      attacks[hostile.attack](response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  const hostile: HostileServer = {
    url,
    kubeconfig: kubeconfigOf(url),
    attack,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return hostile;
}

export const kubeconfigOf = (server: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server } }],
    users: [{ name: 'u', user: { token: 't' } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  });
