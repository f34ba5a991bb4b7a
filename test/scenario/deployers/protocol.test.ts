/** Deploy items with a foreign deployer, or without one: only the protocol counts. */
import { expect } from 'chai';
import { isFinished } from '../../../src/api/job.ts';
import { deployItemKind } from '../../../src/api/kinds/deployitem.ts';
import { secretKind } from '../../../src/landscape/world.ts';
import { useCluster } from '../../support/cluster.ts';
import { fakeItem, lonelyItem, web } from '../../support/landscape.ts';
import type { Scene } from '../../support/scene.ts';
import { systemClock } from '../../../src/lib/clock.ts';

const FIVE_MINUTES = 5 * 60_000;

describe('a deploy item that no deployer of ours handles', () => {
  const here = useCluster({ deployers: [], config: { pickupTimeoutMs: FIVE_MINUTES } });

  async function givenUp(scene: Scene, spec: object): Promise<string> {
    await scene.create(lonelyItem({ type: 'example.org/none', ...spec }));
    const began = new Date(systemClock.wall() - FIVE_MINUTES - 5000).toISOString().replace(/\.\d+/, '');
    const status = { jobID: 'j1', observedGeneration: 0, jobIDGenerationTime: began };
    await scene.patchStatus(deployItemKind, 'lonely', status);
    const item = await scene.until('the end of its job', () => {
      const found = scene.cluster.world.deployItems.get(`${scene.ns}/lonely`);
      return found?.status?.jobID && isFinished(found) ? found : undefined;
    });
    expect(item.status?.phase).to.equal('Failed');
    expect(item.status?.lastError).to.deep.include({ reason: 'PickupTimeout', codes: ['ERR_TIMEOUT'] });
    return item.status?.lastError?.message ?? '';
  }

  it('DEP-19: is failed by the core after five minutes', async () => {
    const message = await givenUp(await here.scene(), {});
    expect(message).to.contain('no deployer has reconciled this deployitem within 300 seconds');
    expect(message).to.not.contain('Target');
  });

  it('DEP-19: is reported with its target, which may be missing', async () => {
    const scene = await here.scene();
    const message = await givenUp(scene, { target: { name: 'ghost', namespace: scene.ns } });
    expect(message).to.contain('probably because the referenced Target does not exist');
  });

  it('DEP-96: is processed by any client that keeps to the protocol, and its exports are published', async () => {
    const scene = await here.scene();
    const type = 'landscaper.gardener.cloud/kubernetes-manifest';
    const item = fakeItem('app', { type });
    const parts = {
      items: [item],
      gives: { out: 'app-out' },
      values: { out: '{{ index .values "deployitems" "app" "k" }}' },
    };
    await scene.create(web(parts));
    const waiting = await scene.waiting('web', 'app');
    expect(waiting.metadata.annotations?.['landscaper.gardener.cloud/deployer-type']).to.equal(type);
    const exportRef = { name: `${waiting.metadata.name}-export`, namespace: scene.ns };
    const data = { config: Buffer.from('{"k":"from outside"}').toString('base64') };
    const secret = { apiVersion: 'v1', kind: 'Secret' as const, metadata: exportRef, data };
    await here.cluster.client.send({ verb: 'create', kind: secretKind, object: secret });
    await scene.answer('web', 'app', 'Succeeded', { exportRef });
    await scene.finished('web', 'Succeeded');
    expect(scene.dataObject('app-out')?.data).to.equal('from outside');
  });
});
