import { expect } from 'chai';
import type { UpdateControl } from '../../../src/runtime/types.ts';
import { settle } from '../../support/clock.ts';
import {
  createWorld,
  nothing,
  succeeding,
  widget,
  widgets,
  type Widget,
  type World,
} from './support/world.ts';

type Edited = Exclude<UpdateControl<Widget>, { write: 'none' }>;

describe('writing the primary', () => {
  let world: World;
  beforeEach(() => {
    world = createWorld();
  });
  afterEach(() => world.end());

  /** The first reconcile returns the control, for a draft changed by `edit`. */
  const answering = async (control: Omit<Edited, 'object'>, edit: (draft: Widget) => void): Promise<void> => {
    let isFirst = true;
    world.control((_, ctx) => {
      if (!isFirst) return Promise.resolve(nothing);
      isFirst = false;
      const object = ctx.draft();
      edit(object);
      return Promise.resolve({ ...control, object });
    });
    world.cluster.put(widgets, widget('A/1'));
    await world.start();
  };
  const bothChanged = (draft: Widget): void => {
    draft.spec = { size: 2 };
    draft.status = { phase: 'Ready' };
  };

  it('RUN-26: writes the resource first and the status on top of the response', async () => {
    await answering({ write: 'both' }, bothChanged);
    const [first, second, ...more] = world.cluster.requests;
    expect(first).to.deep.include({
      verb: 'merge',
      body: { spec: { size: 2 }, metadata: { resourceVersion: '101' } },
    });
    expect(second).to.deep.include({
      verb: 'merge',
      sub: 'status',
      body: { status: { phase: 'Ready' }, metadata: { resourceVersion: '102' } },
    });
    expect(more).to.deep.equal([]);
  });

  it('RUN-26: omits the request that would change nothing', async () => {
    await answering({ write: 'both' }, (draft) => {
      draft.status = { phase: 'Ready' };
    });
    expect(world.cluster.writes).to.deep.equal(['merge status Widget A/1']);
  });

  it('RUN-26: sends nothing at all if nothing differs', async () => {
    await answering({ write: 'both' }, () => undefined);
    expect(world.cluster.writes).to.deep.equal([]);
  });

  for (const [write, expected] of [
    ['status', ['merge status Widget A/1']],
    ['resource', ['merge Widget A/1']],
  ] as const) {
    it(`writes only the ${write} on request`, async () => {
      await answering({ write }, bothChanged);
      expect(world.cluster.writes).to.deep.equal(expected);
    });
  }

  it('omits the version of a status write without optimistic locking', async () => {
    await answering({ write: 'status', lock: false }, bothChanged);
    expect(world.cluster.requests[0]?.body).to.deep.equal({ status: { phase: 'Ready' } });
  });

  for (const [strategy, verb] of [
    ['merge', 'merge'],
    ['json', 'json'],
    ['replace', 'replace'],
    ['apply', 'apply'],
  ] as const) {
    it(`reaches the desired state by the strategy ${strategy}`, async () => {
      await answering({ write: 'both', strategy }, (draft) => {
        bothChanged(draft);
        draft.metadata.labels = { 'a/b': 'c~d' };
      });
      expect(world.cluster.writes).to.deep.equal([`${verb} Widget A/1`, `${verb} status Widget A/1`]);
      const written = world.cluster.read(widgets, 'A/1');
      expect(written?.spec).to.deep.equal({ size: 2 });
      expect(written?.status).to.deep.equal({ phase: 'Ready' });
      expect(written?.metadata.labels).to.deep.equal({ 'a/b': 'c~d' });
    });
  }

  it('RUN-27: includes our finalizer in an applied object', async () => {
    const finalizer = 'widgets.example.io/finalizer';
    world.control(succeeding, {
      reconciler: {
        reconcile: () =>
          Promise.resolve({
            write: 'resource',
            strategy: 'apply',
            object: { apiVersion: 'example.io/v1', kind: 'Widget', ...widget('A/1'), spec: { size: 7 } },
          }),
        cleanup: () => Promise.resolve({ finalizer: 'remove' }),
      },
    });
    world.cluster.put(widgets, widget('A/1'));
    await world.start();
    const applied = world.cluster.requests.find(({ verb }) => verb === 'apply')?.body as Widget;
    expect(applied.metadata.finalizers).to.deep.equal([finalizer]);
    expect(world.cluster.read(widgets, 'A/1')?.metadata.finalizers).to.deep.equal([finalizer]);
  });

  it('does not reconcile again because of its own write, and reads it at once', async () => {
    let read: unknown;
    world.control(async (_, ctx) => {
      const body = { metadata: { resourceVersion: '101' }, status: { phase: 'Ready' } };
      await ctx.write({ verb: 'merge', kind: widgets, key: ctx.key, sub: 'status', body, lock: true });
      read = world.caches.of(widgets).get(ctx.key)?.status;
      return nothing;
    });
    world.cluster.put(widgets, widget('A/1'));
    await world.start();
    expect(read).to.deep.equal({ phase: 'Ready' });
    expect(world.runs).to.deep.equal(['0 A/1']);
  });

  it('receives its own writes on request', async () => {
    world.control(
      (_, ctx) =>
        Promise.resolve({ write: 'status', object: { ...ctx.draft(), status: { phase: 'Ready' } } }),
      { ownEvents: 'deliver' },
    );
    world.cluster.put(widgets, widget('A/1'));
    await world.start();
    expect(world.runs).to.deep.equal(['0 A/1', '0 A/1']);
  });

  it('computes the difference from what it has written itself during the reconcile', async () => {
    world.control(async (_, ctx) => {
      if (world.runs.length > 1) return nothing;
      const body = { metadata: { resourceVersion: '101', labels: { mine: 'yes' } } };
      const object = await ctx.write({ verb: 'merge', kind: widgets, key: ctx.key, body, lock: true });
      return { write: 'both', object: { ...object, status: { phase: 'Ready' } } };
    });
    world.cluster.put(widgets, widget('A/1'));
    await world.start();
    expect(world.cluster.writes).to.deep.equal(['merge Widget A/1', 'merge status Widget A/1']);
    expect(world.cluster.requests[1]?.body).to.deep.include({ metadata: { resourceVersion: '102' } });
  });

  it('keeps created objects for the next read', async () => {
    let read: unknown;
    const parts = world.caches.of(widgets);
    world.control(async (_, ctx) => {
      if (ctx.key !== 'A/1') return nothing;
      await ctx.write({
        verb: 'create',
        kind: widgets,
        object: { apiVersion: 'example.io/v1', kind: 'Widget', ...widget('A/2') },
      });
      read = parts.get('A/2')?.spec;
      return nothing;
    });
    world.cluster.put(widgets, widget('A/1'));
    await world.start();
    expect(read).to.deep.equal({ size: 1 });
  });

  it('writes nothing after the manager has stopped', async () => {
    let write: Promise<unknown> = Promise.resolve();
    world.control(
      (_, ctx) =>
        new Promise((resolve) => {
          world.clock.at(100_000, () => {
            write = ctx.write({ verb: 'delete', kind: widgets, key: ctx.key });
            write.catch(() => undefined);
            resolve(nothing);
          });
        }),
    );
    world.cluster.put(widgets, widget('A/1'));
    await world.start();
    await world.end();
    await world.clock.advance(100_000);
    await settle();
    const error = await write.catch((thrown: unknown) => thrown);
    expect(String(error)).to.contain('ShutdownError');
    expect(world.cluster.writes).to.deep.equal([]);
  });
});
