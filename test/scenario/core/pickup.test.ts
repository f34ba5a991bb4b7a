/** Items that no deployer picks up. */
import { expect } from 'chai';
import { isFinished } from '../../../src/api/job.ts';
import { deployItemKind } from '../../../src/api/kinds/deployitem.ts';
import { useCluster } from '../../support/cluster.ts';
import { fakeItem, lonelyItem, web } from '../../support/landscape.ts';
import type { Scene } from '../../support/scene.ts';
import { systemClock } from '../../../src/lib/clock.ts';

const PICKUP_MS = 60_000;
const ago = (ms: number): string => `${new Date(systemClock.wall() - ms).toISOString().slice(0, 19)}Z`;

/** Gives `lonely` a job that began some time ago. */
const triggered = (scene: Scene, beganMsAgo: number, more: object = {}): Promise<unknown> =>
  scene.patchStatus(deployItemKind, 'lonely', {
    jobID: 'j1',
    observedGeneration: 0,
    jobIDGenerationTime: ago(beganMsAgo),
    ...more,
  });

const lonely = (scene: Scene) => scene.cluster.world.deployItems.get(`${scene.ns}/lonely`);
const ended = (scene: Scene) =>
  scene.until('the end of its job', () => {
    const found = lonely(scene);
    return found?.status?.jobID && isFinished(found) ? found : undefined;
  });

describe('an item that no deployer picks up', () => {
  const here = useCluster({ config: { pickupTimeoutMs: PICKUP_MS } });

  it('CORE-74: fails with a message when its pick-up timeout has passed', async () => {
    const scene = await here.scene();
    await scene.create(lonelyItem());
    await triggered(scene, PICKUP_MS + 5_000);
    const { status } = await ended(scene);
    expect(status?.phase).to.equal('Failed');
    expect(status?.lastError).to.deep.include({ operation: 'WaitingForPickup', reason: 'PickupTimeout' });
    expect(status?.lastError?.codes).to.deep.equal(['ERR_TIMEOUT']);
    expect(status?.lastError?.message).to.contain('60 seconds').and.not.contain('Target');
  });

  it('CORE-75: names a target that does not exist', async () => {
    const scene = await here.scene();
    await scene.create(lonelyItem({ target: { name: 'ghost', namespace: scene.ns } }));
    await triggered(scene, PICKUP_MS + 5_000);
    const { status } = await ended(scene);
    expect(status?.lastError?.message).to.contain('probably because the referenced Target does not exist');
    expect(status?.lastError?.message).to.contain('ghost');
  });

  it('CORE-76: does not fail before the timeout', async () => {
    const scene = await here.scene();
    await scene.create(lonelyItem());
    await triggered(scene, PICKUP_MS - 20_000);
    await scene.calm();
    expect(lonely(scene)?.status?.phase).to.equal(undefined);
  });

  it('CORE-77: counts as picked up if a deployer reconciled it in the same second in which its job began', async () => {
    const scene = await here.scene();
    await scene.create(lonelyItem());
    await triggered(scene, PICKUP_MS + 5_000, { lastReconcileTime: ago(PICKUP_MS + 5_000) });
    await scene.calm();
    expect(lonely(scene)?.status?.phase).to.equal(undefined);
  });

  it('CORE-79: ends in DeleteFailed if it is being deleted', async () => {
    const scene = await here.scene();
    await scene.create(lonelyItem());
    await scene.remove(deployItemKind, 'lonely');
    await triggered(scene, PICKUP_MS + 5_000);
    expect((await ended(scene)).status?.phase).to.equal('DeleteFailed');
  });
});

describe('with a short pick-up timeout', () => {
  const here = useCluster({ config: { pickupTimeoutMs: 0 } });

  it('CORE-78: none means that it never times out', async () => {
    const scene = await here.scene();
    await scene.create(lonelyItem());
    await triggered(scene, 24 * 3_600_000);
    await scene.create(web({ items: [fakeItem('app')] }));
    await scene.waiting('web', 'app');
    await scene.calm();
    expect(lonely(scene)?.status?.phase).to.equal(undefined);
  });
});
