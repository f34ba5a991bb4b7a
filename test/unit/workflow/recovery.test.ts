/** External dependents that can be found by a mark, if the process ended between their creation and its record. */
import { expect } from 'chai';
import type { Kind, Obj } from '../../../src/runtime/types.ts';
import type { AnyDependent } from '../../../src/workflow/dependent.ts';
import { addWorkflowController } from '../../../src/workflow/workflow-controller.ts';
import { bulkWithState, withState, type StatefulCommon } from '../../../src/workflow/stateful.ts';
import { settle } from '../../support/clock.ts';
import {
  createWorld,
  doubling,
  nothing,
  widget,
  widgets,
  type Widget,
  type World,
} from '../runtime/support/world.ts';

interface Bucket {
  readonly id: string;
}

const configMaps: Kind<Obj & { data?: Record<string, string> }> = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespaced: true,
};

describe('external dependents with state and a mark', () => {
  let world: World;
  /** Marks by ids. */
  let buckets: Map<string, string>;
  let searched: string[];
  let errors: string[];
  let isDeaf: boolean;
  /** What happens to the process during a creation. */
  let crash: 'before' | 'after' | 'never';
  beforeEach(() => {
    world = createWorld();
    buckets = new Map();
    searched = [];
    errors = [];
    isDeaf = false;
    crash = 'never';
  });
  afterEach(() => world.end());

  const cut = (): void => void (world.cluster.fault = () => new Error('gone'));
  const common: StatefulCommon<Bucket, Widget> = {
    name: 'bucket',
    stateOf: ({ id }) => ({ id }),
    fetch: ({ id = '' }) => Promise.resolve(buckets.has(id) ? { id } : undefined),
    async create({ id: mark }) {
      if (crash === 'before') {
        cut();
        throw new Error('no answer');
      }
      const id = `b${String(buckets.size + 1)}`;
      buckets.set(id, mark);
      if (crash === 'after') cut();
      return { id };
    },
    async recover(_p, _ctx, item) {
      searched.push(item);
      if (isDeaf) throw new Error('no answer');
      const found = [...buckets].find(([, mark]) => mark === `mark of ${item}`);
      return found && { id: found[0] };
    },
    delete: async ({ id }) => void buckets.delete(id),
  };
  const single = () => withState<Bucket, Widget>({ ...common, desired: () => ({ id: 'mark of ' }) });
  const bulk = () =>
    bulkWithState<Bucket, Widget>({ ...common, desiredAll: () => new Map([['one', { id: 'mark of one' }]]) });

  const operate = async (use: AnyDependent<Widget>): Promise<void> => {
    addWorkflowController<Widget>(world.manager, {
      name: 'widgets',
      kind: widgets,
      retry: doubling,
      generation: 'off',
      syncPeriodMs: 0,
      workflow: { nodes: [{ use }] },
      reconciler: {
        reconcile: () => Promise.resolve(nothing),
        onError(_p, _ctx, error) {
          errors.push(String(error));
          return Promise.resolve('default');
        },
      },
    });
    await world.start();
  };
  const crashAt = async (when: typeof crash, use: () => AnyDependent<Widget>): Promise<void> => {
    await operate(use());
    crash = when;
    world.cluster.put(widgets, widget('A/1'));
    await settle();
    await world.end();
    const { cluster } = world;
    cluster.fault = () => undefined;
    crash = 'never';
    errors.length = 0;
    world = createWorld({ cluster });
  };
  const state = (name: string) => world.cluster.read(configMaps, `A/${name}`);

  it('are found by it, and not created again', async () => {
    await crashAt('after', single);
    await operate(single());
    expect([...buckets.keys()]).to.deep.equal(['b1']);
    expect(state('1-bucket')?.data).to.deep.equal({ id: 'b1' });
    world.cluster.edit(widgets, 'A/1', { spec: { size: 2 } });
    await settle();
    expect(searched).to.deep.equal(['']);
    expect(errors).to.deep.equal([]);
  });

  it('are created if they were not', async () => {
    await crashAt('before', single);
    await operate(single());
    expect([...buckets.keys()]).to.deep.equal(['b1']);
    expect(state('1-bucket')?.data).to.deep.equal({ id: 'b1' });
  });

  it('are deleted with a primary that was deleted meanwhile', async () => {
    await crashAt('after', single);
    world.cluster.remove(widgets, 'A/1');
    await operate(single());
    expect(buckets.size).to.equal(0);
    expect(state('1-bucket')).to.equal(undefined);
    expect(world.cluster.read(widgets, 'A/1')).to.equal(undefined);
  });

  it('are neither created nor given up while the search fails', async () => {
    await crashAt('after', single);
    isDeaf = true;
    await operate(single());
    expect(errors).to.have.length(1);
    expect(buckets.size).to.equal(1);
    isDeaf = false;
    await world.clock.advance(1_000);
    expect(state('1-bucket')?.data).to.deep.equal({ id: 'b1' });
    expect(buckets.size).to.equal(1);
  });

  it('are distinguished in bulk', async () => {
    await crashAt('after', bulk);
    await operate(bulk());
    expect(searched).to.deep.equal(['one']);
    expect([...buckets.keys()]).to.deep.equal(['b1']);
    expect(state('1-bucket-one')?.data).to.deep.equal({ id: 'b1' });
  });
});
