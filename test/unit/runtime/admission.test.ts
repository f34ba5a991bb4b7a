import { expect } from 'chai';
import { DefinitionError } from '../../../src/runtime/errors.ts';
import type { Predicate } from '../../../src/runtime/sources/filters.ts';
import type { Kind, Obj, View } from '../../../src/runtime/types.ts';
import { settle } from '../../support/clock.ts';
import { FakeCluster } from './support/fake-cluster.ts';
import {
  createWorld,
  nothing,
  succeeding,
  widget,
  widgets,
  type Widget,
  type World,
} from './support/world.ts';

describe('generation and admission', () => {
  let world: World;
  beforeEach(() => {
    world = createWorld();
  });
  afterEach(() => world.end());

  const settled = (key: string, generation = 4): void => {
    world.cluster.put(widgets, { ...widget(key, { generation }) });
    world.cluster.edit(widgets, key, { status: { observedGeneration: generation } }, 'status');
  };
  const observed = (): number | undefined => world.cluster.read(widgets, 'A/1')?.status?.observedGeneration;

  it('RUN-28: admits generations that the status has not observed, and nothing else', async () => {
    world.control(succeeding, { generation: 'status' });
    settled('A/1');
    await world.start();
    world.cluster.edit(widgets, 'A/1', { metadata: { labels: { a: 'b' } } });
    await settle();
    expect(world.runs).to.have.length(0);
    world.cluster.edit(widgets, 'A/1', { spec: { size: 2 } });
    await settle();
    expect(world.runs).to.have.length(1);
  });

  it('RUN-29: stores the generation after a reconcile that wrote nothing', async () => {
    world.control(succeeding, { generation: 'status' });
    settled('A/1');
    world.cluster.edit(widgets, 'A/1', { spec: { size: 2 } });
    await world.start();
    expect(observed()).to.equal(5);
    expect(world.runs).to.have.length(1);
  });

  it('RUN-29: stores it together with the status that a reconcile wrote', async () => {
    world.control(
      (_, ctx) =>
        Promise.resolve({ write: 'status', object: { ...ctx.draft(), status: { phase: 'Ready' } } }),
      { generation: 'status' },
    );
    world.cluster.put(widgets, widget('A/1'));
    await world.start();
    expect(world.cluster.read(widgets, 'A/1')?.status).to.deep.equal({
      phase: 'Ready',
      observedGeneration: 1,
    });
    expect(world.cluster.writes).to.have.length(1);
  });

  it('RUN-29: leaves the status alone if only the resource is written, and reconciles again', async () => {
    const statuses: (number | undefined)[] = [];
    world.control(
      (primary, ctx) => {
        statuses.push(primary.status?.observedGeneration);
        if (statuses.length > 1) return Promise.resolve(nothing);
        return Promise.resolve({ write: 'resource', object: { ...ctx.draft(), spec: { size: 9 } } });
      },
      { generation: 'status', ownEvents: 'deliver' },
    );
    settled('A/1');
    world.cluster.edit(widgets, 'A/1', { spec: { size: 2 } });
    await world.start();
    expect(statuses).to.deep.equal([4, 4]);
    expect(observed()).to.equal(6);
  });

  it('RUN-29: stores nothing after a failure', async () => {
    world.control(() => Promise.reject(new Error('no')), { generation: 'status' });
    settled('A/1');
    world.cluster.edit(widgets, 'A/1', { spec: { size: 2 } });
    await world.start();
    expect(observed()).to.equal(4);
  });

  it('RUN-30: reconciles no settled object in status mode, and exactly the one that changed', async () => {
    world.control(succeeding, { generation: 'status' });
    for (let i = 0; i < 100; i++) settled(`A/${String(i)}`);
    world.cluster.edit(widgets, 'A/7', { spec: { size: 2 } });
    await world.start();
    expect(world.runs).to.deep.equal(['0 A/7']);
  });

  it('RUN-30: still reconciles settled objects after the sync period', async () => {
    world.control(succeeding, { generation: 'status', syncPeriodMs: 60_000 });
    settled('A/1');
    await world.start();
    await world.clock.advance(60_000);
    expect(world.runs).to.deep.equal(['60 A/1']);
  });

  it('RUN-30: reconciles every object once if generations are kept in memory', async () => {
    world.control(succeeding, { generation: 'memory' });
    for (let i = 0; i < 100; i++) settled(`A/${String(i)}`);
    await world.start();
    expect(world.runs).to.have.length(100);
    world.cluster.edit(widgets, 'A/1', { metadata: { labels: { a: 'b' } } });
    await settle();
    expect(world.runs).to.have.length(100);
  });

  it('RUN-31: reconciles every update of a kind that has no generation', async () => {
    const pods: Kind<Obj> = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true };
    let runs = 0;
    world.manager.add<Obj>({
      name: 'pods',
      kind: pods,
      reconciler: {
        reconcile() {
          runs++;
          return Promise.resolve({ write: 'none' });
        },
      },
    });
    world.cluster.put(pods, { metadata: { namespace: 'A', name: '1' } });
    await world.start();
    world.cluster.edit(pods, 'A/1', { metadata: { labels: { a: 'b' } } });
    await settle();
    expect(runs).to.equal(2);
  });

  for (const group of ['', 'apps', 'networking.k8s.io']) {
    it(`RUN-31: refuses to keep an observed generation for a kind of ${group || 'the core group'}`, () => {
      const kind = { ...widgets, group };
      expect(() => world.control(succeeding, { kind, generation: 'status' })).to.throw(DefinitionError);
    });
  }

  it('RUN-31: reconciles a settled object that is deleted or loses our finalizer', async () => {
    const finalizer = 'widgets.example.io/finalizer';
    const calls: string[] = [];
    world.control(succeeding, {
      generation: 'status',
      reconciler: {
        reconcile() {
          calls.push('reconcile');
          return Promise.resolve(nothing);
        },
        cleanup() {
          calls.push('cleanup');
          return Promise.resolve({ finalizer: 'remove' });
        },
      },
    });
    world.cluster.put(widgets, widget('A/1', { finalizers: [finalizer] }));
    world.cluster.edit(widgets, 'A/1', { status: { observedGeneration: 1 } }, 'status');
    await world.start();
    expect(calls).to.deep.equal([]);
    world.cluster.edit(widgets, 'A/1', { metadata: { finalizers: null } });
    await settle();
    expect(calls).to.deep.equal(['reconcile']);
    expect(world.cluster.read(widgets, 'A/1')?.metadata.finalizers).to.deep.equal([finalizer]);
    world.cluster.remove(widgets, 'A/1');
    await settle();
    expect(calls).to.deep.equal(['reconcile', 'cleanup']);
  });

  it('RUN-32: lets a trigger predicate replace the defaults', async () => {
    const isTriggered = ({ metadata, status }: View<Widget>): boolean =>
      metadata.annotations?.['operation'] === 'reconcile' || status?.jobID !== status?.jobIDFinished;
    const trigger: Predicate<Widget> = { add: isTriggered, update: (_, obj) => isTriggered(obj) };
    world.control(succeeding, { defaults: false, filter: trigger });
    world.cluster.put(widgets, widget('A/1'));
    await world.start();
    world.cluster.edit(widgets, 'A/1', { metadata: { annotations: { note: 'x' } } });
    await settle();
    expect(world.runs).to.have.length(0);
    world.cluster.edit(widgets, 'A/1', { metadata: { annotations: { operation: 'reconcile' } } });
    await settle();
    expect(world.runs).to.have.length(1);
    world.cluster.edit(widgets, 'A/1', { metadata: { annotations: { operation: null } } });
    await settle();
    expect(world.runs).to.have.length(1);
    world.cluster.edit(widgets, 'A/1', { status: { jobID: '2' } }, 'status');
    await settle();
    expect(world.runs).to.have.length(2);
  });

  it("calls the author's predicate in addition to the defaults", async () => {
    world = createWorld({ cluster: new FakeCluster() });
    world.control(succeeding, {
      generation: 'memory',
      filter: { update: (_, { spec }) => (spec?.size ?? 0) > 5 },
    });
    world.cluster.put(widgets, widget('A/1'));
    await world.start();
    world.cluster.edit(widgets, 'A/1', { spec: { size: 4 } });
    world.cluster.edit(widgets, 'A/1', { spec: { size: 6 } });
    await settle();
    world.cluster.edit(widgets, 'A/1', { metadata: { labels: { a: 'b' } } });
    await settle();
    expect(world.runs).to.have.length(2);
  });
});
