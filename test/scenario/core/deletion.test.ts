/** Deletion: everything that was installed is uninstalled, in the right order, whatever goes wrong. */
import { expect } from 'chai';
import { hasFinishedJob, isBeingDeleted, isFinished } from '../../../src/api/job.ts';
import { deployItemKind } from '../../../src/api/kinds/deployitem.ts';
import { executionKind } from '../../../src/api/kinds/execution.ts';
import { installationKind } from '../../../src/api/kinds/installation.ts';
import { FINALIZER, annotations, labels } from '../../../src/api/labels.ts';
import { useCluster } from '../../support/cluster.ts';
import { abc, child, consumer, fakeItem, plan, producer, root, stack, web } from '../../support/landscape.ts';
import type { Scene } from '../../support/scene.ts';

async function installed(scene: Scene): Promise<string | undefined> {
  await scene.create(web());
  await scene.answer('web', 'app');
  return (await scene.finished('web', 'Succeeded')).status?.jobID;
}

async function connected(scene: Scene): Promise<void> {
  await scene.create(producer());
  await scene.finished('producer', 'Succeeded');
  await scene.create(consumer());
  await scene.finished('consumer', 'Succeeded');
}

const IGNORE_SUCCESSORS = { [annotations.deleteIgnoreSuccessors]: 'true' };
const nameOf = (scene: Scene, template: string): string =>
  scene.children('stack', template)[0]?.metadata.name ?? '';

describe('a deletion', () => {
  const here = useCluster();

  it('CORE-80: starts a job without an annotation, walks down the tree, and leaves nothing behind', async () => {
    const scene = await here.scene();
    const first = await installed(scene);
    await scene.delete('web');
    const item = await scene.waiting('web', 'app');
    expect(isBeingDeleted(item.metadata)).to.equal(true);
    const { status } = await scene.busy('web', 'Deleting', 'PendingSubobjects');
    expect(status?.jobID).to.not.equal(first);
    expect(scene.execution('web')?.status?.jobID).to.equal(status?.jobID);
    expect(item.status?.jobID).to.equal(status?.jobID);
    await scene.uninstall('web', 'app');
    await scene.empty();
    const phases = scene.phases(installationKind, 'web');
    const deletionPhases = phases.slice(phases.indexOf('Succeeded') + 1);
    expect(deletionPhases[0]).to.equal('InitDelete');
    expect(deletionPhases.at(-1)).to.equal('Deleting');
  });

  it('CORE-81: of a running root starts after the job, which ends when its items end', async () => {
    const scene = await here.scene();
    await scene.create(web());
    await scene.waiting('web', 'app');
    await scene.busy('web', 'Progressing');
    await scene.delete('web');
    await scene.calm();
    expect(scene.installation('web')?.status?.phase).to.equal('Progressing');
    await scene.answer('web', 'app');
    await scene.uninstall('web', 'app');
    await scene.empty();
    expect(scene.phases(installationKind, 'web')).to.include('Succeeded');
    expect(scene.jobs('web')).to.have.length(2);
  });

  it('CORE-82: needs neither a component nor a context nor a blueprint', async () => {
    const scene = await here.scene();
    await scene.create(web({ spec: { context: 'missing' } }));
    const ref = { componentName: 'example.org/c', version: '1.0.0' };
    const more = { componentDescriptor: { ref }, blueprint: { ref: { resourceName: 'b' } } };
    await scene.create(root('lost', { spec: more }));
    await scene.finished('web', 'Failed');
    await scene.finished('lost', 'Failed');
    await scene.delete('web');
    await scene.delete('lost');
    await scene.empty();
  });

  it('CORE-83: waits, without a request, for a sibling that imports an export of this installation', async () => {
    const scene = await here.scene();
    await connected(scene);
    await scene.delete('producer');
    const { status } = await scene.busy('producer', 'InitDelete', 'SiblingImport');
    expect(status?.lastError?.message).to.contain('consumer');
    const seen = scene.seen(installationKind, 'producer').length;
    await scene.calm();
    expect(scene.seen(installationKind, 'producer')).to.have.length(seen);
    expect(scene.jobs('consumer')).to.have.length(1);
    expect(isBeingDeleted(scene.installation('consumer')!.metadata)).to.equal(false);
  });

  it('CORE-84: of both deletes the consumer first and the producer right after it', async () => {
    const scene = await here.scene();
    await connected(scene);
    await scene.delete('producer');
    await scene.busy('producer', 'InitDelete', 'SiblingImport');
    const release = here.cluster.clock.hold();
    try {
      await scene.delete('consumer');
      await scene.gone(installationKind, 'consumer');
      await scene.gone(installationKind, 'producer');
    } finally {
      release();
    }
    const ends = scene.cluster.history(scene.ns).filter((s) => s.gone && s.object.kind === 'Installation');
    expect(ends.map((s) => s.object.metadata.name)).to.deep.equal(['consumer', 'producer']);
  });

  it('CORE-84: continues when the sibling stops importing', async () => {
    const scene = await here.scene();
    await connected(scene);
    await scene.delete('producer');
    await scene.busy('producer', 'InitDelete', 'SiblingImport');
    await scene.patch(installationKind, 'consumer', { spec: { imports: { data: null } } });
    await scene.gone(installationKind, 'producer');
  });

  it('CORE-85: with delete-ignore-successors does not wait, even if the annotation is added late', async () => {
    const scene = await here.scene();
    await connected(scene);
    await scene.annotate(installationKind, 'producer', IGNORE_SUCCESSORS);
    await scene.delete('producer');
    await scene.gone(installationKind, 'producer');

    const other = await here.scene();
    await connected(other);
    await other.delete('producer');
    await other.busy('producer', 'InitDelete', 'SiblingImport');
    await other.annotate(installationKind, 'producer', IGNORE_SUCCESSORS);
    await other.gone(installationKind, 'producer');
  });

  it('CORE-86: of a tree fails for a child whose successor could not be deleted, and for the parent', async () => {
    const scene = await here.scene();
    const b = child('b', { takes: { in: 'link' }, items: [fakeItem('app')] });
    await scene.create(stack({ children: [child('a', { gives: { out: 'link' } }), b] }));
    await scene.until('b', () => scene.child('stack', 'b'));
    await scene.answer(nameOf(scene, 'b'), 'app');
    await scene.finished('stack', 'Succeeded');
    await scene.delete('stack');
    await scene.answer(nameOf(scene, 'b'), 'app', 'DeleteFailed');
    await scene.finished('stack', 'DeleteFailed', { after: scene.jobs('stack')[0] });
    const a = scene.installation(nameOf(scene, 'a'));
    expect(a?.status?.phase).to.equal('DeleteFailed');
    expect(a?.status?.lastError?.reason).to.equal('SiblingDeleteError');
    expect(a && isFinished(a)).to.equal(true);
  });

  it('CORE-87: continues with one child after another failed to delete', async () => {
    const scene = await here.scene();
    const worker = (name: string) => child(name, { items: [fakeItem('app')] });
    await scene.create(stack({ children: [worker('a'), worker('b')] }));
    for (const name of ['a', 'b']) {
      await scene.until(name, () => scene.child('stack', name));
      await scene.answer(nameOf(scene, name), 'app');
    }
    await scene.finished('stack', 'Succeeded');
    const [a, b] = [nameOf(scene, 'a'), nameOf(scene, 'b')];
    await scene.delete('stack');
    await scene.answer(a, 'app', 'DeleteFailed');
    await scene.until('a has failed', () => scene.installation(a)?.status?.phase === 'DeleteFailed');
    await scene.calm();
    expect(scene.installation('stack')?.status?.phase).to.equal('Deleting');
    await scene.uninstall(b, 'app');
    const { status } = await scene.finished('stack', 'DeleteFailed', { after: scene.jobs('stack')[0] });
    expect(status?.lastError?.reason).to.equal('UndeletedSubobjects');
    expect(status?.lastError?.message).to.contain(a);
    expect(scene.installation(b)).to.equal(undefined);
  });

  it('CORE-88: is retried on request after a failure', async () => {
    const scene = await here.scene();
    await installed(scene);
    await scene.delete('web');
    await scene.answer('web', 'app', 'DeleteFailed');
    const failed = await scene.finished('web', 'DeleteFailed', { after: scene.jobs('web')[0] });
    await scene.operation('web', 'reconcile');
    await scene.uninstall('web', 'app');
    await scene.empty();
    expect(scene.jobs('web')).to.have.length(3);
    expect(scene.jobs('web')[1]).to.equal(failed.status?.jobID);
  });

  it('CORE-89: is not retried by itself after a failure', async () => {
    const scene = await here.scene();
    await installed(scene);
    await scene.delete('web');
    await scene.answer('web', 'app', 'DeleteFailed');
    await scene.finished('web', 'DeleteFailed', { after: scene.jobs('web')[0] });
    await scene.annotate(installationKind, 'web', { [annotations.touch]: 'true' });
    await scene.calm();
    expect(scene.jobs('web')).to.have.length(2);
  });

  it('CORE-90: of an execution deletes items in the reverse order of their dependencies', async () => {
    const scene = await here.scene();
    await scene.create(web({ items: abc() }));
    for (const name of ['a', 'b', 'c']) await scene.answer('web', name);
    const { status } = await scene.finished('web', 'Succeeded');
    await scene.delete('web');
    await scene.waiting('web', 'c');
    await scene.calm();
    for (const name of ['a', 'b']) {
      expect(isBeingDeleted(scene.item('web', name)!.metadata)).to.equal(true);
      expect(scene.item('web', name)?.status?.jobID, `job of ${name}`).to.equal(status?.jobID);
    }
    await scene.uninstall('web', 'c');
    await scene.uninstall('web', 'b');
    await scene.uninstall('web', 'a');
    await scene.empty();
  });

  it('CORE-91: stops at an item that cannot be deleted', async () => {
    const scene = await here.scene();
    await scene.create(web({ items: abc() }));
    for (const name of ['a', 'b', 'c']) await scene.answer('web', name);
    const first = await scene.finished('web', 'Succeeded');
    await scene.delete('web');
    await scene.answer('web', 'c', 'DeleteFailed');
    await scene.finished('web', 'DeleteFailed', { after: first.status?.jobID });
    expect(scene.execution('web')?.status?.lastError?.message).to.match(/^has failed items/);
    for (const name of ['a', 'b'])
      expect(scene.item('web', name)?.status?.jobID).to.equal(first.status?.jobID);
  });

  it('CORE-92: of an execution whose items lost their finalizers takes one job', async () => {
    const scene = await here.scene();
    await scene.create(plan(abc()));
    await scene.patchStatus(executionKind, 'plan', { jobID: 'j1', observedGeneration: 0 });
    await scene.answer('plan', 'a', 'Failed');
    await scene.answer('plan', 'b');
    await scene.until('the end', () => {
      const found = scene.execution('plan');
      return found?.status?.phase === 'Failed' && hasFinishedJob(found, 'j1');
    });
    for (const { metadata } of scene.items('plan')) {
      await scene.patch(deployItemKind, metadata.name, { metadata: { finalizers: null } });
    }
    await scene.remove(executionKind, 'plan');
    await scene.patchStatus(executionKind, 'plan', { jobID: 'j2', observedGeneration: 0 });
    await scene.empty();
  });

  it('CORE-93: includes items that are in no template', async () => {
    const scene = await here.scene();
    await installed(scene);
    const { apiVersion, kind, spec } = scene.item('web', 'app')!;
    const metadata = {
      name: 'old',
      finalizers: [FINALIZER],
      labels: { [labels.executionManagedBy]: 'web', [labels.executionName]: 'old' },
    };
    await scene.create(JSON.parse(JSON.stringify({ apiVersion, kind, metadata, spec })));
    await scene.until('the leftover', () => scene.item('web', 'old'));
    await scene.calm();
    await scene.delete('web');
    await scene.uninstall('web', 'app');
    await scene.calm();
    expect(scene.execution('web')).to.not.equal(undefined);
    await scene.uninstall('web', 'old');
    await scene.empty();
  });

  it('CORE-94: is complete when the last finalizer is removed, and reports no error', async () => {
    const scene = await here.scene();
    await scene.create(root('empty'));
    await scene.finished('empty', 'Succeeded');
    await scene.delete('empty');
    await scene.empty();
    const events = (await here.cluster.client.raw('GET', `/api/v1/namespaces/${scene.ns}/events`)) as {
      items: { type: string; reason: string }[];
    };
    expect(events.items.filter((e) => e.type === 'Warning').map((e) => e.reason)).to.deep.equal([]);
  });

  it('of children that import from each other deletes the last of the chain first', async () => {
    const scene = await here.scene();
    const row = [
      child('a', { gives: { out: 'x' }, items: [fakeItem('app')] }),
      child('b', { takes: { in: 'x' }, gives: { out: 'y' }, items: [fakeItem('app')] }),
      child('c', { takes: { in: 'y' }, items: [fakeItem('app')] }),
    ];
    await scene.create(stack({ children: row }));
    await scene.until('children', () => scene.children('stack').length === 3);
    for (const name of ['a', 'b', 'c']) await scene.answer(nameOf(scene, name), 'app');
    await scene.finished('stack', 'Succeeded');
    const names = ['c', 'b', 'a'].map((name) => nameOf(scene, name));
    await scene.delete('stack');
    for (const name of names) await scene.uninstall(name, 'app');
    await scene.empty();
    const ends = scene.cluster.history(scene.ns).filter((s) => s.gone && s.object.kind === 'Installation');
    expect(ends.map((s) => s.object.metadata.name)).to.deep.equal([...names, 'stack']);
  });
});
