/** External dependents with a state, one step at a time: what is recorded, when, and the effect of a record. */
import { expect } from 'chai';
import { ConfigMap } from '../../../src/runtime/core-kinds.ts';
import { apiErrorFrom, NoRetryError } from '../../../src/runtime/errors.ts';
import type { Context, Obj, View } from '../../../src/runtime/types.ts';
import type { State } from '../../../src/workflow/state.ts';
import {
  bulkWithState,
  withState,
  type StatefulBulkSpec,
  type StatefulSpec,
} from '../../../src/workflow/stateful.ts';
import { FakeClock } from '../../support/clock.ts';
import { FakeCluster } from '../runtime/support/fake-cluster.ts';
import type { Widget } from '../runtime/support/world.ts';
import { contextOn, primary } from './support.ts';

interface Bucket {
  readonly id: string;
  readonly size: number;
}

/** A cluster for records, a service for buckets, and the requests to both. */
function stage() {
  const cluster = new FakeCluster();
  const calls: string[] = [];
  const there = new Map<string, Bucket>();
  const ctx: Context<Widget> = contextOn(new FakeClock(), {
    write: (write, signal) => cluster.send(write, signal),
    live: cluster,
    secondaries: () =>
      ['', '-x', '-y'].flatMap<Obj>((item) => cluster.read(ConfigMap, `ns/a-bucket${item}`) ?? []) as never,
  });
  const common = {
    name: 'bucket',
    stateOf: ({ id }: Bucket): State => ({ id }),
    fetch({ id = '' }: State) {
      calls.push(`fetch ${id}`);
      return Promise.resolve(there.get(id));
    },
    create({ id, size }: Bucket) {
      calls.push(`create ${id}`);
      there.set(id, { id, size });
      return Promise.resolve({ id, size });
    },
    delete({ id }: View<Bucket>) {
      calls.push(`delete ${id}`);
      there.delete(id);
      return Promise.resolve();
    },
  };
  return {
    cluster,
    calls,
    there,
    ctx,
    single: (more: Partial<StatefulSpec<Bucket, Widget>> = {}) =>
      withState<Bucket, Widget>({ ...common, desired: () => ({ id: '42', size: 1 }), ...more }),
    bulk: (more: Partial<StatefulBulkSpec<Bucket, Widget>> = {}) =>
      bulkWithState<Bucket, Widget>({ ...common, ...more }),
    note: (item = '') => cluster.read(ConfigMap, `ns/a-bucket${item}`),
    /** Writes a record as an earlier process, or a user, would. */
    noted(data: State, { isPending = false, item = '' } = {}) {
      const key = `ns/a-bucket${item && `-${item}`}`;
      const annotations = {
        'espalier.dev/state-of': 'bucket',
        'espalier.dev/state-item': item,
        'espalier.dev/pending': isPending ? 'yes' : null,
      };
      const before = cluster.read(ConfigMap, key);
      if (before) {
        const gone = Object.keys(before.data ?? {}).map((name): [string, null] => [name, null]);
        cluster.edit(ConfigMap, key, {
          metadata: { annotations },
          data: { ...Object.fromEntries(gone), ...data },
        });
        return;
      }
      cluster.put(ConfigMap, {
        metadata: { namespace: 'ns', name: `a-bucket${item && `-${item}`}` },
        data,
      });
      cluster.edit(ConfigMap, key, { metadata: { annotations } });
    },
  };
}
const failureOf = (work: Promise<unknown> | undefined): Promise<unknown> =>
  Promise.resolve(work).then(
    () => 'no failure',
    (error: unknown) => error,
  );
const away = apiErrorFrom(503, {}, { verb: 'patch', kind: 'ConfigMap' });

describe('the creation of a resource with a state', () => {
  const wish = { id: '42', size: 1 };
  it('is recorded before, and its state after', async () => {
    const { cluster, ctx, single, note } = stage();
    const pending: unknown[] = [];
    const use = single({
      create(desired) {
        pending.push(note()?.metadata.annotations?.['espalier.dev/pending']);
        return Promise.resolve(desired);
      },
    });
    expect(await use.create?.(wish, primary, ctx)).to.deep.equal(wish);
    expect(pending).to.deep.equal(['yes']);
    expect(note()?.metadata.annotations).not.to.have.property('espalier.dev/pending');
    expect(cluster.writes).to.deep.equal(['create ConfigMap ns/a-bucket', 'merge ConfigMap ns/a-bucket']);
  });
  it('is one write if it can be repeated without harm', async () => {
    const { cluster, ctx, single, note } = stage();
    await single({ isIdempotent: true }).create?.(wish, primary, ctx);
    expect(cluster.writes).to.deep.equal(['create ConfigMap ns/a-bucket']);
    expect(note()?.data).to.deep.equal({ id: '42' });
  });
  for (const [title, isIdempotent, writes] of [
    [
      'empties its record if it fails',
      false,
      ['create ConfigMap ns/a-bucket', 'merge ConfigMap ns/a-bucket'],
    ],
    ['writes nothing if it fails and can be repeated', true, []],
  ] as const) {
    it(title, async () => {
      const { cluster, ctx, single } = stage();
      const error = new Error('quota');
      const use = single({ isIdempotent, create: () => Promise.reject(error) });
      expect(await failureOf(use.create?.(wish, primary, ctx))).to.equal(error);
      expect(cluster.writes).to.deep.equal(writes);
    });
  }
  it('fails with the error of the service if its record cannot be emptied either', async () => {
    const { cluster, ctx, single } = stage();
    const error = new Error('quota');
    const use = single({
      create() {
        cluster.fault = () => away;
        return Promise.reject(error);
      },
    });
    expect(await failureOf(use.create?.(wish, primary, ctx))).to.equal(error);
  });
  for (const nothing of [undefined, null]) {
    it(`that returns ${String(nothing)} has no state`, async () => {
      const { ctx, single, note } = stage();
      const use = single({ create: () => Promise.resolve(nothing as unknown as Bucket) });
      expect(await use.create?.(wish, primary, ctx)).to.equal(nothing);
      expect(note()?.metadata.annotations).to.have.property('espalier.dev/pending');
    });
  }
});

describe('the update of a resource with a state', () => {
  const old = { id: '42', size: 1 };
  const update = async (answer: Bucket | undefined | null, isNoted = true) => {
    const { cluster, ctx, single, noted, note } = stage();
    if (isNoted) noted({ id: '42' });
    const use = single({ update: () => Promise.resolve(answer as Bucket) });
    return { result: await use.update?.(old, old, primary, ctx), writes: cluster.writes, data: note()?.data };
  };
  it('writes nothing if the state stays', async () => {
    expect((await update({ id: '42', size: 2 })).writes).to.deep.equal([]);
  });
  it('records another state', async () => {
    expect(await update({ id: '43', size: 2 })).to.deep.include({ data: { id: '43' } });
  });
  it('records its state if there is no record', async () => {
    expect(await update({ id: '42', size: 2 }, false)).to.deep.include({ data: { id: '42' } });
  });
  for (const nothing of [undefined, null]) {
    it(`that returns ${String(nothing)} keeps the state`, async () => {
      const { result, writes } = await update(nothing);
      expect([result, writes]).to.deep.equal([nothing, []]);
    });
  }
});

describe('the record of a resource', () => {
  const actual = async (
    data: State,
    isPending: boolean,
    more: Partial<StatefulSpec<Bucket, Widget>> = {},
  ) => {
    const it = stage();
    it.there.set('42', { id: '42', size: 1 });
    it.noted(data, { isPending });
    let found: unknown;
    try {
      found = await it.single(more).actual(primary, it.ctx);
    } catch (error) {
      found = error;
    }
    return { ...it, found };
  };
  it('leads to the resource', async () => {
    expect(await actual({ id: '42' }, false)).to.deep.include({ found: { id: '42', size: 1 } });
  });
  it('leads to nothing if the resource is gone', async () => {
    expect(await actual({ id: '43' }, false)).to.deep.include({ found: undefined, calls: ['fetch 43'] });
  });
  it('leads to nothing if it is empty, and nothing is fetched', async () => {
    expect(await actual({}, false)).to.deep.include({ found: undefined, calls: [] });
  });
  it('does not exist before the resource was created', async () => {
    const { ctx, single, calls } = stage();
    expect(await single().actual(primary, ctx)).to.equal(undefined);
    expect(calls).to.deep.equal([]);
  });
  it('of an interrupted creation fails the reconcile permanently', async () => {
    const { found } = await actual({}, true);
    expect(found).to.be.instanceOf(NoRetryError);
    expect(String(found)).to.include('delete ConfigMap ns/a-bucket');
  });
  it('of an interrupted creation does no harm if that can be repeated', async () => {
    expect(await actual({}, true, { isIdempotent: true })).to.deep.include({ found: undefined, calls: [] });
  });
  for (const [title, recovered, data] of [
    ['is completed by the recovered resource', { id: '42', size: 1 }, { id: '42' }],
    ['stays unchanged if nothing is recovered', undefined, {}],
  ] as const) {
    it(`of an interrupted creation ${title}`, async () => {
      const { found, note } = await actual({}, true, { recover: () => Promise.resolve(recovered) });
      expect([found, note()?.data]).to.deep.equal([recovered, data]);
    });
  }
});

describe('a state that could not be recorded', () => {
  /** A creation whose state could not be written. */
  const interrupted = async () => {
    const it = stage();
    const use = it.single({
      create(desired) {
        it.there.set(desired.id, desired);
        it.cluster.fault = () => away;
        return Promise.resolve(desired);
      },
    });
    expect(await failureOf(use.create?.({ id: '42', size: 1 }, primary, it.ctx))).to.equal(away);
    it.cluster.fault = () => undefined;
    return { ...it, use };
  };
  it('is recorded by the next reconcile', async () => {
    const { use, ctx, note } = await interrupted();
    expect(await use.actual(primary, ctx)).to.deep.equal({ id: '42', size: 1 });
    expect(note()?.data).to.deep.equal({ id: '42' });
  });
  it('is not recorded for a primary of the same name with another uid', async () => {
    const { use, ctx } = await interrupted();
    const successor = { ...primary, metadata: { ...primary.metadata, uid: 'uid-b' } };
    expect(await failureOf(use.actual(successor, ctx))).to.be.instanceOf(NoRetryError);
  });
  for (const [title, look] of [
    ['after it was recorded', undefined],
    ['after another state was recorded by hand', { id: '99' }],
  ] as const) {
    it(`does not return ${title}`, async () => {
      const { use, ctx, note, noted } = await interrupted();
      if (look) noted(look);
      await use.actual(primary, ctx);
      noted({}, { isPending: true });
      expect(await failureOf(use.actual(primary, ctx))).to.be.instanceOf(NoRetryError);
      expect(note()?.data).to.deep.equal({});
    });
  }
});

describe('the deletion of a resource with a state', () => {
  for (const [title, data, isThere, calls] of [
    ['deletes the resource and its record', { id: '42' }, true, ['fetch 42', 'delete 42']],
    ['deletes the record of a resource that is gone', { id: '42' }, false, ['fetch 42']],
    ['deletes a record without a state', {}, false, []],
  ] as const) {
    it(title, async () => {
      const { ctx, single, there, noted, note, calls: done } = stage();
      if (isThere) there.set('42', { id: '42', size: 1 });
      noted(data);
      await single().delete?.(primary, ctx);
      expect([done, note()]).to.deep.equal([calls, undefined]);
    });
  }
  it('does nothing without a record', async () => {
    const { ctx, single, calls, cluster } = stage();
    await single().delete?.(primary, ctx);
    expect([calls, cluster.writes]).to.deep.equal([[], []]);
  });
});

describe('many resources with states', () => {
  const wanted = (...ids: readonly string[]) => ({
    desiredAll: () => new Map(ids.map((id) => [id, { id, size: 1 }])),
  });
  const all = async (more: Partial<StatefulBulkSpec<Bucket, Widget>>) => {
    const it = stage();
    it.there.set('42', { id: '42', size: 1 });
    it.noted({ id: '42' }, { item: 'x' });
    it.noted({ id: '43' }, { item: 'y' });
    const found = await it.bulk(more).actualAll(primary, it.ctx);
    expect([...found]).to.deep.equal([['x', { id: '42', size: 1 }]]);
    return it.note('-y') !== undefined;
  };
  it('keep the record of one that is gone while it is desired', async () => {
    expect(await all(wanted('y'))).to.equal(true);
  });
  it('delete the record of one that is gone if it is not desired', async () => {
    expect(await all(wanted('x'))).to.equal(false);
    expect(await all({})).to.equal(false);
  });
  it('keep all records if they cannot be deleted', async () => {
    const it = stage();
    it.noted({ id: '43' }, { item: 'y' });
    const { name, stateOf, fetch } = {
      name: 'bucket',
      stateOf: () => ({}),
      fetch: () => Promise.resolve(undefined),
    };
    await bulkWithState<Bucket, Widget>({ name, stateOf, fetch }).actualAll(primary, it.ctx);
    expect(it.note('-y')).not.to.equal(undefined);
  });
  it('are deleted one by one, with their records', async () => {
    const { ctx, bulk, there, noted, note, calls } = stage();
    there.set('42', { id: '42', size: 1 });
    noted({ id: '42' }, { item: 'x' });
    noted({ id: '43' }, { item: 'y' });
    const use = bulk();
    await use.deleteOne?.('x', { id: '42', size: 1 }, primary, ctx);
    await use.deleteOne?.('z', { id: '44', size: 1 }, primary, ctx);
    expect(calls).to.deep.equal(['delete 42']);
    expect([note('-x') !== undefined, note('-y') !== undefined]).to.deep.equal([false, true]);
  });
  it('are created under their items', async () => {
    const { ctx, bulk, note } = stage();
    await bulk().create?.({ id: '42', size: 1 }, primary, ctx, 'x');
    expect(note('-x')?.data).to.deep.equal({ id: '42' });
  });
});
