import { expect } from 'chai';
import type { ControllerSpec } from '../../../src/runtime/controller/controller.ts';
import { DefinitionError } from '../../../src/runtime/errors.ts';
import type { DeleteControl } from '../../../src/runtime/types.ts';
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

const ours = 'widgets.example.io/finalizer';

describe('finalizers and the two phases', () => {
  let world: World;
  let calls: string[];
  beforeEach(() => {
    world = createWorld();
    calls = [];
  });
  afterEach(() => world.end());

  const cleaning = (
    answers: readonly DeleteControl[] = [{ finalizer: 'remove' }],
    spec: Partial<ControllerSpec<Widget>> = {},
  ): void => {
    const left = [...answers];
    world.control(succeeding, {
      reconciler: {
        reconcile(primary) {
          calls.push(`reconcile ${(primary.metadata.finalizers ?? []).join()}`);
          return Promise.resolve(nothing);
        },
        cleanup() {
          calls.push(`cleanup at ${String(world.clock.now() / 1_000)}`);
          return Promise.resolve(left.shift() ?? { finalizer: 'remove' });
        },
      },
      ...spec,
    });
  };

  it('RUN-20: adds the finalizer with a separate request before the first reconcile', async () => {
    cleaning();
    world.cluster.put(widgets, widget('A/1'));
    await world.start();
    expect(world.cluster.writes).to.deep.equal(['json Widget A/1']);
    expect(calls).to.deep.equal([`reconcile ${ours}`]);
  });

  it('RUN-21: keeps a finalizer that another client adds at the same moment', async () => {
    cleaning();
    world.cluster.put(widgets, widget('A/1'));
    let isFirst = true;
    world.cluster.before = () => {
      if (isFirst) world.cluster.edit(widgets, 'A/1', { metadata: { finalizers: ['other.io/x'] } });
      isFirst = false;
      return undefined;
    };
    await world.start();
    expect(world.cluster.read(widgets, 'A/1')?.metadata.finalizers).to.deep.equal(['other.io/x', ours]);
    expect(world.cluster.requests.map(({ verb }) => verb)).to.deep.equal(['json', 'get', 'json']);
  });

  it('RUN-22: only cleans up an object under deletion, then removes the finalizer and schedules nothing', async () => {
    cleaning(undefined, { syncPeriodMs: 3_600_000 });
    world.cluster.put(widgets, widget('A/1', { finalizers: ['other.io/x', ours] }));
    await world.start();
    calls.length = 0;
    world.cluster.remove(widgets, 'A/1');
    await settle();
    expect(calls).to.deep.equal(['cleanup at 0']);
    expect(world.cluster.writes).to.deep.equal(['json Widget A/1']);
    expect(world.cluster.read(widgets, 'A/1')?.metadata.finalizers).to.deep.equal(['other.io/x']);
    world.cluster.edit(widgets, 'A/1', { metadata: { labels: { a: 'b' } } });
    await world.clock.advance(10_000_000);
    expect(calls).to.deep.equal(['cleanup at 0']);
  });

  it('RUN-23: keeps the finalizer as long as cleanup requests it', async () => {
    cleaning([{ finalizer: 'keep', requeueAfterMs: 5_000 }, { finalizer: 'keep' }]);
    world.cluster.put(widgets, widget('A/1', { finalizers: [ours] }));
    world.cluster.remove(widgets, 'A/1');
    await world.start();
    expect(world.cluster.read(widgets, 'A/1')?.metadata.finalizers).to.deep.equal([ours]);
    await world.clock.advance(5_000);
    expect(calls).to.deep.equal(['cleanup at 0', 'cleanup at 5']);
    await world.clock.advance(5_000);
    world.cluster.edit(widgets, 'A/1', { metadata: { labels: { a: 'b' } } });
    await settle();
    expect(calls.at(-1)).to.equal('cleanup at 10');
    expect(world.cluster.read(widgets, 'A/1')).to.equal(undefined);
  });

  it('RUN-24: ignores deletions if finalizers are off', async () => {
    cleaning(undefined, { finalizer: false });
    world.cluster.put(widgets, widget('A/1', { finalizers: ['other.io/x'] }));
    await world.start();
    world.cluster.remove(widgets, 'A/1');
    await settle();
    expect(calls).to.deep.equal(['reconcile other.io/x']);
    expect(world.cluster.writes).to.deep.equal([]);
  });

  it('RUN-24: calls nothing for an object under deletion with foreign finalizers only', async () => {
    cleaning();
    world.cluster.put(widgets, widget('A/1', { finalizers: ['other.io/x'] }));
    world.cluster.remove(widgets, 'A/1');
    await world.start();
    expect(calls).to.deep.equal([]);
    expect(world.cluster.requests).to.deep.equal([]);
  });

  it('RUN-25: cleans up at the start objects that were deleted while the process was down', async () => {
    cleaning(undefined, { generation: 'status' });
    world.cluster.put(widgets, widget('A/1', { finalizers: [ours] }));
    world.cluster.remove(widgets, 'A/1');
    await world.start();
    expect(calls).to.deep.equal(['cleanup at 0']);
    expect(world.cluster.read(widgets, 'A/1')).to.equal(undefined);
  });

  it('RUN-25: starts again for a recreated object of the same name', async () => {
    cleaning();
    world.cluster.put(widgets, widget('A/1', { finalizers: [ours, 'other.io/x'] }));
    world.cluster.remove(widgets, 'A/1');
    await world.start();
    world.cluster.edit(widgets, 'A/1', { metadata: { finalizers: [] } });
    world.cluster.put(widgets, widget('A/1'));
    await settle();
    expect(calls).to.deep.equal(['cleanup at 0', `reconcile ${ours}`]);
  });

  it('passes everything to a reconciler that manages finalizers itself', async () => {
    cleaning(undefined, { finalizer: { handledBy: 'reconciler' } });
    world.cluster.put(widgets, widget('A/1', { finalizers: ['a.io/x'] }));
    await world.start();
    world.cluster.remove(widgets, 'A/1');
    await settle();
    expect(calls).to.deep.equal(['reconcile a.io/x', 'reconcile a.io/x']);
    expect(world.cluster.writes).to.deep.equal([]);
  });

  it('releases an object that was deleted before the finalizer could be removed', async () => {
    cleaning();
    world.cluster.put(widgets, widget('A/1', { finalizers: [ours] }));
    world.cluster.remove(widgets, 'A/1');
    world.cluster.before = () => {
      world.cluster.before = () => undefined;
      world.cluster.edit(widgets, 'A/1', { metadata: { finalizers: [] } });
      return undefined;
    };
    await world.start();
    expect(calls).to.deep.equal(['cleanup at 0']);
    expect(await world.metric('controller_runtime_reconcile_errors_total{controller="widgets"}')).to.equal(0);
  });

  for (const finalizer of ['nonsense', 'a/b/c', 'Upper.io/x', 'a.io/', '/x']) {
    it(`rejects ${JSON.stringify(finalizer)} as the name of a finalizer`, () => {
      expect(() => {
        cleaning(undefined, { finalizer });
      }).to.throw(DefinitionError, finalizer);
    });
  }

  describe('forget', () => {
    let ends: (() => void)[];
    const remembering = (forget?: () => void | Promise<void>): void => {
      ends = [];
      world.control(succeeding, {
        reconciler: {
          reconcile(primary) {
            calls.push(`run of ${primary.metadata.uid ?? ''}`);
            return new Promise((resolve) => ends.push(() => resolve(nothing)));
          },
          forget(primary) {
            calls.push(`forget ${primary.metadata.uid ?? ''}`);
            return forget?.();
          },
        },
      });
    };
    const end = async (): Promise<void> => {
      for (const each of ends.splice(0)) each();
      await settle();
    };

    it('is called for a deleted object even without cleanup', async () => {
      remembering();
      world.cluster.put(widgets, widget('A/1'));
      await world.start();
      await end();
      world.cluster.remove(widgets, 'A/1');
      await settle();
      expect(calls).to.deep.equal(['run of uid-1', 'forget uid-1']);
    });

    it('waits for the end of a reconcile, and distinguishes a recreated object', async () => {
      remembering();
      world.cluster.put(widgets, widget('A/1'));
      await world.start();
      world.cluster.remove(widgets, 'A/1');
      world.cluster.put(widgets, widget('A/1'));
      await settle();
      expect(calls).to.deep.equal(['run of uid-1']);
      await end();
      expect(calls).to.deep.equal(['run of uid-1', 'forget uid-1', 'run of uid-2']);
      await end();
      world.cluster.remove(widgets, 'A/1');
      await settle();
      expect(calls.slice(3)).to.deep.equal(['forget uid-2']);
    });

    it('may fail without harm', async () => {
      remembering(() => {
        throw new Error('no');
      });
      world.cluster.put(widgets, widget('A/1'));
      await world.start();
      await end();
      world.cluster.remove(widgets, 'A/1');
      world.cluster.put(widgets, widget('A/1'));
      await settle();
      expect(calls).to.deep.equal(['run of uid-1', 'forget uid-1', 'run of uid-2']);
      await end();
    });

    it('may be asynchronous, and is called again until it succeeds', async () => {
      let failures = 2;
      remembering(() => (failures-- > 0 ? Promise.reject(new Error('no')) : Promise.resolve()));
      world.cluster.put(widgets, widget('A/1'));
      await world.start();
      await end();
      calls.length = 0;
      world.cluster.remove(widgets, 'A/1');
      await settle();
      expect(calls).to.deep.equal(['forget uid-1']);
      await world.clock.advance(1_000);
      expect(calls).to.have.length(2);
      await world.clock.advance(2_000);
      expect(calls).to.have.length(3);
      await world.clock.advance(600_000);
      expect(calls).to.have.length(3);
    });

    it('is called again only when no object of the name is reconciled', async () => {
      let failures = 1;
      remembering(() => {
        if (failures-- > 0) throw new Error('no');
      });
      world.cluster.put(widgets, widget('A/1'));
      await world.start();
      await end();
      world.cluster.remove(widgets, 'A/1');
      world.cluster.put(widgets, widget('A/1'));
      await settle();
      await world.clock.advance(1_000);
      expect(calls).to.deep.equal(['run of uid-1', 'forget uid-1', 'run of uid-2']);
      await end();
      await world.clock.advance(1_000);
      expect(calls.slice(3)).to.deep.equal(['forget uid-1']);
    });
  });

  it('rejects a finalizer that no code would remove', () => {
    expect(() => world.control(succeeding, { finalizer: 'a.io/x' })).to.throw(DefinitionError, 'cleanup');
  });
});
