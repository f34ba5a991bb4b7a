/** Many objects of a cluster as one dependent: how they are selected, and their desired state. */
import { expect } from 'chai';
import type { Kind, Obj, Page, Query, View } from '../../../src/runtime/types.ts';
import { kubernetesBulk, type KubernetesBulkSpec } from '../../../src/workflow/kubernetes-bulk.ts';
import { FakeClock } from '../../support/clock.ts';
import { parts, type Part, type Widget } from '../runtime/support/world.ts';
import { contextOn, primary } from './support.ts';

const owned = {
  ownerReferences: [
    {
      apiVersion: 'example.io/v1',
      kind: 'Widget',
      name: 'a',
      uid: 'uid-a',
      controller: true,
      blockOwnerDeletion: true,
    },
  ],
};
const part = (name: string, metadata: object = {}): Part => ({
  apiVersion: 'example.io/v1',
  kind: 'Part',
  metadata: { namespace: 'ns', name, ...metadata },
});
const bulk = (more: Partial<KubernetesBulkSpec<Part, Widget>> = {}) =>
  kubernetesBulk<Part, Widget>({ kind: parts, ssa: false, desiredAll: () => new Map(), ...more });

/** A reconcile that reads `objects` from the cache, or page by page from the cluster. */
function runOn(objects: readonly View<Part>[]) {
  const queries: Query[] = [];
  const sources: (string | undefined)[] = [];
  const ctx = contextOn(new FakeClock(), {
    secondaries(_kind, source) {
      sources.push(source);
      return objects as never;
    },
    live: {
      get: () => expect.fail('they are listed'),
      async *list<T extends Obj>(_kind: Kind<T>, query: Query): AsyncIterable<Page<T>> {
        queries.push(query);
        await Promise.resolve();
        for (const object of objects) yield { items: [object as unknown as T], resourceVersion: '1' };
      },
    },
  });
  return { ctx, queries, sources };
}
const found = async (more: Partial<KubernetesBulkSpec<Part, Widget>>, objects: readonly View<Part>[]) => {
  const run = runOn(objects);
  const all = await bulk(more).actualAll(primary, run.ctx);
  return { ...run, all: [...all].map(([id, { metadata }]) => `${id} ${metadata.name}`) };
};

describe('the objects of a bulk dependent', () => {
  it('are those of its source, by their names', async () => {
    const { all, sources } = await found({ source: 'cms' }, [part('p'), part('q')]);
    expect(all).to.deep.equal(['p p', 'q q']);
    expect(sources).to.deep.equal(['cms']);
  });
  it('are those to which it assigns an id', async () => {
    const idOf = ({ metadata }: View<Part>) => metadata.labels?.['id'];
    const objects = [part('p', { labels: { id: 'x' } }), part('q'), part('r')];
    expect((await found({ idOf }, objects)).all).to.deep.equal(['x p']);
  });
  it('exclude the states of other dependents', async () => {
    const labels = { 'espalier.dev/state': 'kept' };
    expect((await found({}, [part('p', { labels }), part('q', { labels: {} })])).all).to.deep.equal(['q q']);
  });
  it('cannot have the same id', async () => {
    const { ctx } = runOn([part('p'), part('q')]);
    const error: unknown = await bulk({ idOf: () => 'x' })
      .actualAll(primary, ctx)
      .catch((failure: unknown) => failure);
    expect(String(error)).to.include('dependent "part" of Widget ns/a: ns/p and ns/q have the same id "x"');
  });

  const theirs = part('theirs');
  const cluster: Kind<Part> = { ...parts, namespaced: false };
  for (const [title, more, query] of [
    ['in the namespace of the primary', {}, { namespace: 'ns' }],
    ['with the labels', { selector: 'app=web' }, { namespace: 'ns', labels: 'app=web' }],
    ['in no namespace for cluster-scoped kinds', { kind: cluster }, {}],
  ] as const) {
    it(`are listed live ${title}, without those of others`, async () => {
      const objects = [part('p', owned), theirs, part('q', owned)];
      const { all, queries } = await found({ reader: 'live', ...more }, objects);
      expect(all).to.deep.equal(['p p', 'q q']);
      expect(queries).to.deep.equal([query]);
    });
  }
});

describe('the desired state of a bulk dependent', () => {
  const desired = async (wanted: ReadonlyMap<string, unknown>) =>
    Object.fromEntries(
      (await bulk({ desiredAll: () => wanted as never }).desiredAll?.(primary, runOn([]).ctx)) ?? [],
    );
  it('has kind, namespace and owner by default', async () => {
    expect(await desired(new Map([['x', { metadata: { name: 'p' } }]]))).to.deep.equal({
      x: part('p', owned),
    });
  });
  it('may be undefined by mistake, which is reported', async () => {
    expect(await desired(new Map([['x', undefined]]))).to.deep.equal({ x: undefined });
  });
});

describe('a bulk dependent', () => {
  const methods = (use: object) =>
    ['desiredAll', 'create', 'update', 'deleteOne'].filter((name) => name in use);
  it('is named after its kind', () => {
    expect([bulk().name, bulk({ name: 'own' }).name]).to.deep.equal(['part', 'own']);
  });
  it('has only the traits of its class', () => {
    expect(methods(bulk())).to.deep.equal(['desiredAll', 'create', 'update', 'deleteOne']);
    expect(methods(bulk({ can: ['create'] }))).to.deep.equal(['desiredAll', 'create']);
    expect(methods(kubernetesBulk<Part, Widget>({ kind: parts }))).to.deep.equal([]);
  });
  it('claims all objects of its source if it can delete them and has no ids', () => {
    expect(bulk().takesAll).to.equal(true);
    expect(bulk({ idOf: () => 'x' }).takesAll).to.equal(false);
    expect(bulk({ can: ['create'] }).takesAll).to.equal(undefined);
  });
  it('deletes one object at a time', async () => {
    const writes: unknown[] = [];
    const ctx = contextOn(new FakeClock(), {
      write({ verb, ...rest }) {
        writes.push([verb, 'key' in rest && rest.key]);
        return Promise.resolve({} as never);
      },
    });
    await bulk().deleteOne?.('x', part('p'), primary, ctx);
    expect(writes).to.deep.equal([['delete', 'ns/p']]);
  });
});
