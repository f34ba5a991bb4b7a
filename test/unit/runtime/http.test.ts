import { expect } from 'chai';
import { createMetrics } from '../../../src/observability/metrics.ts';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { systemClock } from '../../../src/lib/clock.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import { createClient } from '../../../src/runtime/transport/client.ts';
import {
  AlreadyExists,
  Conflict,
  Forbidden,
  Gone,
  Invalid,
  NotFound,
  ServerFailure,
  ShutdownError,
  TooManyRequests,
  TransportError,
  Unauthorized,
} from '../../../src/runtime/errors.ts';
import { connect, type ConnectOptions, type Connection } from '../../../src/runtime/transport/http.ts';
import type { Client, Frame, Kind, Obj } from '../../../src/runtime/types.ts';
import { FakeClock } from '../../support/clock.ts';
import { pause, eventually } from '../../support/waiting.ts';

const MAPS: Kind = { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true };
const LEASES: Kind = {
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  plural: 'leases',
  namespaced: true,
};

type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void;

interface Stub {
  readonly url: string;
  readonly requests: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[];
  readonly sockets: Set<Socket>;
  connections: number;
  handler: Handler;
  close(): Promise<void>;
}

async function startStub(handler: Handler): Promise<Stub> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const { method = '', url = '', headers } = request;
      stub.requests.push({ method, url, headers, body });
      stub.handler(request, response, body);
    });
  });
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    stub.connections++;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const stub: Stub = {
    url: `http://127.0.0.1:${String(port)}`,
    requests: [],
    sockets,
    connections: 0,
    handler,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return stub;
}

const json = (response: ServerResponse, status: number, body: unknown, headers: object = {}): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
};

const status = (code: number, reason: string, message: string, details?: object): object => ({
  kind: 'Status',
  code,
  reason,
  message,
  ...(details && { details }),
});

const configMap = (name: string): Obj => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'ns' },
});

const kubeconfig = (server: string, user: object = { token: 'secret-token' }): string =>
  JSON.stringify({
    clusters: [{ name: 'c', cluster: { server } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', namespace: 'home' } }],
    'current-context': 'x',
  });

/**
 * The server's real time passes while the pauses of the client take none; a minute is the timeout for a response,
 * which is never reached.
 */
function hastyClock(): FakeClock & { readonly slept: number[] } {
  const clock = new FakeClock() as FakeClock & { slept: number[] };
  clock.slept = [];
  clock.at = (when, fn) => {
    if (when - clock.now() >= 60_000) return () => undefined;
    clock.slept.push(Math.round(when - clock.now()));
    const handle = setImmediate(fn);
    return () => {
      clearImmediate(handle);
    };
  };
  return clock;
}

describe('requests to an API server', () => {
  let stub: Stub;
  let connection: Connection;
  let client: Client;
  let clock: ReturnType<typeof hastyClock>;

  const open = async (options: Partial<ConnectOptions> = {}): Promise<void> => {
    connection = await connect({
      kubeconfig: { text: kubeconfig(stub.url) },
      userAgent: 'test/1',
      clock,
      log: silentLogger,
      rng: { next: () => 0.5 },
      ...options,
    });
    client = createClient(connection);
  };

  beforeEach(async () => {
    clock = hastyClock();
    stub = await startStub((_, response) => {
      json(response, 200, configMap('a'));
    });
    await open();
  });

  afterEach(async () => {
    await connection.close();
    await stub.close();
  });

  it('have the credentials and the user agent', async () => {
    await client.get(MAPS, 'ns/a');
    expect(stub.requests[0]).to.deep.include({ method: 'GET', url: '/api/v1/namespaces/ns/configmaps/a' });
    expect(stub.requests[0]?.headers).to.include({
      authorization: 'Bearer secret-token',
      'user-agent': 'test/1',
      accept: 'application/json',
    });
    expect(connection.namespace).to.equal('home');
  });

  it('share a handful of sockets', async () => {
    for (let round = 0; round < 5; round++) {
      await Promise.all(Array.from({ length: 40 }, () => client.get(MAPS, 'ns/a')));
    }
    expect(stub.requests).to.have.length(200);
    expect(stub.connections).to.be.at.most(32);
    const before = stub.connections;
    for (let i = 0; i < 50; i++) await client.get(MAPS, 'ns/a');
    expect(stub.connections).to.equal(before);
  });

  it('keep their sockets also after deletes, which have a body', async () => {
    for (let i = 0; i < 20; i++) {
      await client.send({ verb: 'delete', kind: MAPS, key: 'ns/a', uid: 'u' });
      await client.send({ verb: 'merge', kind: MAPS, key: 'ns/a', body: {} });
    }
    expect(stub.requests).to.have.length(40);
    // A request right afterwards may find the first socket not yet free.
    expect(stub.connections).to.be.at.most(2);
  });

  it('send writes before reads, and reads before lists', async () => {
    await connection.close();
    await open({ maxSockets: 1 });
    const first = client.get(MAPS, 'ns/first');
    const list = (async () => {
      for await (const page of client.list(MAPS, {})) expect(page).to.be.an('object');
    })();
    const read = client.get(MAPS, 'ns/read');
    const write = client.send({ verb: 'merge', kind: MAPS, key: 'ns/write', body: {} });
    await Promise.all([first, list, read, write]);
    const order = stub.requests.map((r) => /first|read|write/.exec(r.url)?.[0] ?? 'list');
    expect(order).to.deep.equal(['first', 'write', 'read', 'list']);
  });

  it('RUN-123: are repeated after the pause of a 429, without delaying the lease', async () => {
    let refusals = 0;
    let leaseDone = false;
    stub.handler = (request, response) => {
      if (request.url?.includes('leases')) {
        json(response, 200, { metadata: { name: 'l' } });
      } else if (refusals++ === 0) {
        json(response, 429, status(429, 'TooManyRequests', 'slow down'), { 'retry-after': '3' });
      } else {
        expect(leaseDone).to.equal(true);
        json(response, 200, configMap('a'));
      }
    };
    const slow = new FakeClock();
    await connection.close();
    await open({ maxSockets: 1, clock: slow });
    const created = client.send({ verb: 'create', kind: MAPS, object: configMap('a') });
    await eventually('the request waits', () => stub.requests.length > 0 && slow.pending > 0, { everyMs: 0 });
    await client.get(LEASES, 'ns/l');
    leaseDone = true;
    await slow.advance(2_999);
    expect(stub.requests).to.have.length(2);
    await slow.advance(1);
    expect((await created).metadata.name).to.equal('a');
    expect(stub.requests.map((r) => r.method)).to.deep.equal(['POST', 'GET', 'POST']);
  });

  it('give up if the server always answers 429', async () => {
    stub.handler = (_, response) => {
      json(response, 429, status(429, 'TooManyRequests', 'slow down', { retryAfterSeconds: 2 }));
    };
    const error = await failure(client.get(MAPS, 'ns/a'));
    expect(error).to.be.instanceOf(TooManyRequests);
    expect(error).to.have.property('retryAfterMs', 2000);
    expect(stub.requests).to.have.length(8);
    expect(clock.slept).to.deep.equal(Array<number>(7).fill(2000));
  });

  it('are repeated after 500 if they only read', async () => {
    let count = 0;
    stub.handler = (_, response) => {
      if (count++ < 2) json(response, 500, status(500, 'InternalError', 'etcd is tired'));
      else json(response, 200, configMap('a'));
    };
    expect((await client.get(MAPS, 'ns/a')).metadata.name).to.equal('a');
    expect(stub.requests).to.have.length(3);
  });

  it('are not repeated after 500 if they may have had an effect', async () => {
    stub.handler = (_, response) => {
      json(response, 500, status(500, 'InternalError', 'etcd is tired'));
    };
    const error = await failure(client.send({ verb: 'create', kind: MAPS, object: configMap('a') }));
    expect(error).to.be.instanceOf(ServerFailure);
    expect(error.message).to.equal('cannot create ConfigMap ns/a: etcd is tired');
    expect(stub.requests).to.have.length(1);
  });

  it('survive a connection that breaks without a response if they only read', async () => {
    let count = 0;
    stub.handler = (request, response) => {
      if (count++ === 0) request.socket.destroy();
      else json(response, 200, configMap('a'));
    };
    expect((await client.get(MAPS, 'ns/a')).metadata.name).to.equal('a');
  });

  it('report whether a broken request can be repeated safely', async () => {
    stub.handler = (request) => request.socket.destroy();
    const unsafe = await failure(client.send({ verb: 'create', kind: MAPS, object: configMap('a') }));
    expect(unsafe).to.be.instanceOf(TransportError).and.to.have.property('safeToRepeat', false);
    expect(unsafe.message).to.match(/^lost the connection to http.* while trying to create ConfigMap ns\/a$/);
    expect(stub.requests).to.have.length(1);
    const safe = await failure(client.send({ verb: 'merge', kind: MAPS, key: 'ns/a', body: { data: {} } }));
    expect(safe).to.be.instanceOf(TransportError).and.to.have.property('safeToRepeat', true);
    const locked = {
      verb: 'merge',
      kind: MAPS,
      key: 'ns/a',
      body: { metadata: { resourceVersion: '1' } },
    } as const;
    expect(await failure(client.send(locked))).to.have.property('safeToRepeat', false);
  });

  it('report a truncated response', async () => {
    stub.handler = (request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
      response.write('{"kind":"Conf');
      void pause(10).then(() => request.socket.destroy());
    };
    const error = await failure(client.send({ verb: 'create', kind: MAPS, object: configMap('a') }));
    expect(error).to.be.instanceOf(TransportError);
  });

  it('report a response that is invalid, without quoting it', async () => {
    stub.handler = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end('{"password": hunter2}');
    };
    const error = await failure(client.get(MAPS, 'ns/a'));
    expect(error).to.be.instanceOf(TransportError);
    expect(error.message).not.to.contain('hunter2');
  });

  it('report why a name of 100 KB is rejected, without the name', async () => {
    const name = 'x'.repeat(100_000);
    stub.handler = (_, response) => {
      json(
        response,
        422,
        status(422, 'Invalid', `"${name}" is invalid: must be no more than 253 characters`),
      );
    };
    const error = await failure(client.send({ verb: 'create', kind: MAPS, object: configMap(name) }));
    expect(error.message).to.match(/must be no more than 253 characters$/);
    expect(error.message.length).to.be.below(2_000);
  });

  it('wait for a slow response', async () => {
    stub.handler = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const text = JSON.stringify(configMap('ä'));
      const bytes = Buffer.from(text);
      let i = 0;
      const drip = (): void => {
        if (i >= bytes.length) {
          response.end();
          return;
        }
        response.write(bytes.subarray(i, i + 7));
        i += 7;
        setImmediate(drip);
      };
      drip();
    };
    expect((await client.get(MAPS, 'ns/a')).metadata.name).to.equal('ä');
  });

  it('name the server that cannot be reached', async () => {
    await stub.close();
    const error = await failure(client.get(MAPS, 'ns/a'));
    expect(error).to.be.instanceOf(TransportError).and.to.have.property('safeToRepeat', true);
    expect(error.message).to.equal(
      `cannot reach ${stub.url} (ECONNREFUSED), while trying to get ConfigMap ns/a`,
    );
    stub = await startStub((_, response) => response.end());
  });

  const refusals: [number, string, new (...args: never[]) => Error][] = [
    [400, 'BadRequest', Invalid],
    [401, 'Unauthorized', Unauthorized],
    [403, 'Forbidden', Forbidden],
    [404, 'NotFound', NotFound],
    [409, 'Conflict', Conflict],
    [409, 'AlreadyExists', AlreadyExists],
    [410, 'Expired', Gone],
    [422, 'Invalid', Invalid],
    [503, 'ServiceUnavailable', ServerFailure],
  ];
  for (const [code, reason, Class] of refusals) {
    it(`turn ${String(code)} ${reason} into ${Class.name}`, async () => {
      stub.handler = (_, response) => {
        json(response, code, status(code, reason, 'no'));
      };
      const error = await failure(client.send({ verb: 'create', kind: MAPS, object: configMap('a') }));
      expect(error).to.be.instanceOf(Class);
      expect(error).to.deep.include({ status: code, reason });
      expect(error.message).to.equal('cannot create ConfigMap ns/a: no');
    });
  }

  it('keep the causes of a rejection, but nothing of a Secret', async () => {
    const causes = [{ reason: 'FieldValueInvalid', field: 'data.x', message: 'Invalid value: "hunter2"' }];
    stub.handler = (_, response) => {
      json(response, 422, status(422, 'Invalid', 'data.x: Invalid value: "hunter2"', { causes }));
    };
    const secrets: Kind = { ...MAPS, kind: 'Secret', plural: 'secrets' };
    const of = (kind: Kind): Promise<Error> =>
      failure(client.send({ verb: 'create', kind, object: { ...configMap('a'), kind: kind.kind } }));
    expect(await of(MAPS)).to.have.deep.property('causes', causes);
    const secret = await of(secrets);
    expect(JSON.stringify([secret.message, secret])).not.to.contain('hunter2');
    expect(secret).to.have.deep.property('causes', [{ reason: 'FieldValueInvalid', field: 'data.x' }]);
  });

  it('accept plain text from a proxy', async () => {
    stub.handler = (_, response) => {
      response.writeHead(502, { 'content-type': 'text/html' });
      response.end('<html>secret</html>');
    };
    const error = await failure(client.send({ verb: 'create', kind: MAPS, object: configMap('a') }));
    expect(error.message).to.equal('cannot create ConfigMap ns/a: the server answered 502');
  });

  it('end with the reason of their signal', async () => {
    stub.handler = () => undefined;
    const stop = new AbortController();
    const answer = failure(client.get(MAPS, 'ns/a', stop.signal));
    await eventually('the request arrives', () => stub.requests.length > 0, { everyMs: 0 });
    stop.abort(new Error('enough'));
    expect((await answer).message).to.equal('enough');
  });

  it('end with a ShutdownError when the connection is closed', async () => {
    stub.handler = () => undefined;
    const answer = failure(client.get(MAPS, 'ns/a'));
    await eventually('the request arrives', () => stub.requests.length > 0, { everyMs: 0 });
    await connection.close();
    expect(await answer).to.be.instanceOf(ShutdownError);
    expect(await failure(client.get(MAPS, 'ns/a'))).to.be.instanceOf(ShutdownError);
  });

  it('are counted by code, method and host', async () => {
    const metrics = createMetrics();
    await connection.close();
    await open({ metrics });
    await client.get(MAPS, 'ns/a');
    const host = new URL(stub.url).host;
    expect(await metrics.text())
      .to.contain(`rest_client_requests_total{code="200",method="GET",host="${host}"} 1`)
      .and.to.contain(`rest_client_request_duration_seconds_count{verb="get",host="${host}"} 1`);
  });

  it('RUN-126: have a series for each verb from the start, at 0, and keep it when another connection is opened', async () => {
    const metrics = createMetrics();
    await connection.close();
    await open({ metrics });
    const host = new URL(stub.url).host;
    const counts = async (verb: string): Promise<(number | undefined)[]> => {
      const lines = (await metrics.text()).split('\n');
      return [
        'request_duration_seconds_count',
        'rate_limiter_duration_seconds_count',
        'request_retries_total',
      ]
        .map((name) => `rest_client_${name}{verb="${verb}",host="${host}"} `)
        .map((start) => lines.find((line) => line.startsWith(start))?.slice(start.length))
        .map((value) => (value === undefined ? undefined : Number(value)));
    };
    for (const verb of ['get', 'list', 'watch', 'create', 'update', 'patch', 'apply', 'delete'])
      expect(await counts(verb), verb).to.deep.equal([0, 0, 0]);
    await client.get(MAPS, 'ns/a');
    const other = await connect({
      kubeconfig: { text: kubeconfig(stub.url) },
      userAgent: 'other/1',
      clock,
      log: silentLogger,
      metrics,
    });
    await other.close();
    expect(await counts('get')).to.deep.equal([1, 1, 0]);
  });

  it('report how long they waited in the queue', async () => {
    const metrics = createMetrics();
    const slow = new FakeClock();
    await connection.close();
    await open({ metrics, maxSockets: 1, clock: slow });
    let finish = (): void => undefined;
    stub.handler = (_, response) => {
      finish = () => {
        json(response, 200, configMap('a'));
      };
    };
    const first = client.get(MAPS, 'ns/a');
    await eventually('the request arrives', () => stub.requests.length > 0, { everyMs: 0 });
    const second = client.send({ verb: 'merge', kind: MAPS, key: 'ns/a', body: {} });
    await slow.advance(3_000);
    stub.handler = (_, response) => {
      json(response, 200, configMap('a'));
    };
    finish();
    await Promise.all([first, second]);
    const host = new URL(stub.url).host;
    const sum = 'rest_client_rate_limiter_duration_seconds_sum';
    expect(await metrics.text())
      .to.contain(`${sum}{verb="get",host="${host}"} 0`)
      .and.to.contain(`${sum}{verb="patch",host="${host}"} 3`);
  });

  describe('of every kind', () => {
    const sent = (): { method: string; url: string; type: string | undefined; body: unknown } => {
      const last = stub.requests.at(-1)!;
      return {
        method: last.method,
        url: last.url,
        type: last.headers['content-type'],
        body: last.body === '' ? undefined : JSON.parse(last.body),
      };
    };

    it('create posts to the collection', async () => {
      await client.send({ verb: 'create', kind: MAPS, object: configMap('a') });
      expect(sent()).to.deep.equal({
        method: 'POST',
        url: '/api/v1/namespaces/ns/configmaps?fieldManager=espalier',
        type: 'application/json',
        body: configMap('a'),
      });
    });

    it('replace puts the whole object', async () => {
      await client.send({ verb: 'replace', kind: MAPS, object: configMap('a'), sub: 'status' });
      expect(sent()).to.deep.include({
        method: 'PUT',
        url: '/api/v1/namespaces/ns/configmaps/a/status?fieldManager=espalier',
      });
    });

    it('merge sends its content type', async () => {
      await client.send({ verb: 'merge', kind: MAPS, key: 'ns/a', body: { x: null }, sub: 'status' });
      expect(sent()).to.deep.equal({
        method: 'PATCH',
        url: '/api/v1/namespaces/ns/configmaps/a/status?fieldManager=espalier',
        type: 'application/merge-patch+json',
        body: { x: null },
      });
    });

    it('json patch sends its content type', async () => {
      const ops = [{ op: 'test', path: '/a', value: 1 }] as const;
      await client.send({ verb: 'json', kind: MAPS, key: 'ns/a', ops });
      expect(sent()).to.deep.include({ type: 'application/json-patch+json', body: ops });
    });

    it('apply names its field manager', async () => {
      await client.send({ verb: 'apply', kind: MAPS, object: configMap('a'), manager: 'me', force: true });
      expect(sent()).to.deep.equal({
        method: 'PATCH',
        url: '/api/v1/namespaces/ns/configmaps/a?fieldManager=me&force=true',
        type: 'application/apply-patch+yaml',
        body: configMap('a'),
      });
    });

    it('delete has its preconditions in the body', async () => {
      await client.send({ verb: 'delete', kind: MAPS, key: 'ns/a', uid: 'u', propagation: 'Foreground' });
      expect(sent()).to.deep.equal({
        method: 'DELETE',
        url: '/api/v1/namespaces/ns/configmaps/a',
        type: 'application/json',
        body: {
          apiVersion: 'v1',
          kind: 'DeleteOptions',
          preconditions: { uid: 'u' },
          propagationPolicy: 'Foreground',
        },
      });
    });

    it('list reads all pages and adds kinds to the items', async () => {
      stub.handler = (request, response) => {
        const isSecond = request.url?.includes('continue=t1');
        const items = [{ metadata: { name: isSecond ? 'b' : 'a' } }];
        json(response, 200, {
          metadata: { resourceVersion: '7', ...(!isSecond && { continue: 't1' }) },
          items,
        });
      };
      const seen: unknown[] = [];
      for await (const page of client.list(MAPS, { namespace: 'ns', labels: 'a=b', resourceVersion: '5' })) {
        seen.push(page);
      }
      expect(seen).to.deep.equal(
        ['a', 'b'].map((name) => ({
          items: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } }],
          resourceVersion: '7',
        })),
      );
      const [first, second] = stub.requests.map((r) => new URL(r.url, stub.url).searchParams);
      expect(Object.fromEntries(first!)).to.deep.equal({
        labelSelector: 'a=b',
        limit: '500',
        resourceVersion: '5',
        resourceVersionMatch: 'NotOlderThan',
      });
      expect(Object.fromEntries(second!)).to.deep.equal({
        labelSelector: 'a=b',
        limit: '500',
        continue: 't1',
      });
    });

    it('RUN-C7: can request metadata only', async () => {
      stub.handler = (_, response) => {
        json(response, 200, {
          metadata: {},
          items: [{ kind: 'PartialObjectMetadata', metadata: { name: 'a' } }],
        });
      };
      for await (const page of client.list(MAPS, { metadataOnly: true })) {
        expect(page.items[0]?.kind).to.equal('ConfigMap');
      }
      expect(stub.requests[0]?.headers.accept).to.match(/^application\/json;as=PartialObjectMetadataList;/);
    });
  });

  describe('watching', () => {
    const collect = async (frames: AsyncIterable<Frame<Obj>>): Promise<Frame<Obj>[]> => {
      const all: Frame<Obj>[] = [];
      for await (const frame of frames) all.push(frame);
      return all;
    };
    const line = (type: string, object: object): string => `${JSON.stringify({ type, object })}\n`;
    const signal = new AbortController().signal;

    it('returns frames in order, however the bytes were split', async () => {
      const text =
        line('ADDED', { metadata: { name: 'ä€😀', resourceVersion: '1' } }) +
        line('BOOKMARK', {
          metadata: { resourceVersion: '2', annotations: { 'k8s.io/initial-events-end': 'true' } },
        }) +
        line('DELETED', { metadata: { name: 'b', resourceVersion: '3' } });
      stub.handler = (_, response) => {
        const bytes = Buffer.from(text);
        let i = 0;
        const drip = (): void => {
          if (i >= bytes.length) {
            response.end();
            return;
          }
          response.write(bytes.subarray(i, ++i));
          setImmediate(drip);
        };
        drip();
      };
      const frames = await collect(client.watch(MAPS, { resourceVersion: '0', timeoutSeconds: 300 }, signal));
      const meta = { apiVersion: 'v1', kind: 'ConfigMap' };
      expect(frames).to.deep.equal([
        { type: 'OPEN' },
        { type: 'ADDED', object: { ...meta, metadata: { name: 'ä€😀', resourceVersion: '1' } } },
        { type: 'BOOKMARK', resourceVersion: '2', initialEventsEnd: true },
        { type: 'DELETED', object: { ...meta, metadata: { name: 'b', resourceVersion: '3' } } },
      ]);
      const query = Object.fromEntries(new URL(stub.requests[0]!.url, stub.url).searchParams);
      expect(query).to.deep.equal({
        watch: 'true',
        allowWatchBookmarks: 'true',
        resourceVersion: '0',
        timeoutSeconds: '300',
      });
    });

    const faults: [string, Handler, RegExp][] = [
      ['a truncated line', (_, r) => r.end('{"type":"ADDED","object":{"meta'), /a line was cut off/],
      ['a line that is not an event', (_, r) => r.end('"hello"\n'), /not a watch event/],
      ['an unknown type', (_, r) => r.end(line('WHAT', {})), /unknown type WHAT/],
      [
        'a reset in the middle of a frame',
        (request, r) => {
          r.write('{"type":"ADDED","obj');
          void pause(20).then(() => request.socket.resetAndDestroy());
        },
        /lost the connection/,
      ],
    ];
    for (const [title, handler, message] of faults) {
      it(`reports ${title} as a TransportError`, async () => {
        stub.handler = handler;
        const error = await failure(collect(client.watch(MAPS, {}, signal)));
        expect(error).to.be.instanceOf(TransportError);
        expect(error.message).to.match(message);
      });
    }

    it('passes an error in the stream on', async () => {
      stub.handler = (_, response) => response.end(line('ERROR', { code: 410, reason: 'Expired' }));
      const frames = await collect(client.watch(MAPS, {}, signal));
      expect(frames.at(-1)).to.deep.equal({ type: 'ERROR', status: { code: 410, reason: 'Expired' } });
    });

    it('fails with the error of the status', async () => {
      stub.handler = (_, response) => {
        json(response, 410, status(410, 'Expired', 'too old resource version'));
      };
      expect(await failure(collect(client.watch(MAPS, {}, signal)))).to.be.instanceOf(Gone);
    });

    it('takes no sockets from requests, and closes its own when it ends', async () => {
      await connection.close();
      await open({ maxSockets: 1 });
      const stop = new AbortController();
      stub.handler = (request, response) => {
        if (request.url?.includes('watch=true')) response.write(line('ADDED', { metadata: { name: 'a' } }));
        else json(response, 200, configMap('a'));
      };
      const watches = Array.from({ length: 5 }, () =>
        client.watch(MAPS, {}, stop.signal)[Symbol.asyncIterator](),
      );
      for (const watch of watches) expect((await watch.next()).value).to.deep.equal({ type: 'OPEN' });
      expect((await client.get(MAPS, 'ns/a')).metadata.name).to.equal('a');
      const sockets = [...stub.sockets];
      expect(sockets).to.have.length(6);
      stop.abort(new Error('stop'));
      for (const watch of watches) await failure(exhaust(watch));
      await eventually(
        'all sockets but one are closed',
        () => sockets.filter((socket) => !socket.destroyed).length <= 1,
      );
    });

    it('does not read faster than its reader', async () => {
      let written = 0;
      let isFull = false;
      const big = line('ADDED', { metadata: { name: 'a' }, data: 'x'.repeat(100_000) });
      stub.handler = (_, response) => {
        const write = (): void => {
          while (written < 2_000) {
            written++;
            if (!response.write(big)) {
              isFull = true;
              response.once('drain', write);
              return;
            }
          }
        };
        write();
      };
      const stop = new AbortController();
      const watch = client.watch(MAPS, {}, stop.signal)[Symbol.asyncIterator]();
      await watch.next();
      await watch.next();
      await eventually('the socket is full', () => isFull, { everyMs: 0 });
      for (let i = 0; i < 500; i++) await new Promise((r) => setImmediate(r));
      expect(written, 'lines of 100 KB sent while nobody reads').to.be.below(200);
      stop.abort(new Error('stop'));
      await failure(exhaust(watch));
    });

    it('yields to the event loop while it decodes', async () => {
      await connection.close();
      await open({ clock: systemClock });
      const many = line('ADDED', { metadata: { name: 'a', resourceVersion: '1' }, data: 'x'.repeat(20_000) });
      stub.handler = (_, response) => response.end(many.repeat(1_000));
      // In processor time of this process, so that other load on the machine does not count.
      const spentMs = (): number => {
        const { user, system } = process.cpuUsage();
        return (user + system) / 1000;
      };
      let longest = 0;
      const first = spentMs();
      let last = first;
      let isRunning = true;
      const measure = (): void => {
        longest = Math.max(longest, spentMs() - last);
        last = spentMs();
        if (isRunning) setImmediate(measure);
      };
      setImmediate(measure);
      const frames = await collect(client.watch(MAPS, {}, signal));
      isRunning = false;
      expect(frames).to.have.length(1_001);
      // All at once it would be nearly the whole.
      expect(longest).to.be.below((spentMs() - first) * 0.75);
    });
  });
});

async function exhaust(iterator: AsyncIterator<unknown>): Promise<void> {
  while (!(await iterator.next()).done);
}

async function failure(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise;
  } catch (error) {
    return error as Error;
  }
  throw new Error('should have failed');
}
