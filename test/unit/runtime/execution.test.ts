import { expect } from 'chai';
import { settle } from '../../support/clock.ts';
import {
  createWorld,
  failing,
  nothing,
  succeeding,
  taking,
  widget,
  widgets,
  type World,
} from './support/world.ts';

describe('the execution of reconciles', () => {
  let world: World;
  beforeEach(() => {
    world = createWorld();
  });
  afterEach(() => world.end());

  it('RUN-02: reconciles different objects at the same time', async () => {
    world.control(taking(world.clock, 10_000));
    world.cluster.put(widgets, widget('A/1'));
    world.cluster.put(widgets, widget('A/2'));
    await world.start();
    expect(world.runs).to.deep.equal(['0 A/1', '0 A/2']);
  });

  it('RUN-03: merges any number of events during a reconcile into one more reconcile', async () => {
    world.control(taking(world.clock, 10_000));
    world.cluster.put(widgets, widget('A/1'));
    await world.start();
    for (let size = 2; size < 9; size++) world.cluster.edit(widgets, 'A/1', { spec: { size } });
    await world.clock.advance(60_000);
    expect(world.runs).to.deep.equal(['0 A/1', '10 A/1']);
  });

  it('RUN-05: ignores events of missing objects', async () => {
    const controller = world.control(succeeding);
    await world.start();
    controller.enqueue('A/1');
    await settle();
    expect(world.runs).to.deep.equal([]);
  });

  it('RUN-05: does not reconcile an object that was deleted before a worker was free, and reconciles the recreated one', async () => {
    world.control(taking(world.clock, 10_000), { maxConcurrent: 1 });
    await world.start();
    world.cluster.put(widgets, widget('A/0'));
    world.cluster.put(widgets, widget('A/1'));
    await settle();
    world.cluster.remove(widgets, 'A/1');
    await world.clock.advance(15_000);
    expect(world.runs).to.deep.equal(['0 A/0']);
    world.cluster.put(widgets, widget('A/1'));
    await settle();
    expect(world.runs).to.deep.equal(['0 A/0', '15 A/1']);
  });

  it('RUN-06: remembers events before the start, once', async () => {
    world = createWorld({ lease: { namespace: 'kube-system', name: 'lead', onLost: () => undefined } });
    const { cluster, clock, runs } = world;
    const lease = {
      group: 'coordination.k8s.io',
      version: 'v1',
      kind: 'Lease',
      plural: 'leases',
      namespaced: true,
    };
    cluster.put(lease, {
      metadata: { namespace: 'kube-system', name: 'lead' },
      spec: { holderIdentity: 'other', leaseDurationSeconds: 15 },
    } as never);
    world.control(succeeding);
    const started = world.manager.start();
    await settle();
    cluster.put(widgets, widget('A/1'));
    cluster.edit(widgets, 'A/1', { spec: { size: 2 } });
    cluster.edit(widgets, 'A/1', { spec: { size: 3 } });
    await clock.advance(14_000);
    expect(runs).to.deep.equal([]);
    await clock.advance(4_000);
    await started;
    await settle();
    expect(runs).to.have.length(1);
  });

  it('RUN-06: finishes running reconciles and starts no waiting ones when it stops', async () => {
    world.control(taking(world.clock, 10_000), { maxConcurrent: 1, syncPeriodMs: 1_000 });
    for (let i = 0; i < 6; i++) world.cluster.put(widgets, widget(`A/${String(i)}`));
    await world.start();
    const stopped = world.manager.stop();
    await world.clock.advance(60_000);
    await stopped;
    expect(world.runs).to.deep.equal(['0 A/0']);
    expect(world.manager.unfinished).to.equal(0);
    expect(world.clock.pending).to.equal(0);
  });

  it('RUN-07: treats a rejection with a string as a failure and continues', async () => {
    world.control(failing('x'));
    world.cluster.put(widgets, widget('A/1'));
    await world.start();
    expect(await world.metric('controller_runtime_reconcile_panics_total{controller="widgets"}')).to.equal(1);
    expect(await world.metric('controller_runtime_reconcile_errors_total{controller="widgets"}')).to.equal(1);
  });

  it('has the signals of a reconcile in a copy of its context, too', async () => {
    const same: boolean[] = [];
    world.control((_, ctx) => {
      const copied = { ...ctx };
      same.push(
        copied.signal === ctx.signal,
        copied.interrupt === ctx.interrupt,
        ctx.signal !== ctx.interrupt,
      );
      return Promise.resolve(nothing);
    });
    world.cluster.put(widgets, widget('A/1'));
    await world.start();
    expect(same).to.deep.equal([true, true, true]);
  });

  it('RUN-07: aborts the signal of a reconcile that takes too long, and counts it', async () => {
    let abortedAt: number | undefined;
    world.control(
      (_, { signal }) => {
        signal.addEventListener('abort', () => (abortedAt = world.clock.now()));
        return taking(world.clock, 5_000)(_, {} as never);
      },
      { reconcileTimeoutMs: 1_000 },
    );
    world.cluster.put(widgets, widget('A/1'));
    await world.start();
    await world.clock.advance(10_000);
    expect(abortedAt).to.equal(1_000);
    expect(await world.metric('controller_runtime_reconcile_timeouts_total{controller="widgets"}')).to.equal(
      1,
    );
  });

  it('RUN-08: delays reconciles beyond the limit to the end of the window and drops none', async () => {
    const controller = world.control(succeeding, { limit: { reconciles: 3, perMs: 10_000 } });
    await world.start();
    world.cluster.put(widgets, widget('A/1'));
    await settle();
    for (let i = 1; i < 5; i++) {
      await world.clock.advance(1_000);
      controller.enqueue('A/1');
    }
    await world.clock.advance(60_000);
    expect(world.runs).to.deep.equal(['0 A/1', '1 A/1', '2 A/1', '10 A/1']);
  });

  it('starts no reconcile without an event', async () => {
    world.control(succeeding);
    await world.start();
    await world.clock.advance(3_600_000);
    expect(world.runs).to.deep.equal([]);
  });

  it('fires the interrupt of a reconcile if a change requests it', async () => {
    const interrupts: string[] = [];
    world.control(
      (primary, ctx) => {
        ctx.interrupt.addEventListener('abort', () => interrupts.push(ctx.key));
        return taking(world.clock, 10_000)(primary, ctx);
      },
      { interruptWhen: ({ obj }) => obj.metadata.annotations?.['stop'] === 'yes' },
    );
    world.cluster.put(widgets, widget('A/1'));
    await world.start();
    world.cluster.edit(widgets, 'A/1', { metadata: { annotations: { note: 'hm' } } });
    await settle();
    expect(interrupts).to.deep.equal([]);
    world.cluster.edit(widgets, 'A/1', { metadata: { annotations: { stop: 'yes' } } });
    await settle();
    expect(interrupts).to.deep.equal(['A/1']);
  });

  it('says whether another reconcile follows, because of any event that arrived meanwhile', async () => {
    const said: boolean[] = [];
    const controller = world.control(async (primary, ctx) => {
      said.push(ctx.hasNewEvents);
      const control = await taking(world.clock, 10_000)(primary, ctx);
      said.push(ctx.hasNewEvents, { ...ctx }.hasNewEvents);
      return control;
    });
    world.cluster.put(widgets, widget('A/1'));
    await world.start();
    controller.enqueue('A/1');
    await world.clock.advance(10_000);
    expect(said).to.deep.equal([false, true, true, false]);
    await world.clock.advance(10_000);
    expect(said.slice(3)).to.deep.equal([false, false, false]);
  });

  it('passes frozen primaries and private drafts', async () => {
    let isChanged: boolean | undefined;
    world.control((primary, ctx) => {
      const draft = ctx.draft();
      draft.spec = { size: 99 };
      isChanged = Reflect.set(primary, 'spec', {});
      return Promise.resolve(nothing);
    });
    world.cluster.put(widgets, widget('A/1'));
    await world.start();
    expect(isChanged).to.equal(false);
    expect(world.caches.of(widgets).get('A/1')?.spec).to.deep.equal({ size: 1 });
  });
});
