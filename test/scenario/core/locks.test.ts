/** Locks of upstream's replicas, during a migration. */
import { expect } from 'chai';
import { installationKind } from '../../../src/api/kinds/installation.ts';
import { API_VERSION } from '../../../src/api/labels.ts';
import { syncObjectKind, type SyncObject } from '../../../src/api/kinds/syncobject.ts';
import { lockName } from '../../../src/landscape/upstream-locks.ts';
import type { Obj } from '../../../src/runtime/types.ts';
import { useCluster } from '../../support/cluster.ts';
import { root } from '../../support/landscape.ts';
import type { Scene } from '../../support/scene.ts';

const IDLE = { annotations: {} };

function lock(name: string, uid: string, podName: string): SyncObject {
  return {
    apiVersion: API_VERSION,
    kind: 'SyncObject',
    metadata: { name: lockName('Installation', uid) },
    spec: {
      podName,
      kind: 'Installation',
      name,
      lastUpdateTime: '2026-01-01T00:00:00Z',
      prefix: 'installations',
    },
  };
}

/** An installation that is locked by upstream's replica in the pod. */
async function held(scene: Scene, podName: string): Promise<string> {
  await scene.create(root('web', IDLE));
  const { metadata } = await scene.until('web', () => scene.installation('web'));
  await scene.create(lock('web', metadata.uid ?? '', podName));
  await scene.until('the lock is seen', () => locksOf(scene).length === 1);
  // The controllers have their own watch, which may be behind ours.
  await scene.calm();
  return metadata.uid ?? '';
}

const locksOf = (scene: Scene): readonly unknown[] => [...scene.cluster.world.syncObjects.list(scene.ns)];

describe('a lock of another landscaper', () => {
  const here = useCluster({ controllers: ['installation', 'execution', 'deployitem', 'syncobject'] });

  it('CORE-116: keeps our controllers away as long as its pod exists, and no longer', async () => {
    const scene = await here.scene();
    const name = `p2-${scene.ns}`;
    const spec = { containers: [{ name: 'c', image: 'i' }] };
    await scene.create({ apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec } as Obj);
    const uid = await held(scene, name);
    await scene.operation('web', 'reconcile');
    await scene.calm();
    expect(scene.installation('web')?.status?.jobID).to.equal(undefined);

    // This is how upstream releases the lock.
    await scene.patch(syncObjectKind, lockName('Installation', uid), { spec: { podName: '' } });
    await scene.finished('web', 'Succeeded');
  });

  it('CORE-116: is ignored if its pod does not exist', async () => {
    const scene = await here.scene();
    await held(scene, 'long-gone');
    await scene.operation('web', 'reconcile');
    await scene.finished('web', 'Succeeded');
  });

  it('CORE-116: is deleted with its object', async () => {
    const scene = await here.scene();
    await held(scene, 'long-gone');
    const key = `${scene.ns}/web`;
    await here.cluster.client.send({ verb: 'delete', kind: installationKind, key });
    await scene.until('the lock is gone', () => locksOf(scene).length === 0);
  });
});
