/** The sources of the dependents of an operator, and the metrics of their work. */
import { expect } from 'chai';
import { DefinitionError, NotWatchedError } from '../../../src/runtime/errors.ts';
import { objectsThat } from '../../../src/runtime/sources/filters.ts';
import { byOwner } from '../../../src/runtime/sources/mappers.ts';
import { watchSource, type Source } from '../../../src/runtime/sources/sources.ts';
import type { View } from '../../../src/runtime/types.ts';
import type { Dependent, Done } from '../../../src/workflow/dependent.ts';
import { kubernetes, readOnly } from '../../../src/workflow/kubernetes.ts';
import { kubernetesBulk } from '../../../src/workflow/kubernetes-bulk.ts';
import type { NodeSpec } from '../../../src/workflow/node.ts';
import { addWorkflowController, setupOf, sourcesOf } from '../../../src/workflow/workflow-controller.ts';
import { settle } from '../../support/clock.ts';
import {
  createWorld,
  doubling,
  nothing,
  parts,
  widget,
  widgets,
  type Part,
  type Widget,
  type World,
} from '../runtime/support/world.ts';

let world: World;
beforeEach(() => {
  world = createWorld();
});
afterEach(() => world.end());

const part = (name: string, source?: string | { readonly from: string }) =>
  kubernetes<Part, Widget>({
    name,
    kind: parts,
    ssa: false,
    ...(source !== undefined && { source }),
    desired: ({ metadata, spec }) => ({
      metadata: { name: `${metadata.name}-${name}` },
      data: { size: String(spec?.size) },
    }),
  });

const live = (name: string) =>
  kubernetes<Part, Widget>({ name, kind: parts, reader: 'live', desired: () => ({ metadata: { name } }) });

const operate = (nodes: readonly NodeSpec<Widget>[], sources: readonly Source<Widget>[] = []) =>
  addWorkflowController<Widget>(world.manager, {
    name: 'widgets',
    kind: widgets,
    retry: doubling,
    generation: 'off',
    syncPeriodMs: 0,
    sources,
    workflow: { nodes },
    reconciler: { reconcile: () => Promise.resolve(nothing) },
  });
const begin = async (): Promise<void> => {
  world.cluster.put(widgets, widget('A/1'));
  await world.start();
};
const made = (name: string) => world.cluster.read(parts, `A/1-${name}`);
const watched = () => world.cluster.watches.filter((kind) => kind === 'Part').length;
const big = (_: unknown, { spec }: View<Widget>) => (spec?.size ?? 0) > 1;

describe('a dependent with a filter', () => {
  const filtered = (more: object = {}) =>
    kubernetes<Part, Widget>({
      name: 'a',
      kind: parts,
      ssa: false,
      filter: objectsThat((p) => p.data?.['note'] !== 'dull'),
      desired: ({ metadata }) => ({ metadata: { name: `${metadata.name}-a` }, data: { size: '1' } }),
      match: { metadata: 'subset', values: 'subset' },
      ...more,
    });
  const runs = () =>
    world.metric('controller_runtime_reconcile_total{controller="widgets",result="success"}');

  it('reconciles its primary for events that the filter accepts, and reads all objects', async () => {
    let seen: unknown;
    addWorkflowController<Widget>(world.manager, {
      name: 'widgets',
      kind: widgets,
      workflow: { nodes: [{ use: filtered() }] },
      reconciler: {
        reconcile(_, ctx) {
          seen = ctx.secondary(parts)?.data?.['note'];
          return Promise.resolve(nothing);
        },
      },
    });
    await begin();
    expect(await runs()).to.equal(1);
    world.cluster.edit(parts, 'A/1-a', { data: { note: 'dull' } });
    await settle();
    expect(await runs()).to.equal(1);
    world.cluster.edit(widgets, 'A/1', { spec: { size: 2 } });
    await settle();
    expect([await runs(), seen]).to.deep.equal([2, 'dull']);
    world.cluster.edit(parts, 'A/1-a', { data: { note: 'new' } });
    await settle();
    expect(await runs()).to.equal(3);
    expect(watched()).to.equal(1);
  });

  it('has its own source, so other dependents of the kind receive their events', async () => {
    operate([{ use: filtered() }, { use: part('b') }]);
    await begin();
    const before = (await runs()) ?? 0;
    world.cluster.edit(parts, 'A/1-b', { data: { note: 'dull' } });
    await settle();
    expect(await runs()).to.equal(before + 1);
    expect(watched()).to.equal(1);
  });

  it('is refused if its source was created without the filter', () => {
    expect(() => operate([{ use: part('b', 'cms') }, { use: filtered({ source: 'cms' }) }])).to.throw(
      DefinitionError,
      'dependent "a" has a filter, but source cms was created without it',
    );
    expect(() => operate([{ use: filtered({ source: 'cms' }) }, { use: part('b', 'cms') }])).not.to.throw();
  });

  it('does not hide its objects from the check of bulk dependents', () => {
    const many = kubernetesBulk<Part, Widget>({
      name: 'many',
      kind: parts,
      ssa: false,
      desiredAll: () => new Map(),
    });
    expect(() => operate([{ use: filtered() }, { use: many }])).to.throw(
      DefinitionError,
      'would delete the objects that dependent "a" creates',
    );
  });
});

describe('a dependent whose primaries name its objects', () => {
  const chosen = readOnly<Part, Widget>({
    name: 'chosen',
    kind: parts,
    toSecondary: ({ metadata }) => [`A/${metadata.annotations?.['part'] ?? ''}`],
  });

  it('reads them, and reconciles the primaries that name them', async () => {
    const seen: string[] = [];
    addWorkflowController<Widget>(world.manager, {
      name: 'widgets',
      kind: widgets,
      workflow: { nodes: [{ use: chosen, ready: async (node) => (await node.actual()) !== undefined }] },
      reconciler: {
        async reconcile({ metadata }, ctx) {
          seen.push(`${metadata.name} ${ctx.workflow.result?.allReady ? 'ready' : 'waits'}`);
          return nothing;
        },
      },
    });
    const annotations = { part: 'p' };
    for (const name of ['A/1', 'A/2']) world.cluster.put(widgets, widget(name, { annotations }));
    world.cluster.put(widgets, widget('A/3', { annotations: { part: 'q' } }));
    await world.start();
    expect(seen.splice(0)).to.deep.equal(['1 waits', '2 waits', '3 waits']);
    world.cluster.put(parts, { metadata: { namespace: 'A', name: 'p' } });
    await settle();
    expect(seen).to.deep.equal(['1 ready', '2 ready']);
  });
});

describe('the named sources of dependents', () => {
  it('RUN-38: are one watch for two dependents, whichever declares it', async () => {
    operate([{ use: part('a', { from: 'cms' }) }, { use: part('b', 'cms') }]);
    await begin();
    expect(watched()).to.equal(1);
    expect([made('a'), made('b')].filter(Boolean)).to.have.length(2);
  });

  it('may be given to the controller', async () => {
    const source = watchSource<Part, Widget>({
      name: 'cms',
      cache: world.caches.of(parts),
      toPrimary: byOwner(widgets),
    });
    operate([{ use: part('a', { from: 'cms' }) }], [source]);
    await begin();
    expect(watched()).to.equal(1);
    expect(made('a')).to.not.equal(undefined);
  });

  it('RUN-38: fail the start if they do not exist, with the name and the suggestion', () => {
    const unknown = [{ use: part('a', { from: 'cmss' }) }, { use: part('b', 'cms') }];
    expect(() => operate(unknown)).to.throw(
      DefinitionError,
      'dependent "a" reads source cmss, which the controller does not have; is cms meant?',
    );
    expect(() => operate([{ use: part('a', { from: 'nowhere' }) }])).to.throw('it has none');
    const source = (name: string) =>
      watchSource<Part, Widget>({ name, cache: world.caches.of(parts), toPrimary: byOwner(widgets) });
    const given = [source('first'), source('second')];
    const active = () => true;
    for (const node of [
      { use: part('a', { from: 'nowhere' }) },
      { use: part('a', { from: 'nowhere' }), active },
    ])
      expect(() => operate([node], given)).to.throw(
        'which the controller does not have; it has first, second',
      );
  });

  it('have no objects for a reconciler while no node that reads them is active', async () => {
    const seen: unknown[] = [];
    let failure: unknown;
    addWorkflowController<Widget>(world.manager, {
      name: 'widgets',
      kind: widgets,
      generation: 'off',
      workflow: { nodes: [{ use: part('a', 'cms'), active: big }] },
      reconciler: {
        reconcile(_, ctx) {
          const { length } = ctx.valuesOf('cms');
          seen.push([length, ctx.secondaries(parts).length, ctx.secondary(parts, 'cms')?.metadata.name]);
          try {
            ctx.secondaries(parts, 'other');
          } catch (error) {
            failure = error;
          }
          return Promise.resolve(nothing);
        },
      },
    });
    await begin();
    expect(seen).to.deep.equal([[0, 0, undefined]]);
    expect(failure).to.be.instanceOf(NotWatchedError);
    world.cluster.edit(widgets, 'A/1', { spec: { size: 2 } });
    await settle();
    expect(seen.at(-1)).to.deep.equal([1, 1, '1-a']);
  });

  it('are shared by controllers with one field manager', async () => {
    operate([{ use: part('a') }]);
    const others = { name: 'others', kind: widgets, fieldManager: 'widgets' };
    world.manager.add<Widget>({
      ...others,
      sources: sourcesOf([part('b')], setupOf(others, world.caches)),
      reconciler: { reconcile: () => Promise.resolve(nothing) },
    });
    await begin();
    expect(watched()).to.equal(1);
  });

  describe('with a bulk dependent that claims all objects', () => {
    const setup = () => setupOf({ name: 'widgets', kind: widgets }, world.caches);
    const many = (more: object = {}) =>
      kubernetesBulk<Part, Widget>({
        name: 'many',
        kind: parts,
        ssa: false,
        source: 'cms',
        desiredAll: () => new Map(),
        ...more,
      });
    it('cannot be used by others that create objects', () => {
      expect(() => sourcesOf([many(), part('a', 'cms')], setup())).to.throw(
        'would delete the objects that dependent "a" creates, since both read source cms; give "many" an idOf',
      );
    });
    const reader = readOnly<Part, Widget>({ name: 'reader', kind: parts, source: 'cms' });
    for (const [title, uses] of [
      ['can be used by others that only read', () => [many(), reader]],
      ['do not affect other sources', () => [many(), part('a', 'other')]],
      ['do not matter if they are read live', () => [many({ reader: 'live' }), live('a')]],
    ] as const) {
      it(title, () => {
        expect(() => sourcesOf<Widget>(uses(), setup())).not.to.throw();
      });
    }
  });

  it('RUN-38: fail the start also for a node that is not active yet', () => {
    const active = () => false;
    const nodes = [
      { use: part('a', { from: 'cmss' }), active },
      { use: part('b', 'cms'), active },
    ];
    expect(() => operate(nodes)).to.throw(
      'reads source cmss, which the controller does not have; is cms meant?',
    );
    const source = watchSource<Widget, Widget>({
      name: 'given',
      cache: world.caches.of(widgets),
      toPrimary: () => [],
    });
    expect(() => operate([{ use: part('a', { from: 'given' }), active }], [source])).to.throw(
      'reads Part of example.io/v1 from source given, which holds Widget of example.io/v1',
    );
  });

  it('RUN-85: are created for an active node by the one that declares them, active or not', async () => {
    operate([
      { use: part('a', { from: 'cms' }), active: big },
      { use: part('b', 'cms'), active: () => false },
    ]);
    await begin();
    expect([watched(), made('a')]).to.deep.equal([0, undefined]);
    world.cluster.edit(widgets, 'A/1', { spec: { size: 2 } });
    await settle();
    expect(watched()).to.equal(1);
    expect(made('a')?.data).to.deep.equal({ size: '2' });
    expect(made('b')).to.equal(undefined);
  });
});

describe('the source of a node that is not always active', () => {
  it('is released after the last primary that needs it, also without a cleanup', async () => {
    const controller = operate([{ use: part('a', 'cms'), active: () => true }]);
    world.cluster.put(widgets, widget('A/2'));
    await begin();
    expect(made('a')?.metadata.finalizers).to.equal(undefined);
    world.cluster.remove(widgets, 'A/1');
    await settle();
    expect(controller.hasSource('cms')).to.equal(true);
    world.cluster.remove(widgets, 'A/2');
    await settle();
    expect(controller.hasSource('cms')).to.equal(false);
  });
});

describe('a dependent with a reconcile method of its own', () => {
  it('RUN-D2: is reconciled by it, and works with everything else', async () => {
    const answers: Done[] = [{ did: 'created', value: { hello: 'world' } }, { did: 'noop' }];
    const own: Dependent<unknown, Widget> = {
      name: 'own',
      actual: () => Promise.resolve(undefined),
      desired: () => expect.fail('nobody asks what is wanted'),
      create: () => expect.fail('nobody creates it'),
      reconcile: () => Promise.resolve(answers.shift() as Done),
    };
    const results: (Done | undefined)[] = [];
    addWorkflowController<Widget>(world.manager, {
      name: 'widgets',
      kind: widgets,
      generation: 'off',
      syncPeriodMs: 0,
      workflow: {
        nodes: [
          { use: own, ready: () => ({ met: true, data: 7 }) },
          { use: part('a'), dependsOn: ['own'] },
        ],
      },
      reconciler: {
        reconcile: (_, { workflow }) => {
          results.push(workflow.result?.done.get('own'));
          return Promise.resolve(nothing);
        },
      },
    });
    await begin();
    world.cluster.edit(widgets, 'A/1', { spec: { size: 2 } });
    await settle();
    expect(results).to.deep.equal([{ did: 'created', value: { hello: 'world' } }, { did: 'noop' }]);
    expect(made('a')?.data).to.deep.equal({ size: '2' });
  });
});

describe('the metrics of a workflow', () => {
  const count = (node: string, op: string, outcome: string, what = 'count') =>
    world.metric(
      `espalier_workflow_node_seconds_${what}{controller="widgets",node="${node}",op="${op}",outcome="${outcome}"}`,
    );
  /** Takes two seconds. */
  const slow = (name: string, fails = false): Dependent<unknown, Widget> => ({
    name,
    actual: () => Promise.resolve(undefined),
    reconcile: (_, { clock }) =>
      new Promise((resolve, reject) => {
        clock.at(clock.now() + 2_000, () => {
          if (fails) reject(new Error('no'));
          else resolve({ did: 'noop' });
        });
      }),
    delete: () => Promise.resolve(),
  });

  it('RUN-126: have every series from the start, at 0', async () => {
    operate([{ use: slow('a') }]);
    for (const outcome of ['ready', 'unready', 'failed', 'doomed', 'removed'])
      expect(await count('a', 'reconcile', outcome), outcome).to.equal(0);
    for (const outcome of ['removed', 'removing', 'failed'])
      expect(await count('a', 'delete', outcome), outcome).to.equal(0);
  });

  it('show how long each node took, and how it ended', async () => {
    operate([
      { use: slow('a') },
      { use: slow('b', true) },
      { use: slow('c'), ready: () => false },
      { use: slow('d'), when: () => false },
      { use: slow('e'), when: () => false, deleted: () => false },
    ]);
    await begin();
    await world.clock.advance(2_500);
    expect([
      await count('a', 'reconcile', 'ready'),
      await count('a', 'reconcile', 'ready', 'sum'),
    ]).to.deep.equal([1, 2]);
    expect([
      await count('b', 'reconcile', 'failed'),
      await count('b', 'reconcile', 'failed', 'sum'),
    ]).to.deep.equal([1, 2]);
    expect(await count('c', 'reconcile', 'unready')).to.equal(1);
    expect([await count('d', 'reconcile', 'doomed'), await count('d', 'delete', 'removed')]).to.deep.equal([
      1, 1,
    ]);
    expect(await count('e', 'delete', 'removing')).to.equal(1);
  });
});
