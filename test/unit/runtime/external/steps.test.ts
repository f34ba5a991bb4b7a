/** The single steps, without a controller around them. */
import { expect } from 'chai';
import { externalResource } from '../../../../src/runtime/external/index.ts';
import type { Context, View, Writer } from '../../../../src/runtime/types.ts';
import { silentLogger } from '../../../../src/observability/log.ts';
import { FakeCluster } from '../support/fake-cluster.ts';
import { createWorld, noChance } from '../support/world.ts';
import { buckets, Cloud, FINALIZER, KEY, NAME, type Bucket } from './cloud.ts';

describe('RUN-X16: the steps of an external resource, called one by one', () => {
  const cluster = new FakeCluster();
  const { clock, caches } = createWorld({ cluster });
  const cloud = new Cloud();
  const resource = externalResource<Bucket>(
    { name: 'buckets', kind: buckets, connector: cloud },
    { client: cluster, caches, clock, rng: noChance },
  );
  const write: Writer = (each, signal) => cluster.send(each, signal);
  const { signal } = new AbortController();
  const ctx = { key: KEY, signal, log: silentLogger, write, event() {} } as unknown as Context<Bucket>;
  const object = (): View<Bucket> => cluster.read(buckets, KEY) as View<Bucket>;
  const statuses = (): number => cluster.requests.filter(({ sub }) => sub === 'status').length;

  before(() => {
    cluster.put(buckets, { metadata: { namespace: 'A', name: '1' }, spec: { size: 1 } });
  });

  it('create writes the marks and one status, and returns when to check', async () => {
    cloud.initially = 'creating';
    const outcome = await resource.create(object(), cloud, ctx);
    expect(outcome).to.deep.equal({ result: { requeueAfterMs: 30_000 } });
    expect(cloud.calls).to.deep.equal([`create ${NAME}`]);
    expect(statuses()).to.equal(1);
  });

  it('sync waits for an operation in progress, and writes nothing that is already stored', async () => {
    expect(await resource.sync(object(), cloud, ctx)).to.deep.equal({ result: { requeueAfterMs: 30_000 } });
    const before = statuses();
    expect(await resource.sync(object(), cloud, ctx)).to.deep.equal({ result: { requeueAfterMs: 30_000 } });
    expect(statuses()).to.equal(before);
  });

  it('sync updates differences, and so does update', async () => {
    cloud.things.set(NAME, { size: 4, state: 'ready' });
    cloud.calls.length = 0;
    await resource.sync(object(), cloud, ctx);
    await resource.update(object(), cloud, ctx);
    expect(cloud.calls).to.deep.equal([`update ${NAME}`, `update ${NAME}`]);
    expect(await resource.sync(object(), cloud, ctx)).to.deep.equal({ result: { requeueAfterMs: 60_000 } });
  });

  it('an error is in the outcome and in the status, not thrown', async () => {
    cloud.faults.observe = new Error('no');
    const { result, error } = await resource.sync(object(), cloud, ctx);
    expect(result).to.deep.equal({ backOff: true });
    expect(error?.message).to.equal('no');
    expect(object().status?.conditions?.at(-1)).to.deep.include({ type: 'Failed', status: 'True' });
    delete cloud.faults.observe;
  });

  it('an observation that does not say whether the resource exists neither creates nor releases anything', async () => {
    const broken = new Cloud();
    broken.observe = () => Promise.resolve({} as never);
    for (const step of ['sync', 'delete'] as const) {
      const { error } = await resource[step](object(), broken, ctx);
      expect(error?.message).to.equal('observe returned no "exists"');
    }
    expect(broken.calls).to.deep.equal([]);
    expect(object().metadata.finalizers).to.deep.equal([FINALIZER]);
  });

  it('delete releases the object when nothing is left', async () => {
    cluster.remove(buckets, KEY);
    expect(object().metadata.finalizers).to.deep.equal([FINALIZER]);
    expect(await resource.delete(object(), cloud, ctx)).to.deep.equal({ result: { requeueAfterMs: 30_000 } });
    expect(await resource.delete(object(), cloud, ctx)).to.deep.equal({ result: {} });
    expect(object()).to.equal(undefined);
  });
});
