import { expect } from 'chai';
import { seededRng } from '../../../../src/lib/rng.ts';
import { createMetrics, type Metrics } from '../../../../src/observability/metrics.ts';
import { silentLogger, type Logger } from '../../../../src/observability/log.ts';
import {
  apiErrorFrom,
  DefinitionError,
  ShareLostError,
  TransportError,
} from '../../../../src/runtime/errors.ts';
import { createFleet, type Places } from '../../../../src/runtime/fleet/fleet.ts';
import { SHARDS, shardLeaseName, shardOf } from '../../../../src/runtime/fleet/names.ts';
import { leaseKind, type LeaseObject } from '../../../../src/runtime/manager/lease.ts';
import type { StartableManager } from '../../../../src/runtime/manager/manager.ts';
import { keyOf } from '../../../../src/runtime/keys.ts';
import type { Client, Context, Kind, Obj, View, Write } from '../../../../src/runtime/types.ts';
import { FakeClock, settle } from '../../../support/clock.ts';
import { FakeCluster } from '../support/fake-cluster.ts';
import { createWorld, nothing, widget, widgets, type Widget } from '../support/world.ts';

const SYSTEM = 'system';
const KEYS = Array.from({ length: 40 }, (_, i) => `A/${String(i)}`);

interface Run {
  readonly by: string;
  readonly key: string;
  readonly from: number;
  until: number | undefined;
}

/** A replica in this process: `cut` disconnects it from the server, as a broken network or a kill would. */
class Replica {
  readonly name: string;
  readonly manager: StartableManager;
  readonly metrics: Metrics;
  isCut = false;
  /** The error for requests about its leases. */
  leaseFault: (write: Write) => Error | undefined = () => undefined;
  /** Called while a reconcile is running. */
  work: (key: string, ctx: Context<Widget>) => Promise<void> = () => Promise.resolve();
  readonly world: ReturnType<typeof createWorld>;
  moved: (kind: Kind<never>, object: View<Obj>) => void = () => undefined;

  constructor(
    name: string,
    { cluster, clock, runs, places, catchUp, fleet = 'fleet', log = silentLogger, parts }: Scene,
  ) {
    this.name = name;
    const around = (client: Client): Client => ({
      get: (kind, key, signal) => this.#reach(() => client.get(kind, key, signal)),
      list: (kind, query, signal) => client.list(kind, query, signal),
      watch: (kind, query, signal) => client.watch(kind, query, signal),
      send: (write, signal) =>
        this.#reach(() => {
          const fault = write.kind.kind === 'Lease' ? this.leaseFault(write) : undefined;
          return fault ? Promise.reject(fault) : client.send(write, signal);
        }),
      raw: () => client.raw('', ''),
      close: () => client.close(),
    });
    this.metrics = createMetrics();
    const share = createFleet({
      client: around(cluster),
      clock,
      rng: seededRng(name.length + 1),
      log,
      metrics: this.metrics,
      namespace: SYSTEM,
      name: fleet,
      identity: name,
      parts,
      catchUp,
      places: {
        ...places,
        onMoved: (moved) => {
          this.moved = moved;
          return () => undefined;
        },
      },
    });
    const world = createWorld({ cluster, clock, client: around(cluster), identity: name, share });
    this.world = world;
    this.manager = world.manager;
    world.control(async ({ metadata }, ctx) => {
      const run: Run = { by: name, key: `A/${metadata.name}`, from: clock.now(), until: undefined };
      runs.push(run);
      try {
        await this.work(run.key, ctx);
      } finally {
        run.until = clock.now();
      }
      return nothing;
    });
  }

  /** No request is ever answered. */
  #reach<T>(request: () => Promise<T>): Promise<T> {
    return this.isCut ? new Promise<T>(() => undefined) : request();
  }

  async start(): Promise<void> {
    const started = this.manager.start();
    await settle();
    await started;
    await settle();
  }

  async held(): Promise<number> {
    const text = await this.metrics.text();
    return Number(/^espalier_fleet_shards_held (\d+)$/m.exec(text)?.[1]);
  }
}

interface Scene {
  readonly cluster: FakeCluster;
  readonly clock: FakeClock;
  readonly runs: Run[];
  places: Omit<Places, 'onMoved'>;
  catchUp: (signal: AbortSignal) => Promise<void>;
  readonly fleet?: string;
  parts?: string;
  log?: Logger;
}

const byName: Scene['places'] = { placeOf: keyOf, guess: keyOf };

describe('a group of replicas', () => {
  let scene: Scene;
  let replicas: Replica[];
  beforeEach(() => {
    scene = {
      cluster: new FakeCluster(),
      clock: new FakeClock(),
      runs: [],
      places: byName,
      catchUp: () => Promise.resolve(),
    };
    replicas = [];
    for (const key of KEYS) scene.cluster.put(widgets, widget(key));
  });
  afterEach(async () => {
    for (const replica of replicas) {
      replica.isCut = false;
      const stopped = replica.manager.stop();
      await scene.clock.advance(31_000);
      await stopped;
    }
  });

  const replica = (name: string): Replica => {
    const made = new Replica(name, scene);
    replicas.push(made);
    return made;
  };
  const started = async (...names: string[]): Promise<Replica[]> => {
    const made = names.map(replica);
    for (const each of made) await each.start();
    await scene.clock.advance(1_000);
    return made;
  };
  const shardLease = (key: string): LeaseObject | undefined =>
    scene.cluster.read(leaseKind, `${SYSTEM}/${shardLeaseName('fleet', shardOf(key))}`);
  /** The replica that holds the shard of a key. */
  const holder = (key: string): string => shardLease(key)?.spec?.holderIdentity?.replace(/-[^-]*$/, '') ?? '';
  const keysOf = (name: string): string[] => KEYS.filter((key) => holder(key) === name);
  const editAll = async (): Promise<void> => {
    scene.runs.length = 0;
    for (const key of KEYS) scene.cluster.edit(widgets, key, { spec: { size: scene.clock.now() + 2 } });
    await settle();
  };
  const doneBy = (name: string): string[] => scene.runs.filter(({ by }) => by === name).map(({ key }) => key);
  /** Two reconciles of one key at the same time, which must never happen. */
  const overlaps = (): string[] =>
    scene.runs.flatMap((run, i) =>
      scene.runs
        .slice(i + 1)
        .filter((other) => other.key === run.key && other.from < (run.until ?? Infinity))
        .filter((other) => other.by !== run.by)
        .map((other) => `${run.key} by ${run.by} and ${other.by} at ${String(other.from)}`),
    );

  it('does everything alone if there is one', async () => {
    const [a] = await started('a');
    expect(doneBy('a').sort()).to.deep.equal([...KEYS].sort());
    expect(await a?.held()).to.equal(SHARDS);
  });

  describe('with the same lease', () => {
    const warnings: { message: string; fields: Readonly<Record<string, unknown>> }[] = [];
    beforeEach(() => {
      warnings.length = 0;
      const log: Logger = {
        ...silentLogger,
        warn: (fields, message) => void warnings.push({ message, fields: fields as Record<string, unknown> }),
        child: () => log,
      };
      scene.log = log;
    });
    const startWith = async (name: string, parts?: string): Promise<Replica | undefined> => {
      if (parts === undefined) delete scene.parts;
      else scene.parts = parts;
      const [made] = await started(name);
      return made;
    };
    const other =
      'another replica with the same lease runs other parts; start replicas with other parts with another --lease';
    const seen = (): readonly string[] =>
      warnings
        .filter(({ message }) => message === other)
        .map(({ fields: { replica, parts, other: name, otherParts, lease } }) =>
          [replica, parts, name, otherParts, lease].join(' ').replaceAll(/-[a-z0-9]{5}(?= )/g, ''),
        )
        .sort();

    it('and other parts, each names the other once, and again after it has joined again', async () => {
      await startWith('a', 'controllers');
      const b = await startWith('bb', 'deployers');
      const both = ['a controllers bb deployers system/fleet', 'bb deployers a controllers system/fleet'];
      expect(seen()).to.deep.equal(both);
      await scene.clock.advance(60_000);
      expect(seen()).to.deep.equal(both);
      await b?.manager.stop();
      await scene.clock.advance(20_000);
      await startWith('bb', 'deployers');
      expect(seen()).to.deep.equal([...both, ...both].sort());
    });

    it('and the same parts, they report nothing', async () => {
      await startWith('a', 'controllers');
      await startWith('bb', 'controllers');
      expect(seen()).to.deep.equal([]);
    });

    it('replicas that do not say what they run are not compared', async () => {
      await startWith('a', 'controllers');
      await startWith('bb');
      expect(seen()).to.deep.equal([]);
    });
  });

  it('divides everything between two, each object to one of them', async () => {
    const [a, b] = await started('a', 'bb');
    expect([await a?.held(), await b?.held()]).to.deep.equal([SHARDS / 2, SHARDS / 2]);
    await editAll();
    expect(doneBy('a').sort()).to.deep.equal(keysOf('a').sort());
    expect(doneBy('bb').sort()).to.deep.equal(keysOf('bb').sort());
    expect(keysOf('a').length).to.be.within(1, KEYS.length - 1);
    expect(scene.runs).to.have.length(KEYS.length);
  });

  it('gives three replicas five or six shards each, and moves only those of the third', async () => {
    await started('a', 'bb');
    const before = new Map(KEYS.map((key) => [key, holder(key)]));
    const [c] = await started('ccc');
    expect(await Promise.all(replicas.map((each) => each.held()))).to.have.members([6, 5, 5]);
    for (const key of KEYS) expect(holder(key)).to.be.oneOf([before.get(key), 'ccc']);
    expect(await c?.held()).to.be.within(5, 6);
  });

  it('reconciles objects of new shards once, and others not again', async () => {
    await started('a');
    scene.runs.length = 0;
    await started('bb');
    expect(doneBy('bb').sort()).to.deep.equal(keysOf('bb').sort());
    expect(doneBy('a')).to.deep.equal([]);
  });

  it('hands a shard over only after its reconciles have ended', async () => {
    const [a] = await started('a');
    const ends: (() => void)[] = [];
    if (a) a.work = () => new Promise((resolve) => ends.push(resolve));
    await editAll();
    expect(ends.length).to.be.greaterThan(0);
    const [b] = await started('bb');
    await scene.clock.advance(60_000);
    const running = new Set(scene.runs.filter(({ until }) => until === undefined).map(({ key }) => key));
    for (const key of running) expect(holder(key)).to.equal('a');
    if (a) a.work = () => Promise.resolve();
    for (const end of ends) end();
    await scene.clock.advance(1_000);
    expect(await b?.held()).to.equal(SHARDS / 2);
    expect(overlaps()).to.deep.equal([]);
  });

  it('starts nothing new in a shard that it hands over', async () => {
    const [a] = await started('a');
    let end = (): void => undefined;
    let first = '';
    if (a)
      a.work = (key) => {
        first ||= key;
        return key === first ? new Promise((resolve) => (end = resolve)) : Promise.resolve();
      };
    await editAll();
    // Which shards move depends on their numbers: replicas join until the shard with the reconcile is among them.
    await started('bb', 'ccc', 'dddd');
    const mates = KEYS.filter((key) => key !== first && shardOf(key) === shardOf(first));
    const isLeaving = mates.length > 0 && holder(first) === 'a';
    scene.runs.length = 0;
    for (const key of mates) scene.cluster.edit(widgets, key, { spec: { size: 99 } });
    await settle();
    end();
    await scene.clock.advance(1_000);
    if (isLeaving)
      for (const run of scene.runs) if (mates.includes(run.key)) expect(run.by).to.equal(holder(run.key));
    expect(overlaps()).to.deep.equal([]);
  });

  it('gives the work of a killed replica to the others within the lease time, and not before', async () => {
    const [a, b] = await started('a', 'bb');
    await scene.clock.advance(30_000);
    const lost = keysOf('a');
    if (a) a.isCut = true;
    const from = scene.clock.now();
    await scene.clock.advance(11_000);
    expect(keysOf('a')).to.deep.equal(lost);
    await scene.clock.advance(5_000);
    expect(keysOf('bb')).to.deep.equal(KEYS);
    expect(await b?.held()).to.equal(SHARDS);
    expect(scene.clock.now() - from).to.equal(16_000);
    scene.runs.length = 0;
    await editAll();
    expect(doneBy('bb').sort()).to.deep.equal([...KEYS].sort());
  });

  it('stops writing before the others start if its leases cannot be renewed', async () => {
    const [a, b] = await started('a', 'bb');
    const writes: { readonly by: string; readonly at: number }[] = [];
    const aborted: number[] = [];
    const refused: unknown[] = [];
    const key = keysOf('a')[0] ?? '';
    const { clock, cluster } = scene;
    for (const each of [a, b])
      if (each)
        each.work = async (of, ctx) => {
          if (of !== key) return;
          ctx.signal.addEventListener('abort', () => aborted.push(clock.now()), { once: true });
          for (;;) {
            try {
              await ctx.write({
                verb: 'merge',
                kind: widgets,
                key,
                body: { metadata: { labels: { at: String(clock.now()) } } },
              });
            } catch (error) {
              refused.push(error);
              return;
            }
            writes.push({ by: each.name, at: clock.now() });
            await new Promise<void>((resolve) => clock.at(clock.now() + 500, resolve));
            if (each === b) return;
          }
        };
    cluster.edit(widgets, key, { spec: { size: 5 } });
    await clock.advance(5_000);
    expect(writes.at(-1)).to.deep.equal({ by: 'a', at: clock.now() - (clock.now() % 500) });
    if (a) a.leaseFault = () => apiErrorFrom(503, {}, { verb: 'update', kind: 'Lease' });
    await clock.advance(30_000);
    const lastOfA = Math.max(...writes.filter(({ by }) => by === 'a').map(({ at }) => at));
    const firstOfB = Math.min(...writes.filter(({ by }) => by === 'bb').map(({ at }) => at));
    expect(lastOfA + 4_000).to.be.lessThan(firstOfB);
    expect(aborted[0]).to.be.within(lastOfA, firstOfB - 4_000);
    expect(refused[0]).to.be.instanceOf(ShareLostError);
  });

  it('joins again by itself when its leases can be renewed again, and gets its part back', async () => {
    const [a, b] = await started('a', 'bb');
    if (a) a.leaseFault = () => new TransportError({ message: 'connection refused', safeToRepeat: true });
    await scene.clock.advance(40_000);
    expect([await a?.held(), await b?.held()]).to.deep.equal([0, SHARDS]);
    if (a) a.leaseFault = () => undefined;
    await scene.clock.advance(5_000);
    expect([await a?.held(), await b?.held()]).to.deep.equal([SHARDS / 2, SHARDS / 2]);
    await editAll();
    expect(scene.runs).to.have.length(KEYS.length);
    expect(overlaps()).to.deep.equal([]);
  });

  it('works as before if no replica can renew for a while', async () => {
    await started('a', 'bb');
    for (const each of replicas)
      each.leaseFault = () => apiErrorFrom(500, {}, { verb: 'update', kind: 'Lease' });
    await scene.clock.advance(60_000);
    await editAll();
    expect(scene.runs).to.deep.equal([]);
    for (const each of replicas) each.leaseFault = () => undefined;
    await scene.clock.advance(20_000);
    expect(new Set(scene.runs.map(({ key }) => key)).size).to.equal(KEYS.length);
    expect(overlaps()).to.deep.equal([]);
  });

  it('leaves at once when it is stopped', async () => {
    const [a, b] = await started('a', 'bb');
    await a?.manager.stop();
    await scene.clock.advance(1_000);
    expect(await b?.held()).to.equal(SHARDS);
    expect(scene.cluster.requests.some(({ verb, kind }) => verb === 'delete' && kind === 'Lease')).to.equal(
      true,
    );
  });

  it('does not leave at once while a write without response may be in progress', async () => {
    const [a, b] = await started('a', 'bb');
    const key = keysOf('a')[0] ?? '';
    if (a)
      a.work = async (of, ctx) => {
        if (of !== key) return;
        scene.cluster.fault = ({ kind }) =>
          kind === 'Widget' ? new TransportError({ message: 'no answer', safeToRepeat: false }) : undefined;
        await ctx
          .write({ verb: 'merge', kind: widgets, key, body: { spec: { size: 7 } } })
          .catch(() => undefined);
        scene.cluster.fault = () => undefined;
      };
    scene.cluster.edit(widgets, key, { spec: { size: 6 } });
    await settle();
    await a?.manager.stop();
    await scene.clock.advance(11_000);
    expect(holder(key)).to.equal('a');
    await scene.clock.advance(6_000);
    expect(await b?.held()).to.equal(SHARDS);
  });

  it('delays a hand-over for a write without response', async () => {
    const [a] = await started('a');
    if (a)
      a.work = async (key, ctx) => {
        scene.cluster.fault = ({ kind }) =>
          kind === 'Widget' ? new TransportError({ message: 'no answer', safeToRepeat: false }) : undefined;
        await ctx
          .write({ verb: 'merge', kind: widgets, key, body: { spec: { size: 7 } } })
          .catch(() => undefined);
      };
    await editAll();
    await scene.clock.advance(500);
    scene.cluster.fault = () => undefined;
    const b = replica('bb');
    await b.start();
    await scene.clock.advance(2_000);
    expect(await b.held()).to.equal(SHARDS - new Set(KEYS.map(shardOf)).size);
    await scene.clock.advance(6_000);
    expect(await b.held()).to.equal(SHARDS / 2);
  });

  it('gives up a shard at once that another process took by force, and aborts its reconciles', async () => {
    const [a] = await started('a');
    const key = KEYS[0] ?? '';
    const seen: unknown[] = [];
    if (a)
      a.work = (of, ctx) =>
        of === key
          ? new Promise((_, reject) => {
              ctx.signal.addEventListener('abort', () => {
                seen.push(ctx.signal.reason);
                reject(ctx.signal.reason as Error);
              });
            })
          : Promise.resolve();
    scene.cluster.edit(widgets, key, { spec: { size: 3 } });
    await settle();
    const name = shardLeaseName('fleet', shardOf(key));
    // A live member, whose leases the test renews.
    scene.cluster.put(leaseKind, {
      metadata: {
        namespace: SYSTEM,
        name: 'fleet-member-x',
        labels: { 'espalier.dev/fleet': 'fleet', 'espalier.dev/role': 'member' },
      },
      spec: { holderIdentity: 'x', leaseDurationSeconds: 15 },
    });
    scene.cluster.edit(leaseKind, `${SYSTEM}/${name}`, { spec: { holderIdentity: 'x' } });
    await settle();
    expect(seen[0]).to.be.instanceOf(ShareLostError);
    expect((seen[0] as Error).message)
      .to.contain(`shard ${String(shardOf(key))}`)
      .and.contain('x holds its lease');
  });

  it('takes over only after the caches have caught up', async () => {
    const [a] = await started('a');
    let caughtUp = (): void => undefined;
    scene.catchUp = () => new Promise((resolve) => (caughtUp = resolve));
    const [b] = await started('bb');
    await scene.clock.advance(5_000);
    expect(await b?.held()).to.equal(SHARDS / 2);
    expect(doneBy('bb')).to.deep.equal([]);
    await editAll();
    expect(doneBy('bb')).to.deep.equal([]);
    // One round for the first shards, one for the rest.
    for (let rounds = 0; rounds < 3; rounds++) {
      caughtUp();
      await settle();
    }
    expect([...new Set(doneBy('bb'))].sort()).to.deep.equal(keysOf('bb').sort());
    expect(await a?.held()).to.equal(SHARDS / 2);
  });

  it('retries if the caches cannot catch up', async () => {
    let failures = 2;
    scene.catchUp = () => (failures-- > 0 ? Promise.reject(new Error('no')) : Promise.resolve());
    await started('a');
    await scene.clock.advance(5_000);
    expect(new Set(doneBy('a')).size).to.equal(KEYS.length);
  });

  it('starts in every shard, however closely they follow each other', async () => {
    const turns = async (count: number): Promise<void> => {
      for (let i = 0; i < count; i++) await Promise.resolve();
    };
    for (let seed = 0; seed < 60; seed++) {
      scene = { ...scene, cluster: new FakeCluster(), clock: new FakeClock(), runs: [] };
      for (const key of KEYS) scene.cluster.put(widgets, widget(key));
      const rng = seededRng(seed);
      scene.cluster.before = ({ kind }) =>
        kind === 'Lease' ? turns(Math.floor(rng.next() * 40)) : undefined;
      scene.catchUp = () => turns(Math.floor(rng.next() * 8));
      const [alone] = await started('a');
      expect(new Set(doneBy('a')).size, `seed ${String(seed)}`).to.equal(KEYS.length);
      await alone?.manager.stop();
    }
  });

  it('handles conflicts, rejections and lost responses of every write of a lease', async function () {
    this.timeout(300_000);
    for (let seed = 0; seed < 25; seed++) {
      scene = { ...scene, cluster: new FakeCluster(), clock: new FakeClock(), runs: [] };
      for (const key of KEYS) scene.cluster.put(widgets, widget(key));
      const rng = seededRng(seed);
      const faulty = (): Error | undefined => {
        const draw = Math.floor(rng.next() * 8);
        if (draw === 0) return apiErrorFrom(409, { reason: 'Conflict' }, { verb: 'update', kind: 'Lease' });
        if (draw === 1) return apiErrorFrom(429, {}, { verb: 'update', kind: 'Lease' });
        return draw === 2 ? new TransportError({ message: 'no answer', safeToRepeat: false }) : undefined;
      };
      const own = ['a', 'bb', 'ccc'].map((name) => new Replica(name, scene));
      for (const each of own) {
        each.leaseFault = faulty;
        void each.manager.start();
        await scene.clock.advance(Math.floor(rng.next() * 8_000));
      }
      await scene.clock.advance(60_000);
      for (const each of own) each.leaseFault = () => undefined;
      await scene.clock.advance(20_000);
      const held = await Promise.all(own.map((each) => each.held()));
      expect(
        held.reduce((sum, n) => sum + n, 0),
        `seed ${String(seed)}`,
      ).to.equal(SHARDS);
      expect(Math.max(...held) - Math.min(...held), `seed ${String(seed)}`).to.be.lessThan(2);
      await editAll();
      expect(scene.runs.map(({ key }) => key).sort(), `seed ${String(seed)}`).to.deep.equal([...KEYS].sort());
      expect(overlaps()).to.deep.equal([]);
      for (const each of own) {
        const stopped = each.manager.stop();
        await scene.clock.advance(31_000);
        await stopped;
      }
    }
  });

  it('ignores objects whose shard is unknown, and reconciles them when it is triggered', async () => {
    const key = 'A/7';
    const places = new Map<string, string>();
    scene.places = {
      placeOf: (object) => (keyOf(object) === key ? Promise.resolve(places.get(key)) : keyOf(object)),
      guess: (object) => (keyOf(object) === key ? undefined : keyOf(object)),
    };
    const [a] = await started('a');
    expect([...new Set(doneBy('a'))].sort()).to.deep.equal(KEYS.filter((each) => each !== key).sort());
    places.set(key, key);
    const object = scene.cluster.read(widgets, key);
    if (object) a?.moved(widgets as Kind<never>, object);
    await settle();
    expect(doneBy('a')).to.include(key);
  });

  it('retries if the shard of an object could not be determined', async () => {
    let failures = 3;
    scene.places = {
      placeOf: (object) => (failures-- > 0 ? Promise.reject(new Error('500')) : keyOf(object)),
      guess: keyOf,
    };
    await started('a');
    await scene.clock.advance(3_000);
    expect([...new Set(doneBy('a'))].sort()).to.deep.equal([...KEYS].sort());
  });

  it('remembers how often an object has failed while its shard cannot be determined', async () => {
    const key = 'A/7';
    let isUnclear = false;
    scene.places = {
      placeOf: (object) =>
        isUnclear && keyOf(object) === key ? Promise.reject(new Error('500')) : keyOf(object),
      guess: keyOf,
    };
    const a = replica('a');
    const runs: { readonly at: number; readonly attempt: number }[] = [];
    a.work = (of, { attempt }) => {
      if (of !== key) return Promise.resolve();
      runs.push({ at: scene.clock.now(), attempt });
      return Promise.reject(new Error('no'));
    };
    await a.start();
    await scene.clock.advance(8_000);
    expect(runs.map(({ at }) => at)).to.deep.equal([0, 1_000, 3_000, 7_000]);
    // An edit is reconciled at once and is not a retry; here it has to wait.
    isUnclear = true;
    scene.cluster.edit(widgets, key, { spec: { size: 7 } });
    await scene.clock.advance(2_500);
    isUnclear = false;
    await scene.clock.advance(30_000);
    expect(runs.slice(4)).to.deep.equal([
      { at: 11_000, attempt: 3 },
      { at: 15_000, attempt: 4 },
      { at: 31_000, attempt: 5 },
    ]);
  });

  it('needs one request for each replica and renewal, however many shards there are', async () => {
    await started('a', 'bb', 'ccc');
    await scene.clock.advance(10_000);
    scene.cluster.requests.length = 0;
    await scene.clock.advance(300_000);
    const leases = scene.cluster.requests.filter(({ kind }) => kind === 'Lease');
    // Every 3 s each of three: one a second.
    expect(leases.length).to.be.within(285, 303);
    expect(new Set(leases.map(({ verb }) => verb))).to.deep.equal(new Set(['replace']));
  });

  it('rejects a name that cannot be a label', () => {
    expect(() => new Replica('a', { ...scene, fleet: 'x'.repeat(64) })).to.throw(
      DefinitionError,
      'the fleet name "xxx',
    );
    expect(() => new Replica('a', { ...scene, fleet: 'a.b-c' })).to.not.throw();
  });

  it('reports the shards that it holds whenever they change', async () => {
    const lines: string[] = [];
    scene.log = {
      ...silentLogger,
      info: (fields, message) => {
        if (message === 'shards assigned') lines.push(JSON.stringify(fields));
      },
      child: () => scene.log ?? silentLogger,
    };
    await started('a');
    await started('bb');
    await scene.clock.advance(60_000);
    expect(lines.filter((line) => line === '{"shards":16,"of":16,"replicas":1}')).to.have.length(1);
    expect(lines.filter((line) => line === '{"shards":8,"of":16,"replicas":2}')).to.have.length(2);
  });
});
