/** Roots that import from each other: no job and no deletion waits forever. */
import { expect } from 'chai';
import { useCluster } from '../../support/cluster.ts';
import { root } from '../../support/landscape.ts';
import type { Scene } from '../../support/scene.ts';

const QUIET = { annotations: {} };

async function circle(scene: Scene): Promise<void> {
  await scene.create(root('left', { ...QUIET, takes: { in: 'r' }, gives: { out: 'l' } }));
  await scene.create(root('right', { ...QUIET, takes: { in: 'l' }, gives: { out: 'r' } }));
  for (const name of ['left', 'right']) {
    await scene.until(name, () => scene.installation(name)?.metadata.finalizers);
  }
  await scene.calm();
}

describe('roots that import from each other', () => {
  const here = useCluster();

  it('both fail at once, with the cycle in the message', async () => {
    const scene = await here.scene();
    await circle(scene);
    for (const name of ['left', 'right']) await scene.operation(name, 'reconcile');
    for (const name of ['left', 'right']) {
      const { status } = await scene.finished(name, 'Failed');
      expect(status?.lastError?.codes).to.include('ERR_CYCLIC_DEPENDENCIES');
      expect(status?.lastError?.message).to.contain('left').and.contain('right');
    }
  });

  it('can be deleted together', async () => {
    const scene = await here.scene();
    await circle(scene);
    for (const name of ['left', 'right']) await scene.delete(name);
    await scene.empty();
  });

  it('can be deleted one after the other', async () => {
    const scene = await here.scene();
    await circle(scene);
    await scene.delete('left');
    await scene.until('left is gone', () => !scene.installation('left'));
    await scene.delete('right');
    await scene.empty();
  });
});
