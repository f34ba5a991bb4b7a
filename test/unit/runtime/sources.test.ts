import { expect } from 'chai';
import { seededRng } from '../../../src/lib/rng.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import { createCaches } from '../../../src/runtime/cache/cache.ts';
import { DefinitionError, NotWatchedError, SourceError } from '../../../src/runtime/errors.ts';
import { cachingInboundSource, inboundSource } from '../../../src/runtime/sources/inbound.ts';
import { keyOf } from '../../../src/runtime/keys.ts';
import {
  anyOf,
  byAnnotation,
  byController,
  byLabel,
  byOwner,
  bySameName,
  type Mapper,
} from '../../../src/runtime/sources/mappers.ts';
import { perResourceSource, pollSource } from '../../../src/runtime/sources/polling.ts';
import { watchSource } from '../../../src/runtime/sources/sources.ts';
import type { Meta, Obj, OwnerReference, View } from '../../../src/runtime/types.ts';
import { settle } from '../../support/clock.ts';
import { FakeCluster } from './support/fake-cluster.ts';
import {
  createWorld,
  nothing,
  parts,
  succeeding,
  widget,
  widgets,
  type Part,
  type World,
} from './support/world.ts';

const part = (name: string, owner?: string, more: Partial<Meta> = {}): Omit<Part, 'apiVersion' | 'kind'> => ({
  metadata: {
    namespace: 'A',
    name,
    ...(owner && {
      ownerReferences: [
        { apiVersion: 'example.io/v1', kind: 'Widget', name: owner, uid: 'u', controller: true },
      ],
    }),
    ...more,
  },
});

describe('sources', () => {
  let world: World;
  beforeEach(() => {
    world = createWorld();
  });
  afterEach(() => world.end());

  const ran = async (): Promise<string[]> => {
    await settle();
    return world.runs.splice(0).map((run) => run.split(' ')[1] ?? '');
  };
  const twoWidgets = (): void => {
    world.cluster.put(widgets, widget('A/1'));
    world.cluster.put(widgets, widget('A/2'));
  };

  describe('that watch a kind', () => {
    it('RUN-33: reconcile the owner of a changed object, and both owners if the owner changes', async () => {
      const source = watchSource({ cache: world.caches.of(parts), toPrimary: byController(widgets) });
      world.control(succeeding, { sources: [source] });
      twoWidgets();
      world.cluster.put(parts, part('p', '1'));
      await world.start();
      expect(await ran()).to.deep.equal(['A/1', 'A/2']);
      world.cluster.edit(parts, 'A/p', { data: { a: 'b' } });
      expect(await ran()).to.deep.equal(['A/1']);
      world.cluster.edit(parts, 'A/p', part('p', '2'));
      expect(await ran()).to.have.members(['A/1', 'A/2']);
      world.cluster.edit(parts, 'A/p', { metadata: { ownerReferences: null } });
      expect(await ran()).to.deep.equal(['A/2']);
      world.cluster.edit(parts, 'A/p', { data: { a: 'c' } });
      expect(await ran()).to.deep.equal([]);
    });

    it('reconcile the owner of objects that are created and deleted', async () => {
      const source = watchSource({ cache: world.caches.of(parts), toPrimary: byController(widgets) });
      world.control(succeeding, { sources: [source] });
      twoWidgets();
      await world.start();
      await ran();
      world.cluster.put(parts, part('p', '2'));
      expect(await ran()).to.deep.equal(['A/2']);
      world.cluster.remove(parts, 'A/p');
      expect(await ran()).to.deep.equal(['A/2']);
    });

    it('ignore objects that their filter excludes', async () => {
      const source = watchSource<Part>({
        cache: world.caches.of(parts),
        toPrimary: byController(widgets),
        filter: { update: (old, obj) => old.data?.['a'] !== obj.data?.['a'] },
      });
      world.control(succeeding, { sources: [source] });
      twoWidgets();
      world.cluster.put(parts, part('p', '1'));
      await world.start();
      await ran();
      world.cluster.edit(parts, 'A/p', { metadata: { labels: { x: 'y' } } });
      expect(await ran()).to.deep.equal([]);
      world.cluster.edit(parts, 'A/p', { data: { a: 'b' } });
      expect(await ran()).to.deep.equal(['A/1']);
    });

    it('provide the secondaries of the primary to reconcilers, without a request', async () => {
      const source = watchSource({ cache: world.caches.of(parts), toPrimary: byController(widgets) });
      const found: unknown[] = [];
      world.control(
        (_, ctx) => {
          found.push([ctx.key, ctx.secondaries(parts).map(keyOf), ctx.secondary(parts)?.metadata.name]);
          return Promise.resolve(nothing);
        },
        { sources: [source] },
      );
      twoWidgets();
      world.cluster.put(parts, part('p', '1'));
      world.cluster.put(parts, part('q', '1'));
      await world.start();
      expect(found).to.deep.equal([
        ['A/1', ['A/p', 'A/q'], 'p'],
        ['A/2', [], undefined],
      ]);
      expect(world.cluster.requests).to.deep.equal([]);
    });

    it('RUN-34: reconcile only the primaries that an index names', async () => {
      const clusterOf: Mapper = (obj) => [`A/${obj.metadata.annotations?.['cluster'] ?? ''}`];
      const widgetCache = world.caches.of(widgets);
      widgetCache.index('by cluster', clusterOf);
      let asked = 0;
      const source = watchSource<Part>({
        cache: world.caches.of(parts),
        toPrimary: (cluster) => {
          const jobs = widgetCache.byIndex('by cluster', keyOf(cluster));
          asked += jobs.length;
          return jobs.map(keyOf);
        },
        toSecondary: clusterOf,
      });
      const found: (string | undefined)[] = [];
      world.control(
        (_, ctx) => {
          found.push(ctx.secondary(parts)?.metadata.name);
          return Promise.resolve(nothing);
        },
        { sources: [source] },
      );
      for (let i = 0; i < 10; i++) world.cluster.put(parts, part(`c${String(i)}`));
      for (let i = 0; i < 1_000; i++) {
        world.cluster.put(
          widgets,
          widget(`A/${String(i)}`, { annotations: { cluster: `c${String(i % 10)}` } }),
        );
      }
      await world.start();
      expect(await ran()).to.have.length(1_000);
      asked = 0;
      world.cluster.edit(parts, 'A/c3', { data: { a: 'b' } });
      const touched = await ran();
      expect(touched).to.have.length(100);
      expect(touched.every((key) => key.endsWith('3'))).to.equal(true);
      expect(asked).to.equal(200);
      world.cluster.put(widgets, widget('A/new', { annotations: { cluster: 'c7' } }));
      await settle();
      expect(found.at(-1)).to.equal('c7');
    });

    it('RUN-38: can be added to a running controller once, and deliver nothing after they are removed', async () => {
      const controller = world.control(succeeding);
      twoWidgets();
      await world.start();
      await ran();
      const make = () =>
        watchSource({ name: 'cms', cache: world.caches.of(parts), toPrimary: byController(widgets) });
      await Promise.all([controller.addSource(make()), settle()]);
      await controller.addSource(make());
      expect(world.cluster.watches.filter((kind) => kind === 'Part')).to.have.length(1);
      world.cluster.put(parts, part('p', '1'));
      expect(await ran()).to.deep.equal(['A/1']);
      controller.removeSource('cms');
      expect(controller.hasSource('cms')).to.equal(false);
      world.cluster.edit(parts, 'A/p', { data: { a: 'b' } });
      expect(await ran()).to.deep.equal([]);
    });

    it('find the secondaries of a primary even if they are added late to a filled cache', async () => {
      const cache = world.caches.of(parts);
      let found: string[] = [];
      const controller = world.control((_, ctx) => {
        if (controller.hasSource('late')) found = ctx.secondaries(parts, 'late').map(keyOf);
        return Promise.resolve(nothing);
      });
      world.cluster.put(widgets, widget('A/1'));
      world.cluster.put(parts, part('p', '1'));
      await world.start();
      await controller.addSource(watchSource({ name: 'late', cache, toPrimary: byController(widgets) }));
      controller.enqueue('A/1');
      await settle();
      expect(found).to.deep.equal(['A/p']);
    });

    it('RUN-39: survive a mapper that throws', async () => {
      const source = watchSource<Part>({
        cache: world.caches.of(parts),
        toPrimary: (obj) => {
          if (obj.metadata.name === 'bad') throw new Error('no');
          return byController(widgets)(obj);
        },
      });
      world.control(succeeding, { sources: [source] });
      twoWidgets();
      await world.start();
      await ran();
      world.cluster.put(parts, part('bad', '1'));
      world.cluster.put(parts, part('good', '2'));
      expect(await ran()).to.deep.equal(['A/2']);
      const text = await world.metrics.text();
      expect(text).to.match(/espalier_events_total\{.*action="failed".*\} [1-9]/);
    });
  });

  it('RUN-V15: transfer events from another cluster, by a mapper that names the primaries', async () => {
    const other = new FakeCluster();
    const { clock } = world;
    const caches = createCaches({ client: other, clock, rng: seededRng(1), log: silentLogger });
    const source = watchSource<Part>({
      cache: caches.of(parts),
      toPrimary: byLabel({ name: 'for', namespace: 'in' }),
    });
    const found: (string | undefined)[] = [];
    world.control(
      (_, ctx) => {
        found.push(ctx.secondary(parts)?.metadata.name);
        return Promise.resolve(nothing);
      },
      { sources: [source] },
    );
    twoWidgets();
    const labels = { for: '2', in: 'A' };
    other.put(parts, { metadata: { namespace: 'far', name: 'p', labels } });
    await world.start();
    expect((await ran()).sort()).to.deep.equal(['A/1', 'A/2']);
    expect(found.filter(Boolean)).to.deep.equal(['p']);
    other.edit(parts, 'far/p', { data: { a: 'b' } });
    expect(await ran()).to.deep.equal(['A/2']);
    // Own writes are sent to the cluster of the primaries.
    world.cluster.put(parts, { metadata: { namespace: 'far', name: 'p', labels } });
    expect(await ran()).to.deep.equal([]);
  });

  it('RUN-35: poll for everything, first before the first reconcile, then for changes', async () => {
    let answer = new Map([['A/1', [{ x: 1 }]]]);
    let polls = 0;
    const source = pollSource({
      name: 'poll',
      fetch() {
        polls++;
        return Promise.resolve(answer);
      },
    });
    const seen: unknown[] = [];
    world.control(
      (primary) => {
        seen.push(...source.of(primary));
        return Promise.resolve(nothing);
      },
      { sources: [source] },
    );
    twoWidgets();
    await world.start();
    expect(await ran()).to.deep.equal(['A/1', 'A/2']);
    expect(polls).to.equal(1);
    expect(seen).to.deep.equal([{ x: 1 }]);
    await world.clock.advance(5_000);
    expect(polls).to.equal(2);
    expect(await ran()).to.deep.equal([]);
    answer = new Map([['A/1', [{ x: 2 }]]]);
    await world.clock.advance(5_000);
    expect(await ran()).to.deep.equal(['A/1']);
    answer = new Map();
    await world.clock.advance(5_000);
    expect(await ran()).to.deep.equal(['A/1']);
    expect(seen).to.deep.equal([{ x: 1 }, { x: 2 }]);
    await world.clock.advance(5_000);
    expect(await ran()).to.deep.equal([]);
  });

  it('keep polling after an error, and keep their state', async () => {
    let isBroken = false;
    const source = pollSource({
      name: 'poll',
      fetch: () => (isBroken ? Promise.reject(new Error('no')) : Promise.resolve(new Map([['A/1', [1]]]))),
    });
    world.control(succeeding, { sources: [source] });
    twoWidgets();
    await world.start();
    await ran();
    isBroken = true;
    await world.clock.advance(20_000);
    isBroken = false;
    await world.clock.advance(20_000);
    expect(await ran()).to.deep.equal([]);
  });

  it('RUN-36: poll for each primary from its creation to its deletion', async () => {
    let value = 1;
    const fetched: string[] = [];
    const source = perResourceSource({
      name: 'each',
      fetch(primary: View<Obj>) {
        fetched.push(`${String(world.clock.now() / 1_000)} ${keyOf(primary)}`);
        return Promise.resolve([value]);
      },
      delayMs: (last) => (last?.[0] ?? 1) * 1_000,
    });
    world.control(
      async (primary) => {
        await source.load(primary);
        return nothing;
      },
      { sources: [source] },
    );
    world.cluster.put(widgets, widget('A/1'));
    await world.start();
    expect(await ran()).to.deep.equal(['A/1']);
    expect(fetched).to.deep.equal(['0 A/1']);
    await world.clock.advance(1_000);
    expect(await ran()).to.deep.equal([]);
    value = 10;
    await world.clock.advance(1_000);
    expect(await ran()).to.deep.equal(['A/1']);
    await world.clock.advance(10_000);
    expect(fetched).to.deep.equal(['0 A/1', '1 A/1', '2 A/1', '12 A/1']);
    world.cluster.remove(widgets, 'A/1');
    await world.clock.advance(60_000);
    expect(fetched).to.have.length(4);
  });

  it('RUN-37: reconcile the primaries that a webhook names', async () => {
    const source = inboundSource('hook');
    world.control(succeeding, { sources: [source] });
    twoWidgets();
    source.emit('A/1');
    await world.start();
    await ran();
    source.emit('A/1');
    source.emit('A/9');
    expect(await ran()).to.deep.equal(['A/1']);
  });

  it('RUN-37: reconcile a primary whose pushed state has changed', async () => {
    let fetches = 0;
    const source = cachingInboundSource<{ x: number }>({
      name: 'push',
      fetch() {
        fetches++;
        return Promise.resolve([{ x: 1 }]);
      },
    });
    world.control(
      async (primary) => {
        await source.load(primary);
        return nothing;
      },
      { sources: [source] },
    );
    world.cluster.put(widgets, widget('A/1'));
    await world.start();
    await ran();
    source.push('A/1', { x: 1 });
    expect(await ran()).to.deep.equal([]);
    source.push('A/1', { x: 2 });
    expect(await ran()).to.deep.equal(['A/1']);
    source.remove('A/1');
    expect(await ran()).to.deep.equal(['A/1']);
    expect(fetches).to.equal(2);
  });

  it('report a kind that is not watched', async () => {
    let thrown: unknown;
    world.control((_, ctx) => {
      try {
        ctx.secondary(parts);
      } catch (error) {
        thrown = error;
      }
      return Promise.resolve(nothing);
    });
    world.cluster.put(widgets, widget('A/1'));
    await world.start();
    expect(thrown).to.be.instanceOf(NotWatchedError).with.property('message').that.contains('Part');
  });

  it('must have different names', () => {
    expect(() => world.control(succeeding, { sources: [inboundSource('x'), inboundSource('x')] })).to.throw(
      DefinitionError,
      'x',
    );
  });

  it('delay all reconciles until they are synced, and name the one that is not', async () => {
    world.cluster.silent.add('Part');
    world.control(succeeding, {
      sources: [watchSource({ cache: world.caches.of(parts), toPrimary: byController(widgets) })],
    });
    twoWidgets();
    const error = world.manager.start().catch((thrown: unknown) => thrown);
    await world.clock.advance(119_000);
    expect(world.runs).to.deep.equal([]);
    await world.clock.advance(2_000);
    expect(await error)
      .to.be.instanceOf(SourceError)
      .with.property('message')
      .that.contains('parts.example.io');
  });
});

describe('mappers', () => {
  const obj = (metadata: Partial<Meta>): Obj => ({
    apiVersion: 'v1',
    kind: 'X',
    metadata: { name: 'x', namespace: 'A', ...metadata },
  });
  const ref = (more: Partial<OwnerReference>): OwnerReference => ({
    apiVersion: 'example.io/v1',
    kind: 'Widget',
    name: 'w',
    uid: 'u',
    ...more,
  });
  const owned = (...refs: OwnerReference[]): Obj => obj({ ownerReferences: refs });
  const global = { ...widgets, namespaced: false };

  const rows: readonly (readonly [string, Mapper, Obj, readonly string[]])[] = [
    ['the controller', byController(widgets), owned(ref({ controller: true })), ['A/w']],
    ['not an owner that does not control', byController(widgets), owned(ref({})), []],
    ['any owner', byOwner(widgets), owned(ref({}), ref({ name: 'v' })), ['A/w', 'A/v']],
    ['an owner of another version', byOwner(widgets), owned(ref({ apiVersion: 'example.io/v2' })), ['A/w']],
    ['not an owner of another group', byOwner(widgets), owned(ref({ apiVersion: 'other.io/v1' })), []],
    ['not an owner of another kind', byOwner(widgets), owned(ref({ kind: 'Part' })), []],
    ['a cluster-scoped owner', byOwner(global), owned(ref({})), ['w']],
    ['nothing without an owner', byOwner(widgets), obj({}), []],
    ['by label, in the same namespace', byLabel({ name: 'n' }), obj({ labels: { n: 'w' } }), ['A/w']],
    [
      'by label, in another namespace',
      byLabel({ name: 'n', namespace: 's' }),
      obj({ labels: { n: 'w', s: 'B' } }),
      ['B/w'],
    ],
    ["by label, without the primary's namespace", byLabel({ name: 'n' }), obj({}), []],
    ['by annotation', byAnnotation({ name: 'n' }), obj({ annotations: { n: 'w' } }), ['A/w']],
    [
      'by annotation, without namespace',
      byAnnotation({ name: 'n', isClusterScoped: true }),
      obj({ annotations: { n: 'w' } }),
      ['w'],
    ],
    ['the object of the same name', bySameName, obj({}), ['A/x']],
    [
      'any of several, without duplicates',
      anyOf(bySameName, bySameName, byOwner(widgets)),
      owned(ref({})),
      ['A/x', 'A/w'],
    ],
  ];
  for (const [title, mapper, object, expected] of rows) {
    it(`find ${title}`, () => {
      expect(mapper(object)).to.deep.equal(expected);
    });
  }
});
