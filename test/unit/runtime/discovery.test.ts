import { expect } from 'chai';
import { createDiscovery, pathOf } from '../../../src/runtime/transport/discovery.ts';
import { requireKinds } from '../../../src/runtime/transport/require-kinds.ts';
import { tokenPathOf } from '../../../src/runtime/transport/path.ts';
import {
  apiErrorFrom,
  DefinitionError,
  NoSuchKind,
  ServerFailure,
  InvalidObjectName,
  isFinal,
} from '../../../src/runtime/errors.ts';
import type { Client, Kind } from '../../../src/runtime/types.ts';
import { settle } from '../../support/clock.ts';
import { ScriptedApi } from '../../support/scripted-api.ts';

const kind = (more: Partial<Kind>): Kind => ({
  group: '',
  version: 'v1',
  kind: 'Thing',
  plural: 'things',
  namespaced: true,
  ...more,
});

describe('the path of', () => {
  const rows: [string, string, Kind, Parameters<typeof pathOf>[1], string?][] = [
    ['an object of the core group', '/api/v1/namespaces/ns/things/a', kind({}), 'ns/a'],
    ['a subresource', '/api/v1/namespaces/ns/things/a/status', kind({}), 'ns/a', 'status'],
    ['an object of another group', '/apis/g.io/v1/namespaces/ns/things/a', kind({ group: 'g.io' }), 'ns/a'],
    ['a cluster-scoped object', '/api/v1/things/a', kind({ namespaced: false }), 'a'],
    ['all objects of a namespace', '/api/v1/namespaces/ns/things', kind({}), { namespace: 'ns' }],
    ['all objects everywhere', '/api/v1/things', kind({}), {}],
    ['all cluster-scoped objects', '/api/v1/things', kind({ namespaced: false }), { namespace: 'ns' }],
    [
      'a name with capitals and a colon',
      '/api/v1/things/system:Foo',
      kind({ namespaced: false }),
      'system:Foo',
    ],
    ['a name with strange characters', '/api/v1/things/a%3F%23b', kind({ namespaced: false }), 'a?#b'],
  ];
  for (const [title, path, of, where, sub] of rows) {
    it(title, () => {
      expect(pathOf(of, where, sub)).to.equal(path);
    });
  }

  for (const key of ['a', 'ns/..', 'ns/', '../b', 'ns/a/b', 'ns/%2e%2e']) {
    it(`the namespaced object "${key}" is rejected`, () => {
      expect(() => pathOf(kind({}), key)).to.throw(DefinitionError);
    });
  }
  for (const key of ['ns/..', 'ns/', '../b', '/b', 'ns/a/b', 'ns/../../bb/secrets/x', 'ns/%2e%2e']) {
    it(`a name that contains a path is rejected permanently: "${key}"`, () => {
      expect(() => pathOf(kind({}), key))
        .to.throw(InvalidObjectName)
        .that.satisfies(isFinal);
    });
  }
  it('a name with a slash is rejected permanently for cluster-scoped kinds', () => {
    const path = (): string => pathOf(kind({ namespaced: false }), '../b');
    expect(path).to.throw(InvalidObjectName).that.satisfies(isFinal);
  });
  it('the path of a service account token contains the escaped name and cannot leave its namespace', () => {
    expect(tokenPathOf('ns', 'a?b')).to.equal('/api/v1/namespaces/ns/serviceaccounts/a%3Fb/token');
    for (const account of ['../../bb/serviceaccounts/admin', 'a/b', '..', '']) {
      expect(() => tokenPathOf('ns', account), account).to.throw(InvalidObjectName);
    }
  });
  it('a long name is quoted in part', () => {
    const [start, end] = ['/x', 'y'.repeat(50)];
    const path = (): string => pathOf(kind({}), `ns/${start}${'z'.repeat(9000)}${end}`);
    expect(path).to.throw(/^"\/xz+ … z+y+" cannot be the name of a Thing: it may not contain '\/'$/);
  });
  it('a cluster-scoped object with a namespace is rejected', () => {
    expect(() => pathOf(kind({ namespaced: false }), 'ns/a')).to.throw(/a name without a namespace/);
  });
});

describe('RUN-P14: discovery', () => {
  const resources = [
    { name: 'things', kind: 'Thing', namespaced: true },
    { name: 'things/status', kind: 'Thing', namespaced: true },
  ];
  const discover = (answer: (path: string) => unknown) => {
    const asked: string[] = [];
    const client = new ScriptedApi() as Client;
    client.raw = async (_method, path) => {
      asked.push(path);
      await settle(1);
      return answer(path);
    };
    return { asked, discovery: createDiscovery(client) };
  };

  it('requests once per group and version, however many callers there are', async () => {
    const { asked, discovery } = discover(() => ({ resources }));
    const found = await Promise.all(Array.from({ length: 5 }, () => discovery.kindOf('g.io/v1', 'Thing')));
    expect(await discovery.kindOf('g.io/v1', 'Thing')).to.deep.equal(kind({ group: 'g.io' }));
    expect(new Set(found).size).to.equal(1);
    expect(asked).to.deep.equal(['/apis/g.io/v1']);
  });

  it('does not keep what a server lists without end, but finds its kinds', async () => {
    const names = Array.from({ length: 100 }, (_, i) => String(i).padEnd(100_000, 'x'));
    const all = [...resources, ...names.map((name) => ({ name, kind: name, namespaced: true }))];
    const { asked, discovery } = discover((path) => ({
      resources: path === '/apis/g.io/v1' ? all : resources,
    }));
    for (const apiVersion of ['v1', 'g.io/v1', 'v1', 'g.io/v1'])
      expect((await discovery.kindOf(apiVersion, 'Thing')).plural).to.equal('things');
    expect(asked).to.deep.equal(['/api/v1', '/apis/g.io/v1', '/apis/g.io/v1']);
  });

  it('requests again for a kind that was missing', async () => {
    let isInstalled = false;
    const { asked, discovery } = discover(() => ({ resources: isInstalled ? resources : [] }));
    const error = await discovery.kindOf('v1', 'Thing').catch((e: unknown) => e);
    expect(error).to.be.instanceOf(NoSuchKind);
    expect((error as Error).message).to.contain('does not know kind Thing in v1');
    isInstalled = true;
    expect((await discovery.kindOf('v1', 'Thing')).plural).to.equal('things');
    expect(asked).to.deep.equal(['/api/v1', '/api/v1']);
  });

  it('treats a missing group as a missing kind, and nothing else', async () => {
    let code = 404;
    const { discovery } = discover(() => {
      throw apiErrorFrom(code, {}, { verb: 'get', kind: '/apis/g.io/v1' });
    });
    expect(await discovery.kindOf('g.io/v1', 'Thing').catch((e: unknown) => e)).to.be.instanceOf(NoSuchKind);
    code = 500;
    expect(await discovery.kindOf('g.io/v1', 'Thing').catch((e: unknown) => e)).to.be.instanceOf(
      ServerFailure,
    );
  });

  it('can be aborted by one caller without affecting the others', async () => {
    const { discovery } = discover(() => ({ resources }));
    const stop = new AbortController();
    const gone = discovery.kindOf('v1', 'Thing', stop.signal).catch((e: unknown) => (e as Error).message);
    const stays = discovery.kindOf('v1', 'Thing');
    stop.abort(new Error('enough'));
    expect(await gone).to.equal('enough');
    expect((await stays).kind).to.equal('Thing');
  });

  it('is used by operators to require kinds, with the command that installs them', async () => {
    const client = new ScriptedApi() as Client;
    client.raw = () => Promise.resolve({ resources });
    await requireKinds(client, [kind({ group: 'g.io' })], 'unused');
    const error: unknown = await requireKinds(
      client,
      [kind({ group: 'g.io' }), kind({ group: 'g.io', kind: 'Other' })],
      'kubectl apply -f crd.yaml',
    ).catch((e: unknown) => e);
    expect(error).to.be.instanceOf(NoSuchKind);
    expect((error as Error).message).to.equal(
      'the server does not know kind Other in g.io/v1; install its CustomResourceDefinition: kubectl apply -f crd.yaml',
    );
  });
});
