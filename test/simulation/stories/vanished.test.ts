/** Stories about objects that a user deleted, and about objects that are no longer wanted. */
import { expect } from 'chai';
import { isFinished } from '../../../src/api/job.ts';
import { NAMESPACE, kinds } from '../cluster/objects.ts';
import { remains } from '../invariants/rest.ts';
import { dropItem } from '../landscape/generate.ts';
import { Scene, item, node } from './scene.ts';
import { story } from './story.ts';

const family = () => node('r1', { items: [item('i1')], children: [node('r1a', { items: [item('i1')] })] });

const remove = (scene: Scene, kind: (typeof kinds)[keyof typeof kinds], name: string): void => {
  scene.simulation.server.write({ verb: 'delete', kind, key: `${NAMESPACE}/${name}` }, 'user');
};

describe('objects that disappear', function () {
  this.timeout(60_000);

  story('a sub-installation deleted by hand is recreated by the next job', async (seed) => {
    const scene = new Scene(seed, [family()]);
    await scene.install();
    const before = scene.child('r1', 'r1a')!.metadata;
    remove(scene, kinds.installation, before.name);
    await scene.again('r1');
    expect(scene.phase('r1')).to.equal('Succeeded');
    const after = scene.child('r1', 'r1a')!;
    expect(after.metadata.uid).not.to.equal(before.uid);
    expect(after.status?.phase).to.equal('Succeeded');
    expect(scene.inst(before.name), 'the old one is gone').to.be.undefined;
  });

  story('a version without deploy items uninstalls those of the previous version', async (seed) => {
    const scene = new Scene(seed, [family()]);
    await scene.install();
    expect(scene.simulation.outside.installed.size).to.equal(2);
    dropItem(scene.root('r1'), 'i1');
    await scene.again('r1');
    expect(scene.phase('r1')).to.equal('Succeeded');
    expect(scene.items(), 'that of the child is left').to.have.length(1);
    expect(scene.simulation.outside.installed.size).to.equal(1);
  });

  story('an execution deleted during a job fails it, and the next job succeeds', async (seed) => {
    const root = family();
    root.items = [item('i1', { behaviour: 'slow', looks: 3 })];
    const scene = new Scene(seed, [root]);
    await scene.begin();
    await scene.until('the root works', () =>
      scene.items('i1').some((i) => i.status?.phase === 'Progressing'),
    );
    for (const each of scene.items().filter((i) => i.metadata.name.startsWith('r1-')))
      scene.force(kinds.item, each.metadata.name);
    scene.force(kinds.execution, 'r1');
    await scene.simulation.rest();
    expect(scene.phase('r1')).to.equal('Failed');
    expect(scene.inst('r1')?.status?.lastError?.message).to.include('Execution is missing');
    await scene.again('r1');
    expect(scene.phase('r1')).to.equal('Succeeded');
    scene.user.deleteRoot(scene.root('r1'));
    await scene.simulation.rest();
    expect(remains(scene.simulation.server)).to.deep.equal([]);
  });

  story('an item orphaned by a failed job is deleted with the execution', async (seed) => {
    const root = node('r1', { items: [item('i1'), item('i2', { behaviour: 'cannot-go' })] });
    const scene = new Scene(seed, [root]);
    await scene.install();
    expect(scene.phase('r1')).to.equal('Succeeded');
    dropItem(root, 'i2');
    await scene.again('r1');
    expect(scene.phase('r1'), 'the orphan cannot go').to.equal('Failed');
    scene.simulation.outside.isHealed = true;
    scene.user.deleteRoot(root);
    await scene.simulation.rest();
    expect(remains(scene.simulation.server)).to.deep.equal([]);
    expect(scene.simulation.outside.installed.size).to.equal(0);
  });

  story('a job ends even if its sub-installation is removed completely', async (seed) => {
    const root = family();
    root.children[0]!.items = [];
    root.items = [item('i1', { behaviour: 'slow', looks: 3 })];
    // A late watch would show the end of the child, and its parent would succeed, correctly.
    const scene = new Scene(seed, [root], { isLagging: false });
    await scene.begin();
    await scene.until('the child is done', () => {
      const child = scene.child('r1', 'r1a');
      return child?.status?.phase === 'Succeeded' && !isFinished(scene.inst('r1')!);
    });
    scene.force(kinds.installation, scene.child('r1', 'r1a')!.metadata.name);
    await scene.simulation.rest();
    expect(scene.phase('r1')).to.equal('Failed');
    expect(scene.inst('r1')?.status?.lastError?.message).to.include('Missing sub-installation');
    await scene.again('r1');
    expect(scene.phase('r1')).to.equal('Succeeded');
  });
});
