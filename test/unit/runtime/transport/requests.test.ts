/** The requests that the verbs of a client become, on a connection that keeps them. */
import { expect } from 'chai';
import { DefinitionError, ResponseTooLarge, TransportError } from '../../../../src/runtime/errors.ts';
import { createClient, errorInFrame } from '../../../../src/runtime/transport/client.ts';
import type { Connection, HttpRequest } from '../../../../src/runtime/transport/http.ts';
import { createResponses } from '../../../../src/runtime/transport/responses.ts';
import type { Client, Kind, Obj, Page, Query, Write } from '../../../../src/runtime/types.ts';
import { FakeClock } from '../../../support/clock.ts';

const maps: Kind = { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true };
const nodes: Kind = { group: '', version: 'v1', kind: 'Node', plural: 'nodes', namespaced: false };
const leases: Kind = {
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  plural: 'leases',
  namespaced: true,
};
const map: Obj = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'ns', name: 'a' } };
const JSON_TYPE = 'application/json';

interface Scene {
  readonly client: Client;
  readonly requests: HttpRequest[];
  /** What the next requests answer; an error is thrown. */
  readonly answers: unknown[];
}

function createScene(lines: readonly object[] = []): Scene & { readonly streams: unknown[] } {
  const requests: HttpRequest[] = [];
  const streams: unknown[] = [];
  const answers: unknown[] = [];
  const connection: Connection = {
    server: 'https://api',
    namespace: 'home',
    fieldManager: 'espalier',
    clock: new FakeClock(),
    responses: createResponses({ targetResponseMiB: 1 }).target,
    address: () => Promise.resolve({ server: 'https://api' }),
    request(request) {
      requests.push(request);
      const answer = answers.shift();
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    },
    stream(request) {
      streams.push(request);
      const body = lines.map((line) => Buffer.from(`${JSON.stringify(line)}\n`));
      return Promise.resolve(
        (async function* () {
          yield* body;
          await Promise.resolve();
        })(),
      );
    },
    close: () => Promise.resolve(),
  };
  return { client: createClient(connection), requests, answers, streams };
}

describe('a write of a client', () => {
  const url = '/api/v1/namespaces/ns/configmaps';
  const ref = { kind: 'ConfigMap', namespace: 'ns', name: 'a' };
  const versioned = { metadata: { resourceVersion: '7' } };
  const rows: readonly (readonly [string, Write, Partial<HttpRequest>])[] = [
    [
      'create',
      { verb: 'create', kind: maps, object: map },
      {
        method: 'POST',
        path: `${url}?fieldManager=espalier`,
        ref: { verb: 'create', ...ref },
        body: JSON.stringify(map),
        isIdempotent: false,
        lane: 'write',
      },
    ],
    [
      'create of a cluster-scoped object',
      { verb: 'create', kind: nodes, object: { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } } },
      {
        path: '/api/v1/nodes?fieldManager=espalier',
        ref: { verb: 'create', kind: 'Node', namespace: undefined, name: 'n' },
      },
    ],
    [
      'replace',
      { verb: 'replace', kind: maps, object: map },
      {
        method: 'PUT',
        path: `${url}/a?fieldManager=espalier`,
        ref: { verb: 'update', ...ref },
        body: JSON.stringify(map),
        isIdempotent: false,
      },
    ],
    [
      'replace of a status',
      { verb: 'replace', kind: maps, object: map, sub: 'status' },
      { path: `${url}/a/status?fieldManager=espalier`, ref: { verb: 'update', ...ref, sub: 'status' } },
    ],
    [
      'merge without a version, which may be repeated',
      { verb: 'merge', kind: maps, key: 'ns/a', body: { metadata: {}, x: 1 } },
      {
        method: 'PATCH',
        path: `${url}/a?fieldManager=espalier`,
        ref: { verb: 'patch', ...ref },
        body: '{"metadata":{},"x":1}',
        contentType: 'application/merge-patch+json',
        isIdempotent: true,
      },
    ],
    [
      'merge without metadata, which may be repeated',
      { verb: 'merge', kind: maps, key: 'ns/a', body: { x: 1 } },
      { isIdempotent: true },
    ],
    [
      'merge with a version, which may not',
      { verb: 'merge', kind: maps, key: 'ns/a', body: versioned },
      { isIdempotent: false },
    ],
    [
      'JSON patch',
      { verb: 'json', kind: maps, key: 'ns/a', ops: [{ op: 'remove', path: '/x' }] },
      {
        method: 'PATCH',
        path: `${url}/a?fieldManager=espalier`,
        ref: { verb: 'patch', ...ref },
        body: '[{"op":"remove","path":"/x"}]',
        contentType: 'application/json-patch+json',
        isIdempotent: false,
      },
    ],
    [
      'apply without a version, which may be repeated',
      { verb: 'apply', kind: maps, object: map, manager: 'me', force: false },
      {
        method: 'PATCH',
        path: `${url}/a?fieldManager=me&force=false`,
        ref: { verb: 'apply', ...ref },
        body: JSON.stringify(map),
        contentType: 'application/apply-patch+yaml',
        isIdempotent: true,
      },
    ],
    [
      'apply with a version, which may not',
      {
        verb: 'apply',
        kind: maps,
        manager: 'me',
        force: true,
        object: { ...map, metadata: { ...map.metadata, resourceVersion: '7' } },
      },
      { isIdempotent: false },
    ],
    [
      'delete without conditions',
      { verb: 'delete', kind: maps, key: 'ns/a' },
      {
        method: 'DELETE',
        path: `${url}/a`,
        ref: { verb: 'delete', ...ref },
        isIdempotent: false,
        body: '{"apiVersion":"v1","kind":"DeleteOptions"}',
      },
    ],
    [
      'delete of one object and no namesake, with its time to end',
      {
        verb: 'delete',
        kind: maps,
        key: 'ns/a',
        uid: 'u',
        propagation: 'Orphan',
        gracePeriodSeconds: 0,
      },
      {
        body: '{"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"uid":"u"},"propagationPolicy":"Orphan","gracePeriodSeconds":0}',
      },
    ],
    [
      'delete of one version',
      { verb: 'delete', kind: maps, key: 'ns/a', resourceVersion: '7' },
      { body: '{"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"resourceVersion":"7"}}' },
    ],
    [
      'dry run',
      { verb: 'merge', kind: maps, key: 'ns/a', body: {}, isDryRun: true },
      { path: `${url}/a?fieldManager=espalier&dryRun=All` },
    ],
    [
      'dry run of a delete',
      { verb: 'delete', kind: maps, key: 'ns/a', isDryRun: true },
      { path: `${url}/a?dryRun=All` },
    ],
    [
      'write of a lease, which has sockets of its own',
      { verb: 'merge', kind: leases, key: 'ns/a', body: {} },
      { lane: 'lease' },
    ],
    [
      'write of a kind that is called Lease elsewhere',
      { verb: 'merge', kind: { ...leases, group: 'x.io' }, key: 'ns/a', body: {} },
      { lane: 'write' },
    ],
    [
      'write of another kind of the group of leases',
      { verb: 'merge', kind: { ...leases, kind: 'Other' }, key: 'ns/a', body: {} },
      { lane: 'write' },
    ],
  ];
  for (const [title, write, expected] of rows)
    it(`is one request: ${title}`, async () => {
      const { client, requests, answers } = createScene();
      answers.push(map);
      const { signal } = new AbortController();
      expect(await client.send(write, signal)).to.equal(map);
      expect(requests).to.have.length(1);
      expect(requests[0]).to.deep.include({ ...expected, signal });
    });

  it('is refused when it creates an object without a namespace that needs one', async () => {
    const { client, requests } = createScene();
    const object = { ...map, metadata: { name: 'a' } };
    const error: unknown = await client
      .send({ verb: 'create', kind: maps, object })
      .catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(DefinitionError);
    expect(String(error)).to.contain('ConfigMap a cannot be created: it has no namespace');
    expect(requests).to.deep.equal([]);
  });
});

describe('a read of a client', () => {
  it('asks for one object', async () => {
    const { client, requests, answers } = createScene();
    answers.push(map);
    const { signal } = new AbortController();
    expect(await client.get(maps, 'ns/a', signal)).to.equal(map);
    expect(requests).to.deep.equal([
      {
        method: 'GET',
        path: '/api/v1/namespaces/ns/configmaps/a',
        lane: 'read',
        isIdempotent: true,
        ref: { verb: 'get', kind: 'ConfigMap', namespace: 'ns', name: 'a' },
        signal,
      },
    ]);
  });

  it('of a lease does not stand in line', async () => {
    const { client, requests, answers } = createScene();
    answers.push(map);
    await client.get(leases, 'ns/a');
    expect(requests[0]?.lane).to.equal('lease');
  });

  for (const answer of [undefined, null, 'ok'])
    it(`fails when the answer is not an object but ${String(answer)}`, async () => {
      const { client, answers } = createScene();
      answers.push(answer);
      const error: unknown = await client.get(maps, 'ns/a').catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(TransportError).with.property('safeToRepeat', true);
      expect(String(error)).to.contain('https://api responded to get ConfigMap ns/a without an object');
    });
});

describe('a request outside of the verbs', () => {
  const rows: readonly (readonly [string, string, unknown, Partial<HttpRequest>])[] = [
    ['GET', '/version?x=1', undefined, { lane: 'read', isIdempotent: true, ref: refOf('get', '/version') }],
    ['HEAD', '/version', undefined, { lane: 'write', isIdempotent: true, ref: refOf('head', '/version') }],
    ['POST', '/x', { a: 1 }, { lane: 'write', isIdempotent: false, ref: refOf('post', '/x') }],
  ];
  function refOf(verb: string, kind: string) {
    return { verb, kind };
  }
  for (const [method, path, body, expected] of rows)
    it(`keeps its method and path: ${method}`, async () => {
      const { client, requests, answers } = createScene();
      answers.push('text');
      expect(await client.raw(method, path, body)).to.equal('text');
      const [request] = requests;
      expect(request).to.deep.include({ method, path, accept: 'application/json, */*', ...expected });
      expect(request?.body).to.equal(body === undefined ? undefined : JSON.stringify(body));
      expect(request).to.have.keys([
        'method',
        'path',
        'ref',
        'lane',
        'accept',
        'isIdempotent',
        'signal',
        ...(body === undefined ? [] : ['body']),
      ]);
    });
});

describe('a list of a client', () => {
  const pagesOf = async (scene: Scene, query: Query, kind: Kind = maps): Promise<Page<Obj>[]> => {
    const pages: Page<Obj>[] = [];
    for await (const page of scene.client.list(kind, query)) pages.push(page);
    return pages;
  };
  const queryOf = ({ path }: HttpRequest): unknown =>
    Object.fromEntries(new URL(path, 'https://api').searchParams);
  const queries = ({ requests }: Scene): unknown => requests.map(queryOf);

  const rows: readonly (readonly [string, Query, Partial<HttpRequest>, object])[] = [
    ['of all namespaces', {}, { path: '/api/v1/configmaps?limit=500' }, { limit: '500' }],
    [
      'of one namespace',
      { namespace: 'ns' },
      { path: '/api/v1/namespaces/ns/configmaps?limit=500' },
      { limit: '500' },
    ],
    [
      'by labels and fields',
      { labels: 'a=b', fields: 'c=d' },
      {},
      { limit: '500', labelSelector: 'a=b', fieldSelector: 'c=d' },
    ],
    ['of an empty selector', { labels: '', fields: '' }, {}, { limit: '500' }],
    [
      'not older than a version',
      { resourceVersion: '0' },
      {},
      { limit: '500', resourceVersion: '0', resourceVersionMatch: 'NotOlderThan' },
    ],
    ['of single objects', { limit: 1 }, { isPage: false }, { limit: '1' }],
    ['of two objects a page', { limit: 2 }, { isPage: true }, { limit: '2' }],
    [
      'of metadata alone',
      { metadataOnly: true },
      {
        accept: `${JSON_TYPE};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,${JSON_TYPE}`,
      },
      { limit: '500' },
    ],
  ];
  for (const [title, query, expected, parameters] of rows)
    it(`asks for pages: ${title}`, async () => {
      const scene = createScene();
      scene.answers.push({ items: [], metadata: { resourceVersion: '7' } });
      expect(await pagesOf(scene, query)).to.deep.equal([{ items: [], resourceVersion: '7' }]);
      const [request] = scene.requests;
      expect(request).to.deep.include({
        method: 'GET',
        lane: 'list',
        isIdempotent: true,
        ref: { verb: 'list', kind: 'ConfigMap', namespace: query.namespace },
        ...expected,
      });
      expect(request && queryOf(request)).to.deep.equal(parameters);
      expect(request && 'accept' in request).to.equal(query.metadataOnly === true);
    });

  it('asks for the next page by its token, and no longer by version', async () => {
    const scene = createScene();
    scene.answers.push(
      { items: [{ metadata: { name: 'a' } }], metadata: { resourceVersion: '7', continue: 't' } },
      { items: [{ metadata: { name: 'b' } }], metadata: { resourceVersion: '7' } },
    );
    const pages = await pagesOf(scene, { resourceVersion: '5' });
    expect(pages.map(({ items }) => items.map(({ metadata }) => metadata.name))).to.deep.equal([
      ['a'],
      ['b'],
    ]);
    expect(queries(scene)).to.deep.equal([
      { limit: '500', resourceVersion: '5', resourceVersionMatch: 'NotOlderThan' },
      { limit: '500', continue: 't' },
    ]);
  });

  it('says what the items are, whatever they say themselves', async () => {
    const scene = createScene();
    scene.answers.push({ items: [{ kind: 'PartialObjectMetadata', apiVersion: 'x', metadata: {} }] });
    const [page] = await pagesOf(scene, {}, leases);
    expect(page?.items).to.deep.equal([
      { kind: 'Lease', apiVersion: 'coordination.k8s.io/v1', metadata: {} },
    ]);
  });

  for (const body of [{}, { items: null }, { items: [], metadata: {} }])
    it(`is empty, of no version, when the answer is ${JSON.stringify(body)}`, async () => {
      const scene = createScene();
      scene.answers.push(body);
      expect(await pagesOf(scene, {})).to.deep.equal([{ items: [], resourceVersion: '' }]);
    });

  const excess = (of: ResponseTooLarge['excess']): Error =>
    new ResponseTooLarge({ message: 'large', excess: of, isFinal: true });

  for (const of of ['bytes', 'elements'] as const)
    it(`asks for an eighth of a page that has too many ${of}, down to single objects`, async () => {
      const scene = createScene();
      scene.answers.push(excess(of), excess(of), { items: [], metadata: { continue: 't' } }, {});
      await pagesOf(scene, { limit: 100 });
      expect(queries(scene)).to.deep.equal([
        { limit: '100' },
        { limit: '12' },
        { limit: '1' },
        { limit: '1', continue: 't' },
      ]);
    });

  it('fails when one object alone is too large', async () => {
    const scene = createScene();
    const error = excess('bytes');
    scene.answers.push(excess('bytes'), error);
    const failed: unknown = await pagesOf(scene, { limit: 2 }).catch((thrown: unknown) => thrown);
    expect([failed, queries(scene)]).to.deep.equal([error, [{ limit: '2' }, { limit: '1' }]]);
  });

  for (const error of [
    excess('depth'),
    excess('list'),
    new TransportError({ message: 'no', safeToRepeat: true }),
  ])
    it(`fails at once with another error: ${error.message} ${'excess' in error ? String(error.excess) : ''}`, async () => {
      const scene = createScene();
      scene.answers.push(error);
      const failed: unknown = await pagesOf(scene, {}).catch((thrown: unknown) => thrown);
      expect([failed, scene.requests.length]).to.deep.equal([error, 1]);
    });

  it('ends when its pages are larger together than a list may be', async () => {
    const scene = createScene();
    scene.answers.push({ items: [], metadata: { continue: 't' } }, {});
    const pages = scene.client.list(maps, { namespace: 'ns' })[Symbol.asyncIterator]();
    await pages.next();
    const onRead = scene.requests[0]?.onRead;
    const mib = 2 ** 20;
    expect(() => onRead?.(2 * mib)).not.to.throw();
    expect(() => onRead?.(1)).to.throw(
      ResponseTooLarge,
      'https://api answered the request to list ConfigMap ns with lists of more than 2 MiB',
    );
  });
});

describe('a watch of a client', () => {
  const { signal } = new AbortController();
  const rows: readonly (readonly [string, Parameters<Client['watch']>[1], string, object])[] = [
    ['of all namespaces', {}, '/api/v1/configmaps', {}],
    ['of one namespace', { namespace: 'ns' }, '/api/v1/namespaces/ns/configmaps', {}],
    [
      'from a version, for some time',
      { resourceVersion: '7', timeoutSeconds: 300, labels: 'a=b', fields: 'c=d' },
      '/api/v1/configmaps',
      { resourceVersion: '7', timeoutSeconds: '300', labelSelector: 'a=b', fieldSelector: 'c=d' },
    ],
    [
      'that begins with what is there',
      { sendInitialEvents: true },
      '/api/v1/configmaps',
      { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' },
    ],
  ];
  for (const [title, query, path, parameters] of rows)
    it(`asks for a stream: ${title}`, async () => {
      const { client, streams } = createScene();
      const frames = client.watch(maps, query, signal)[Symbol.asyncIterator]();
      expect((await frames.next()).value).to.deep.equal({ type: 'OPEN' });
      const [stream] = streams as HttpRequest[];
      const url = new URL(stream?.path ?? '', 'https://api');
      expect([url.pathname, Object.fromEntries(url.searchParams)]).to.deep.equal([
        path,
        { watch: 'true', allowWatchBookmarks: 'true', ...parameters },
      ]);
      expect(stream).to.deep.include({
        method: 'GET',
        ref: { verb: 'watch', kind: 'ConfigMap', namespace: query.namespace },
        signal,
      });
      expect(stream && 'accept' in stream).to.equal(false);
    });

  it('asks for metadata alone', async () => {
    const { client, streams } = createScene();
    await client.watch(maps, { metadataOnly: true }, signal)[Symbol.asyncIterator]().next();
    expect((streams as HttpRequest[])[0]?.accept).to.equal(
      `${JSON_TYPE};as=PartialObjectMetadata;g=meta.k8s.io;v=v1,${JSON_TYPE}`,
    );
  });

  it('says what the objects are, whatever they say themselves, and leaves other frames alone', async () => {
    const said = { kind: 'PartialObjectMetadata', apiVersion: 'x', metadata: { name: 'a' } };
    const lines = ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR'].map((type) => ({
      type,
      object: said,
    }));
    const { client } = createScene(lines);
    const frames: unknown[] = [];
    for await (const frame of client.watch(maps, {}, signal)) frames.push(frame);
    const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' } };
    expect(frames).to.deep.equal([
      { type: 'OPEN' },
      { type: 'ADDED', object },
      { type: 'MODIFIED', object },
      { type: 'DELETED', object },
      { type: 'BOOKMARK', resourceVersion: '', initialEventsEnd: false },
      { type: 'ERROR', status: said },
    ]);
  });

  for (const [status, expected] of [
    [{ code: 410, reason: 'Expired', message: 'too old' }, 410],
    [{}, 500],
    [null, 500],
  ] as const)
    it(`fails with the error of a frame: ${JSON.stringify(status)}`, () => {
      const error = errorInFrame(status, { verb: 'watch', kind: 'ConfigMap' });
      expect(error).to.have.property('status', expected);
      expect(error.message).to.match(/^cannot watch ConfigMap: /);
    });
});
