/** What servers of tenants answer, although it is not an object. */
import { expect } from 'chai';
import { TransportError } from '../../../../src/runtime/errors.ts';
import { createClient } from '../../../../src/runtime/transport/client.ts';
import { createDiscovery } from '../../../../src/runtime/transport/discovery.ts';
import type { Connection } from '../../../../src/runtime/transport/http.ts';
import { defaultResponses } from '../../../../src/runtime/transport/responses.ts';
import type { Client, Kind, Obj } from '../../../../src/runtime/types.ts';

const kind: Kind<Obj> = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespaced: true,
};
const object: Obj = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'n' } };
const answering = (answer: unknown): Client =>
  createClient({
    server: 'https://c.invalid',
    fieldManager: 'test',
    responses: defaultResponses.target,
    request: () => Promise.resolve(answer),
  } as unknown as Connection);

const verbs: Readonly<Record<string, (client: Client, answer: unknown) => Promise<unknown>>> = {
  get: (client) => client.get(kind, 'n/a'),
  create: (client) => client.send({ verb: 'create', kind, object }),
  apply: (client) => client.send({ verb: 'apply', kind, object, manager: 'm', force: true }),
  merge: (client) => client.send({ verb: 'merge', kind, key: 'n/a', body: {} }),
};

const wrong: readonly unknown[] = [
  undefined,
  'text',
  [],
  {},
  { metadata: null },
  { metadata: 'x' },
  { metadata: { labels: 5 } },
  { metadata: { labels: { a: {} } } },
  { metadata: { annotations: ['x'] } },
  { metadata: { finalizers: {} } },
  { metadata: { finalizers: [null] } },
  { metadata: { ownerReferences: [null] } },
  { metadata: { uid: {} } },
  { metadata: { name: 1 } },
];

const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'nothing',
    (error: unknown) => error,
  );

describe('a response that is not an object', () => {
  for (const answer of wrong) {
    it(`is an error of the connection, and does not look like a bug: ${JSON.stringify(answer)}`, async () => {
      for (const [verb, ask] of Object.entries(verbs))
        expect(await failureOf(ask(answering(answer), answer)), verb).to.be.instanceOf(TransportError);
      const list = answering({ items: [answer] }).list(kind, {});
      expect(await failureOf(list[Symbol.asyncIterator]().next()), 'list').to.be.instanceOf(TransportError);
    });
  }

  for (const items of [5, {}, 'text']) {
    it(`does not look like a bug if it should be a list: ${JSON.stringify(items)}`, async () => {
      const list = answering({ items }).list(kind, {});
      expect(await failureOf(list[Symbol.asyncIterator]().next())).to.be.instanceOf(TransportError);
    });
  }

  it('is none that a real server sends', async () => {
    const real = { ...object, metadata: { ...object.metadata, creationTimestamp: null, labels: { a: 'b' } } };
    for (const ask of Object.values(verbs)) expect(await ask(answering(real), real)).to.deep.equal(real);
    const pages = answering({ items: null }).list(kind, {});
    expect((await pages[Symbol.asyncIterator]().next()).value).to.deep.include({ items: [] });
  });

  it('may be the answer to a deletion', async () => {
    const status = { kind: 'Status', status: 'Success' };
    expect(await answering(status).send({ verb: 'delete', kind, key: 'n/a' })).to.equal(status);
  });

  for (const resources of [5, {}, [null], [{ name: 5, kind: 'ConfigMap' }], [{ name: 'configmaps' }]]) {
    it(`does not break discovery: ${JSON.stringify(resources)}`, async () => {
      const { kindOf } = createDiscovery(answering({ resources }));
      expect(String(await failureOf(kindOf('v1', 'ConfigMap')))).to.contain('does not know kind ConfigMap');
    });
  }
});
