import { expect } from 'chai';
import { apiErrorFrom } from '../../../../src/runtime/errors.ts';
import { isInterrupted } from '../../../../src/runtime/external/creation.ts';
import {
  assigned,
  byObjectName,
  byUid,
  externalController,
  OutcomeUnknown,
  shortened,
} from '../../../../src/runtime/external/index.ts';
import { silentLogger } from '../../../../src/observability/log.ts';
import type { Context, Writer } from '../../../../src/runtime/types.ts';
import { settle } from '../../../support/clock.ts';
import { FakeCluster } from '../support/fake-cluster.ts';
import { createWorld, noChance } from '../support/world.ts';
import { buckets, Cloud, createScene, FINALIZER, KEY, NAME, type Bucket, type Scene } from './cloud.ts';

const mark = (name: string): string => `external.espalier.dev/${name}`;

describe('RUN-112: a creation whose end was never recorded', () => {
  let scene: Scene;
  afterEach(() => scene.world.end());
  const pending = {
    finalizers: [FINALIZER],
    annotations: {
      [mark('create-pending')]: '2025-12-31T23:59:00.000Z',
      [mark('create-failed')]: '2025-12-31T23:58:00.000Z',
    },
  };

  it('is not repeated if the service assigns names: the status says what to do', async () => {
    scene = createScene({ names: assigned, syncPeriodMs: 0 });
    const { cloud, world } = scene;
    scene.put({ size: 1 }, pending);
    await scene.start();
    await world.clock.advance(3_600_000);
    expect([cloud.calls, cloud.looks]).to.deep.equal([[], []]);
    const { reason, message } = scene.condition('Failed') ?? {};
    expect(reason).to.equal('CreationInterrupted');
    expect(message)
      .to.include('2025-12-31T23:59:00.000Z')
      .and.include(mark('name'))
      .and.include(mark('create-pending'));
    expect(scene.writes()).to.deep.equal([`merge status Bucket ${KEY}`]);
  });

  it('continues as soon as the user has removed the mark', async () => {
    scene = createScene({ names: assigned });
    const { cloud } = scene;
    cloud.created = { externalName: 'i-1' };
    scene.put({ size: 1 }, pending);
    await scene.start();
    await scene.edit({ metadata: { annotations: { [mark('create-pending')]: null } } });
    expect(cloud.calls).to.deep.equal(['create ']);
    expect(scene.active()).to.deep.equal(['Ready']);
  });

  it('and takes over the resource that the user has found', async () => {
    scene = createScene({ names: assigned });
    const { cloud } = scene;
    cloud.things.set('i-7', { size: 1, state: 'ready' });
    scene.put({ size: 1 }, pending);
    await scene.start();
    await scene.edit({
      metadata: { annotations: { [mark('create-pending')]: null, [mark('name')]: 'i-7' } },
    });
    expect(cloud.calls).to.deep.equal([]);
    expect(scene.get()?.status?.id).to.equal('i-7');
  });

  it('also blocks the deletion, because the resource would be left behind', async () => {
    scene = createScene({ names: assigned });
    scene.put({ size: 1 }, pending);
    await scene.start();
    scene.world.cluster.remove(buckets, KEY);
    await settle();
    expect(scene.get()?.metadata.finalizers).to.deep.equal([FINALIZER]);
    await scene.edit({ spec: { reclaimPolicy: 'Retain' } });
    expect(scene.get()).to.equal(undefined);
  });

  it('is checked if names are known beforehand: an existing resource is taken over', async () => {
    scene = createScene();
    const { cloud } = scene;
    cloud.things.set(NAME, { size: 1, state: 'ready' });
    scene.put({ size: 1 }, pending);
    await scene.start();
    expect(cloud.calls).to.deep.equal([]);
    expect(scene.active()).to.deep.equal(['Ready']);
  });

  it('is checked if names are known beforehand: a missing resource is created', async () => {
    scene = createScene();
    scene.put({ size: 1 }, pending);
    await scene.start();
    expect(scene.cloud.calls).to.deep.equal([`create ${NAME}`]);
  });

  it('is what a process leaves behind that is killed during the creation', async () => {
    const cluster = new FakeCluster();
    const cloud = new Cloud();
    cloud.created = { externalName: 'i-1' };
    const first = createScene({ names: assigned }, { cloud, world: createWorld({ cluster }) });
    cloud.during = (step) => (step === 'create' ? new Promise(() => undefined) : undefined);
    first.put();
    await first.start();
    await first.world.end();

    cloud.during = () => undefined;
    scene = createScene({ names: assigned }, { cloud, world: createWorld({ cluster }) });
    await scene.start();
    await scene.world.clock.advance(600_000);
    expect(cloud.calls).to.deep.equal(['create ']);
    expect(scene.condition('Failed')?.reason).to.equal('CreationInterrupted');
  });

  it('has an end that is written in the next reconcile if it cannot be written, and nothing is created twice', async () => {
    scene = createScene({ names: assigned });
    const { cloud, world } = scene;
    cloud.created = { externalName: 'i-1' };
    let isDown = false;
    cloud.during = (step) => {
      if (step === 'create') isDown = true;
    };
    const error = apiErrorFrom(500, {}, { verb: 'patch', kind: 'Bucket' });
    world.cluster.fault = ({ kind }) => (isDown && kind === 'Bucket' ? error : undefined);
    scene.put();
    await scene.start();
    expect(isInterrupted(scene.get()!)).to.equal(true);
    isDown = false;
    await world.clock.advance(60_000);
    expect(cloud.calls).to.deep.equal(['create ']);
    expect(scene.get()?.metadata.annotations?.[mark('name')]).to.equal('i-1');
    expect(scene.active()).to.deep.equal(['Ready']);
  });

  it('whose end could not be written is forgotten with its object', async () => {
    scene = createScene({ names: assigned });
    const { cloud, world } = scene;
    cloud.created = { externalName: 'i-1' };
    const ports = { client: world.cluster, caches: world.caches, clock: world.clock, rng: noChance };
    const spec = { name: 'buckets', kind: buckets, connector: cloud, names: assigned };
    const { reconciler } = externalController<Bucket>(spec, ports);
    const write: Writer = (each, signal) => world.cluster.send(each, signal);
    const { signal } = new AbortController();
    const ctx = { key: KEY, signal, log: silentLogger, write, event() {} } as unknown as Context<Bucket>;
    const run = () => reconciler.reconcile(scene.get() as Bucket, ctx).catch(String);
    const error = apiErrorFrom(500, {}, { verb: 'patch', kind: 'Bucket' });
    cloud.during = (step) => {
      if (step === 'create') world.cluster.fault = () => error;
    };
    scene.put();
    expect(await run()).to.include('500');
    expect(await run()).to.include('500');
    world.cluster.fault = () => undefined;
    await reconciler.forget?.(scene.get() as Bucket);
    expect(await run()).to.include('was interrupted');
    expect(cloud.calls).to.deep.equal(['create ']);
  });

  it('has no end if the handler does not know the outcome', async () => {
    scene = createScene({ names: assigned });
    const { cloud, world } = scene;
    cloud.faults.create = new OutcomeUnknown({ message: 'the connection broke' });
    scene.put();
    await scene.start();
    await world.clock.advance(600_000);
    expect(cloud.calls).to.deep.equal(['create ']);
    expect(scene.condition('Failed')?.message).to.include(mark('create-pending'));
    const events = world.cluster.requests.filter(({ kind }) => kind === 'Event');
    expect(JSON.stringify(events)).to.include('the connection broke');
  });

  it('has no end if it takes too long', async () => {
    scene = createScene({ names: assigned, reconcileTimeoutMs: 5_000 });
    const { cloud, world } = scene;
    cloud.during = (step) =>
      step === 'create'
        ? new Promise((_, reject) => {
            world.clock.at(world.clock.now() + 6_000, () => reject(new Error('aborted')));
          })
        : undefined;
    scene.put();
    await scene.start();
    await world.clock.advance(600_000);
    expect(cloud.calls).to.deep.equal(['create ']);
    expect(scene.condition('Failed')?.reason).to.equal('CreationInterrupted');
  });

  it('with known names has its end recorded even after the reconcile was aborted', async () => {
    scene = createScene({ reconcileTimeoutMs: 5_000 });
    const { cloud, world } = scene;
    cloud.during = (step) =>
      step === 'create'
        ? new Promise((resolve) => {
            world.clock.at(world.clock.now() + 6_000, resolve);
          })
        : undefined;
    scene.put();
    await scene.start();
    await world.clock.advance(6_000);
    expect(scene.get()?.metadata.annotations).to.have.property(
      mark('create-succeeded'),
      '2026-01-01T00:00:06.000Z',
    );
    await world.clock.advance(40_000);
    expect(cloud.calls).to.deep.equal([`create ${NAME}`]);
    expect(scene.active()).to.deep.equal(['Ready']);
  });

  const rows = [
    ['nothing', {}, false],
    ['pending alone', { pending: 5 }, true],
    ['pending, then succeeded', { pending: 5, succeeded: 6 }, false],
    ['pending, then failed', { pending: 5, failed: 6 }, false],
    ['pending and succeeded in one moment', { pending: 5, succeeded: 5 }, false],
    ['succeeded, then pending', { pending: 7, succeeded: 6 }, true],
    ['failed, then pending', { pending: 7, failed: 6 }, true],
    ['failed, pending, then succeeded', { pending: 7, failed: 6, succeeded: 8 }, false],
  ] as const;
  for (const [title, marks, expected] of rows) {
    it(`${title}: ${expected ? 'interrupted' : 'not interrupted'}`, () => {
      scene = createScene();
      const annotations = Object.fromEntries(
        Object.entries(marks).map(([name, s]) => [mark(`create-${name}`), new Date(s * 1_000).toISOString()]),
      );
      expect(isInterrupted({ apiVersion: 'v1', kind: 'X', metadata: { name: 'x', annotations } })).to.equal(
        expected,
      );
    });
  }
});

describe('RUN-113: a resource that was created and is not visible', () => {
  let scene: Scene;
  afterEach(() => scene.world.end());
  const createdAgo = (ms: number) => ({
    finalizers: [FINALIZER],
    annotations: {
      [mark('name')]: NAME,
      [mark('create-pending')]: new Date(scene.world.clock.wall() - ms - 1).toISOString(),
      [mark('create-succeeded')]: new Date(scene.world.clock.wall() - ms).toISOString(),
    },
  });

  it('is not created again 10 s later, but after 31 s', async () => {
    scene = createScene();
    const { cloud, world } = scene;
    scene.put({ size: 1 }, createdAgo(10_000));
    await scene.start();
    await world.clock.advance(19_000);
    expect(cloud.looks).to.not.deep.equal([]);
    expect(cloud.calls).to.deep.equal([]);
    await world.clock.advance(2_000);
    expect(cloud.calls).to.deep.equal([`create ${NAME}`]);
  });

  it('is deleted nevertheless, and not released before that time is over', async () => {
    scene = createScene();
    const { cloud, world } = scene;
    scene.put({ size: 1 }, createdAgo(10_000));
    await scene.start();
    world.cluster.remove(buckets, KEY);
    await settle();
    expect(cloud.calls).to.include(`delete ${NAME}`);
    expect(scene.get()).to.not.equal(undefined);
    await world.clock.advance(20_000);
    expect(scene.get()).to.equal(undefined);
  });

  it('is not released either if it was visible before, until its deletion was requested while it was', async () => {
    for (const isSeenAgain of [false, true]) {
      scene = createScene({ createGraceMs: 120_000 });
      const { cloud, world } = scene;
      scene.put({ size: 1 }, createdAgo(10_000));
      cloud.things.set(NAME, { size: 1, state: 'ready' });
      await scene.start();
      if (!isSeenAgain) cloud.things.clear();
      cloud.deletesAtOnce = false;
      world.cluster.remove(buckets, KEY);
      await settle();
      expect(new Set(cloud.calls)).to.deep.equal(new Set([`delete ${NAME}`]));
      cloud.things.clear();
      await world.clock.advance(40_000);
      expect(scene.get() === undefined).to.equal(isSeenAgain);
      await world.clock.advance(70_000);
      expect(scene.get()).to.equal(undefined);
      if (!isSeenAgain) await scene.world.end();
    }
  });

  it('does not wait for a mark in the future', async () => {
    scene = createScene();
    scene.put({ size: 1 }, createdAgo(-600_000));
    await scene.start();
    expect(scene.cloud.calls).to.deep.equal([`create ${NAME}`]);
  });
});

describe('RUN-118: names of external resources', () => {
  let scene: Scene;
  afterEach(() => scene.world.end());
  const object = { apiVersion: 'v1', kind: 'X', metadata: { name: 'photos', uid: 'd8b8-1' } };

  it('consist of a prefix and the uid, or of the name of the object, or are shortened', () => {
    scene = createScene();
    expect(byUid('gke').nameOf(object)).to.equal('gke-d8b8-1');
    expect(byObjectName.nameOf(object)).to.equal('photos');
    expect(assigned.nameOf(object)).to.equal(undefined);
    const long = { ...object, metadata: { ...object.metadata, uid: 'd8b8'.repeat(9) } };
    const short = shortened(byUid('gke'), 20).nameOf(long) ?? '';
    expect(short).to.have.length(20);
    expect(short).to.match(/^gke-d8b8d-/);
    expect(shortened(byUid('gke'), 20).nameOf(object)).to.equal('gke-d8b8-1');
    const other = { ...long, metadata: { ...long.metadata, uid: `${long.metadata.uid}x` } };
    expect(shortened(byUid('gke'), 20).nameOf(other)).to.not.equal(short);
  });

  it('are those that the service returns, stored before the status and used from then on', async () => {
    scene = createScene({ names: byUid('gke') });
    const { cloud } = scene;
    cloud.created = { externalName: 'i-42' };
    scene.put();
    await scene.start();
    expect(cloud.calls).to.deep.equal(['create gke-uid-1']);
    expect([...new Set(cloud.looks)]).to.deep.equal(['gke-uid-1', 'i-42']);
    const bodies = scene.world.cluster.requests.filter(
      ({ kind, verb }) => kind === 'Bucket' && verb === 'merge',
    );
    const named = bodies.findIndex(({ body }) => JSON.stringify(body).includes('i-42'));
    expect(bodies[named]?.sub).to.equal(undefined);
    expect(bodies.findIndex(({ sub }) => sub === 'status')).to.be.greaterThan(named);
    expect(scene.get()?.status?.id).to.equal('i-42');
  });

  it('may be set by the user, to take over an existing resource', async () => {
    scene = createScene();
    const { cloud } = scene;
    cloud.things.set('old', { size: 3, state: 'ready' });
    scene.put({ size: 3 }, { annotations: { [mark('name')]: 'old' } });
    await scene.start();
    expect(cloud.calls).to.deep.equal([]);
    expect(scene.get()?.status?.id).to.equal('old');
    expect(scene.get()?.metadata.finalizers).to.deep.equal([FINALIZER]);
  });
});
