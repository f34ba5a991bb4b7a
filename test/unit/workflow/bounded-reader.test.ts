/** Dependents that read from a bounded cache. */
import { expect } from 'chai';
import { keepAppliedBy } from '../../../src/runtime/cache/transforms.ts';
import { DefinitionError } from '../../../src/runtime/errors.ts';
import { generationChanged, objectsThat } from '../../../src/runtime/sources/filters.ts';
import type { BoundedCacheOptions } from '../../../src/runtime/types.ts';
import { kubernetes, type KubernetesSpec } from '../../../src/workflow/kubernetes.ts';
import { kubernetesBulk } from '../../../src/workflow/kubernetes-bulk.ts';
import type { NodeSpec } from '../../../src/workflow/node.ts';
import { addWorkflowController } from '../../../src/workflow/workflow-controller.ts';
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

describe('a dependent with a bounded cache', () => {
  let world: World;
  beforeEach(() => {
    world = createWorld();
  });
  afterEach(() => world.end());

  const cacheOf = (options: BoundedCacheOptions<Part> = {}) => world.caches.bounded(parts, options);
  const dependent = (more: Partial<KubernetesSpec<Part, Widget>> = {}) =>
    kubernetes<Part, Widget>({
      kind: parts,
      ssa: false,
      match: { metadata: 'subset', values: 'subset' },
      reader: { cache: cacheOf() },
      desired: ({ metadata, spec }) => ({
        metadata: { name: metadata.name },
        data: { size: String(spec?.size) },
      }),
      ...more,
    });
  const operate = (nodes: readonly NodeSpec<Widget>[]) =>
    addWorkflowController<Widget>(world.manager, {
      name: 'widgets',
      kind: widgets,
      retry: doubling,
      syncPeriodMs: 0,
      workflow: { nodes },
      reconciler: { reconcile: () => Promise.resolve(nothing) },
    });
  const begin = async (use: NodeSpec<Widget>['use'] = dependent()): Promise<void> => {
    operate([{ use }]);
    world.cluster.put(widgets, widget('A/1'));
    await world.start();
    await settle();
  };
  const data = (key = 'A/1') => world.cluster.read(parts, key)?.data;
  const written = () => world.cluster.writes.filter((write) => write.includes('Part')).length;
  const reads = () =>
    world.cluster.requests.filter(({ verb, key }) => verb === 'get' && key === 'A/1').length;
  const again = async (size: number): Promise<void> => {
    world.cluster.edit(widgets, 'A/1', { spec: { size } });
    await settle();
  };

  it('creates its object, and corrects what it cannot see in the metadata', async () => {
    await begin();
    expect(data()).to.deep.equal({ size: '1' });
    const before = written();
    world.cluster.edit(parts, 'A/1', { data: { size: '7' } });
    await settle();
    expect(data()).to.deep.equal({ size: '1' });
    expect(written() - before).to.equal(1);
    await again(2);
    expect(data()).to.deep.equal({ size: '2' });
  });

  it('requests an object once while nothing changes', async () => {
    await begin();
    await again(1);
    world.cluster.edit(widgets, 'A/1', { metadata: { labels: { a: 'b' } }, spec: { size: 1, other: 1 } });
    await settle();
    const before = reads();
    for (const other of [2, 3, 4]) {
      world.cluster.edit(widgets, 'A/1', { spec: { size: 1, other } });
      await settle();
    }
    expect(reads() - before).to.equal(0);
  });

  it('watches the metadata only, and has no complete objects of other primaries', async () => {
    const cache = cacheOf();
    for (let i = 0; i < 20; i++)
      world.cluster.put(parts, { metadata: { namespace: 'A', name: `other-${String(i)}` }, data: {} });
    await begin(dependent({ reader: { cache } }));
    await again(2);
    world.cluster.edit(widgets, 'A/1', { spec: { size: 2, other: 1 } });
    await settle();
    expect([cache.metadata.size, cache.size]).to.deep.equal([21, 1]);
  });

  it('may be several objects', async () => {
    const bulk = kubernetesBulk<Part, Widget>({
      kind: parts,
      ssa: false,
      match: { metadata: 'subset', values: 'subset' },
      reader: { cache: cacheOf() },
      desiredAll: ({ spec }) =>
        new Map(
          ['x', 'y', 'z']
            .slice(0, spec?.size)
            .map((name) => [name, { metadata: { name }, data: { is: name } }]),
        ),
    });
    await begin(bulk);
    await again(3);
    expect(['x', 'y', 'z'].map((name) => data(`A/${name}`)?.['is'])).to.deep.equal(['x', 'y', 'z']);
    world.cluster.edit(parts, 'A/y', { data: { is: 'changed' } });
    await settle();
    expect(data('A/y')).to.deep.equal({ is: 'y' });
    await again(1);
    expect(data('A/z')).to.equal(undefined);
  });

  it('may have a filter for the metadata', async () => {
    const filter = objectsThat(({ metadata }) => metadata.labels?.['watch'] === 'yes');
    await begin(dependent({ reader: { cache: cacheOf(), filter } }));
    world.cluster.edit(parts, 'A/1', { data: { size: '7' } });
    await settle();
    expect(data()).to.deep.equal({ size: '7' });
    world.cluster.edit(parts, 'A/1', { metadata: { labels: { watch: 'yes' } } });
    await settle();
    expect(data()).to.deep.equal({ size: '1' });
  });

  it('compares by managed fields only if the cache keeps them', async () => {
    const applied = (cache = cacheOf()) =>
      kubernetes<Part, Widget>({
        kind: parts,
        reader: { cache },
        desired: ({ metadata }) => ({ metadata: { name: metadata.name }, data: {} }),
      });
    expect(() => operate([{ use: applied() }])).to.throw(
      DefinitionError,
      'give the cache the transform keepAppliedBy("widgets")',
    );
    await begin(applied(cacheOf({ transform: keepAppliedBy('widgets') })));
    expect(data()).to.deep.equal({});
  });

  const refused: [string, Partial<KubernetesSpec<Part, Widget>>, string][] = [
    ['a selector', { selector: 'a=b' }, 'so it cannot have the option selector'],
    ['namespaces', { namespaces: ['A'] }, 'so it cannot have the option namespaces'],
    ['another source', { source: 'mine' }, 'so it cannot have the option source'],
    ['a filter for complete objects', { filter: generationChanged }, 'move it to the reader'],
    ['a mapper for complete objects', { toPrimary: () => [] }, 'move it to the reader'],
  ];
  for (const [title, more, message] of refused)
    it(`cannot have ${title}`, () => {
      expect(() => dependent(more)).to.throw(DefinitionError, message);
    });

  it('must have the kind of the cache', () => {
    const cache = world.caches.bounded<Part>({ ...parts, version: 'v2' });
    expect(() => dependent({ reader: { cache } })).to.throw(
      DefinitionError,
      'which holds Part of example.io/v2, not Part of example.io/v1',
    );
  });
});
