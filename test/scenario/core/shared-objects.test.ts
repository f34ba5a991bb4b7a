/** Deploy items report objects that other deploy items manage as well. */
import { expect } from 'chai';
import { useCluster } from '../../support/cluster.ts';
import { fakeItem, root } from '../../support/landscape.ts';
import type { Scene } from '../../support/scene.ts';

const managing = (...uids: string[]) => ({
  providerStatus: {
    managedResources: uids.map((uid) => ({
      policy: 'manage',
      resource: { apiVersion: 'v1', kind: 'Namespace', name: `ns-${uid}`, uid },
    })),
  },
});
const shared = (scene: Scene, execution: string): string | undefined =>
  scene.item(execution, 'app')?.status?.conditions?.find(({ type }) => type === 'SharedObjects')?.message;
const keyOf = (scene: Scene, execution: string): string =>
  `${scene.ns}/${scene.item(execution, 'app')?.metadata.name ?? ''}`;

async function deployed(scene: Scene, name: string, uids: readonly string[]): Promise<void> {
  await scene.create(root(name, { items: [fakeItem('app')] }));
  await scene.answer(name, 'app', 'Succeeded', managing(...uids));
  await scene.finished(name, 'Succeeded');
}

describe('objects that several deploy items manage', () => {
  const here = useCluster();

  it('are reported in a condition of each, until only one is left', async () => {
    const scene = await here.scene();
    const uid = `uid-${scene.ns}`;
    await deployed(scene, 'web', [uid, `${uid}-web`]);
    await deployed(scene, 'api', [uid, `${uid}-api`]);
    for (const [one, other] of [
      ['web', 'api'],
      ['api', 'web'],
    ] as const) {
      const message = await scene.until(`${one} says it`, () => shared(scene, one));
      expect(message).to.contain(`Namespace ns-${uid} (${keyOf(scene, other)})`);
      expect(message).to.not.contain(`ns-${uid}-`);
      expect(scene.installation(one)?.status?.phase).to.equal('Succeeded');
    }
    await scene.delete('api');
    await scene.until('web has it for itself', () => shared(scene, 'web') === undefined || undefined);
    await scene.uninstall('api', 'app');
    await scene.finished('web', 'Succeeded');
    expect(scene.item('web', 'app')?.status?.phase).to.equal('Succeeded');
  });

  it('are found in other namespaces as well, and reported by events', async () => {
    const scene = await here.scene();
    const elsewhere = await here.scene();
    const uid = `uid-${scene.ns}`;
    await deployed(scene, 'web', [uid]);
    await deployed(elsewhere, 'web', [uid]);
    const message = await scene.until('it says so', () => shared(scene, 'web'));
    expect(message).to.contain(keyOf(elsewhere, 'web'));
    await elsewhere.until('the other one, too', () => shared(elsewhere, 'web'));
  });

  it('are not reported if every item has its own', async () => {
    const scene = await here.scene();
    await deployed(scene, 'web', [`a-${scene.ns}`]);
    await deployed(scene, 'api', [`b-${scene.ns}`]);
    await scene.calm();
    expect([shared(scene, 'web'), shared(scene, 'api')]).to.deep.equal([undefined, undefined]);
  });
});
