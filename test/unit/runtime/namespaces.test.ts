/** Namespaces of a running controller: what happens when they are added and removed, at the worst moments. */
import { expect } from 'chai';
import { seededRng } from '../../../src/lib/rng.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import { createCaches } from '../../../src/runtime/cache/cache.ts';
import { namespaceScope, type NamespaceScope } from '../../../src/runtime/cache/namespace-scope.ts';
import type { ControllerSpec } from '../../../src/runtime/controller/controller.ts';
import { DefinitionError } from '../../../src/runtime/errors.ts';
import { byOwner } from '../../../src/runtime/sources/mappers.ts';
import { watchSource } from '../../../src/runtime/sources/sources.ts';
import type { Cache, Client, Context, Frame, Kind, Obj, WatchQuery } from '../../../src/runtime/types.ts';
import { FakeClock, settle } from '../../support/clock.ts';
import { FakeCluster } from './support/fake-cluster.ts';
import {
  createWorld,
  nothing,
  parts,
  widget,
  widgets,
  type Part,
  type Widget,
  type World,
} from './support/world.ts';

describe('the namespaces of a running controller', () => {
  let cluster: FakeCluster;
  let world: World;
  let scope: NamespaceScope;
  let story: string[];
  let cache: Cache<Widget>;
  /** Lists of these kinds and namespaces, such as `Widget B`, wait. */
  let held: Map<string, Promise<void>>;
  let work: (key: string, ctx: Context<Widget>) => Promise<void>;
  beforeEach(() => {
    cluster = new FakeCluster();
    scope = namespaceScope(['A']);
    story = [];
    held = new Map();
    work = () => Promise.resolve();
    for (const key of ['A/1', 'B/1', 'B/2', 'C/1']) cluster.put(widgets, widget(key));
  });
  afterEach(() => world.end());

  const slowLists = (): Client => ({
    get: (kind, key, signal) => cluster.get(kind, key, signal),
    send: (write, signal) => cluster.send(write, signal),
    raw: () => cluster.raw(),
    close: () => cluster.close(),
    async *list(kind, query, signal) {
      await held.get(`${kind.kind} ${query.namespace ?? '*'}`);
      yield* cluster.list(kind, query, signal);
    },
    watch: <T extends Obj>(kind: Kind<T>, query: WatchQuery, signal: AbortSignal): AsyncIterable<Frame<T>> =>
      cluster.watch(kind, query, signal),
  });
  const hold = (what: string): (() => void) => {
    let release = (): void => undefined;
    held.set(what, new Promise((resolve) => (release = resolve)));
    return () => {
      held.delete(what);
      release();
    };
  };
  const start = async (
    spec: (world: World) => Partial<ControllerSpec<Widget>> = () => ({}),
  ): Promise<void> => {
    const clock = new FakeClock();
    const client = slowLists();
    const caches = createCaches({ client, clock, rng: seededRng(1), log: silentLogger, freeze: true });
    world = createWorld({ cluster, client, clock, caches });
    cache = caches.of(widgets, { namespaces: scope });
    world.control(() => Promise.resolve(nothing), {
      cache: { namespaces: scope },
      reconciler: {
        async reconcile(_, ctx) {
          story.push(`reconcile ${ctx.key}`);
          await work(ctx.key, ctx);
          return nothing;
        },
        cleanup: (_, ctx) => {
          story.push(`cleanup ${ctx.key}`);
          return Promise.resolve({ finalizer: 'remove' });
        },
        forget: ({ metadata }) => void story.push(`forget ${metadata.namespace ?? ''}/${metadata.name}`),
      },
      ...spec({ ...world, caches }),
    });
    await world.start();
  };
  const taken = (): string[] => story.splice(0);
  const keys = (): string[] => [...cache.keys()].sort();
  const change = async (...args: Parameters<NamespaceScope['set']>): Promise<void> => {
    const done = scope.set(...args);
    await settle();
    await world.clock.advance(1_000);
    await done;
  };

  it('are listed when they are added, and their objects are reconciled once', async () => {
    await start();
    expect(taken()).to.deep.equal(['reconcile A/1']);
    await change(['A', 'B']);
    expect(taken().sort()).to.deep.equal(['reconcile B/1', 'reconcile B/2']);
    cluster.put(widgets, widget('B/3'));
    await settle();
    expect(taken()).to.deep.equal(['reconcile B/3']);
    expect(keys()).to.deep.equal(['A/1', 'B/1', 'B/2', 'B/3']);
  });

  it('leave the cache when they are removed, without events, writes and cleanups', async () => {
    scope = namespaceScope(['A', 'B']);
    await start();
    taken();
    const { length } = cluster.writes;
    const events: string[] = [];
    cache.subscribe({ name: 'other', ownEvents: 'deliver', on: ({ type }) => events.push(type) });
    events.length = 0;
    await change(['A']);
    expect([keys(), events, cluster.writes.length]).to.deep.equal([['A/1'], [], length]);
    expect(taken().sort()).to.deep.equal(['forget B/1', 'forget B/2']);
    cluster.edit(widgets, 'B/1', { spec: { size: 2 } });
    cluster.remove(widgets, 'B/2');
    await world.clock.advance(60_000);
    expect(taken()).to.deep.equal([]);
    expect(cluster.read(widgets, 'B/1')?.metadata.finalizers).to.have.length(1);
  });

  it('drop what is queued, retries and timers when they are removed', async () => {
    scope = namespaceScope(['A', 'B']);
    work = (key) => (key.startsWith('B') ? Promise.reject(new Error('no')) : Promise.resolve());
    await start();
    taken();
    await change(['A']);
    taken();
    await world.clock.advance(600_000);
    expect(taken().filter((line) => line.includes('B/'))).to.deep.equal([]);
    expect(world.manager.pending).to.equal(0);
  });

  it('keep their objects until active reconciles have ended', async () => {
    scope = namespaceScope(['A', 'B']);
    let end = (): void => undefined;
    const seen: unknown[] = [];
    await start();
    work = async (key, ctx) => {
      if (key !== 'B/1') return;
      await new Promise<void>((resolve) => (end = resolve));
      await ctx.write({ verb: 'merge', kind: widgets, key, body: { metadata: { labels: { a: 'b' } } } });
      seen.push(cache.get(key)?.metadata.labels);
    };
    cluster.edit(widgets, 'B/1', { spec: { size: 2 } });
    await settle();
    taken();
    const done = scope.set(['A']);
    await settle();
    expect(keys()).to.deep.equal(['A/1', 'B/1', 'B/2']);
    cluster.edit(widgets, 'B/2', { spec: { size: 2 } });
    await settle();
    expect(taken()).to.deep.equal([]);
    end();
    await done;
    expect([keys(), seen]).to.deep.equal([['A/1'], [{ a: 'b' }]]);
    expect(taken().sort()).to.deep.equal(['forget B/1', 'forget B/2']);
    expect(world.manager.pending).to.equal(0);
  });

  it('may be added again while they are being removed: nothing is missed', async () => {
    scope = namespaceScope(['A', 'B']);
    let end = (): void => undefined;
    await start();
    work = (key) => (key === 'B/1' ? new Promise((resolve) => (end = resolve)) : Promise.resolve());
    cluster.edit(widgets, 'B/1', { spec: { size: 2 } });
    await settle();
    const removed = scope.set(['A']);
    await settle();
    cluster.edit(widgets, 'B/2', { spec: { size: 7 } });
    cluster.put(widgets, widget('B/3'));
    await settle();
    taken();
    const added = scope.set(['A', 'B']);
    await settle();
    work = () => Promise.resolve();
    end();
    await world.clock.advance(1_000);
    await Promise.all([removed, added]);
    expect(keys()).to.deep.equal(['A/1', 'B/1', 'B/2', 'B/3']);
    expect(taken()).to.include.members(['reconcile B/2', 'reconcile B/3', 'reconcile B/1']);
    expect(cache.get('B/2')?.spec?.size).to.equal(7);
  });

  it('may be removed again while they are being listed', async () => {
    await start();
    taken();
    const release = hold('Widget B');
    const added = scope.set(['A', 'B']);
    await settle();
    expect(cache.isSynced).to.equal(false);
    const removed = scope.set(['A']);
    await settle();
    await Promise.all([added, removed]);
    expect(cache.isSynced).to.equal(true);
    release();
    await world.clock.advance(60_000);
    expect([keys(), taken()]).to.deep.equal([['A/1'], []]);
  });

  it('do nothing if they are set to the same', async () => {
    await start();
    taken();
    const { length } = cluster.watches;
    await scope.set(['A', 'A']);
    await settle();
    expect([cluster.watches.length, taken()]).to.deep.equal([length, []]);
  });

  it('may be none, and then all: with one watch, and each object is reconciled once', async () => {
    await start();
    taken();
    await change([]);
    expect([keys(), cache.isSynced, scope.current]).to.deep.equal([[], true, []]);
    expect(taken()).to.deep.equal(['forget A/1']);
    await change('all');
    expect(keys()).to.deep.equal(['A/1', 'B/1', 'B/2', 'C/1']);
    expect(taken().sort()).to.deep.equal(['A/1', 'B/1', 'B/2', 'C/1'].map((key) => `reconcile ${key}`));
    await change(['C']);
    expect(keys()).to.deep.equal(['C/1']);
    expect(taken().filter((line) => line.startsWith('reconcile'))).to.deep.equal([]);
    cluster.edit(widgets, 'C/1', { spec: { size: 3 } });
    await settle();
    expect(taken()).to.deep.equal(['reconcile C/1']);
  });

  it('may be none at the start', async () => {
    scope = namespaceScope([]);
    await start();
    expect([keys(), taken()]).to.deep.equal([[], []]);
    await change(['B']);
    expect(taken().sort()).to.deep.equal(['reconcile B/1', 'reconcile B/2']);
  });

  it('may be changed while the manager starts', async () => {
    scope = namespaceScope(['A', 'B']);
    const release = hold('Widget B');
    const started = start();
    await settle();
    await scope.set(['A']);
    await started;
    expect([keys(), taken()]).to.deep.equal([['A/1'], ['reconcile A/1']]);
    release();
  });

  it('are followed by secondaries, which are listed before the primaries are reconciled', async () => {
    const owner = cluster.read(widgets, 'B/1')?.metadata.uid ?? '';
    const ownerReferences = [{ apiVersion: 'example.io/v1', kind: 'Widget', name: '1', uid: owner }];
    cluster.put(parts, { metadata: { namespace: 'B', name: 'p', ownerReferences } });
    const found: string[] = [];
    await start(({ caches }) => ({
      sources: [
        watchSource<Part, Widget>({
          cache: caches.of(parts, { namespaces: scope }),
          toPrimary: byOwner(widgets),
        }),
      ],
    }));
    work = (key, ctx) => {
      found.push(`${key}: ${String(ctx.secondaries(parts).length)}`);
      return Promise.resolve();
    };
    const release = hold('Part B');
    const added = scope.set(['A', 'B']);
    await world.clock.advance(5_000);
    expect([found, cache.size]).to.deep.equal([[], 3]);
    release();
    await settle();
    await added;
    // At once, without a timer.
    expect(found.sort()).to.deep.equal(['B/1: 1', 'B/2: 0']);
    taken();
    await change(['A']);
    expect(taken().filter((line) => line.startsWith('reconcile'))).to.deep.equal([]);
  });

  it('may be removed while their secondaries are being listed', async () => {
    await start(({ caches }) => ({
      sources: [
        watchSource<Part, Widget>({
          cache: caches.of(parts, { namespaces: scope }),
          toPrimary: byOwner(widgets),
        }),
      ],
    }));
    taken();
    const release = hold('Part B');
    const added = scope.set(['A', 'B']);
    await settle();
    await scope.set(['A']);
    await added;
    await settle();
    expect([keys(), world.manager.pending]).to.deep.equal([['A/1'], 0]);
    release();
    await change(['A', 'B']);
    expect(taken().filter((line) => line.includes('B/'))).to.have.members([
      'forget B/1',
      'forget B/2',
      'reconcile B/1',
      'reconcile B/2',
    ]);
  });

  it('refuse a namespace without a name', () => {
    expect(() => namespaceScope([''])).to.throw(DefinitionError, 'a namespace has no name; use "all"');
    const fine = namespaceScope([]);
    expect(() => fine.set(['a', ''])).to.throw(DefinitionError);
    world = createWorld();
  });

  it('end in the state of the last change, in whatever order lists and reconciles end', async () => {
    const rng = seededRng(7);
    const draw = (n: number): number => Math.floor(rng.next() * n);
    await start();
    work = () => new Promise((resolve) => world.clock.at(world.clock.now() + draw(900), resolve));
    const changes: Promise<void>[] = [];
    for (let round = 0; round < 60; round++) {
      const chosen = ['A', 'B', 'C'].filter(() => rng.next() < 0.5);
      changes.push(scope.set(rng.next() < 0.15 ? 'all' : chosen));
      const key = ['A/1', 'B/1', 'B/2', 'C/1'][draw(4)] ?? '';
      cluster.edit(widgets, key, { spec: { size: round + 10 } });
      await world.clock.advance(draw(700));
    }
    taken();
    changes.push(scope.set(['B', 'C']));
    for (const key of ['A/1', 'B/1', 'B/2', 'C/1']) cluster.edit(widgets, key, { spec: { size: 1_000 } });
    await world.clock.advance(10_000);
    await Promise.all(changes);
    expect(keys()).to.deep.equal(['B/1', 'B/2', 'C/1']);
    for (const key of keys()) expect(cache.get(key)?.spec?.size, key).to.equal(1_000);
    expect(taken()).to.include.members(keys().map((key) => `reconcile ${key}`));
    expect(world.manager.pending).to.equal(0);
  });
});
