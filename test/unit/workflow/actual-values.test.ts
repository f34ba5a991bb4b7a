/** The cached external resources, and how dependents use them. */
import { expect } from 'chai';
import type { View } from '../../../src/runtime/types.ts';
import {
  external,
  externalBulk,
  fetched,
  polled,
  polledPerPrimary,
  type ExternalSpec,
  type ActualValues,
} from '../../../src/workflow/external.ts';
import { addWorkflowController } from '../../../src/workflow/workflow-controller.ts';
import { FakeClock, settle } from '../../support/clock.ts';
import { createWorld, nothing, widget, widgets, type Widget, type World } from '../runtime/support/world.ts';
import { contextOn, primary } from './support.ts';

interface Bucket {
  readonly id: string;
  readonly size: number;
}
const ctx = contextOn(new FakeClock());
const [a, b] = [
  { id: 'a', size: 1 },
  { id: 'b', size: 1 },
];
const idOf = ({ id }: View<Bucket>): string => id;

/** A cache with `values`, and the calls to it. */
function given(...values: readonly Bucket[]) {
  const log: string[] = [];
  const actualValues: ActualValues<Bucket, Widget> = {
    source: undefined,
    of: () => Promise.resolve(values),
    remember: (key, { id }) => void log.push(`remember ${id} of ${key}`),
    forget: (key, id) => void log.push(`forget ${String(id)} of ${key}`),
    invalidate: (key) => void log.push(`invalidate ${key}`),
  };
  const use = (more: Partial<ExternalSpec<Bucket, Widget>> = {}) =>
    external<Bucket, Widget>({ name: 'bucket', actualValues, ...more });
  return { log, actualValues, use };
}
const failureOf = (work: Promise<unknown> | undefined): Promise<unknown> =>
  Promise.resolve(work).then(
    () => 'no failure',
    (error: unknown) => error,
  );

describe('the resource of an external dependent', () => {
  const asked = { desired: () => expect.fail('desired is not asked') };
  for (const [title, values, more, expected] of [
    ['is the only one', [a], {}, a],
    ['is none if there is none, and the desired state is not computed', [], { idOf, ...asked }, undefined],
    ['is the one with the desired id', [a, b], { idOf, desired: () => b }, b],
    ['is none if no resource has the desired id', [a], { idOf, desired: () => b }, undefined],
    ['is the only one if the desired state is undefined', [a], { idOf }, a],
  ] as const) {
    it(title, async () => {
      expect(
        await given(...values)
          .use(more)
          .actual(primary, ctx),
      ).to.equal(expected);
    });
  }
  for (const [title, more] of [
    ['without an id', { desired: () => b }],
    ['if the desired state is undefined', { idOf }],
  ] as const) {
    it(`is ambiguous among several ${title}`, async () => {
      expect(String(await failureOf(given(a, b).use(more).actual(primary, ctx)))).to.include(
        '2 candidates exist; give the dependent an idOf and a desired',
      );
    });
  }
  it('has only the traits of its description', () => {
    const methods = (use: object) => ['desired', 'create', 'update', 'delete'].filter((name) => name in use);
    expect(methods(given().use())).to.deep.equal([]);
    const resolve = () => Promise.resolve(a);
    const all = { desired: () => a, create: resolve, update: resolve, delete: () => Promise.resolve() };
    expect(methods(given().use(all))).to.deep.equal(['desired', 'create', 'update', 'delete']);
  });
});

describe('a write of an external dependent', () => {
  const failing = () => Promise.reject(new Error('no'));
  const answer = (value: Bucket | undefined | null) => () => Promise.resolve(value as Bucket);
  const rows: [string, Partial<ExternalSpec<Bucket, Widget>>, 'create' | 'update' | 'delete', string[]][] = [
    ['stores a created resource', { create: answer(b) }, 'create', ['remember b of ns/a']],
    ['stores an updated resource', { update: answer(a) }, 'update', ['remember a of ns/a']],
    ['stores nothing if the creation returned nothing', { create: answer(undefined) }, 'create', []],
    ['stores nothing if the creation returned null', { create: answer(null) }, 'create', []],
    ['stores nothing if the update returned nothing', { idOf, update: answer(undefined) }, 'update', []],
    [
      'removes the old id of an updated resource',
      { idOf, update: answer(b) },
      'update',
      ['remember b of ns/a', 'forget a of ns/a'],
    ],
    ['keeps the id of an updated resource', { idOf, update: answer(a) }, 'update', ['remember a of ns/a']],
    ['marks the cache as stale after a failed creation', { create: failing }, 'create', ['invalidate ns/a']],
    ['marks the cache as stale after a failed update', { update: failing }, 'update', ['invalidate ns/a']],
    ['removes a deleted resource', { delete: answer(a) as never }, 'delete', ['forget undefined of ns/a']],
    [
      'removes a deleted resource by its id',
      { idOf, delete: answer(a) as never },
      'delete',
      ['forget a of ns/a'],
    ],
  ];
  for (const [title, more, verb, expected] of rows) {
    it(title, async () => {
      const { log, use } = given(a);
      const it = use(more);
      await failureOf(
        verb === 'create'
          ? it.create?.(b, primary, ctx)
          : verb === 'update'
            ? it.update?.(a, b, primary, ctx)
            : it.delete?.(primary, ctx),
      );
      expect(log).to.deep.equal(expected);
    });
  }
  it('that deletes does nothing if there is nothing', async () => {
    const { log, use } = given();
    await use({ delete: () => expect.fail('nothing is deleted') }).delete?.(primary, ctx);
    expect(log).to.deep.equal([]);
  });
  it('that fails does not require a cache that can be stale', async () => {
    const { actualValues } = given();
    const { invalidate: _, ...certain } = actualValues;
    const use = external<Bucket, Widget>({ name: 'bucket', actualValues: certain, create: failing });
    expect(await failureOf(use.create?.(a, primary, ctx))).to.have.property('message', 'no');
    expect(() => use.forget?.(primary)).not.to.throw();
  });
});

describe('a bulk external dependent', () => {
  const bulk = (more: object = {}) =>
    externalBulk<Bucket, Widget>({ name: 'buckets', idOf, actualValues: given(a, b).actualValues, ...more });
  it('has all resources by their ids', async () => {
    expect([...(await bulk().actualAll(primary, ctx))]).to.deep.equal([
      ['a', a],
      ['b', b],
    ]);
  });
  it('has only the traits of its description', () => {
    const methods = (use: object) => ['desiredAll', 'deleteOne'].filter((name) => name in use);
    expect(methods(bulk())).to.deep.equal([]);
    expect(methods(bulk({ desiredAll: () => new Map(), delete: () => Promise.resolve() }))).to.deep.equal([
      'desiredAll',
      'deleteOne',
    ]);
  });
});

describe('a resource that is fetched once', () => {
  it('does not replace a resource that was written while it was fetched', async () => {
    let end: (found: readonly Bucket[]) => void = () => undefined;
    const actualValues = fetched<Bucket, Widget>({ fetch: () => new Promise((resolve) => (end = resolve)) });
    const known = actualValues.of(primary, ctx);
    actualValues.remember('ns/a', b);
    end([a]);
    expect(await known).to.deep.equal([b]);
  });
  it('is not complete after one write if there may be several', async () => {
    const actualValues = fetched<Bucket, Widget>({ idOf, fetch: () => Promise.resolve([a, b]) });
    actualValues.remember('ns/a', a);
    expect(await actualValues.of(primary, ctx)).to.deep.equal([a, b]);
    const c = { id: 'c', size: 1 };
    actualValues.remember('ns/a', c);
    expect(await actualValues.of(primary, ctx)).to.deep.equal([a, b, c]);
  });
});

describe('polled resources', () => {
  let world: World;
  let polls: number;
  beforeEach(() => {
    world = createWorld();
    polls = 0;
  });
  afterEach(() => world.end());
  const count = <T>(answer: T): Promise<T> => {
    polls++;
    return Promise.resolve(answer);
  };
  const operate = async (actualValues: ActualValues<Bucket, Widget>, ...names: readonly string[]) => {
    const use = external<Bucket, Widget>({ name: 'bucket', actualValues });
    addWorkflowController<Widget>(world.manager, {
      name: 'widgets',
      kind: widgets,
      generation: 'off' as const,
      syncPeriodMs: 0,
      workflow: { nodes: [{ use }] },
      reconciler: { reconcile: () => Promise.resolve(nothing) },
    });
    for (const name of names) world.cluster.put(widgets, widget(`A/${name}`));
    await world.start();
    await settle();
  };
  for (const [title, everyMs, expected] of [
    ['every 5 s by default', undefined, 4],
    ['at the configured interval', 2_000, 8],
  ] as const) {
    it(`of all primaries are polled ${title}`, async () => {
      const fetch = () => count(new Map<string, Bucket[]>());
      await operate(polled({ name: 'buckets', ...(everyMs && { everyMs }), fetch }), '1', '2');
      await world.clock.advance(15_500);
      expect(polls).to.equal(expected);
    });
    it(`of each primary are polled ${title}`, async () => {
      const fetch = () => count<Bucket[]>([]);
      await operate(polledPerPrimary({ name: 'buckets', ...(everyMs && { everyMs }), fetch }), '1');
      await world.clock.advance(15_500);
      expect(polls).to.equal(expected);
    });
  }
  it('of each primary are polled for those that want it', async () => {
    const seen = new Set<string>();
    const actualValues = polledPerPrimary<Bucket, Widget>({
      name: 'buckets',
      fetch({ metadata }) {
        seen.add(`${metadata.name} at ${String(world.clock.now())}`);
        return count<Bucket[]>([]);
      },
      when: ({ metadata }) => metadata.name === '1',
    });
    await operate(actualValues, '1', '2');
    await world.clock.advance(5_500);
    expect([...seen]).to.deep.equal(['1 at 0', '2 at 0', '1 at 5000']);
  });
});
