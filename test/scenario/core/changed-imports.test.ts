/** Imported values that change while a job runs, or between two jobs: no installation continues with an old value. */
import { expect } from 'chai';
import { dataObjectKind } from '../../../src/api/kinds/dataobject.ts';
import { targetKind } from '../../../src/api/kinds/target.ts';
import { API_VERSION } from '../../../src/api/labels.ts';
import { objectName } from '../../../src/dataflow/scope.ts';
import type { Target } from '../../../src/api/kinds/target.ts';
import { useCluster } from '../../support/cluster.ts';
import { consumer, fakeItem, producer, root } from '../../support/landscape.ts';

describe('an import', () => {
  const here = useCluster();

  it('CORE-49: fails the job if it is a target that was deleted and recreated with different content', async () => {
    const scene = await here.scene();
    const type = 'landscaper.gardener.cloud/kubernetes-cluster';
    const cluster = (name: string): Target => ({
      apiVersion: API_VERSION,
      kind: 'Target',
      metadata: { name: 'cluster' },
      spec: { type, config: { kubeconfig: name } },
    });
    await scene.create(cluster('old'));
    const imports = { targets: [{ name: 'cluster', target: 'cluster' }] };
    const more = { imports: [{ name: 'cluster', type: 'target', targetType: type }] };
    await scene.create(root('web', { spec: { imports }, more, items: [fakeItem('app')] }));
    await scene.waiting('web', 'app');
    await scene.busy('web', 'Progressing');
    await scene.remove(targetKind, 'cluster');
    await scene.gone(targetKind, 'cluster');
    await scene.create(cluster('new'));
    await scene.until('the new target', () => scene.target('cluster'));
    expect(scene.target('cluster')?.metadata.generation).to.equal(1);
    await scene.calm();
    await scene.answer('web', 'app');
    const { status } = await scene.finished('web', 'Failed');
    expect(status?.lastError?.reason).to.equal('CheckImportsHash');
    await scene.operation('web', 'reconcile');
    await scene.answer('web', 'app');
    await scene.finished('web', 'Succeeded', { after: status?.jobID });
  });

  it('CORE-49: is used by the next job after it was edited by hand', async () => {
    const scene = await here.scene();
    await scene.create(producer());
    await scene.finished('producer', 'Succeeded');
    await scene.create(consumer());
    await scene.finished('consumer', 'Succeeded');
    const read = () => scene.dataObject(objectName('Inst.consumer', 'text'))?.data;
    expect(read()).to.equal('hello');
    await scene.patch(dataObjectKind, 'greeting', { data: 'edited' });
    await scene.until('the edit', () => scene.dataObject('greeting')?.data === 'edited');
    await scene.calm();
    await scene.again('consumer', 'Succeeded');
    expect(read()).to.equal('edited');
  });
});
