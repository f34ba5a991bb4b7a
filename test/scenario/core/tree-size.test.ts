/** Trees have a limited number of objects, and stop growing after an interrupt. */
import { expect } from 'chai';
import { defaults } from '../../../src/cli/configuration/configuration.ts';
import { useCluster } from '../../support/cluster.ts';
import { child, fakeItem, mockItem, rendersItself, root } from '../../support/landscape.ts';
import type { Scene } from '../../support/scene.ts';

const LIMIT = 12;

/** A blueprint that renders itself this many times. */
const doubling = (times: number): object => ({
  subinstallationExecutions: rendersItself.subinstallationExecutions.map(({ template, ...rest }) => ({
    ...rest,
    template: [
      'subinstallations:',
      ...Array.from({ length: times }, (_, i) =>
        template.replace('subinstallations:\n', '').replace('name: again', `name: again-${i}`),
      ),
    ].join('\n'),
  })),
});

const sizeOf = ({ cluster: { world }, ns }: Scene): number =>
  [world.installations, world.executions, world.deployItems].reduce(
    (sum, cache) => sum + [...cache.list(ns)].length,
    0,
  );

describe('the number of objects of a tree', () => {
  const here = useCluster({ config: { ...defaults, limits: { ...defaults.limits, treeObjects: LIMIT } } });

  for (const times of [1, 2, 3]) {
    it(`is limited if each installation renders itself ${times} times; the deletion of the tree ends`, async () => {
      const scene = await here.scene();
      await scene.create(root('bomb', { more: doubling(times), items: [mockItem('app')] }));
      const { status } = await scene.finished('bomb', 'Failed');
      await scene.calm();
      expect(sizeOf(scene)).to.be.at.most(LIMIT);
      const refused = scene.installations.filter((i) => i.status?.lastError?.reason === 'TreeTooLarge');
      expect(refused).to.not.deep.equal([]);
      for (const message of [refused[0]?.status?.lastError?.message, status?.lastError?.message]) {
        expect(message)
          .to.contain('the tree below "bomb" has ')
          .and.contain(`at most ${LIMIT} are allowed`)
          .and.contain('limits.treeObjects');
      }
      await scene.delete('bomb');
      await scene.empty();
    });
  }

  it('includes deploy items, and does not affect other trees', async () => {
    const scene = await here.scene();
    const items = Array.from({ length: LIMIT - 1 }, (_, i) => mockItem(`app-${i}`));
    await scene.create(root('large', { items }));
    await scene.finished('large', 'Failed');
    expect(sizeOf(scene)).to.equal(1);
    await scene.create(root('small', { items: items.slice(1) }));
    await scene.finished('small', 'Succeeded');
  });
});

describe('a tree that doubles with each level', () => {
  const limit = 40;
  const here = useCluster({ config: { ...defaults, limits: { ...defaults.limits, treeObjects: limit } } });

  it('costs at most five writes of each installation', async () => {
    const scene = await here.scene();
    await scene.create(root('fork', { more: doubling(2) }));
    await scene.finished('fork', 'Failed');
    const { installations } = scene;
    expect(installations).to.have.length.above(limit / 2);
    const writes = scene.cluster
      .history(scene.ns)
      .filter(({ object }) => object.kind === 'Installation').length;
    // Costs that grew with the square of the tree would end such a tree too late. Creation, start of the job, waiting, end; and one more that shows an obstacle below.
    expect(writes).to.be.at.most(5 * installations.length);
  });
});

describe('a tree that grows without end', () => {
  const here = useCluster();

  it('stops growing after its root was interrupted', async () => {
    const scene = await here.scene();
    await scene.create(root('bomb', { more: rendersItself }));
    await scene.until('the tree grows', () => scene.installations.length > 3);
    await scene.operation('bomb', 'interrupt');
    const { status } = await scene.finished('bomb', 'Failed');
    await scene.calm();
    const { treeDepth } = defaults.limits;
    expect(scene.installations.length).to.be.below(treeDepth + 1);
    expect(status?.lastError?.message).to.contain('interrupted');
    await scene.delete('bomb');
    await scene.empty();
  });

  it('can be started again after an interrupt', async () => {
    const scene = await here.scene();
    await scene.create(root('top', { children: [child('first', { items: [fakeItem('app')] })] }));
    const first = await scene.until('the child is there', () => scene.child('top', 'first'));
    await scene.waiting(first.metadata.name, 'app');
    await scene.operation('top', 'interrupt');
    const { status } = await scene.finished('top', 'Failed');
    await scene.operation('top', 'reconcile');
    await scene.answer(first.metadata.name, 'app');
    await scene.finished('top', 'Succeeded', { after: status?.jobID });
  });
});
