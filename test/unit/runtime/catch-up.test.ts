import { expect } from 'chai';
import { systemRng } from '../../../src/lib/rng.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import { createCaches } from '../../../src/runtime/cache/cache.ts';
import { catchUp } from '../../../src/runtime/cache/catch-up.ts';
import type { Cache, Client, Frame, Kind, Obj, WatchQuery } from '../../../src/runtime/types.ts';
import { FakeClock, settle } from '../../support/clock.ts';
import { FakeCluster } from './support/fake-cluster.ts';
import { widget, widgets } from './support/world.ts';

describe('catching up with the server', () => {
  let clock: FakeClock;
  let cluster: FakeCluster;
  let life: AbortController;
  /** Frames are held here while the watch lags. */
  let release: () => void;
  let held: Promise<void> | undefined;
  beforeEach(() => {
    clock = new FakeClock();
    cluster = new FakeCluster();
    life = new AbortController();
    held = undefined;
    release = () => undefined;
  });
  afterEach(() => {
    life.abort(new Error('over'));
    release();
  });

  const lag = (): void => {
    held = new Promise((resolve) => {
      release = () => {
        held = undefined;
        resolve();
      };
    });
  };
  /** The cluster, with a watch that can lag. */
  const lagging = (): Client => ({
    get: (kind, key, signal) => cluster.get(kind, key, signal),
    list: (kind, query, signal) => cluster.list(kind, query, signal),
    send: (write, signal) => cluster.send(write, signal),
    raw: () => cluster.raw(),
    close: () => cluster.close(),
    async *watch<T extends Obj>(
      kind: Kind<T>,
      query: WatchQuery,
      signal: AbortSignal,
    ): AsyncIterable<Frame<T>> {
      for await (const frame of cluster.watch(kind, query, signal)) {
        await held;
        yield frame;
      }
    },
  });
  const filled = async (): Promise<Cache<Obj>> => {
    const caches = createCaches({ client: lagging(), clock, rng: systemRng, log: silentLogger });
    const cache = caches.of(widgets);
    const started = cache.start(life.signal);
    await settle();
    await started;
    return cache;
  };
  /** Whether it has ended. */
  const begun = (cache: Cache<Obj>): { isOver: boolean; readonly done: Promise<void> } => {
    const state = { isOver: false, done: Promise.resolve() };
    state.done = catchUp({ client: cluster, clock }, cache, life.signal).finally(() => (state.isOver = true));
    state.done.catch(() => undefined);
    return state;
  };

  it('ends at once if the cache is up to date', async () => {
    cluster.put(widgets, widget('A/1'));
    const cache = await filled();
    await begun(cache).done;
  });

  for (const [what, change] of [
    ['a new object', () => cluster.put(widgets, widget('A/2'))],
    ['a change', () => cluster.edit(widgets, 'A/1', { spec: { size: 9 } })],
    ['a deletion', () => cluster.remove(widgets, 'A/1')],
    [
      'a recreated object',
      () => {
        cluster.remove(widgets, 'A/1');
        cluster.put(widgets, widget('A/1'));
      },
    ],
  ] as const) {
    it(`waits until the watch has delivered ${what}`, async () => {
      cluster.put(widgets, widget('A/1'));
      const cache = await filled();
      lag();
      change();
      const state = begun(cache);
      await settle();
      expect(state.isOver).to.equal(false);
      release();
      await settle();
      expect(state.isOver).to.equal(true);
      const version = cluster.read(widgets, 'A/1')?.metadata.resourceVersion;
      expect(cache.get('A/1')?.metadata.resourceVersion).to.equal(version);
    });
  }

  it('lists again if an awaited object was deleted before the watch could deliver it', async () => {
    const cache = await filled();
    lag();
    cluster.put(widgets, widget('A/2'));
    const state = begun(cache);
    await settle();
    cluster.remove(widgets, 'A/2');
    await clock.advance(4_000);
    expect(state.isOver).to.equal(false);
    await clock.advance(2_000);
    expect(state.isOver).to.equal(true);
  });

  it('compares only what the selectors of the cache admit', async () => {
    const queries: object[] = [];
    const listing: Client = {
      ...lagging(),
      list: (kind, query, signal) => {
        queries.push(query);
        return cluster.list(kind, query, signal);
      },
    };
    const caches = createCaches({ client: lagging(), clock, rng: systemRng, log: silentLogger });
    const cache = caches.of(widgets, { namespaces: ['A'], labels: 'a=b', fields: 'metadata.name=x' });
    void cache.start(life.signal);
    await settle();
    await catchUp({ client: listing, clock }, cache, life.signal);
    const selection = { labels: 'a=b', fields: 'metadata.name=x', namespace: 'A' };
    expect(queries).to.deep.equal([{ metadataOnly: true, ...selection }]);
  });

  it('treats another version as missing if versions cannot be compared', async () => {
    cluster.put(widgets, widget('A/1'));
    const caches = createCaches({ client: lagging(), clock, rng: systemRng, log: silentLogger });
    const cache = caches.of(widgets, { incomparableVersions: true });
    void cache.start(life.signal);
    await settle();
    await begun(cache).done;
    lag();
    cluster.edit(widgets, 'A/1', { spec: { size: 9 } });
    const state = begun(cache);
    await settle();
    expect(state.isOver).to.equal(false);
    release();
    await settle();
    expect(state.isOver).to.equal(true);
  });

  it('ends after a while if the cache is not used any more', async () => {
    const cache = await filled();
    lag();
    cluster.put(widgets, widget('A/2'));
    let isOver = false;
    const ports = { client: cluster, clock, isNeeded: () => false };
    void catchUp(ports, cache, life.signal).then(() => (isOver = true));
    await clock.advance(4_000);
    expect(isOver).to.equal(false);
    await clock.advance(2_000);
    expect(isOver).to.equal(true);
  });

  it('ends with its signal', async () => {
    const cache = await filled();
    lag();
    cluster.put(widgets, widget('A/2'));
    const state = begun(cache);
    await settle();
    life.abort(new Error('enough'));
    expect(await state.done.catch((error: unknown) => error)).to.have.property('message', 'enough');
  });
});
