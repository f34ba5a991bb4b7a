/** What tools see that judge any object by its conditions: kstatus, `kubectl wait`, Flux. */
import { expect } from 'chai';
import type { View } from '../../../src/runtime/types.ts';
import type { Installation } from '../../../src/api/kinds/installation.ts';
import type { ApiObject } from '../../../src/api/shared.ts';
import { useCluster } from '../../support/cluster.ts';
import { kstatusOf } from '../../support/kstatus.ts';
import { child, fakeItem, stack, web } from '../../support/landscape.ts';
import type { Scene } from '../../support/scene.ts';

type Waiter = View<Installation> | undefined;
const messageOf = (object: Waiter): string | undefined =>
  object?.status?.conditions?.find(({ type }) => type === 'Ready')?.message;

describe('readiness', () => {
  const here = useCluster();

  const judged = (scene: Scene, name: string, item: string) => {
    const objects: readonly (View<ApiObject> | undefined)[] = [
      scene.installation(name),
      scene.execution(name),
      scene.item(name, item),
    ];
    return objects.map((object) => object && kstatusOf(object));
  };

  it('follows a job from its start to success, at every level', async () => {
    const scene = await here.scene();
    await scene.create(stack({ children: [child('a', { items: [fakeItem('app')] })] }));
    const { metadata } = await scene.until('a', () => scene.child('stack', 'a'));
    const { name } = metadata;
    await scene.waiting(name, 'app');
    await scene.busy('stack', 'Progressing');
    await scene.busy(name, 'Progressing');
    expect(judged(scene, name, 'app')).to.deep.equal(['InProgress', 'InProgress', 'InProgress']);
    expect(kstatusOf(scene.installation('stack') as View<ApiObject>)).to.equal('InProgress');
    expect(messageOf(scene.installation('stack'))).to.equal(`waits for installation ${name}`);
    await scene.answer(name, 'app');
    await scene.finished('stack', 'Succeeded');
    expect(judged(scene, name, 'app').slice(0, 2)).to.deep.equal(['Current', 'Current']);
    // The deployer of this item writes no such conditions; the controller corrects them afterwards.
    await scene.until('the item is ready', () => judged(scene, name, 'app')[2] === 'Current');
    expect(kstatusOf(scene.installation('stack') as View<ApiObject>)).to.equal('Current');
    expect(messageOf(scene.installation('stack'))).to.equal('the last job succeeded');
  });

  it('ends with the reason of a failed job, and starts again with the next job', async () => {
    const scene = await here.scene();
    await scene.create(web());
    await scene.answer('web', 'app', 'Failed');
    await scene.finished('web', 'Failed');
    expect(judged(scene, 'web', 'app').slice(0, 2)).to.deep.equal(['Failed', 'Failed']);
    await scene.until('the item has failed', () => judged(scene, 'web', 'app')[2] === 'Failed');
    expect(messageOf(scene.installation('web'))).to.equal(
      scene.installation('web')?.status?.lastError?.message,
    );
    await scene.operation('web', 'reconcile');
    await scene.busy('web', 'Progressing');
    expect(judged(scene, 'web', 'app').slice(0, 1)).to.deep.equal(['InProgress']);
    await scene.answer('web', 'app');
    await scene.finished('web', 'Succeeded');
    expect(judged(scene, 'web', 'app').slice(0, 2)).to.deep.equal(['Current', 'Current']);
  });
});
