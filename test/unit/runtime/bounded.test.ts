import { expect } from 'chai';
import { seededRng } from '../../../src/lib/rng.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import { createCaches } from '../../../src/runtime/cache/cache.ts';
import { DefinitionError } from '../../../src/runtime/errors.ts';
import { byOwner } from '../../../src/runtime/sources/mappers.ts';
import { watchSource } from '../../../src/runtime/sources/sources.ts';
import type { BoundedCacheOptions, Key } from '../../../src/runtime/types.ts';
import { settle } from '../../support/clock.ts';
import { FakeClock } from '../../support/clock.ts';
import { FakeCluster } from './support/fake-cluster.ts';
import { createWorld, nothing, parts, widget, widgets, type Part } from './support/world.ts';

const part = (name: string, n = '0', more: object = {}) => ({
  metadata: { namespace: 'A', name, ...more },
  data: { n },
});

describe('a bounded cache', () => {
  let cluster: FakeCluster;
  let clock: FakeClock;
  let stop: AbortController;
  beforeEach(() => {
    cluster = new FakeCluster();
    clock = new FakeClock();
    stop = new AbortController();
    for (const name of ['a', 'b', 'c']) cluster.put(parts, part(name));
  });
  afterEach(() => {
    stop.abort(new Error('stop'));
  });

  const createAll = () =>
    createCaches({ client: cluster, clock, rng: seededRng(1), log: silentLogger, freeze: true });
  const start = async (options: BoundedCacheOptions<Part> = {}) => {
    const caches = createAll();
    const cache = caches.bounded(parts, options);
    void caches.start(stop.signal).catch(() => undefined);
    await settle();
    return cache;
  };
  /** The objects that were requested since the last call. */
  const requested = (): string[] => {
    const keys = cluster.requests.filter(({ verb }) => verb === 'get').map(({ key }) => key ?? '');
    cluster.requests.length = 0;
    return keys;
  };
  const readAll = async (cache: Awaited<ReturnType<typeof start>>, ...keys: Key[]): Promise<unknown[]> => {
    const values: unknown[] = [];
    for (const key of keys) values.push((await cache.read(key))?.data?.['n']);
    return values;
  };

  it('reads an object once, until it changes', async () => {
    const cache = await start();
    expect(await readAll(cache, 'A/a', 'A/a')).to.deep.equal(['0', '0']);
    expect(requested()).to.deep.equal(['A/a']);
    cluster.edit(parts, 'A/a', { data: { n: '1' } });
    await settle();
    expect(cache.size).to.equal(0);
    expect(await readAll(cache, 'A/a', 'A/a')).to.deep.equal(['1', '1']);
    expect(requested()).to.deep.equal(['A/a']);
  });

  it('requests no object that does not exist', async () => {
    const cache = await start();
    expect(await cache.read('A/x')).to.equal(undefined);
    cluster.remove(parts, 'A/a');
    await settle();
    expect(await cache.read('A/a')).to.equal(undefined);
    expect(requested()).to.deep.equal([]);
  });

  it('keeps the objects that were used last', async () => {
    const cache = await start({ maxObjects: 2 });
    await readAll(cache, 'A/a', 'A/b', 'A/a', 'A/c');
    requested();
    expect(cache.size).to.equal(2);
    await readAll(cache, 'A/a', 'A/c');
    expect(requested()).to.deep.equal([]);
    await readAll(cache, 'A/b');
    expect(requested()).to.deep.equal(['A/b']);
  });

  it('drops objects that were not used for a while', async () => {
    const cache = await start({ maxIdleMs: 60_000 });
    await readAll(cache, 'A/a', 'A/b');
    await clock.advance(40_000);
    await readAll(cache, 'A/a');
    await clock.advance(40_000);
    cluster.edit(parts, 'A/c', { data: { n: '1' } });
    await settle();
    expect(cache.size).to.equal(1);
    requested();
    await readAll(cache, 'A/a');
    expect(requested()).to.deep.equal([]);
  });

  it('sends one request for all readers of an object', async () => {
    const cache = await start();
    const all = await Promise.all(['A/a', 'A/a', 'A/b', 'A/a'].map((key) => cache.read(key)));
    expect(requested()).to.have.members(['A/a', 'A/b']);
    expect(all[0]).to.equal(all[1]);
  });

  it('returns no state that is older than its metadata, also to a reader that joins a request', async () => {
    const cache = await start();
    const old = cluster.read(parts, 'A/a') as Part;
    let answer: (object: Part) => void = () => undefined;
    const get = cluster.get.bind(cluster);
    let requests = 0;
    cluster.get = (kind, key) =>
      ++requests === 1 ? new Promise((resolve) => (answer = resolve as never)) : get(kind, key);
    const first = cache.read('A/a');
    cluster.edit(parts, 'A/a', { data: { n: '1' } });
    await settle();
    const second = cache.read('A/a');
    answer(old);
    expect((await first)?.data).to.deep.equal({ n: '0' });
    expect((await second)?.data).to.deep.equal({ n: '1' });
    expect(requests).to.equal(2);
    expect(await readAll(cache, 'A/a')).to.deep.equal(['1']);
    expect(requests).to.equal(2);
  });

  it('gives up for one reader without the others', async () => {
    const cache = await start();
    let answer: (object: Part) => void = () => undefined;
    cluster.get = () => new Promise((resolve) => (answer = resolve as never));
    const abort = new AbortController();
    const impatient = cache.read('A/a', abort.signal).catch((error: unknown) => String(error));
    const patient = cache.read('A/a');
    abort.abort(new Error('enough'));
    expect(await impatient).to.equal('Error: enough');
    answer(cluster.read(parts, 'A/a') as Part);
    expect((await patient)?.data).to.deep.equal({ n: '0' });
  });

  it('requests again after a failure', async () => {
    const cache = await start();
    const get = cluster.get.bind(cluster);
    cluster.get = () => Promise.reject(new Error('away'));
    let failure: unknown;
    await cache.read('A/a').catch((error: unknown) => (failure = error));
    expect(String(failure)).to.equal('Error: away');
    cluster.get = get;
    expect(await readAll(cache, 'A/a')).to.deep.equal(['0']);
  });

  it('applies its transform, and keeps objects unchangeable in tests', async () => {
    const cache = await start({ transform: (p) => ({ ...p, data: { n: 'changed' } }) });
    const read = await cache.read('A/a');
    expect(read?.data).to.deep.equal({ n: 'changed' });
    expect(Object.isFrozen(read)).to.equal(true);
  });

  for (const limit of ['maxObjects', 'maxIdleMs'])
    it(`is refused without a positive ${limit}`, () => {
      expect(() => createAll().bounded(parts, { [limit]: 0 })).to.throw(
        DefinitionError,
        `bounded cache of Part: ${limit} must be a positive number, not 0`,
      );
    });

  it('raises events by its metadata, and has no list and no index of its own', async () => {
    const world = createWorld();
    const bounded = world.caches.bounded(parts);
    const seen: unknown[] = [];
    // @ts-expect-error a source needs a complete cache
    expect(() => watchSource({ cache: bounded, toPrimary: byOwner(widgets) }).attach({} as never)).to.throw();
    const source = watchSource({ name: 'parts', cache: bounded.metadata, toPrimary: byOwner(widgets) });
    world.cluster.put(widgets, widget('A/1'));
    const ownerReferences = [{ apiVersion: 'example.io/v1', kind: 'Widget', name: '1', uid: 'u' }];
    world.cluster.put(parts, part('p', '0', { ownerReferences }));
    world.control(
      async (_, ctx) => {
        seen.push((await bounded.read('A/p', ctx.signal))?.data?.['n']);
        return nothing;
      },
      { sources: [source] },
    );
    await world.start();
    world.cluster.edit(parts, 'A/p', { data: { n: '1' } });
    await settle();
    expect(seen).to.deep.equal(['0', '1']);
    await world.end();
  });
});
