import { expect } from 'chai';
import { createMetrics, type Metrics } from '../../../src/observability/metrics.ts';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { ByteBudget } from '../../../src/lib/byte-budget.ts';
import { systemClock, type Clock } from '../../../src/lib/clock.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import { createClient } from '../../../src/runtime/transport/client.ts';
import { NotFound, ResponseTooLarge, ServerFailure, TransportError } from '../../../src/runtime/errors.ts';
import { connect, type Connection } from '../../../src/runtime/transport/http.ts';
import { createResponses, type ResponseLimits } from '../../../src/runtime/transport/responses.ts';
import type { Client, Kind, Obj } from '../../../src/runtime/types.ts';
import { FakeClock } from '../../support/clock.ts';
import { RecordedBudget } from '../../support/recorded-budget.ts';
import { eventually } from '../../support/waiting.ts';

const MAPS: Kind = { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true };
const LEASES: Kind = {
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  plural: 'leases',
  namespaced: true,
};
const KIB = 1024;
const MIB = 2 ** 20;

/** Small ones, so that little has to be sent. */
const small = (more: Partial<ResponseLimits> = {}): ResponseLimits => ({
  ...createResponses().target,
  maxBytes: 600 * KIB,
  maxFrameBytes: 50 * KIB,
  maxDepth: 20,
  maxElements: 1_000,
  maxPageElements: 1_000,
  maxListBytes: 2 * MIB,
  budget: new ByteBudget(8 * MIB),
  ...more,
});

const configMap = (value: string): Obj =>
  ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'ns' }, data: { value } }) as Obj;
const jsonHead = { 'content-type': 'application/json' };

/** Sends the same over and over until the client disconnects. */
function sendForEver(response: ServerResponse, piece: string | Buffer): void {
  const send = (): void => {
    while (!response.destroyed && response.write(piece));
    if (!response.destroyed) response.once('drain', send);
  };
  send();
}

describe('responses of a server', () => {
  let server: Server;
  let sockets: Set<Socket>;
  let handler: (request: IncomingMessage, response: ServerResponse) => void;
  let connection: Connection;
  let client: Client;
  let urls: string[];
  let responses: ServerResponse[];
  let url: string;

  const open = async (
    limits: ResponseLimits,
    clock: Clock = systemClock,
    metrics?: Metrics,
    usedBy?: string,
  ) => {
    await (connection as Connection | undefined)?.close();
    connection = await connect({
      kubeconfig: {
        text: JSON.stringify({
          clusters: [{ name: 'c', cluster: { server: url } }],
          contexts: [{ name: 'x', context: { cluster: 'c' } }],
          'current-context': 'x',
        }),
      },
      userAgent: 'test/1',
      clock,
      log: silentLogger,
      ...(usedBy !== undefined && { usedBy }),
      rng: { next: () => 0.5 },
      responses: limits,
      ...(metrics && { metrics }),
    });
    client = createClient(connection);
  };

  beforeEach(async () => {
    urls = [];
    responses = [];
    sockets = new Set();
    server = createServer((request, response) => {
      urls.push(request.url ?? '');
      responses.push(response);
      request.resume().on('end', () => {
        handler(request, response);
      });
    });
    server.on('connection', (socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
    await open(small());
  });

  afterEach(async () => {
    await connection.close();
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  const failureOf = async (promise: Promise<unknown>): Promise<Error> =>
    promise.then(
      () => {
        throw new Error('should have failed');
      },
      (error: unknown) => error as Error,
    );

  /** The server notices that the rest is not read. */
  const untilClosed = () =>
    eventually('the responses are closed', () => responses.every(({ destroyed }) => destroyed), {
      everyMs: 0,
    });

  const get = (): Promise<unknown> => client.get(MAPS, 'ns/a');
  const hostile: readonly {
    readonly title: string;
    readonly answer: (response: ServerResponse) => void;
    readonly says: RegExp;
    readonly ask?: () => Promise<unknown>;
  }[] = [
    {
      title: 'an endless body',
      answer: (r) => {
        sendForEver(r.writeHead(200, jsonHead), `"${'x'.repeat(64 * KIB)}`);
      },
      says: /^http:\/\/127\S+ answered the request to get ConfigMap ns\/a with more than 614400 bytes, the limit for a target cluster; limits\.targetResponseMiB in the configuration raises it$/,
    },
    {
      title: 'a body with a Content-Length that is too large',
      answer: (r) => r.writeHead(200, { ...jsonHead, 'content-length': 10 * MIB }).write('{'),
      says: /with more than 614400 bytes/,
    },
    {
      title: 'the response to a write',
      answer: (r) => {
        sendForEver(r.writeHead(201, jsonHead), `"${'x'.repeat(64 * KIB)}`);
      },
      ask: () => client.send({ verb: 'create', kind: MAPS, object: configMap('') }),
      says: /create ConfigMap ns\/a with more than 614400 bytes/,
    },
    {
      title: 'a lease',
      answer: (r) => {
        sendForEver(r.writeHead(200, jsonHead), `"${'x'.repeat(64 * KIB)}`);
      },
      ask: () => client.get(LEASES, 'ns/a'),
      says: /get Lease ns\/a with more than 614400 bytes/,
    },
    {
      title: 'text that is not JSON',
      answer: (r) => {
        sendForEver(r.writeHead(200, { 'content-type': 'text/plain' }), '['.repeat(64 * KIB));
      },
      says: /with more than 614400 bytes/,
    },
    {
      title: 'a small body that unpacks to a large one',
      answer: (r) =>
        r
          .writeHead(200, { ...jsonHead, 'content-encoding': 'gzip' })
          .end(gzipSync(Buffer.alloc(50 * MIB, 0x20))),
      says: /with more than 614400 bytes/,
    },
    {
      title: 'endless nested arrays',
      answer: (r) => {
        sendForEver(r.writeHead(200, jsonHead), '['.repeat(KIB));
      },
      says: /with data nested more than 20 levels deep, the limit for a target cluster; limits\.targetResponseDepth in/,
    },
    {
      title: 'compressed nested arrays',
      answer: (r) =>
        r.writeHead(200, { ...jsonHead, 'content-encoding': 'gzip' }).end(gzipSync('['.repeat(20 * MIB))),
      says: /nested more than 20 levels/,
    },
    {
      title: 'endless values',
      answer: (r) => {
        sendForEver(r.writeHead(200, jsonHead).write('[') ? r : r, '{},'.repeat(1_000));
      },
      says: /with more than 1000 values, the limit for a target cluster; limits\.targetResponseMiB in/,
    },
  ];
  for (const { title, answer, says, ask = get } of hostile) {
    it(`are cut off while they arrive: ${title}`, async () => {
      handler = (_, response) => {
        answer(response);
      };
      const error = await failureOf(ask());
      expect(error).to.be.instanceOf(ResponseTooLarge);
      expect(error.message).to.match(says);
      expect((error as ResponseTooLarge).isFinal()).to.equal(true);
      expect(urls, 'sent once').to.have.length(1);
      await untilClosed();
      expect(connection.responses.budget.used).to.equal(0);
    });
  }

  it('are read to the last byte of the limits, compressed or not', async () => {
    const value = 'x'.repeat(600 * KIB - JSON.stringify(configMap('')).length);
    const body = JSON.stringify(configMap(value));
    expect(body).to.have.length(600 * KIB);
    handler = (request, response) => {
      if (request.url?.endsWith('/packed'))
        response.writeHead(200, { ...jsonHead, 'content-encoding': 'gzip' }).end(gzipSync(body));
      else response.writeHead(200, jsonHead).end(body);
    };
    expect(await get()).to.deep.equal(configMap(value));
    expect(await client.get(MAPS, 'ns/packed')).to.deep.equal(configMap(value));
    expect(connection.responses.budget.used).to.equal(0);
  });

  it('in an unsupported encoding are reported with its name', async () => {
    handler = (_, response) => response.writeHead(200, { ...jsonHead, 'content-encoding': 'br' }).end('x');
    const error = await failureOf(client.send({ verb: 'create', kind: MAPS, object: configMap('') }));
    expect(error).to.be.instanceOf(TransportError);
    expect(error.message).to.contain('content-encoding "br"');
  });

  it('with an error are read as far as the place of its reason', async () => {
    handler = (_, response) => {
      sendForEver(response.writeHead(404, jsonHead), '[[[['.repeat(KIB));
    };
    expect(await failureOf(get())).to.be.instanceOf(NotFound);
    handler = (_, response) => {
      sendForEver(response.writeHead(501, { 'content-type': 'text/html' }), '<p>'.repeat(KIB));
    };
    expect(await failureOf(get())).to.be.instanceOf(ServerFailure);
    await untilClosed();
  });

  it('of the host cluster name its key, and are retried', async () => {
    const { host } = createResponses();
    await open({ ...host, maxBytes: MIB, budget: new ByteBudget(MIB) });
    handler = (_, response) => {
      sendForEver(response.writeHead(200, jsonHead), `"${'x'.repeat(64 * KIB)}`);
    };
    const error = await failureOf(get());
    expect(error.message).to.match(
      /more than 1 MiB, the limit for the host cluster; limits\.hostResponseMiB in/,
    );
    expect((error as ResponseTooLarge).isFinal()).to.equal(false);
  });

  it('that were cut off are counted', async () => {
    const metrics = createMetrics();
    await open(small(), systemClock, metrics);
    handler = (_, response) => response.writeHead(200, jsonHead).end('['.repeat(100));
    await failureOf(get());
    expect(await metrics.text()).to.match(
      /espalier_responses_over_limit_total\{verb="get",host="127[^"]+",limit="depth"\} 1/,
    );
  });

  describe('that are pages of a list', () => {
    /** The requested number of objects of `bytes`, from the one in the token. */
    const pages =
      (count: number, bytes: number) =>
      (request: IncomingMessage, response: ServerResponse): void => {
        const query = new URL(request.url ?? '', url).searchParams;
        const from = Number(query.get('continue') ?? 0);
        const to = Math.min(count, from + Number(query.get('limit')));
        const items = Array.from({ length: to - from }, (_, i) => ({
          ...configMap('x'.repeat(bytes)),
          metadata: { name: String(from + i), namespace: 'ns' },
        }));
        const metadata = { resourceVersion: '7', ...(to < count && { continue: String(to) }) };
        response.writeHead(200, jsonHead).end(JSON.stringify({ metadata, items }));
      };
    const listed = async (): Promise<string[]> => {
      const names: string[] = [];
      for await (const { items } of client.list(MAPS, {})) names.push(...items.map((o) => o.metadata.name));
      return names;
    };

    it('are requested again with fewer objects if they are too large', async () => {
      handler = pages(20, 80 * KIB);
      expect(await listed()).to.deep.equal(Array.from({ length: 20 }, (_, i) => String(i)));
      const limits = urls.map((path) => new URL(path, url).searchParams.get('limit'));
      expect(limits).to.deep.equal(['500', '62', '7', '7', '7']);
    });

    it('end the list if a single object is too large', async () => {
      handler = pages(3, 700 * KIB);
      const error = await failureOf(listed());
      expect(error).to.be.instanceOf(ResponseTooLarge);
      expect(new URL(urls.at(-1) ?? '', url).searchParams.get('limit')).to.equal('1');
      expect(urls).to.have.length(4);
    });

    it('end the list if there are too many objects', async () => {
      handler = pages(Infinity, KIB);
      const error = await failureOf(listed());
      expect(error.message).to.match(/list ConfigMap with lists of more than 2 MiB/);
      await untilClosed();
    }).timeout(10_000);
  });

  describe('that never end, however small', () => {
    for (const status of [200, 403]) {
      it(`are given up after a minute: ${String(status)}`, async () => {
        const clock = new FakeClock();
        await open(small({}), clock);
        const before = clock.pending;
        handler = (_, response) => response.writeHead(status, jsonHead).write('{"metadata":');
        const failed = failureOf(client.send({ verb: 'create', kind: MAPS, object: configMap('') }));
        await eventually('the time limit is set', () => clock.pending !== before, { everyMs: 0 });
        await clock.advance(60_000);
        expect((await failed).message).to.match(
          /the answer took more than 60 s to arrive, while trying to create ConfigMap/,
        );
      });
    }
  });

  describe('that are large', () => {
    /** Held back after the first half until the test releases it. */
    const inHalves = (): { readonly begun: () => number; finish(): void } => {
      const open: ServerResponse[] = [];
      const [head, tail] = [`{"metadata":{"name":"${'x'.repeat(400 * KIB)}`, '"}}'];
      handler = (_, response) => {
        response.writeHead(200, jsonHead).write(head);
        open.push(response);
      };
      return { begun: () => open.length, finish: () => open.shift()?.end(tail) };
    };
    const until = (isSo: () => boolean) => eventually(String(isSo), isSo, { everyMs: 0 });

    it('wait for their share of the budget, and small ones do not', async () => {
      const budget = new ByteBudget(600 * KIB);
      await open(small({ budget }));
      const halves = inHalves();
      const first = client.get(MAPS, 'ns/first');
      await until(() => budget.used > 0);
      let isSecondDone = false;
      const second = client.get(MAPS, 'ns/second').then(() => (isSecondDone = true));
      await until(() => halves.begun() === 2);
      handler = (_, response) => response.writeHead(200, jsonHead).end(JSON.stringify(configMap('')));
      await get();
      expect(isSecondDone).to.equal(false);
      halves.finish();
      await first;
      halves.finish();
      await second;
      expect(budget.used).to.equal(0);
    });

    it('and slow lose their share to others', async () => {
      const [clock, budget] = [new FakeClock(), new ByteBudget(600 * KIB)];
      await open(small({ budget }), clock);
      inHalves();
      const write = { verb: 'create', kind: MAPS, object: configMap('') } as const;
      const first = failureOf(client.send(write));
      await until(() => budget.used > 0);
      await clock.advance(60_000);
      const error = await first;
      expect(error).to.be.instanceOf(TransportError);
      expect(error.message).to.match(
        /the answer took more than 60 s to arrive, while trying to create ConfigMap/,
      );
      expect(budget.used).to.equal(0);
    });

    it('use the share of the namespace that the connection is for', async () => {
      handler = (_, response) =>
        response.writeHead(200, jsonHead).end(JSON.stringify(configMap('x'.repeat(300 * KIB))));
      const budget = new RecordedBudget(2 * MIB);
      for (const usedBy of ['team-a', undefined]) {
        await open(small({ budget }), systemClock, undefined, usedBy);
        await get();
      }
      expect(budget.keys).to.deep.equal(['namespace team-a', `server ${new URL(url).host}`]);
    });

    it('leave the queue when their caller aborts', async () => {
      const budget = new ByteBudget(600 * KIB);
      await open(small({ budget }));
      const other = await budget.take(600 * KIB, 'another server');
      const halves = inHalves();
      const stop = new AbortController();
      const waiting = failureOf(client.get(MAPS, 'ns/a', stop.signal));
      await until(() => halves.begun() === 1);
      stop.abort(new Error('stopped'));
      expect((await waiting).message).to.equal('stopped');
      other.release();
      expect(budget.used).to.equal(0);
    });
  });

  describe('that are watches', () => {
    const exhausted = async (): Promise<void> => {
      for await (const frame of client.watch(MAPS, {}, new AbortController().signal))
        expect(frame.type).to.equal('OPEN');
    };
    for (const [title, piece, says] of [
      ['an endless line', `"${'x'.repeat(8 * KIB)}`, /with an event of more than 51200 bytes/],
      [
        'a line that is too long',
        `{"a":"${'x'.repeat(60 * KIB)}"}\n`,
        /with an event of more than 51200 bytes/,
      ],
      ['an event of nested arrays', `${'['.repeat(100)}\n`, /nested more than 20 levels/],
      ['an event of very many values', `[${'{},'.repeat(1_100)}0]\n`, /more than 1000 values/],
    ] as const) {
      it(`are cut off: ${title}`, async () => {
        handler = (_, response) => {
          sendForEver(response.writeHead(200, jsonHead), piece);
        };
        const error = await failureOf(exhausted());
        expect(error).to.be.instanceOf(ResponseTooLarge);
        expect(error.message).to.match(says);
        await untilClosed();
      });
    }

    it('may continue forever, line by line', async () => {
      const line = `${JSON.stringify({ type: 'ADDED', object: configMap('x'.repeat(KIB)) })}\n`;
      handler = (_, response) => {
        sendForEver(response.writeHead(200, jsonHead), line);
      };
      const stop = new AbortController();
      let count = 0;
      for await (const frame of client.watch(MAPS, {}, stop.signal))
        if (frame.type === 'ADDED' && ++count === 2_000) break;
      expect(count * KIB).to.be.above(small().maxBytes);
    });
  });
});

describe('the limits for responses', () => {
  it('are set, and the budget grows with them', () => {
    const { host, target, downloads } = createResponses({
      hostResponseMiB: 100,
      targetResponseMiB: 20,
      targetResponseDepth: 60,
      downloadMiB: 3,
    });
    expect([host.maxBytes, target.maxBytes, downloads.maxBytes]).to.deep.equal([
      100 * MIB,
      20 * MIB,
      3 * MIB,
    ]);
    expect(target.maxDepth).to.equal(60);
    for (const { maxBytes, budget } of [host, target, downloads])
      expect(budget.total).to.be.at.least(2 * maxBytes);
  });

  it('allow any object that etcd stores', () => {
    const { host } = createResponses();
    expect(host.maxElements).to.be.at.least(1.5 * MIB);
    expect(host.maxFrameBytes).to.be.at.least(4 * MIB);
  });
});
