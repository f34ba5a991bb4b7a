/** Trees have a limited number of levels: a blueprint that renders itself as its own child fails. */
import { expect } from 'chai';
import { defaults } from '../../../src/cli/configuration/configuration.ts';
import { useCluster } from '../../support/cluster.ts';
import { child, fakeItem, rendersItself, root } from '../../support/landscape.ts';

const LEVELS = 3;

const nested = (levels: number): object =>
  child(`level-${levels}`, { children: levels > 1 ? [nested(levels - 1)] : [] });

describe('a tree of installations', () => {
  const here = useCluster({ config: { ...defaults, limits: { ...defaults.limits, treeDepth: LEVELS } } });

  it('ends below the last permitted level, and its root reports the reason', async () => {
    const scene = await here.scene();
    await scene.create(root('bomb', { more: rendersItself }));
    const { status } = await scene.finished('bomb', 'Failed');
    await scene.calm();
    expect(scene.installations).to.have.length(LEVELS + 1);
    const deepest = scene.installations.find(({ metadata: { name } }) => scene.children(name).length === 0);
    expect(deepest?.status).to.include({ phase: 'Failed', jobIDFinished: status?.jobID });
    for (const message of [deepest?.status?.lastError?.message, status?.lastError?.message]) {
      expect(message)
        .to.contain(`level ${LEVELS + 1} `)
        .and.contain(`at most ${LEVELS} levels`)
        .and.contain('limits.treeDepth');
    }
    await scene.delete('bomb');
    await scene.empty();
  });

  it('creates nothing below a root that is being deleted', async () => {
    const scene = await here.scene();
    const first = child('first', { gives: { out: 'link' }, items: [fakeItem('app')] });
    const second = child('second', { takes: { in: 'link' }, children: [child('below')] });
    await scene.create(root('top', { children: [first, second] }));
    const provider = await scene.until('the first child is there', () => scene.child('top', 'first'));
    const { name } = await scene
      .until('the second child is there', () => scene.child('top', 'second'))
      .then(({ metadata }) => metadata);
    await scene.waiting(provider.metadata.name, 'app');
    await scene.delete('top');
    await scene.calm();
    await scene.answer(provider.metadata.name, 'app');
    const { status } = await scene.until('the second child has failed', () => {
      const found = scene.installation(name);
      return found?.status?.phase === 'Failed' && found;
    });
    expect(status?.lastError?.message).to.contain('"top" above it is being deleted');
    expect(scene.children(name)).to.deep.equal([]);
    await scene.uninstall(provider.metadata.name, 'app');
    await scene.empty();
  });

  it('succeeds with the permitted number of levels', async () => {
    const scene = await here.scene();
    await scene.create(root('top', { children: [nested(LEVELS - 1)] }));
    await scene.finished('top', 'Succeeded');
    expect(scene.installations).to.have.length(LEVELS);
  });
});

describe('a blueprint that renders itself', () => {
  const here = useCluster({ config: { ...defaults, limits: { ...defaults.limits, treeRecursion: 1 } } });

  it('creates no tree that doubles with each level', async () => {
    const scene = await here.scene();
    const [execution] = rendersItself.subinstallationExecutions;
    const { template = '' } = execution ?? {};
    const [, ...one] = template.split('\n');
    const twice = [template, ...one].join('\n').replace(/again$/m, 'once-more');
    await scene.create(
      root('bomb', { more: { subinstallationExecutions: [{ ...execution, template: twice }] } }),
    );
    const { status } = await scene.finished('bomb', 'Failed');
    await scene.calm();
    // The root's blueprint is written in another form than those of its sub-installations.
    expect(scene.installations).to.have.length(1 + 2 + 4 + 8);
    expect(status?.lastError?.message)
      .to.contain('has the same blueprint as 2 installations above it, and at most 1 are allowed')
      .and.contain('limits.treeRecursion');
    await scene.delete('bomb');
    await scene.empty();
  });
});
