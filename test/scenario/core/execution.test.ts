/** An execution creates its items, starts them in order, and computes its own phase from theirs. */
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { hasFinishedJob, isBeingDeleted, isFinished } from '../../../src/api/job.ts';
import { deployItemKind, type DeployItem } from '../../../src/api/kinds/deployitem.ts';
import { executionKind, readDeployItems, type Execution } from '../../../src/api/kinds/execution.ts';
import { annotations } from '../../../src/api/labels.ts';
import { objectName } from '../../../src/dataflow/scope.ts';
import { secretKind } from '../../../src/landscape/world.ts';
import type { View } from '../../../src/runtime/types.ts';
import { useCluster } from '../../support/cluster.ts';
import { abc, fakeItem, plan, stack } from '../../support/landscape.ts';
import type { Scene } from '../../support/scene.ts';

/** Acts as the installation controller: gives `plan` a job. */
const handDownJob = (scene: Scene, jobID: string): Promise<unknown> =>
  scene.patchStatus(executionKind, 'plan', { jobID, observedGeneration: 0 });

async function begun(scene: Scene, items = abc(), spec: object = {}): Promise<void> {
  await scene.create(plan(items, spec));
  await handDownJob(scene, 'j1');
}

const ended = (scene: Scene, jobID: string, phase: string): Promise<View<Execution>> =>
  scene.until(`plan finished ${jobID} in ${phase}`, () => {
    const found = scene.execution('plan');
    if (!found || !hasFinishedJob(found, jobID)) return undefined;
    if (found.status?.phase !== phase)
      throw new Error(`it ended in ${found.status?.phase ?? ''}; ${scene.overview()}`);
    return found;
  });

const jobOf = (scene: Scene, template: string): string | undefined =>
  scene.item('plan', template)?.status?.jobID;
const setItems = (scene: Scene, deployItems: object[]): Promise<unknown> =>
  scene.patch(executionKind, 'plan', { spec: { deployItems, deployItemsCompressed: null } });

describe('an execution', () => {
  const here = useCluster();

  it('CORE-60: starts items without dependencies, and compresses them', async () => {
    const scene = await here.scene();
    await begun(scene);
    await scene.waiting('plan', 'a');
    await scene.waiting('plan', 'b');
    await scene.calm();
    expect(jobOf(scene, 'a')).to.equal('j1');
    expect(jobOf(scene, 'b')).to.equal('j1');
    expect(scene.item('plan', 'c')).to.not.equal(undefined);
    expect(jobOf(scene, 'c')).to.equal(undefined);
    const execution = scene.execution('plan');
    expect(execution?.status?.phase).to.equal('Progressing');
    expect(execution?.spec).to.have.property('deployItemsCompressed');
    expect(execution?.spec).to.not.have.property('deployItems');
  });

  it('does not end while an item is running, even in an unknown phase', async () => {
    const scene = await here.scene();
    await begun(scene, [fakeItem('a')]);
    await scene.waiting('plan', 'a');
    await scene.patchStatus(executionKind, 'plan', { phase: 'Resting' });
    const shown = await scene.until('the reason is shown', () => {
      const found = scene.execution('plan');
      return found?.status?.lastError?.reason === 'UnknownPhase' && found;
    });
    expect(isFinished(shown)).to.equal(false);
    await scene.answer('plan', 'a');
    await ended(scene, 'j1', 'Failed');
  });

  it('ends if its items become unreadable during a job and none of them is running', async () => {
    const scene = await here.scene();
    await begun(scene, [fakeItem('a'), fakeItem('b', { dependsOn: ['a'] })]);
    await scene.waiting('plan', 'a');
    const deployItemsCompressed = gzipSync('[1'.repeat(20_000)).toString('base64');
    await scene.patch(executionKind, 'plan', { spec: { deployItemsCompressed } });
    const reason = /^spec\.deployItemsCompressed cannot be read: .+nested more than 10000 deep/;
    await scene.until('the reason is shown', () =>
      reason.test(scene.execution('plan')?.status?.lastError?.message ?? ''),
    );
    expect(scene.execution('plan')?.status?.jobIDFinished).to.equal(undefined);
    await scene.answer('plan', 'a');
    const { status } = await ended(scene, 'j1', 'Failed');
    expect(status?.lastError).to.include({ reason: 'ValidateExecution' });
    expect(status?.lastError?.message).to.match(reason);
    expect(jobOf(scene, 'b')).to.equal(undefined);
  });

  it('CORE-61: starts an item after all items it depends on have finished', async () => {
    const scene = await here.scene();
    await begun(scene);
    await scene.answer('plan', 'a');
    await scene.calm();
    expect(jobOf(scene, 'c')).to.equal(undefined);
    await scene.answer('plan', 'b');
    await scene.answer('plan', 'c');
    const { status } = await ended(scene, 'j1', 'Succeeded');
    expect(status?.exportRef?.name).to.equal(objectName('Exec.plan', ''));
  });

  it('CORE-62: uses changed dependencies in the next job', async () => {
    const scene = await here.scene();
    await begun(scene);
    for (const name of ['a', 'b', 'c']) await scene.answer('plan', name);
    await ended(scene, 'j1', 'Succeeded');
    await setItems(scene, [
      fakeItem('a'),
      fakeItem('b', { dependsOn: ['a'] }),
      fakeItem('c', { dependsOn: ['b'] }),
    ]);
    await handDownJob(scene, 'j2');
    for (const [name, next] of [
      ['a', 'b'],
      ['b', 'c'],
      ['c', ''],
    ] as const) {
      await scene.waiting('plan', name);
      await scene.calm();
      if (next) expect(jobOf(scene, next), `${next} waits for ${name}`).to.equal('j1');
      await scene.answer('plan', name);
    }
    await ended(scene, 'j2', 'Succeeded');
  });

  it('CORE-63: waits for running items after an item has failed, and starts no further one', async () => {
    const scene = await here.scene();
    await begun(scene);
    await scene.waiting('plan', 'b');
    await scene.answer('plan', 'a', 'Failed');
    await scene.calm();
    expect(scene.execution('plan')?.status?.phase).to.equal('Progressing');
    await scene.answer('plan', 'b');
    const { status } = await ended(scene, 'j1', 'Failed');
    expect(status?.lastError?.message).to.match(/^has failed or missing deploy items/);
    expect(jobOf(scene, 'c')).to.equal(undefined);
  });

  it('CORE-64: counts a deleted item as failed; the next job recreates it', async () => {
    const scene = await here.scene();
    await begun(scene);
    const { metadata } = await scene.waiting('plan', 'a');
    await scene.waiting('plan', 'b');
    await scene.force(deployItemKind, metadata.name);
    await scene.answer('plan', 'b');
    const { status } = await ended(scene, 'j1', 'Failed');
    expect(status?.lastError?.message).to.contain('a is missing');
    await handDownJob(scene, 'j2');
    await scene.until('a new item', () => {
      const name = scene.item('plan', 'a')?.metadata.name;
      return name !== undefined && name !== metadata.name;
    });
    for (const name of ['a', 'b', 'c']) await scene.answer('plan', name);
    await ended(scene, 'j2', 'Succeeded');
  });

  it('CORE-65: deletes items that are in no template before it starts others', async () => {
    const scene = await here.scene();
    await begun(scene, [fakeItem('a'), fakeItem('b'), fakeItem('c')]);
    for (const name of ['a', 'b', 'c']) await scene.answer('plan', name);
    await ended(scene, 'j1', 'Succeeded');
    await setItems(scene, [fakeItem('a')]);
    await handDownJob(scene, 'j2');
    for (const name of ['b', 'c']) {
      const orphan = await scene.waiting('plan', name);
      expect(isBeingDeleted(orphan.metadata)).to.equal(true);
      expect(orphan.status?.jobID).to.equal('j2');
    }
    await scene.uninstall('plan', 'b');
    await scene.calm();
    expect(jobOf(scene, 'a')).to.equal('j1');
    await scene.uninstall('plan', 'c');
    await scene.answer('plan', 'a');
    const { status } = await ended(scene, 'j2', 'Succeeded');
    expect(status?.deployItemCache?.orphanedDIs ?? []).to.deep.equal([]);
  });

  it('CORE-65: fails if an obsolete item cannot be deleted', async () => {
    const scene = await here.scene();
    await begun(scene, [fakeItem('a'), fakeItem('b')]);
    for (const name of ['a', 'b']) await scene.answer('plan', name);
    await ended(scene, 'j1', 'Succeeded');
    await setItems(scene, [fakeItem('a')]);
    await handDownJob(scene, 'j2');
    await scene.answer('plan', 'b', 'DeleteFailed');
    const { status } = await ended(scene, 'j2', 'Failed');
    expect(status?.lastError?.message).to.match(/^has failed or missing deploy items/);
    expect(jobOf(scene, 'a')).to.equal('j1');
  });

  it('CORE-66: a child that was deleted between jobs is uninstalled and recreated by the next job', async () => {
    const scene = await here.scene();
    await scene.create(stack());
    await scene.finished('stack', 'Succeeded');
    const old = scene.child('stack', 'b')?.metadata.name ?? '';
    await scene.delete(old);
    await scene.calm();
    await scene.again('stack', 'Succeeded');
    const now = scene.child('stack', 'b')?.metadata.name;
    expect(now).to.not.equal(undefined);
    expect(now).to.not.equal(old);
    expect(scene.children('stack')).to.have.length(2);
  });

  it('CORE-67: passes its context on to the items, or default if it has none', async () => {
    const scene = await here.scene();
    await begun(scene, [fakeItem('a')], { context: 'team' });
    await scene.create({ ...plan([fakeItem('a')]), metadata: { name: 'other' } });
    await scene.patchStatus(executionKind, 'other', { jobID: 'j1', observedGeneration: 0 });
    expect((await scene.waiting('plan', 'a')).spec.context).to.equal('team');
    expect((await scene.waiting('other', 'a')).spec.context).to.equal('default');
  });

  it('CORE-68: ends each job the way its items end', async () => {
    const scene = await here.scene();
    await begun(scene, [fakeItem('a')]);
    await scene.answer('plan', 'a', 'Failed');
    await ended(scene, 'j1', 'Failed');
    await handDownJob(scene, 'j2');
    await scene.answer('plan', 'a');
    expect((await ended(scene, 'j2', 'Succeeded')).status?.lastError).to.equal(undefined);
    await handDownJob(scene, 'j3');
    await scene.answer('plan', 'a', 'Failed');
    await ended(scene, 'j3', 'Failed');
  });

  it('records the generation that each job works on', async () => {
    const scene = await here.scene();
    await begun(scene, [fakeItem('a')]);
    await scene.answer('plan', 'a');
    await ended(scene, 'j1', 'Succeeded');
    await setItems(scene, [fakeItem('a', { labels: { changed: 'yes' } })]);
    await handDownJob(scene, 'j2');
    await scene.answer('plan', 'a');
    const { metadata, status } = await ended(scene, 'j2', 'Succeeded');
    expect(metadata.generation).to.be.greaterThan(1);
    expect(status?.observedGeneration).to.equal(metadata.generation);
  });

  it('CORE-69: starts an unchanged item with updateOnChangeOnly, too; the deployer decides what to do', async () => {
    const scene = await here.scene();
    await begun(scene, [fakeItem('a', { updateOnChangeOnly: true })]);
    await scene.answer('plan', 'a');
    await ended(scene, 'j1', 'Succeeded');
    await handDownJob(scene, 'j2');
    await scene.answer('plan', 'a');
    await ended(scene, 'j2', 'Succeeded');
    expect(scene.item('plan', 'a')?.spec.updateOnChangeOnly).to.equal(true);
  });

  it('CORE-70: keeps one of two items for the same template and deletes the other', async () => {
    const scene = await here.scene();
    await begun(scene, [fakeItem('a')]);
    await scene.answer('plan', 'a');
    await ended(scene, 'j1', 'Succeeded');
    const { apiVersion, kind, metadata, spec } = scene.item('plan', 'a')!;
    const { labels, annotations: notes, finalizers, ownerReferences } = metadata;
    const copy = { name: 'double', labels, annotations: notes, finalizers, ownerReferences };
    await scene.create(JSON.parse(JSON.stringify({ apiVersion, kind, metadata: copy, spec })));
    await handDownJob(scene, 'j2');
    // The installed item stays, although the other is first by name; the other did nothing, so its deletion does
    // nothing.
    await scene.gone(deployItemKind, 'double');
    await scene.answer('plan', 'a');
    await ended(scene, 'j2', 'Succeeded');
    expect(scene.items('plan').map((item) => item.metadata.uid)).to.deep.equal([metadata.uid]);
    const versions = here.cluster.history(scene.ns).map(({ object }) => object as View<DeployItem>);
    const doubles = versions.filter((version) => version.metadata.name === 'double');
    expect(doubles).to.not.deep.equal([]);
    expect(doubles.filter(({ status }) => status?.jobID)).to.deep.equal([]);
  });

  it('CORE-70: a duplicate that is created while the items are running does not delay the end', async () => {
    const scene = await here.scene();
    await begun(scene, [fakeItem('a')]);
    const { apiVersion, kind, metadata, spec } = await scene.waiting('plan', 'a');
    const { labels, annotations: notes, finalizers, ownerReferences } = metadata;
    const copy = { name: 'a-double', labels, annotations: notes, finalizers, ownerReferences };
    await scene.create(JSON.parse(JSON.stringify({ apiVersion, kind, metadata: copy, spec })));
    await scene.calm();
    const [first, second] = [...scene.items('plan')].sort((i) => (isBeingDeleted(i.metadata) ? 1 : -1));
    for (const item of [first, second]) {
      if (!item) continue;
      const status = { phase: 'Succeeded', jobID: 'j1', jobIDFinished: 'j1', observedGeneration: 1 };
      if (isBeingDeleted(item.metadata)) await scene.force(deployItemKind, item.metadata.name);
      else await scene.patchStatus(deployItemKind, item.metadata.name, status);
    }
    await ended(scene, 'j1', 'Succeeded');
  });

  it('CORE-71: publishes the exports of its items, by template name', async () => {
    const scene = await here.scene();
    await begun(scene, [fakeItem('a'), fakeItem('b')]);
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret' as const,
      metadata: { name: 'a-export', namespace: scene.ns },
    };
    const object = { ...secret, data: { config: Buffer.from('k: 1').toString('base64') } };
    await here.cluster.client.send({ verb: 'create', kind: secretKind, object });
    const exportRef = { name: 'a-export', namespace: scene.ns };
    await scene.answer('plan', 'a', 'Succeeded', { exportRef });
    await scene.answer('plan', 'b');
    const { status } = await ended(scene, 'j1', 'Succeeded');
    const exported = scene.dataObject(status?.exportRef?.name ?? '');
    expect(exported?.data).to.deep.equal({ a: { k: 1 }, b: null });
  });

  it('CORE-71: fails if an export secret is missing', async () => {
    const scene = await here.scene();
    await begun(scene, [fakeItem('a')]);
    await scene.answer('plan', 'a', 'Succeeded', { exportRef: { name: 'nowhere', namespace: scene.ns } });
    const { status } = await ended(scene, 'j1', 'Failed');
    expect(status?.lastError?.message).to.contain('nowhere');
  });

  it('CORE-117: fails if an item is deleted right before its exports are read', async () => {
    const scene = await here.scene();
    await begun(scene, [fakeItem('a')]);
    await scene.answer('plan', 'a');
    await ended(scene, 'j1', 'Succeeded');
    await scene.force(deployItemKind, scene.item('plan', 'a')?.metadata.name ?? '');
    await scene.patchStatus(executionKind, 'plan', { jobID: 'j2', phase: 'Completing' });
    const { status } = await ended(scene, 'j2', 'Failed');
    expect(status?.lastError?.message).to.contain('has failed or missing deploy items: a is missing');
  });

  it('CORE-72: reads uncompressed items that an old client wrote', async () => {
    const scene = await here.scene();
    await begun(scene, [fakeItem('a', { timeout: '1h' })]);
    await scene.answer('plan', 'a');
    await ended(scene, 'j1', 'Succeeded');
    const [template] = readDeployItems(scene.execution('plan')!.spec as Execution['spec']);
    expect(template?.timeout).to.equal('1h0m0s');
  });

  it('CORE-73: ignores the reconcile annotation after it has finished', async () => {
    const scene = await here.scene();
    await begun(scene, [fakeItem('a')]);
    await scene.answer('plan', 'a');
    const { status } = await ended(scene, 'j1', 'Succeeded');
    await scene.annotate(executionKind, 'plan', { [annotations.operation]: 'reconcile' });
    await scene.calm();
    const now = scene.execution('plan');
    expect(now?.status).to.deep.equal(status);
    expect(now && isFinished(now)).to.equal(true);
  });
});
