import { expect } from 'chai';
import { keepAppliedBy } from '../../../src/runtime/cache/cache.ts';
import { CustomResourceDefinition } from '../../../src/runtime/core-kinds.ts';
import { apiErrorFrom, NoRetryError } from '../../../src/runtime/errors.ts';
import { watchSource } from '../../../src/runtime/sources/sources.ts';
import type { Cache, Context, Kind, Obj, View } from '../../../src/runtime/types.ts';
import { crdPresent, hasStatusCondition, isGone } from '../../../src/workflow/conditions.ts';
import { deleteDependent, reconcileDependent, type Dependent } from '../../../src/workflow/dependent.ts';
import { kubernetesBulk } from '../../../src/workflow/kubernetes-bulk.ts';
import { buildWorkflow } from '../../../src/workflow/workflow.ts';
import { FakeCluster } from '../runtime/support/fake-cluster.ts';
import { AggregateNodeError } from '../../../src/workflow/errors.ts';
import { kubernetes } from '../../../src/workflow/kubernetes.ts';
import {
  addWorkflowController,
  setupOf,
  sourcesOf,
  type WorkflowControllerSpec,
  type WorkflowReconciler,
} from '../../../src/workflow/workflow-controller.ts';
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
import { diamond, graphOf, type NodePlan } from './support.ts';

const FINALIZER = 'widgets.example.io/finalizer';

/** Definitions without a spec, which no test of this file reads. */
const definitions = CustomResourceDefinition as Kind<Pick<CustomResourceDefinition, keyof Obj | 'status'>>;

/** A part named after its widget and `suffix`. */
const partOf = (suffix: string, gc = false): Dependent<Part, Widget> =>
  kubernetes<Part, Widget>({
    name: suffix,
    kind: parts,
    ssa: false,
    gc,
    desired: ({ metadata, spec }) => ({
      apiVersion: 'example.io/v1',
      kind: 'Part',
      metadata: { name: `${metadata.name}-${suffix}` },
      data: { size: String(spec?.size) },
    }),
  });

describe('an operator with a workflow', () => {
  let world: World;
  let story: string[];
  beforeEach(() => {
    world = createWorld();
    story = [];
  });
  afterEach(() => world.end());

  /** Nodes that do at once what they are told to. */
  const nodesOf = (plans: Readonly<Record<string, NodePlan>>) => {
    const { workflow } = graphOf(plans);
    return workflow.nodes.map((node) => {
      const { name, gc } = node.use;
      const act = (what: 'reconcile' | 'delete') => () => {
        story.push(`${what} ${name}`);
        if (plans[name]?.fails === what) return Promise.reject(new Error(`cannot ${what} ${name}`));
        return Promise.resolve({ did: 'noop' } as const);
      };
      const use = {
        name,
        ...(gc !== undefined && { gc }),
        actual: () => Promise.resolve(undefined),
        reconcile: act('reconcile'),
        delete: async () => void (await act('delete')()),
      } satisfies Dependent<Obj, Widget>;
      return { ...node, use };
    });
  };
  const operate = (
    nodes: WorkflowControllerSpec<Widget>['workflow']['nodes'],
    workflow: Partial<WorkflowControllerSpec<Widget>['workflow']> = {},
    reconciler: Partial<WorkflowReconciler<Widget>> = {},
    more: Partial<WorkflowControllerSpec<Widget>> = {},
  ) =>
    addWorkflowController<Widget>(world.manager, {
      name: 'widgets',
      kind: widgets,
      retry: doubling,
      generation: 'off',
      syncPeriodMs: 0,
      ...more,
      workflow: { nodes, ...workflow },
      reconciler: {
        reconcile() {
          story.push('own logic');
          return Promise.resolve(nothing);
        },
        ...reconciler,
      },
    });
  const begin = async (): Promise<void> => {
    world.cluster.put(widgets, widget('A/1'));
    await world.start();
  };
  const remove = async (): Promise<void> => {
    story.length = 0;
    world.cluster.remove(widgets, 'A/1');
    await settle();
  };
  const there = (): Widget | undefined => world.cluster.read(widgets, 'A/1');

  it('RUN-69: reconciles its nodes before its own logic runs', async () => {
    let seen: string | undefined;
    operate(
      [{ use: partOf('x') }],
      {},
      {
        reconcile(_, ctx) {
          seen = ctx.secondary(parts)?.metadata.name;
          story.push(`own logic after ${[...(ctx.workflow.result?.done.keys() ?? [])].join()}`);
          return Promise.resolve(nothing);
        },
      },
    );
    await begin();
    expect(story).to.deep.equal(['own logic after x']);
    expect(seen).to.equal('1-x');
    expect(world.cluster.writes).to.deep.equal(['json Widget A/1', 'create Part A/1-x']);
  });

  it('RUN-79: keeps its finalizer while a node is not gone', async () => {
    let isDone = false;
    operate(nodesOf(diamond({ 2: { deleted: () => isDone } })));
    await begin();
    expect(there()?.metadata.finalizers).to.deep.equal([FINALIZER]);
    await remove();
    expect(story).to.have.members(['delete 4', 'delete 3', 'delete 2']);
    expect(there()?.metadata.finalizers).to.deep.equal([FINALIZER]);
    isDone = true;
    await world.clock.advance(60_000);
    expect(story.at(-1)).to.equal('delete 1');
    expect(there()).to.equal(undefined);
  });

  it('RUN-81: deletes every node, sends nothing for missing objects, and removes the finalizer', async () => {
    const absent = (name: string): Dependent<Part, Widget> => {
      const { create: _, ...use } = partOf(name);
      return {
        ...use,
        delete(p, ctx) {
          story.push(`delete ${name}`);
          return use.delete?.(p, ctx) ?? Promise.resolve();
        },
      };
    };
    operate([{ use: absent('x') }, { use: absent('y'), dependsOn: ['x'] }]);
    await begin();
    world.cluster.requests.length = 0;
    await remove();
    expect(story).to.deep.equal(['delete y', 'delete x']);
    expect(world.cluster.requests.map(({ verb, kind }) => `${verb} ${kind}`)).to.deep.equal(['json Widget']);
    expect(there()).to.equal(undefined);
  });

  it('RUN-80: retries a failed cleanup, after a delay', async () => {
    operate(nodesOf({ 1: { fails: 'delete' } }));
    await begin();
    await remove();
    expect(story).to.deep.equal(['delete 1']);
    expect(there()).to.not.equal(undefined);
    await world.clock.advance(1_000);
    expect(story).to.deep.equal(['delete 1', 'delete 1']);
  });

  it('has no finalizer when there is nothing to delete', async () => {
    operate([{ use: partOf('x', true) }]);
    await begin();
    expect(there()?.metadata.finalizers).to.equal(undefined);
  });

  it('RUN-82: reports all errors at once, instead of running its own logic', async () => {
    const errors: unknown[] = [];
    let seen: readonly string[] | undefined;
    operate(
      nodesOf({ a: { fails: 'reconcile' }, b: { fails: 'reconcile' }, c: {} }),
      {},
      {
        onError(_, ctx, error) {
          errors.push(error);
          seen = ctx.workflow.result?.reconciled;
          return Promise.resolve({ retry: false });
        },
      },
    );
    await begin();
    expect(story).to.have.members(['reconcile a', 'reconcile b', 'reconcile c']);
    expect(errors).to.have.length(1);
    expect(errors[0]).to.be.instanceOf(AggregateNodeError);
    expect([...(errors[0] as AggregateNodeError).errors.keys()].sort()).to.deep.equal(['a', 'b']);
    expect(seen).to.deep.equal(['c']);
  });

  it('RUN-82: retries after temporary errors, and not after permanent ones', async () => {
    operate(nodesOf({ a: { fails: 'reconcile' } }));
    await begin();
    await world.clock.advance(1_000);
    expect(story).to.deep.equal(['reconcile a', 'reconcile a']);
    story.length = 0;
    const use: Dependent<Obj, Widget> = {
      name: 'final',
      actual: () => Promise.resolve(undefined),
      reconcile() {
        story.push('final');
        throw new NoRetryError({ message: 'never' });
      },
    };
    await world.end();
    world = createWorld();
    operate([{ use }]);
    await begin();
    await world.clock.advance(600_000);
    expect(story).to.deep.equal(['final']);
  });

  it('RUN-83: leaves errors to its own logic on request', async () => {
    let errored: string[] = [];
    operate(
      nodesOf({ a: { fails: 'reconcile' }, b: { fails: 'reconcile' } }),
      { throwErrors: false },
      {
        reconcile(_, { workflow }) {
          errored = [...(workflow.result?.errored.keys() ?? [])].sort();
          return Promise.resolve(nothing);
        },
      },
    );
    await begin();
    expect(errored).to.deep.equal(['a', 'b']);
    await world.clock.advance(600_000);
    expect(story).to.deep.equal(['reconcile a', 'reconcile b']);
  });

  it('lets its nodes and its own logic forget a primary that is gone, cleaned up or not', async () => {
    const [node] = nodesOf({ a: { gc: true } });
    const use = { ...(node?.use as Dependent<Obj, Widget>), forget: () => void story.push('forget a') };
    operate([{ use }], {}, { forget: ({ metadata }) => void story.push(`forget ${metadata.name}`) });
    await begin();
    story.length = 0;
    world.cluster.remove(widgets, 'A/1');
    await settle();
    expect(story).to.deep.equal(['forget a', 'forget 1']);
  });

  it('does not delete an object of the same name that another owner created in its place', async () => {
    const errors: string[] = [];
    const onError = (_p: unknown, _ctx: unknown, error: unknown) => {
      errors.push(String(error));
      return Promise.resolve('default' as const);
    };
    operate([{ use: partOf('x') }], {}, { onError });
    await begin();
    world.cluster.before = ({ verb, kind }) => {
      world.cluster.before = () => undefined;
      if (verb !== 'replace' || kind !== 'Part') return undefined;
      world.cluster.remove(parts, 'A/1-x');
      world.cluster.put(parts, { metadata: { namespace: 'A', name: '1-x' }, data: { theirs: 'x' } });
      return undefined;
    };
    world.cluster.edit(widgets, 'A/1', { spec: { size: 2 } });
    await settle();
    expect(errors[0]).to.include('Part A/1-x already exists and does not belong to this primary');
    expect(world.cluster.read(parts, 'A/1-x')?.data).to.deep.equal({ theirs: 'x' });
  });

  it('RUN-86: checks for a CRD at most every 10 s, for all primaries together, then rarely, then never again', async () => {
    const use = nodesOf({ 1: {} })[0]?.use as Dependent<Obj, Widget>;
    operate([{ use, active: crdPresent('things.example.io') }]);
    world.cluster.put(widgets, widget('A/2'));
    world.cluster.put(widgets, widget('A/3'));
    await begin();
    const looks = () =>
      world.cluster.requests.filter(({ kind }) => kind === CustomResourceDefinition.kind).length;
    expect(looks()).to.equal(1);
    await world.clock.advance(9_000);
    expect(looks()).to.equal(1);
    await world.clock.advance(1_000);
    expect(looks()).to.equal(2);
    await world.clock.advance(80_000);
    expect(looks()).to.equal(10);
    await world.clock.advance(599_000);
    expect(looks()).to.equal(10);
    expect(story).to.not.include('reconcile 1');
    const status = { conditions: [{ type: 'Established', status: 'True' }] };
    world.cluster.put(definitions, { metadata: { name: 'things.example.io' }, status });
    await world.clock.advance(1_000);
    expect(looks()).to.equal(11);
    expect(story.filter((what) => what === 'reconcile 1')).to.have.length(3);
    world.cluster.edit(widgets, 'A/1', { spec: { size: 7 } });
    await world.clock.advance(1_200_000);
    expect(looks()).to.equal(11);
    expect(story.filter((what) => what === 'reconcile 1')).to.have.length(4);
  });

  it('RUN-88: waits, creates and deletes according to its conditions, and reports readiness', async () => {
    let isReady = false;
    let isGone = false;
    const readiness: (boolean | undefined)[] = [];
    operate(
      [
        { use: partOf('deployment'), ready: () => isReady },
        {
          use: partOf('map'),
          dependsOn: ['deployment'],
          active: () => true,
          when: (_, { spec }) => (spec?.size ?? 0) < 5,
          deleted: () => isGone,
        },
      ],
      {},
      {
        reconcile(_, { workflow }) {
          readiness.push(workflow.result?.allReady);
          return Promise.resolve(nothing);
        },
      },
    );
    const resize = async (size: number) => {
      world.cluster.edit(widgets, 'A/1', { spec: { size } });
      await settle();
    };
    const map = () => world.cluster.read(parts, 'A/1-map');
    await begin();
    expect(map()).to.equal(undefined);
    isReady = true;
    await resize(2);
    expect(map()?.data).to.deep.equal({ size: '2' });
    await resize(5);
    expect(map()).to.equal(undefined);
    expect(readiness.slice(0, 3)).to.deep.equal([false, true, false]);
    await remove();
    const deletions = () =>
      world.cluster.writes.filter((write) => write.startsWith('delete Part A/1-deployment'));
    expect(deletions()).to.deep.equal([]);
    isGone = true;
    await world.clock.advance(60_000);
    expect(deletions()).to.have.length(1);
    expect(there()).to.equal(undefined);
  });

  it('RUN-90: runs its workflow only when it is called, as often as it is called', async () => {
    operate(
      nodesOf(diamond()),
      { explicit: true },
      {
        async reconcile({ spec }, { workflow }) {
          expect(workflow.result).to.equal(undefined);
          if (spec?.size === 1) return nothing;
          const first = await workflow.reconcile();
          expect(first.reconciled).to.have.length(4);
          if (spec?.size === 3) await workflow.reconcile();
          expect(workflow.result?.allReady).to.equal(true);
          return nothing;
        },
      },
    );
    await begin();
    expect(story).to.deep.equal([]);
    world.cluster.edit(widgets, 'A/1', { spec: { size: 2 } });
    await settle();
    expect(story).to.have.length(4);
    world.cluster.edit(widgets, 'A/1', { spec: { size: 3 } });
    await settle();
    expect(story).to.have.length(12);
  });

  it('RUN-91: leaves the cleanup to its cleaner, which may call the workflow', async () => {
    let isCalling = false;
    operate(
      nodesOf(diamond()),
      { explicit: true },
      {
        async cleanup(_, { workflow }) {
          if (isCalling) await workflow.cleanup();
          return { finalizer: 'remove' };
        },
      },
    );
    await begin();
    await remove();
    expect(story).to.deep.equal([]);
    expect(there()).to.equal(undefined);
    isCalling = true;
    world.cluster.put(widgets, widget('A/1'));
    await settle();
    await remove();
    expect([story[0], story.slice(1, 3).sort(), story[3]]).to.deep.equal([
      'delete 4',
      ['delete 2', 'delete 3'],
      'delete 1',
    ]);
  });

  it('RUN-92: cleans up by itself if there is no cleaner', async () => {
    operate(nodesOf(diamond()), { explicit: true });
    await begin();
    await remove();
    expect(story).to.have.length(4);
    expect(there()).to.equal(undefined);
  });

  it('RUN-93: keeps a node while an object that depends on it has a foreign finalizer', async () => {
    operate([
      { use: partOf('1'), deleted: isGone },
      { use: partOf('2'), dependsOn: ['1'], deleted: isGone },
    ]);
    await begin();
    world.cluster.edit(parts, 'A/1-2', { metadata: { finalizers: ['other.example/x'] } });
    await settle();
    await remove();
    expect(world.cluster.read(parts, 'A/1-1')).to.not.equal(undefined);
    expect(world.cluster.read(parts, 'A/1-2')?.metadata.deletionTimestamp).to.not.equal(undefined);
    world.cluster.edit(parts, 'A/1-2', { metadata: { finalizers: null } });
    await settle();
    expect(world.cluster.read(parts, 'A/1-1')).to.equal(undefined);
    expect(there()).to.equal(undefined);
  });

  it('runs its own cleanup as well', async () => {
    let isKept = true;
    operate(
      nodesOf({ 1: {} }),
      {},
      {
        cleanup() {
          story.push('own cleanup');
          return Promise.resolve(
            isKept ? { finalizer: 'keep', requeueAfterMs: 5_000 } : { finalizer: 'remove' },
          );
        },
      },
    );
    await begin();
    await remove();
    expect(story).to.deep.equal(['delete 1', 'own cleanup']);
    expect(there()).to.not.equal(undefined);
    isKept = false;
    await world.clock.advance(5_000);
    expect(there()).to.equal(undefined);
  });

  it('computes the desired state once in a reconcile, however often it is read', async () => {
    let asked = 0;
    const use = kubernetes<Part, Widget>({
      kind: parts,
      ssa: false,
      desired: ({ metadata }) => {
        asked++;
        return { apiVersion: 'example.io/v1', kind: 'Part', metadata: { name: metadata.name } };
      },
    });
    const look = async (node: { actual(): Promise<unknown> }) => (await node.actual()) !== undefined;
    operate([{ use, ready: look }]);
    await begin();
    expect(asked).to.equal(1);
  });

  const given = <T extends Obj>(cache: Cache<T>) =>
    watchSource<T, Widget>({ name: 'given', cache, toPrimary: () => [] });

  it('RUN-52: does not start if a dependent compares managed fields that its source drops', () => {
    const source = given(world.caches.of(parts));
    const use = kubernetes<Part, Widget>({ kind: parts, source: 'given', desired: () => '' });
    expect(() => operate([{ use }], {}, {}, { sources: [source] })).to.throw(
      'compares by managed fields, which source given drops; give its cache the transform keepAppliedBy("widgets")',
    );
    const kept = world.caches.of(parts, { transform: keepAppliedBy('widgets') });
    operate([{ use }], {}, {}, { sources: [given(kept)] });
  });

  it('does not start if a dependent reads a source of another kind, or one that does not exist', () => {
    const source = given(world.caches.of(widgets));
    const use = kubernetes<Part, Widget>({ kind: parts, source: 'given', desired: () => '' });
    expect(() => operate([{ use }], {}, {}, { sources: [source] })).to.throw(
      'reads Part of example.io/v1 from source given, which holds Widget of example.io/v1',
    );
    const { createSource: _, ...without } = use;
    expect(() => operate([{ use: without }])).to.throw(
      'reads source given, which the controller does not have',
    );
  });

  it('does not start if a bulk dependent would delete objects that another one creates', () => {
    const one = kubernetes<Part, Widget>({ kind: parts, name: 'one', desired: () => '' });
    const many = (more: object = {}) =>
      kubernetesBulk<Part, Widget>({ kind: parts, name: 'many', desiredAll: () => new Map(), ...more });
    expect(() => operate([{ use: one }, { use: many() }])).to.throw(
      'dependent "many" would delete the objects that dependent "one" creates',
    );
    operate([{ use: one }, { use: many({ idOf: () => undefined }) }]);
  });

  it('RUN-70: works without a workflow, in the order and with the conditions of its author', async () => {
    const [first, second] = [partOf('first', true), partOf('second', true)];
    const setup = setupOf({ name: 'widgets', kind: widgets }, world.caches);
    world.manager.add<Widget>({
      name: 'widgets',
      kind: widgets,
      generation: 'off',
      syncPeriodMs: 0,
      sources: sourcesOf([first, second], setup),
      reconciler: {
        async reconcile(p, ctx) {
          const { did } = await reconcileDependent(first, p, ctx);
          story.push(did);
          if (p.spec?.size === 2) await reconcileDependent(second, p, ctx);
          else await deleteDependent(second, p, ctx);
          return nothing;
        },
      },
    });
    await begin();
    world.cluster.edit(widgets, 'A/1', { spec: { size: 2 } });
    await settle();
    world.cluster.edit(widgets, 'A/1', { spec: { size: 3 } });
    await settle();
    expect(story.slice(0, 3)).to.deep.equal(['created', 'updated', 'updated']);
    expect(world.cluster.writes).to.deep.equal([
      'create Part A/1-first',
      'replace Part A/1-first',
      'create Part A/1-second',
      'replace Part A/1-first',
      'delete Part A/1-second',
    ]);
  });

  it('RUN-89: or with a workflow that its author calls', async () => {
    const wanted = (_: unknown, { spec }: View<Widget>) => spec?.size === 2;
    const nodes = [
      { use: partOf('first', true) },
      { use: partOf('second', true), dependsOn: ['first'], when: wanted },
    ];
    const workflow = buildWorkflow<Widget>(nodes);
    const setup = setupOf({ name: 'widgets', kind: widgets }, world.caches);
    world.manager.add<Widget>({
      name: 'widgets',
      kind: widgets,
      generation: 'off',
      syncPeriodMs: 0,
      sources: sourcesOf(
        nodes.map(({ use }) => use),
        setup,
      ),
      reconciler: {
        async reconcile(p, ctx) {
          (await workflow.reconcile(p, ctx)).throwIfErrored();
          return nothing;
        },
      },
    });
    const second = () => world.cluster.read(parts, 'A/1-second');
    await begin();
    expect(second()).to.equal(undefined);
    for (const [size, isThere] of [
      [2, true],
      [3, false],
      [2, true],
    ] as const) {
      world.cluster.edit(widgets, 'A/1', { spec: { size } });
      await settle();
      expect(second() !== undefined).to.equal(isThere);
    }
  });

  it('writes to another cluster by requests, and receives no events of it', async () => {
    const other = new FakeCluster();
    const use = kubernetes<Part, Widget>({
      kind: parts,
      ssa: false,
      gc: false,
      client: () => other,
      desired: ({ metadata, spec }) => ({
        metadata: { name: metadata.name },
        data: { size: String(spec?.size) },
      }),
    });
    operate([{ use }]);
    await begin();
    expect(other.read(parts, 'A/1')?.data).to.deep.equal({ size: '1' });
    world.cluster.edit(widgets, 'A/1', { spec: { size: 2 } });
    await settle();
    expect(other.writes).to.deep.equal(['create Part A/1', 'replace Part A/1']);
    expect([...other.watches, ...world.cluster.watches]).to.not.include('Part');
    await remove();
    expect(other.read(parts, 'A/1')).to.equal(undefined);
    expect(there()).to.equal(undefined);
  });

  it('reads many objects of another cluster with one list, and claims only its own', async () => {
    const other = new FakeCluster();
    other.put(parts, { metadata: { namespace: 'A', name: 'theirs' } });
    const use = kubernetesBulk<Part, Widget>({
      kind: parts,
      ssa: false,
      gc: false,
      client: () => other,
      desiredAll: ({ spec }) =>
        new Map(
          Array.from({ length: spec?.size ?? 0 }, (_, i) => [
            `p${String(i)}`,
            { metadata: { name: `p${String(i)}` } },
          ]),
        ),
    });
    operate([{ use }]);
    world.cluster.put(widgets, { ...widget('A/1'), spec: { size: 3 } });
    await world.start();
    world.cluster.edit(widgets, 'A/1', { spec: { size: 1 } });
    await settle();
    const names = ['p0', 'p1', 'p2', 'theirs'].filter((name) => other.read(parts, `A/${name}`));
    expect(names).to.deep.equal(['p0', 'theirs']);
    expect(other.requests.filter(({ verb }) => verb === 'get')).to.deep.equal([]);
  });

  it('detects when a status reports readiness', async () => {
    const actual = (status: unknown) => ({
      name: 'x',
      actual: () => Promise.resolve({ status }),
      all: () => Promise.resolve(new Map()),
    });
    const ask = (status: unknown) =>
      hasStatusCondition('Ready')(actual(status), {} as Widget, {} as unknown as Context<Widget>);
    expect(await ask({ conditions: [{ type: 'Ready', status: 'True' }] })).to.equal(true);
    expect(await ask({ conditions: [{ type: 'Ready', status: 'False' }] })).to.equal(false);
    expect(await ask(undefined)).to.equal(false);
  });

  it('reports a failed check for a CRD, and checks again', async () => {
    operate([
      { use: nodesOf({ 1: {} })[0]?.use as Dependent<Obj, Widget>, active: crdPresent('others.example.io') },
    ]);
    const ref = { verb: 'get', kind: CustomResourceDefinition.kind };
    world.cluster.fault = ({ kind }) =>
      kind === CustomResourceDefinition.kind ? apiErrorFrom(500, {}, ref) : undefined;
    await begin();
    world.cluster.fault = () => undefined;
    const status = { conditions: [{ type: 'Established', status: 'True' }] };
    world.cluster.put(definitions, { metadata: { name: 'others.example.io' }, status });
    await world.clock.advance(20_000);
    expect(story).to.include('reconcile 1');
  });
});
