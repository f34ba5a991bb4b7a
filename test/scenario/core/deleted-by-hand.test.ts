/** Objects that a user deletes by hand while a job runs, or between two jobs: the job ends all the same. */
import { expect } from 'chai';
import { deployItemKind } from '../../../src/api/kinds/deployitem.ts';
import { executionKind } from '../../../src/api/kinds/execution.ts';
import { installationKind } from '../../../src/api/kinds/installation.ts';
import { useCluster } from '../../support/cluster.ts';
import { blueprint, consumer, fakeItem, producer, stack, web } from '../../support/landscape.ts';

const nameOf = (object: { metadata: { name: string } } | undefined): string => object?.metadata.name ?? '';

describe('an object that a user deletes by hand', () => {
  const here = useCluster();

  it('a succeeded item keeps its result until the next job', async () => {
    const scene = await here.scene();
    await scene.create(web({ items: [fakeItem('a'), fakeItem('b')] }));
    await scene.answer('web', 'a');
    const first = nameOf(scene.item('web', 'a'));
    await scene.remove(deployItemKind, first);
    await scene.answer('web', 'b');
    const { status } = await scene.finished('web', 'Succeeded');

    await scene.operation('web', 'reconcile');
    await scene.uninstall('web', 'a');
    await scene.answer('web', 'a');
    await scene.answer('web', 'b');
    await scene.finished('web', 'Succeeded', { after: status?.jobID });
    expect(nameOf(scene.item('web', 'a'))).not.to.equal(first);
  });

  it('an item that fails to delete does not end the job before the other items have ended', async () => {
    const scene = await here.scene();
    await scene.create(web({ items: [fakeItem('a'), fakeItem('b')] }));
    await scene.waiting('web', 'b');
    const doomed = nameOf(await scene.waiting('web', 'a'));
    await scene.remove(deployItemKind, doomed);
    await scene.answer('web', 'a', 'DeleteFailed');
    await scene.calm();
    expect(scene.execution('web')?.status?.jobIDFinished).to.equal(undefined);
    await scene.answer('web', 'b');
    await scene.finished('web', 'Failed');
  });

  it('a child whose exports a sibling imports is uninstalled and recreated', async () => {
    const scene = await here.scene();
    await scene.create(stack());
    const { status } = await scene.finished('stack', 'Succeeded');
    const first = nameOf(scene.child('stack', 'a'));
    await scene.delete(first);
    await scene.operation('stack', 'reconcile');
    await scene.finished('stack', 'Succeeded', { after: status?.jobID });
    expect(scene.installation(first)).to.equal(undefined);
    expect(nameOf(scene.child('stack', 'a'))).not.to.equal('');
  });

  it('an execution is uninstalled and recreated within the next job', async () => {
    const scene = await here.scene();
    await scene.create(web());
    await scene.answer('web', 'app');
    const { status } = await scene.finished('web', 'Succeeded');
    const { uid } = scene.execution('web')?.metadata ?? {};
    await scene.remove(executionKind, 'web');
    await scene.operation('web', 'reconcile');
    await scene.uninstall('web', 'app');
    await scene.answer('web', 'app');
    await scene.finished('web', 'Succeeded', { after: status?.jobID });
    expect(scene.execution('web')?.metadata.uid).not.to.equal(uid);
  });

  it('an execution without items that was deleted does not make every further job fail', async () => {
    const scene = await here.scene();
    await scene.create(web());
    await scene.answer('web', 'app');
    await scene.finished('web', 'Succeeded');
    await scene.setBlueprint('web', blueprint({}));
    await scene.operation('web', 'reconcile');
    await scene.uninstall('web', 'app');
    const { status } = await scene.finished('web', 'Succeeded', { after: scene.jobs('web')[0] });
    await scene.force(executionKind, 'web');
    await scene.operation('web', 'reconcile');
    await scene.finished('web', 'Succeeded', { after: status?.jobID });
  });

  it('a sibling that drops an import no longer blocks the deletion of its exporter', async () => {
    const scene = await here.scene();
    await scene.create(producer());
    await scene.finished('producer', 'Succeeded');
    await scene.create(consumer());
    await scene.finished('consumer', 'Succeeded');
    await scene.delete('producer');
    await scene.busy('producer', 'InitDelete', 'SiblingImport');
    await scene.patch(installationKind, 'consumer', { spec: { imports: null } });
    await scene.gone(installationKind, 'producer');
  });

  it('a root ends its job if it waits for a predecessor that is being deleted, so that both can be deleted', async () => {
    const scene = await here.scene();
    await scene.create(producer());
    await scene.finished('producer', 'Succeeded');
    await scene.create(consumer());
    const { status } = await scene.finished('consumer', 'Succeeded');
    await scene.delete('producer');
    await scene.busy('producer', 'InitDelete', 'SiblingImport');
    await scene.operation('consumer', 'reconcile');
    await scene.finished('consumer', 'Failed', { after: status?.jobID });
    await scene.delete('consumer');
    await scene.empty();
  });
});
