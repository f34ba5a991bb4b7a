/** Jobs that are repeated on schedule. To let time pass, the tests move the last repetition into the past. */
import { expect } from 'chai';
import { installationKind, type Installation } from '../../../src/api/kinds/installation.ts';
import type { View } from '../../../src/runtime/types.ts';
import { useCluster } from '../../support/cluster.ts';
import { root, web } from '../../support/landscape.ts';
import type { Scene } from '../../support/scene.ts';
import { systemClock } from '../../../src/lib/clock.ts';

const MINUTE_MS = 60_000;
const counterOf = (scene: Scene, name: string) => scene.installation(name)?.status?.automaticReconcileStatus;

/** As if its last repetition, or the success that it counts from, were this long ago. */
async function after(scene: Scene, name: string, minutes: number): Promise<void> {
  const time = new Date(systemClock.wall() - minutes * MINUTE_MS).toISOString().replace(/\.\d+Z$/, 'Z');
  await scene.patchStatus(installationKind, name, { automaticReconcileStatus: { lastReconcileTime: time } });
}

/** Fails the running job, once there are this many. */
async function failNumber(scene: Scene, count: number): Promise<View<Installation>> {
  await scene.until(`job ${count}`, () => scene.jobs('web').length === count);
  await scene.answer('web', 'app', 'Failed');
  return scene.finished('web', 'Failed', { after: scene.jobs('web')[count - 2] });
}

async function expectNoMore(scene: Scene, name: string, jobs: number): Promise<void> {
  await scene.calm();
  expect(scene.jobs(name)).to.have.length(jobs);
}

describe('a job that is repeated on schedule', () => {
  const here = useCluster();
  const failing = async (failedReconcile: object): Promise<Scene> => {
    const scene = await here.scene();
    await scene.create(web({ spec: { automaticReconcile: { failedReconcile } } }));
    await failNumber(scene, 1);
    const { status } = await failNumber(scene, 2);
    expect(status?.automaticReconcileStatus).to.include({ numberOfReconciles: 1, onFailed: true });
    return scene;
  };

  it('CORE-102: starts at each interval after failures, until the maximum number is reached', async () => {
    const scene = await failing({ interval: '1h', numberOfReconciles: 3 });
    await after(scene, 'web', 30);
    await expectNoMore(scene, 'web', 2);
    for (const count of [2, 3]) {
      await after(scene, 'web', 61);
      await failNumber(scene, count + 1);
      expect(counterOf(scene, 'web')?.numberOfReconciles).to.equal(count);
    }
    await after(scene, 'web', 600);
    await expectNoMore(scene, 'web', 4);
  });

  it('CORE-103: starts after each full hour if the cron expression says so', async () => {
    const scene = await failing({ cronSpec: '0 * * * *', numberOfReconciles: 3 });
    // The last hour and one minute contain at least one full hour.
    for (const count of [2, 3]) {
      await after(scene, 'web', 61);
      await failNumber(scene, count + 1);
      expect(counterOf(scene, 'web')?.numberOfReconciles).to.equal(count);
    }
    await after(scene, 'web', 61);
    await expectNoMore(scene, 'web', 4);
  });

  it('CORE-103: does not start before the time of the cron expression', async () => {
    const halfAYearAhead = ((new Date().getUTCMonth() + 6) % 12) + 1;
    const scene = await failing({ cronSpec: `0 0 15 ${halfAYearAhead} *` });
    await after(scene, 'web', 24 * 60);
    await expectNoMore(scene, 'web', 2);
  });

  it('CORE-104: starts a day after a success if no interval is given', async () => {
    const scene = await here.scene();
    await scene.create(root('empty', { spec: { automaticReconcile: { succeededReconcile: {} } } }));
    await scene.finished('empty', 'Succeeded');
    await scene.until('the count', () => counterOf(scene, 'empty'));
    await after(scene, 'empty', 23 * 60);
    await expectNoMore(scene, 'empty', 1);
    await after(scene, 'empty', 24 * 60 + 1);
    await scene.until('the repetition', () => scene.jobs('empty').length === 2);
    await scene.finished('empty', 'Succeeded', { after: scene.jobs('empty')[0] });
    expect(counterOf(scene, 'empty')).to.include({ numberOfReconciles: 1 });
    expect(counterOf(scene, 'empty')?.onFailed ?? false).to.equal(false);
  });
});
