/** Servers of attackers: the responses that a target sends to its deployer. */
import { createServer, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { expect } from 'chai';
import type { AddressInfo } from 'node:net';
import { Secret } from '../../src/runtime/core-kinds.ts';
import { API_VERSION } from '../../src/api/labels.ts';
import { targetSyncKind } from '../../src/api/kinds/targetsync.ts';
import { attacks, type Attack, type Scene } from './stage/attack.ts';
import { until } from './stage/stage.ts';
import { failing, giveTarget, kubeconfigFor, manifestItem, onTarget } from './stage/objects.ts';

const MIB = 2 ** 20;
const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'attack', namespace: 'default' } };

interface Hostile {
  readonly url: string;
  /** Requests so far. */
  readonly asked: () => number;
  close(): Promise<void>;
}

/** A server with the given request handler. */
async function hostile(answer: (response: ServerResponse, path: string) => void): Promise<Hostile> {
  let asked = 0;
  const server = createServer((request, response) => {
    asked++;
    request.resume();
    response.on('error', () => undefined);
    response.setHeader('content-type', 'application/json');
    answer(response, request.url ?? '');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    asked: () => asked,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Writes the same piece over and over, as fast as it is read. */
function pour(response: ServerResponse, part: Buffer, times: number, end = ''): void {
  let left = times;
  const more = (): void => {
    while (left-- > 0) {
      if (response.destroyed) return;
      if (!response.write(part)) return void response.once('drain', more);
    }
    response.end(end);
  };
  more();
}

const part = Buffer.alloc(MIB, '[');
const elements = Buffer.from('{},'.repeat(MIB / 4));

/** 32 items on a target whose server answers like this. */
const flood = (
  title: string,
  answer: (response: ServerResponse, path: string) => void,
  says: readonly RegExp[],
  items = 32,
): Attack => {
  let server: Hostile | undefined;
  return {
    title,
    async launch(scene) {
      server = await hostile(answer);
      await giveTarget(scene, 'cluster', kubeconfigFor(server.url));
      const list = Array.from({ length: items }, (_, i) =>
        manifestItem(`item-${String(i)}`, configMap, '20s'),
      );
      return failing(scene, onTarget('flood', list), ...says);
    },
    after: () => Promise.resolve(`the server was asked ${String(server?.asked() ?? 0)} times`),
    cleanUp: async () => server?.close(),
    patienceMs: 90_000,
  };
};

/** The kubeconfig of a target sync that points to this server. */
async function sync({ create, namespace }: Scene, url: string): Promise<void> {
  const kubeconfig = Buffer.from(kubeconfigFor(url)).toString('base64');
  await create(Secret, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'source', namespace },
    data: { kubeconfig },
  });
  await create(targetSyncKind, {
    apiVersion: API_VERSION,
    kind: 'TargetSync',
    metadata: { name: 'sync' },
    spec: {
      sourceNamespace: 'src',
      secretRef: { name: 'source', key: 'kubeconfig' },
      secretNameExpression: '*',
    },
  });
}

/** @param says what the status has to contain */
const syncFrom = (
  title: string,
  answer: (response: ServerResponse, path: string) => void,
  says?: RegExp,
): Attack => {
  let server: Hostile | undefined;
  return {
    title,
    async launch(scene) {
      server = await hostile(answer);
      await sync(scene, server.url);
      return [];
    },
    async after({ client, namespace }) {
      const status = await until('the source has been read', async () => {
        const sync = await client.get(targetSyncKind, `${namespace}/sync`);
        return sync.status?.lastUpdateTime === undefined ? undefined : sync.status;
      });
      const errors = status.lastErrors?.join('; ') ?? '';
      expect(server?.asked(), 'requests').to.be.above(0);
      if (says) expect(errors).to.match(says);
      else expect(errors).to.equal('');
      return `asked ${String(server?.asked())} times; ${errors.slice(0, 300) || 'no error'}`;
    },
    cleanUp: async () => server?.close(),
  };
};

const manySecrets = (response: ServerResponse, path: string): void => {
  if (!path.includes('/secrets')) return void response.end('{}');
  const items = Array.from({ length: 10_000 }, (_, i) => ({
    metadata: { name: `s${String(i)}`, namespace: 'src', uid: String(i), resourceVersion: String(i + 1) },
    data: { kubeconfig: 'e30=' },
  }));
  response.end(
    JSON.stringify({ apiVersion: 'v1', kind: 'SecretList', metadata: { resourceVersion: '20000' }, items }),
  );
};

attacks({
  title: 'servers of targets',
  attacks: [
    flood('250 MB of brackets for each of 32 items', (response) => pour(response, part, 250), [
      /nested more than 500 levels deep.+limits\.targetResponseDepth/,
    ]),
    flood(
      '200 MB of empty objects for each of 32 items',
      (response) => {
        response.write('{"items":[');
        pour(response, elements, 250, '{}]}');
      },
      [/more than 131072 values.+limits\.targetResponseMiB/],
    ),
    flood(
      '15 MB of empty objects for each of 32 items, below the limit on bytes',
      (response) => {
        response.write('{"items":[');
        pour(response, elements, 18, '{}]}');
      },
      [/more than 131072 values/],
    ),
    flood(
      'a Status with a message of 200 KB',
      (response) => {
        // A response of more than 256 KiB is not read, so no message could be shown.
        const message = `password=hunter2 ${'x'.repeat(200_000)}`;
        response.statusCode = 403;
        response.end(
          JSON.stringify({
            apiVersion: 'v1',
            kind: 'Status',
            status: 'Failure',
            message,
            code: 403,
            reason: 'Forbidden',
          }),
        );
      },
      // A 403 is retried until the timeout of the item, because rights may be granted meanwhile.
      [/^[^]{0,9000}$/, /the server of target cluster answered: password=hunter2/],
      1,
    ),
    flood(
      'answers that drip a byte a second',
      (response) => {
        const timer = setInterval(() => response.write(' '), 1000);
        response.on('close', () => {
          clearInterval(timer);
        });
      },
      [/timeout at: /],
      8,
    ),
    syncFrom(
      'a list of secrets without end for a target sync',
      (response) => {
        response.write(
          '{"apiVersion":"v1","kind":"SecretList","metadata":{"resourceVersion":"1"},"items":["',
        );
        pour(response, Buffer.alloc(MIB, 'x'), 2_000);
      },
      /more than 16 MiB.+limits\.targetResponseMiB/,
    ),
    syncFrom('a target sync of 10,000 secrets', manySecrets),
  ],
});
