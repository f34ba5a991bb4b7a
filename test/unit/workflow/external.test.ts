import { expect } from 'chai';
import { apiErrorFrom } from '../../../src/runtime/errors.ts';
import type { Kind, Obj } from '../../../src/runtime/types.ts';
import type { AnyDependent } from '../../../src/workflow/dependent.ts';
import {
  external,
  externalBulk,
  fetched,
  polled,
  polledPerPrimary,
  type ExternalSpec,
  type ActualValues,
} from '../../../src/workflow/external.ts';
import { kubernetesBulk } from '../../../src/workflow/kubernetes-bulk.ts';
import { addWorkflowController } from '../../../src/workflow/workflow-controller.ts';
import { bulkWithState, withState, type StatefulSpec } from '../../../src/workflow/stateful.ts';
import { settle } from '../../support/clock.ts';
import { contextOn, primary } from './support.ts';
import { FakeCluster } from '../runtime/support/fake-cluster.ts';
import {
  createWorld,
  nothing,
  widget,
  widgets,
  doubling,
  type Widget,
  type World,
} from '../runtime/support/world.ts';

interface Bucket {
  readonly id: string;
  readonly size: number;
}

const kept = (kind: 'ConfigMap' | 'Secret'): Kind<Obj & { data?: Record<string, string> }> => ({
  group: '',
  version: 'v1',
  kind,
  plural: `${kind.toLowerCase()}s`,
  namespaced: true,
});

/** A service that assigns ids. */
class Buckets {
  readonly all = new Map<string, Bucket>();
  readonly calls: string[] = [];
  /** Called after a bucket was created, before the response. */
  onCreate: () => void = () => undefined;
  #next = 42;

  create(size: number): Promise<Bucket> {
    const bucket = { id: String(this.#next++), size };
    this.calls.push(`create ${bucket.id}`);
    this.all.set(bucket.id, bucket);
    try {
      this.onCreate();
    } catch (error) {
      return Promise.reject(error instanceof Error ? error : new Error(String(error)));
    }
    return Promise.resolve(bucket);
  }

  update(id: string, size: number): Promise<Bucket> {
    this.calls.push(`update ${id}`);
    const bucket = { id, size };
    this.all.set(id, bucket);
    return Promise.resolve(bucket);
  }

  delete(id: string): Promise<void> {
    this.calls.push(`delete ${id}`);
    this.all.delete(id);
    return Promise.resolve();
  }
}

const sizeOf = ({ spec }: { readonly spec?: { readonly size?: number } }): number => spec?.size ?? 0;
const bySize = {
  match: (a: { readonly size: number }, d: { readonly size: number }) => ({ matched: a.size === d.size }),
};

/** Starts an operator with one dependent. @param errors receives the errors of its reconciles */
async function operateOn(world: World, use: AnyDependent<Widget>, errors: string[]): Promise<void> {
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
}

describe('external dependents', () => {
  let world: World;
  let buckets: Buckets;
  let errors: string[];
  beforeEach(() => {
    world = createWorld();
    buckets = new Buckets();
    errors = [];
  });
  afterEach(() => world.end());

  const operate = (use: AnyDependent<Widget>): Promise<void> => operateOn(world, use, errors);
  const add = async (size = 1): Promise<void> => {
    world.cluster.put(widgets, { ...widget('A/1'), spec: { size } });
    await settle();
  };
  const resize = async (size: number): Promise<void> => {
    world.cluster.edit(widgets, 'A/1', { spec: { size } });
    await settle();
  };
  const remove = async (): Promise<void> => {
    world.cluster.remove(widgets, 'A/1');
    await settle();
  };
  const bucketOf = (
    actualValues: ActualValues<Bucket, Widget>,
    more: Partial<ExternalSpec<Bucket, Widget>> = {},
  ) =>
    external<Bucket, Widget>({
      name: 'bucket',
      actualValues,
      desired: (p) => ({ id: '', size: sizeOf(p) }),
      create: (desired) => buckets.create(desired.size),
      update: (actual, desired) => buckets.update(actual.id, desired.size),
      delete: (actual) => buckets.delete(actual.id),
      matcher: bySize,
      ...more,
    });

  it('are fetched once, known after their creation, and gone after their deletion', async () => {
    let fetches = 0;
    const actualValues = fetched<Bucket, Widget>({
      fetch: () => {
        fetches++;
        return Promise.resolve([...buckets.all.values()]);
      },
    });
    await operate(bucketOf(actualValues));
    await add();
    await resize(2);
    await resize(2);
    await remove();
    expect(buckets.calls).to.deep.equal(['create 42', 'update 42', 'delete 42']);
    expect(fetches).to.equal(1);
    expect(world.cluster.read(widgets, 'A/1')).to.equal(undefined);
  });

  it('are fetched again after a creation with an unknown result', async () => {
    const actualValues = fetched<Bucket, Widget>({ fetch: () => Promise.resolve([...buckets.all.values()]) });
    await operate(bucketOf(actualValues));
    buckets.onCreate = () => {
      throw new Error('no answer');
    };
    await add();
    expect(errors).to.have.length(1);
    await world.clock.advance(1_000);
    expect(buckets.calls).to.deep.equal(['create 42']);
  });

  it('are compared completely by default', async () => {
    const spec = {
      name: 'plain',
      actualValues: fetched<Bucket, Widget>({ fetch: () => Promise.resolve([{ id: 'x', size: 1 }]) }),
    };
    const updates: number[] = [];
    await operate(
      external<Bucket, Widget>({
        ...spec,
        desired: (p) => ({ id: 'x', size: sizeOf(p) }),
        update: (_a, desired) => {
          updates.push(desired.size);
          return Promise.resolve(desired);
        },
      }),
    );
    await add();
    await resize(2);
    expect(updates).to.deep.equal([2]);
  });

  it('are created again after a poll if they were deleted in the service', async () => {
    const actualValues = polled<Bucket, Widget>({
      name: 'buckets',
      everyMs: 5_000,
      fetch: () => Promise.resolve(new Map([['A/1', [...buckets.all.values()]]])),
    });
    await operate(bucketOf(actualValues));
    await add();
    expect(buckets.calls).to.deep.equal(['create 42']);
    await world.clock.advance(20_000);
    expect(buckets.calls).to.deep.equal(['create 42']);
    buckets.all.clear();
    await world.clock.advance(5_000);
    expect(buckets.calls).to.deep.equal(['create 42', 'create 43']);
  });

  /** Answers after a second with the state at the time of the request. */
  const slowly = <T>(answer: () => T): Promise<T> => {
    const { clock } = world;
    const now = answer();
    return new Promise((resolve) => clock.at(clock.now() + 1_000, () => resolve(now)));
  };
  it('are not created twice if they were created during a poll', async () => {
    let isSlow = false;
    const actualValues = polled<Bucket, Widget>({
      name: 'buckets',
      fetch() {
        const all = () => new Map([['A/1', [...buckets.all.values()]]]);
        return isSlow ? slowly(all) : Promise.resolve(all());
      },
    });
    await operate(bucketOf(actualValues));
    isSlow = true;
    await world.clock.advance(5_500);
    await add();
    expect(buckets.calls).to.deep.equal(['create 42']);
    await world.clock.advance(60_000);
    expect(buckets.calls).to.deep.equal(['create 42']);
  });

  it('are not created twice if they were created during a poll of their primary', async () => {
    let isSlow = false;
    let isWanted = false;
    const actualValues = polledPerPrimary<Bucket, Widget>({
      name: 'buckets',
      fetch() {
        const all = () => [...buckets.all.values()];
        return isSlow ? slowly(all) : Promise.resolve(all());
      },
    });
    const bucket = bucketOf(actualValues);
    addWorkflowController<Widget>(world.manager, {
      name: 'widgets',
      kind: widgets,
      generation: 'off' as const,
      syncPeriodMs: 0,
      workflow: { nodes: [{ use: bucket, when: async (node) => (await node.actual(), isWanted) }] },
      reconciler: { reconcile: () => Promise.resolve(nothing) },
    });
    await world.start();
    await add();
    isSlow = true;
    isWanted = true;
    await world.clock.advance(5_500);
    await resize(2);
    expect(buckets.calls).to.deep.equal(['create 42']);
    await world.clock.advance(60_000);
    expect(buckets.calls).to.deep.equal(['create 42']);
  });

  it('are fetched again before the next poll after a creation with an unknown result', async () => {
    const actualValues = polledPerPrimary<Bucket, Widget>({
      name: 'buckets',
      fetch: () => Promise.resolve([...buckets.all.values()]),
    });
    await operate(bucketOf(actualValues));
    buckets.onCreate = () => {
      throw new Error('no answer');
    };
    await add();
    await world.clock.advance(1_000);
    expect(errors).to.have.length(1);
    expect(buckets.calls).to.deep.equal(['create 42']);
  });

  it('are fetched again for a primary that is recreated with the same name', async () => {
    const actualValues = fetched<Bucket, Widget>({ fetch: () => Promise.resolve([...buckets.all.values()]) });
    const { delete: _, ...lasting } = bucketOf(actualValues);
    await operate(lasting);
    await add();
    await remove();
    buckets.all.clear();
    await add();
    expect(buckets.calls).to.deep.equal(['create 42', 'create 43']);
  });

  it('are known by the id that an update returns, and not by the old one', async () => {
    const idOf = ({ id }: { readonly id: string }): string => id;
    const actualValues = polled<Bucket, Widget>({
      name: 'buckets',
      idOf,
      fetch: () => Promise.resolve(new Map()),
    });
    const use = bucketOf(actualValues, { idOf });
    const ctx = contextOn(world.clock, {
      valuesOf: () => actualValues.source?.attach({} as never).of(primary) ?? [],
    });
    await use.create?.({ id: '', size: 1 }, primary, ctx);
    buckets.all.clear();
    const replace = bucketOf(actualValues, { idOf, update: ({ size }) => buckets.create(size + 1) }).update;
    await replace?.({ id: '42', size: 1 }, { id: '', size: 2 }, primary, ctx);
    expect(await actualValues.of(primary, ctx)).to.deep.equal([{ id: '43', size: 2 }]);
  });

  it('are polled for each primary, as long as it exists', async () => {
    let polls = 0;
    const actualValues = polledPerPrimary<Bucket, Widget>({
      name: 'buckets',
      everyMs: 5_000,
      fetch: () => {
        polls++;
        return Promise.resolve([...buckets.all.values()]);
      },
    });
    await operate(bucketOf(actualValues));
    await add();
    await world.clock.advance(10_000);
    expect(buckets.calls).to.deep.equal(['create 42']);
    expect(polls).to.equal(3);
    await remove();
    await world.clock.advance(20_000);
    expect(polls).to.equal(3);
  });

  it('are distinguished by ids in bulk', async () => {
    const use = externalBulk<Bucket, Widget>({
      name: 'buckets',
      idOf: ({ id }) => id,
      actualValues: fetched({ idOf: ({ id }) => id, fetch: () => Promise.resolve([]) }),
      desiredAll: (p) =>
        new Map(Array.from({ length: sizeOf(p) }, (_, i) => [String(i), { id: String(i), size: 1 }])),
      create: (desired) => {
        buckets.calls.push(`create ${desired.id}`);
        return Promise.resolve(desired);
      },
      delete: (actual) => buckets.delete(actual.id),
    });
    await operate(use);
    await add(3);
    await resize(1);
    expect(buckets.calls.slice(0, 3)).to.deep.equal(['create 0', 'create 1', 'create 2']);
    expect(buckets.calls.slice(3).sort()).to.deep.equal(['delete 1', 'delete 2']);
  });

  it('are all known in bulk after one was deleted and another created', async () => {
    const idOf = ({ id }: { readonly id: string }): string => id;
    const there = new Map<string, Bucket>();
    const use = externalBulk<Bucket, Widget>({
      name: 'buckets',
      idOf,
      actualValues: fetched<Bucket, Widget>({ idOf, fetch: () => Promise.resolve([...there.values()]) }),
      desiredAll: (p) => new Map(['same', `of ${String(sizeOf(p))}`].map((id) => [id, { id, size: 1 }])),
      create(desired) {
        buckets.calls.push(`create ${desired.id}`);
        there.set(desired.id, desired);
        return Promise.resolve(desired);
      },
      async delete({ id }) {
        there.delete(id);
        await buckets.delete(id);
      },
    });
    await operate(use);
    await add(1);
    await resize(2);
    await resize(2);
    world.cluster.edit(widgets, 'A/1', { metadata: { labels: { a: 'b' } } });
    await settle();
    expect(buckets.calls).to.deep.equal(['create same', 'create of 1', 'delete of 1', 'create of 2']);
  });

  it('report that it is ambiguous which of several is theirs', async () => {
    const two = [
      { id: 'a', size: 1 },
      { id: 'b', size: 1 },
    ];
    const actualValues = fetched<Bucket, Widget>({ idOf: ({ id }) => id, fetch: () => Promise.resolve(two) });
    await operate(bucketOf(actualValues));
    await add();
    expect(errors[0]).to.include('dependent "bucket" of Widget A/1: 2 candidates exist');
  });

  it('report by their name that their creation returned nothing', async () => {
    const actualValues = fetched<Bucket, Widget>({ fetch: () => Promise.resolve([]) });
    await operate(bucketOf(actualValues, { create: () => Promise.resolve(undefined as unknown as Bucket) }));
    await add();
    expect(errors[0]).to.include('dependent "bucket" of Widget A/1: "create" returned undefined');
  });
});

describe('external dependents with state', () => {
  let world: World;
  let buckets: Buckets;
  let errors: string[];
  const configMaps = kept('ConfigMap');
  beforeEach(() => {
    world = createWorld({ cluster: new FakeCluster() });
    buckets = new Buckets();
    errors = [];
  });
  afterEach(() => world.end());

  const common = () => ({
    name: 'bucket',
    stateOf: ({ id }: { readonly id: string }) => ({ id }),
    fetch: ({ id = '' }: Readonly<Record<string, string>>) => Promise.resolve(buckets.all.get(id)),
    create: (desired: Bucket) => buckets.create(desired.size),
    update: (actual: { readonly id: string }, desired: Bucket) => buckets.update(actual.id, desired.size),
    delete: (actual: { readonly id: string }) => {
      buckets.calls.push(`states ${String(states().length)}`);
      return buckets.delete(actual.id);
    },
    matcher: bySize,
  });
  const single = (more: Partial<StatefulSpec<Bucket, Widget>> = {}) =>
    withState<Bucket, Widget>({ ...common(), desired: (p) => ({ id: '', size: sizeOf(p) }), ...more });
  const bulk = () =>
    bulkWithState<Bucket, Widget>({
      ...common(),
      desiredAll: (p) =>
        new Map(Array.from({ length: sizeOf(p) }, (_, i) => [`item${String(i)}`, { id: '', size: 1 }])),
    });
  const states = (): string[] =>
    ['1-bucket', '1-bucket-item0', '1-bucket-item1', '1-bucket-item2'].filter(
      (name) => world.cluster.read(configMaps, `A/${name}`) !== undefined,
    );
  const stateData = () => world.cluster.read(configMaps, 'A/1-bucket')?.data;
  const operate = (use: AnyDependent<Widget>): Promise<void> => operateOn(world, use, errors);
  const restart = async (use: AnyDependent<Widget>): Promise<void> => {
    const { cluster } = world;
    await world.end();
    world = createWorld({ cluster });
    await operate(use);
  };
  const add = async (size = 1): Promise<void> => {
    world.cluster.put(widgets, { ...widget('A/1'), spec: { size } });
    await settle();
  };
  const resize = async (size: number): Promise<void> => {
    world.cluster.edit(widgets, 'A/1', { spec: { size } });
    await settle();
  };
  const remove = async (): Promise<void> => {
    world.cluster.remove(widgets, 'A/1');
    await settle();
  };

  it('RUN-65: keep their id, are found by it after a restart, and are deleted before it', async () => {
    await operate(single());
    await add();
    expect(stateData()).to.deep.equal({ id: '42' });
    await restart(single());
    await resize(2);
    expect(buckets.calls).to.deep.equal(['create 42', 'update 42']);
    await remove();
    expect(buckets.calls.slice(2)).to.deep.equal(['states 1', 'delete 42']);
    expect(states()).to.deep.equal([]);
    expect(world.cluster.read(widgets, 'A/1')).to.equal(undefined);
  });

  it('RUN-65: may keep it in a Secret', async () => {
    await operate(single({ state: { kind: 'Secret' } }));
    await add();
    const data = world.cluster.read(kept('Secret'), 'A/1-bucket')?.data;
    expect(data).to.deep.equal({ id: Buffer.from('42').toString('base64') });
    await restart(single({ state: { kind: 'Secret' } }));
    await resize(2);
    expect(buckets.calls).to.deep.equal(['create 42', 'update 42']);
  });

  /** Every change of the size replaces the bucket; the old one is deleted last. */
  const replacing = {
    async update(actual: { readonly id: string }, desired: Bucket) {
      const next = await buckets.create(desired.size);
      await buckets.delete(actual.id);
      return next;
    },
  };

  it('keep the id that an update returns', async () => {
    await operate(single(replacing));
    await add();
    await resize(2);
    expect(stateData()).to.deep.equal({ id: '43' });
    await restart(single(replacing));
    await remove();
    expect(buckets.calls).to.deep.equal(['create 42', 'create 43', 'delete 42', 'states 1', 'delete 43']);
  });

  it('keep it in bulk with the updated item', async () => {
    const use = bulkWithState<Bucket, Widget>({
      ...common(),
      ...replacing,
      desiredAll: (p) =>
        new Map([
          ['item0', { id: '', size: 1 }],
          ['item1', { id: '', size: sizeOf(p) }],
        ]),
    });
    await operate(use);
    await add();
    await resize(2);
    const data = (item: string) => world.cluster.read(configMaps, `A/1-bucket-${item}`)?.data;
    expect([data('item0'), data('item1')]).to.deep.equal([{ id: '42' }, { id: '44' }]);
  });

  it('store the id of an update later if the cluster does not answer', async () => {
    await operate(single(replacing));
    await add();
    let isAway = false;
    world.cluster.fault = ({ kind, verb }) =>
      isAway && kind === 'ConfigMap' && verb !== 'get' ? apiErrorFrom(503, {}, { verb, kind }) : undefined;
    buckets.onCreate = () => (isAway = true);
    await resize(2);
    expect([errors.length, stateData()]).to.deep.equal([1, { id: '42' }]);
    isAway = false;
    await world.clock.advance(1_000);
    expect(stateData()).to.deep.equal({ id: '43' });
    expect(buckets.calls).to.deep.equal(['create 42', 'create 43', 'delete 42']);
  });

  it('forget an id that could not be stored if the primary is gone', async () => {
    const use = single();
    const state = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        namespace: 'ns',
        name: 'a-bucket',
        resourceVersion: '1',
        annotations: { 'espalier.dev/state-of': 'bucket', 'espalier.dev/pending': 'yes' },
      },
    };
    const refused = apiErrorFrom(503, {}, { verb: 'patch', kind: 'ConfigMap' });
    let writes = 0;
    const ctx = contextOn(world.clock, {
      secondaries: () => [state] as never,
      // The intent to create can be stored, the result cannot.
      write: () => (++writes === 1 ? Promise.resolve(state as never) : Promise.reject(refused)),
    });
    const message = (run: Promise<unknown> | undefined) => Promise.resolve(run).catch(String);
    expect(await message(use.create?.({ id: '', size: 1 }, primary, ctx))).to.include('503');
    expect(await message(use.actual(primary, ctx))).to.include('503');
    use.forget?.(primary);
    expect(await message(use.actual(primary, ctx))).to.include('its id was not stored');
  });

  it('do not overwrite a record that another client has changed since', async () => {
    await operate(single(replacing));
    await add();
    let isAway = false;
    world.cluster.fault = ({ kind }) => (isAway && kind === 'ConfigMap' ? new Error('gone') : undefined);
    buckets.onCreate = () => (isAway = true);
    await resize(2);
    isAway = false;
    buckets.all.set('99', { id: '99', size: 2 });
    world.cluster.edit(configMaps, 'A/1-bucket', { data: { id: '99' } });
    await settle();
    expect(stateData()).to.deep.equal({ id: '99' });
  });

  it('RUN-66: have a state each in bulk, and delete it with its item', async () => {
    await operate(bulk());
    await add(3);
    expect(states()).to.deep.equal(['1-bucket-item0', '1-bucket-item1', '1-bucket-item2']);
    await resize(2);
    expect(buckets.calls.filter((call) => call.startsWith('delete'))).to.deep.equal(['delete 44']);
    expect(states()).to.deep.equal(['1-bucket-item0', '1-bucket-item1']);
    await restart(bulk());
    expect(buckets.calls.filter((call) => call.startsWith('create'))).to.have.length(3);
  });

  it('are never created twice after a crash between the creation and its record, and report how to continue', async () => {
    await operate(single());
    buckets.onCreate = () => {
      // From now on nothing arrives, as if the process had ended.
      world.cluster.fault = () => new Error('gone');
    };
    await add();
    expect(buckets.calls).to.deep.equal(['create 42']);
    world.cluster.fault = () => undefined;
    buckets.onCreate = () => undefined;
    errors.length = 0;
    await restart(single());
    await world.clock.advance(3_600_000);
    expect(buckets.calls).to.deep.equal(['create 42']);
    expect(errors).to.have.length(1);
    expect(errors[0]).to.include('ConfigMap A/1-bucket').and.include('its id was not stored');
    // The remedy of the message:
    world.cluster.edit(configMaps, 'A/1-bucket', {
      metadata: { annotations: { 'espalier.dev/pending': null } },
      data: { id: '42' },
    });
    await resize(3);
    expect(buckets.calls).to.deep.equal(['create 42', 'update 42']);
  });

  it('store the id later if the process continues and the cluster does not answer', async () => {
    await operate(single());
    let isAway = false;
    world.cluster.fault = ({ kind, verb }) =>
      isAway && kind === 'ConfigMap' && verb !== 'get' ? apiErrorFrom(503, {}, { verb, kind }) : undefined;
    buckets.onCreate = () => (isAway = true);
    await add();
    expect(errors).to.have.length(1);
    isAway = false;
    await world.clock.advance(1_000);
    expect(buckets.calls).to.deep.equal(['create 42']);
    expect(stateData()).to.deep.equal({ id: '42' });
  });

  it('are created again at once after a crash if that does no harm', async () => {
    const use = () => single({ isIdempotent: true });
    await operate(use());
    buckets.onCreate = () => (world.cluster.fault = () => new Error('gone'));
    await add();
    world.cluster.fault = () => undefined;
    buckets.onCreate = () => undefined;
    await restart(use());
    expect(buckets.calls).to.deep.equal(['create 42', 'create 43']);
    expect(stateData()).to.deep.equal({ id: '43' });
  });

  it('remove the record if they could not be created, and retry', async () => {
    await operate(single());
    let fails = 1;
    buckets.onCreate = () => {
      if (fails-- > 0) throw new Error('quota');
    };
    await add();
    expect(errors[0]).to.include('quota');
    expect(stateData()).to.deep.equal({});
    expect(buckets.calls).to.deep.equal(['create 42']);
    await world.clock.advance(1_000);
    expect(stateData()).to.deep.equal({ id: '43' });
  });

  it('are recreated if they are gone, and the state follows', async () => {
    await operate(single());
    await add();
    buckets.all.clear();
    await resize(2);
    expect(stateData()).to.deep.equal({ id: '43' });
  });

  it('protect their state from a bulk dependent that claims all objects of its kind', async () => {
    const maps = kubernetesBulk<Obj & { data?: Record<string, string> }, Widget>({
      kind: configMaps,
      desiredAll: () => new Map(),
    });
    addWorkflowController<Widget>(world.manager, {
      name: 'widgets',
      kind: widgets,
      generation: 'off' as const,
      syncPeriodMs: 0,
      workflow: { nodes: [{ use: single() }, { use: maps, dependsOn: ['bucket'] }] },
      reconciler: { reconcile: () => Promise.resolve(nothing) },
    });
    await world.start();
    await add();
    await resize(2);
    expect(buckets.calls).to.deep.equal(['create 42', 'update 42']);
    expect(stateData()).to.deep.equal({ id: '42' });
  });

  it('do not use the state of another dependent of the same primary', async () => {
    const items = bulkWithState<Bucket, Widget>({
      ...common(),
      isIdempotent: true,
      desiredAll: () => new Map([['x', { id: '', size: 1 }]]),
    });
    await operate(items);
    await add();
    const kept = world.cluster.read(configMaps, 'A/1-bucket-x')?.data;
    expect(kept).to.deep.equal({ id: '42' });
    await restart(single({ name: 'bucket-x' }));
    expect(world.cluster.read(configMaps, 'A/1-bucket-x')?.data).to.deep.equal(kept);
    expect(errors[0]).to.include(
      'ConfigMap A/1-bucket-x, which should store its state, belongs to another owner',
    );
  });

  it('do not use an object with the name of their state that belongs to another owner', async () => {
    world.cluster.put(configMaps, { metadata: { namespace: 'A', name: '1-bucket' }, data: { theirs: 'x' } });
    await operate(single());
    await add();
    expect(errors[0]).to.include(
      'ConfigMap A/1-bucket, which should store its state, belongs to another owner',
    );
    expect(buckets.calls).to.deep.equal([]);
    expect(stateData()).to.deep.equal({ theirs: 'x' });
  });
});
