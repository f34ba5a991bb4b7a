import { expect } from 'chai';
import { NoRetryError } from '../../../../src/runtime/errors.ts';
import { apiErrorFrom } from '../../../../src/runtime/errors.ts';
import { settle } from '../../../support/clock.ts';
import { FakeCluster } from '../support/fake-cluster.ts';
import { createWorld } from '../support/world.ts';
import { buckets, Cloud, createScene, FINALIZER, KEY, made, NAME, type Scene } from './cloud.ts';

describe('an external resource', () => {
  let scene: Scene;
  beforeEach(() => {
    scene = createScene();
  });
  afterEach(() => scene.world.end());

  const wall = (): number => scene.world.clock.wall();
  /** An object that is an hour old and up to date. */
  const settled = async (spec: object = { size: 1 }): Promise<void> => {
    scene.cloud.things.set(NAME, { size: 1, state: 'ready' });
    scene.put(spec, made(wall()));
    await scene.start();
    expect(scene.active()).to.deep.equal(['Ready']);
    scene.cloud.calls.length = 0;
  };

  it('RUN-103: that has never been observed is created once, and is Creating', async () => {
    const { cloud } = scene;
    cloud.initially = 'creating';
    scene.put();
    await scene.start();
    expect(cloud.calls).to.deep.equal([`create ${NAME}`]);
    expect(scene.active()).to.deep.equal(['Creating']);
    expect(scene.get()?.status).to.deep.include({ id: NAME, state: 'creating', observedGeneration: 1 });
    expect(scene.get()?.metadata.finalizers).to.deep.equal([FINALIZER]);
    expect(cloud.disconnects).to.equal(cloud.connects);
  });

  it('keeps the finalizers of others when it gets its own', async () => {
    const scene = createScene();
    scene.put({ size: 1 }, { finalizers: ['other.example/x'] });
    await scene.start();
    expect(scene.get()?.metadata.finalizers).to.deep.equal(['other.example/x', FINALIZER]);
  });

  it('RUN-103: gets finalizer, name and mark in one write before it is created', async () => {
    const { cloud } = scene;
    const seen: unknown[] = [];
    cloud.during = (step) => {
      if (step === 'create') seen.push(scene.get()?.metadata.finalizers, scene.get()?.metadata.annotations);
    };
    scene.put();
    await scene.start();
    expect(seen).to.deep.equal([
      [FINALIZER],
      {
        'external.espalier.dev/name': NAME,
        'external.espalier.dev/create-pending': '2026-01-01T00:00:00.000Z',
      },
    ]);
    expect(scene.writes().slice(0, 3)).to.deep.equal([
      `merge Bucket ${KEY}`,
      `merge Bucket ${KEY}`,
      `merge status Bucket ${KEY}`,
    ]);
  });

  it('RUN-104: becomes Ready when it is observed to be, publishes its connection details, and waits for the poll interval', async () => {
    const { cloud, world, connectedAt } = scene;
    cloud.initially = 'creating';
    scene.put({ size: 1, writeConnectionSecretToRef: { name: 'conn' } });
    await scene.start();
    expect(scene.secret('conn')).to.equal(undefined);
    await world.clock.advance(10_000);
    cloud.things.set(NAME, { size: 1, state: 'ready' });
    cloud.details = { endpoint: 'https://b.example', password: 'hush' };
    await world.clock.advance(20_000);
    expect(scene.active()).to.deep.equal(['Ready']);
    expect(scene.condition('Creating')).to.deep.include({
      status: 'False',
      lastTransitionTime: '2026-01-01T00:00:30Z',
    });
    expect(scene.condition('Ready')).to.deep.include({
      reason: 'Available',
      lastTransitionTime: '2026-01-01T00:00:30Z',
    });
    const text = (key: string): string =>
      Buffer.from(scene.secret('conn')?.data?.[key] ?? '', 'base64').toString();
    expect([text('endpoint'), text('password')]).to.deep.equal(['https://b.example', 'hush']);
    connectedAt.length = 0;
    await world.clock.advance(60_000);
    expect(connectedAt).to.deep.equal([90]);
  });

  it('publishes connection details that change while the service is updating', async () => {
    const { cloud, world } = scene;
    scene.put({ size: 1, writeConnectionSecretToRef: { name: 'conn' } });
    await scene.start();
    cloud.things.set(NAME, { size: 1, state: 'updating' });
    cloud.details = { password: 'rotated' };
    await world.clock.advance(60_000);
    const { password = '' } = scene.secret('conn')?.data ?? {};
    expect(Buffer.from(password, 'base64').toString()).to.equal('rotated');
  });

  it('is Synced unless its last reconcile failed or it is paused, and says why not', async () => {
    const { cloud, world } = scene;
    scene.put();
    await scene.start();
    expect(scene.condition('Synced')).to.deep.include({ status: 'True', reason: 'Reconciled' });
    cloud.faults.observe = new Error('timeout');
    await world.clock.advance(60_000);
    const failure = { status: 'False', reason: 'ObserveFailed', message: 'timeout' };
    expect(scene.condition('Synced')).to.deep.include(failure);
    delete cloud.faults.observe;
    await world.clock.advance(60_000);
    expect(scene.condition('Synced')).to.deep.include({ status: 'True', message: '' });
    await scene.edit({ metadata: { annotations: { 'external.espalier.dev/paused': 'true' } } });
    expect(scene.condition('Synced')).to.deep.include({ status: 'False', reason: 'Paused' });
  });

  it('RUN-105: is Creating and Failed after a timeout, and Creating since the same time when that is over', async () => {
    const { cloud, world } = scene;
    cloud.initially = 'creating';
    scene.put();
    await scene.start();
    cloud.faults.observe = new Error('timeout');
    await world.clock.advance(30_000);
    expect(scene.active()).to.deep.equal(['Creating', 'Failed']);
    expect(scene.condition('Failed')).to.deep.include({ reason: 'ObserveFailed', message: 'timeout' });
    delete cloud.faults.observe;
    await world.clock.advance(2_000);
    expect(scene.active()).to.deep.equal(['Creating']);
    expect(scene.condition('Creating')?.lastTransitionTime).to.equal('2026-01-01T00:00:00Z');
  });

  it('RUN-106: is Failed and no longer Creating if the service reports that its creation failed', async () => {
    const { cloud, world } = scene;
    cloud.initially = 'creating';
    scene.put();
    await scene.start();
    cloud.things.set(NAME, { size: 1, state: 'failed' });
    cloud.message = 'no such region';
    await world.clock.advance(30_000);
    expect(scene.active()).to.deep.equal(['Failed']);
    expect(scene.condition('Failed')).to.deep.include({ reason: 'FailedOutside', message: 'no such region' });
    expect(cloud.calls).to.deep.equal([`create ${NAME}`]);
  });

  it('RUN-106: is not created again if the handler reports a permanent error, until something changes', async () => {
    const { cloud, world } = scene;
    cloud.faults.create = new NoRetryError({ message: 'the name is forbidden' });
    scene.put();
    await scene.start();
    expect(scene.active()).to.deep.equal(['Failed']);
    const count = cloud.calls.length;
    await world.clock.advance(3_600_000);
    expect(cloud.calls.length).to.equal(count);
    delete cloud.faults.create;
    await scene.edit({ spec: { size: 2 } });
    expect(scene.active()).to.include('Ready');
  });

  it('can be changed by a new spec after it has failed in the service', async () => {
    await settled();
    scene.cloud.things.set(NAME, { size: 1, state: 'failed' });
    await scene.edit({ spec: { size: 2 } });
    expect(scene.cloud.calls).to.include(`update ${NAME}`);
  });

  for (const state of ['ready', 'creating', 'updating', 'failed', 'unknown', 'deleting'] as const) {
    it(`RUN-107: is deleted whatever its state (${state}), and only Deleting is True`, async () => {
      await settled();
      const { cloud, world } = scene;
      cloud.deletesAtOnce = false;
      cloud.things.set(NAME, { size: 7, state });
      world.cluster.remove(scene.controller.kind, KEY);
      await settle();
      expect(new Set(cloud.calls)).to.deep.equal(new Set([`delete ${NAME}`]));
      expect(scene.active()).to.deep.equal(['Deleting']);

      await scene.edit({ spec: { size: 9 } });
      expect(cloud.calls).to.not.include(`update ${NAME}`);
      cloud.things.delete(NAME);
      await world.clock.advance(30_000);
      expect(scene.get()).to.equal(undefined);
    });
  }

  it('RUN-107: is Deleting and Failed while its deletion fails, which is retried', async () => {
    await settled();
    const { cloud, world } = scene;
    cloud.faults.delete = new Error('still in use');
    world.cluster.remove(scene.controller.kind, KEY);
    await settle();
    expect(scene.active()).to.deep.equal(['Deleting', 'Failed']);
    delete cloud.faults.delete;
    await world.clock.advance(1_000);
    expect(scene.get()).to.equal(undefined);
  });

  it('RUN-108: is updated if it has drifted, and Updating until it is observed to be up to date', async () => {
    await settled();
    const { cloud, world } = scene;
    let stay = true;
    cloud.during = (step) => {
      if (step === 'update' && stay) cloud.things.set(NAME, { size: 5, state: 'updating' });
    };
    cloud.things.set(NAME, { size: 5, state: 'ready' });
    await world.clock.advance(60_000);
    expect(cloud.calls).to.deep.equal([`update ${NAME}`]);
    expect(scene.active()).to.deep.equal(['Updating']);
    stay = false;
    cloud.things.set(NAME, { size: 1, state: 'ready' });
    await world.clock.advance(30_000);
    expect(scene.active()).to.deep.equal(['Ready']);
  });

  it('RUN-108: is updated when its spec changes', async () => {
    await settled();
    await scene.edit({ spec: { size: 3 } });
    expect(scene.cloud.calls).to.deep.equal([`update ${NAME}`]);
    expect(scene.cloud.things.get(NAME)?.size).to.equal(3);
    expect(scene.active()).to.deep.equal(['Ready']);
    expect(scene.get()?.status?.observedGeneration).to.equal(2);
  });

  it('RUN-109: stays Ready besides Failed if it cannot be observed', async () => {
    await settled();
    scene.cloud.faults.observe = new Error('the credential is not valid');
    await scene.world.clock.advance(60_000);
    expect(scene.active()).to.deep.equal(['Ready', 'Failed']);
  });

  it('RUN-111: is Failed if there is no connection, which is retried at growing intervals', async () => {
    const { cloud, world, connectedAt } = scene;
    cloud.faults.connect = new Error('no credentials');
    scene.put();
    await scene.start();
    expect(scene.active()).to.deep.equal(['Failed']);
    expect(scene.condition('Failed')).to.deep.include({ reason: 'ConnectFailed', message: 'no credentials' });
    expect([...cloud.looks, ...cloud.calls]).to.deep.equal([]);
    await world.clock.advance(7_500);
    expect([...new Set(connectedAt)]).to.deep.equal([0, 1, 3, 7]);
  });

  it('RUN-X10: decides without its conditions: deleting them changes no call', async () => {
    await settled();
    const { cloud, world } = scene;
    await scene.edit({ status: null }, 'status');
    expect(cloud.calls).to.deep.equal([]);
    expect(scene.active()).to.deep.equal(['Ready']);
    cloud.things.delete(NAME);
    await scene.edit({ status: null }, 'status');
    expect(cloud.calls).to.deep.equal([`create ${NAME}`]);
    world.cluster.remove(scene.controller.kind, KEY);
    await settle();
    expect(scene.get()).to.equal(undefined);
  });

  it('RUN-X28: is reconciled on request, and reports it', async () => {
    await settled();
    const before = scene.cloud.looks.length;
    await scene.edit({ metadata: { annotations: { 'external.espalier.dev/request': 'now-1' } } });
    expect(scene.cloud.looks.length).to.be.greaterThan(before);
    expect(scene.get()?.status?.lastRequest).to.equal('now-1');
  });

  it('RUN-X29: delays its deletion until no other finalizer is left', async () => {
    await settled();
    const { cloud, world } = scene;
    await scene.edit({ metadata: { finalizers: [FINALIZER, 'other.example/x'] } });
    world.cluster.remove(scene.controller.kind, KEY);
    await settle();
    expect(cloud.calls).to.deep.equal([]);
    expect(scene.condition('Deleting')?.message).to.include('other.example/x');
    await scene.edit({ metadata: { finalizers: [FINALIZER] } });
    expect(cloud.calls).to.deep.equal([`delete ${NAME}`]);
    await world.clock.advance(30_000);
    expect(scene.get()).to.equal(undefined);
  });

  it('reports its work in events', async () => {
    scene.put();
    await scene.start();
    await scene.edit({ spec: { size: 2 } });
    await scene.world.clock.advance(10_000);
    scene.world.cluster.remove(buckets, KEY);
    await scene.world.clock.advance(10_000);
    const reasons = scene.world.cluster.requests
      .filter(({ kind }) => kind === 'Event')
      .map(({ body }) => (body as { reason?: string }).reason);
    expect(reasons).to.include.members(['Created', 'Updated', 'Deleted']);
  });
});

describe('RUN-110: an external resource and an API server that fails', () => {
  const refused = apiErrorFrom(500, {}, { verb: 'patch', kind: 'Bucket' });
  const gone = apiErrorFrom(404, { reason: 'NotFound' }, { verb: 'get', kind: 'Bucket' });
  let scene: Scene;
  afterEach(() => scene.world.end());

  it('passes a failed read on, without writing a status', async () => {
    scene = createScene({ read: 'live' });
    const { world, cloud } = scene;
    world.cluster.fault = ({ verb }) => (verb === 'get' ? refused : undefined);
    scene.put();
    await scene.start();
    expect(scene.writes()).to.deep.equal([]);
    expect(cloud.connects).to.equal(0);
    expect(await world.metric('controller_runtime_reconcile_errors_total{controller="buckets"}')).to.equal(1);
    world.cluster.fault = () => undefined;
    await world.clock.advance(1_000);
    expect(scene.active()).to.deep.equal(['Ready']);
  });

  it('ends without error if the object is gone', async () => {
    scene = createScene({ read: 'live' });
    const { world, cloud } = scene;
    world.cluster.fault = ({ verb }) => (verb === 'get' ? gone : undefined);
    scene.put();
    await scene.start();
    await world.clock.advance(600_000);
    expect(scene.writes()).to.deep.equal([]);
    expect(cloud.connects).to.equal(0);
    expect(await world.metric('controller_runtime_reconcile_errors_total{controller="buckets"}')).to.equal(0);
  });

  for (const status of [409, 429, 500]) {
    it(`reconciles again after a status write that failed with ${String(status)}, and creates nothing twice`, async () => {
      scene = createScene();
      const { world, cloud } = scene;
      let left = 2;
      const error = apiErrorFrom(status, {}, { verb: 'patch', kind: 'Bucket' });
      world.cluster.fault = ({ sub, kind }) =>
        kind === 'Bucket' && sub === 'status' && left-- > 0 ? error : undefined;
      scene.put();
      await scene.start();
      await world.clock.advance(40_000);
      expect(cloud.calls).to.deep.equal([`create ${NAME}`]);
      expect(scene.active()).to.deep.equal(['Ready']);
      const failed = 'controller_runtime_reconcile_errors_total{controller="buckets"}';
      expect(await world.metric(failed)).to.equal(2);
    });
  }

  it('creates nothing if the object was changed since it was read', async () => {
    scene = createScene();
    const { world, cloud } = scene;
    let isFirst = true;
    cloud.during = (step) => {
      if (step !== 'observe' || !isFirst) return;
      isFirst = false;
      world.cluster.edit(scene.controller.kind, KEY, { spec: { size: 4 } });
    };
    scene.put();
    await scene.start();
    await world.clock.advance(1_000);
    expect(cloud.calls).to.deep.equal([`create ${NAME}`]);
    expect(cloud.things.get(NAME)?.size).to.equal(4);
  });

  it('continues with the deletion if the finalizer could not be removed', async () => {
    scene = createScene();
    const { world } = scene;
    scene.put();
    await scene.start();
    let left = 1;
    world.cluster.fault = ({ verb }) => (verb === 'json' && left-- > 0 ? refused : undefined);
    world.cluster.remove(scene.controller.kind, KEY);
    await settle();
    expect(scene.get()).to.not.equal(undefined);
    await world.clock.advance(1_000);
    expect(scene.get()).to.equal(undefined);
  });
});

describe('an external resource after a restart', () => {
  it('is found again, and nothing is created twice', async () => {
    const cluster = new FakeCluster();
    const cloud = new Cloud();
    const first = createScene({}, { cloud, world: createWorld({ cluster }) });
    first.put();
    await first.start();
    await first.world.end();
    const second = createScene({}, { cloud, world: createWorld({ cluster }) });
    await second.start();
    expect(cloud.calls).to.deep.equal([`create ${NAME}`]);
    expect(second.active()).to.deep.equal(['Ready']);
    await second.world.end();
  });
});
