/** How jobs are triggered, travel down and up the tree, and end. */
import { expect } from 'chai';
import { isFinished } from '../../../src/api/job.ts';
import { executionKind } from '../../../src/api/kinds/execution.ts';
import { installationKind } from '../../../src/api/kinds/installation.ts';
import { FINALIZER, annotations, labels } from '../../../src/api/labels.ts';
import { useCluster } from '../../support/cluster.ts';
import {
  RECONCILE,
  blueprint,
  consumer,
  fakeItem,
  producer,
  root,
  stack,
  web,
  mockItem,
} from '../../support/landscape.ts';
import type { Scene } from '../../support/scene.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const IF_CHANGED = { [annotations.reconcileIfChanged]: 'true' };
const changed = blueprint({ items: [fakeItem('app', { labels: { changed: 'yes' } })] });
const job = (id: string) => ({ observedGeneration: 1, jobID: id, jobIDFinished: id });

const operationOf = (scene: Scene, name: string) =>
  scene.installation(name)?.metadata.annotations?.[annotations.operation];

describe('jobs', () => {
  const here = useCluster();

  it('CORE-01: a new root gets finalizer and context, and no job', async () => {
    const scene = await here.scene();
    await scene.create(web({ annotations: {} }));
    const made = await scene.until('the finalizer', () => {
      const found = scene.installation('web');
      return found?.metadata.finalizers?.includes(FINALIZER) ? found : undefined;
    });
    expect(made.spec.context).to.equal('default');
    await scene.calm();
    expect(scene.installation('web')?.status).to.equal(undefined);
    expect(scene.execution('web')).to.equal(undefined);
  });

  it('CORE-02: the annotation starts a job with a random id, and is removed', async () => {
    const scene = await here.scene();
    await scene.create(web());
    const started = await scene.until('a job id and no annotation', () => {
      const found = scene.installation('web');
      return found?.status?.jobID && operationOf(scene, 'web') === undefined ? found : undefined;
    });
    expect(started.status?.jobID).to.match(UUID);
    expect(started.status?.transitionTimes?.triggerTime).to.be.a('string');
  });

  it('CORE-03: the job id travels down to execution and item, and the installation waits in Progressing', async () => {
    const scene = await here.scene();
    await scene.create(web());
    const item = await scene.waiting('web', 'app');
    const installation = await scene.busy('web', 'Progressing', 'JobIDFinished');
    const jobID = installation.status?.jobID;
    expect(scene.execution('web')?.status?.jobID).to.equal(jobID);
    expect(item.status?.jobID).to.equal(jobID);
    expect(item.status?.jobIDGenerationTime).to.be.a('string');
    expect(item.metadata.name).to.match(/^web-app-/);
    expect(installation.status?.lastError?.codes).to.deep.equal([
      'ERR_UNFINISHED',
      'ERR_FOR_INFO_ONLY',
      'ERR_NO_RETRY',
    ]);
  });

  it('CORE-04: the end travels up: item, execution, installation', async () => {
    const scene = await here.scene();
    await scene.create(web());
    const finishedTime = '2026-01-01T00:00:00Z';
    await scene.answer('web', 'app', 'Succeeded', { transitionTimes: { finishedTime } });
    const { status } = await scene.finished('web', 'Succeeded');
    const execution = scene.execution('web');
    expect(execution?.status?.phase).to.equal('Succeeded');
    expect(execution && isFinished(execution)).to.equal(true);
    expect(status?.lastError).to.equal(undefined);
    expect(execution?.status?.lastError).to.equal(undefined);
    const ended = [execution?.status, status].map((s) => s?.transitionTimes?.finishedTime ?? '');
    expect([finishedTime, ...ended]).to.deep.equal([finishedTime, ...ended].sort());
  });

  it('CORE-05: without an annotation nothing happens to a finished installation', async () => {
    const scene = await here.scene();
    await scene.create(web({ annotations: {} }));
    await scene.until('the finalizer', () => scene.installation('web')?.metadata.finalizers);
    await scene.patchStatus(installationKind, 'web', { ...job('j1'), phase: 'Succeeded' });
    const before = await scene.until(
      'the status',
      () => scene.installation('web')?.status?.jobID && scene.installation('web'),
    );
    await scene.annotate(installationKind, 'web', { [annotations.touch]: 'true' });
    await scene.calm();
    expect(scene.installation('web')?.status).to.deep.equal(before.status);
  });

  it('CORE-06: a reconcile requested during a job starts after it', async () => {
    const scene = await here.scene();
    await scene.create(web());
    const { status } = await scene.waiting('web', 'app').then(() => scene.busy('web', 'Progressing'));
    await scene.operation('web', 'reconcile');
    await scene.calm();
    expect(scene.installation('web')?.status?.jobID).to.equal(status?.jobID);
    expect(operationOf(scene, 'web')).to.equal('reconcile');
    await scene.answer('web', 'app');
    await scene.until('the second job', () => scene.jobs('web').length === 2);
    await scene.answer('web', 'app');
    await scene.finished('web', 'Succeeded', { after: status?.jobID });
    expect(operationOf(scene, 'web')).to.equal(undefined);
    expect(scene.jobs('web')).to.have.length(2);
  });

  it('CORE-07: a reconcile annotation on a child is removed and starts nothing', async () => {
    const scene = await here.scene();
    await scene.create(stack());
    await scene.finished('stack', 'Succeeded');
    const name = scene.child('stack', 'a')?.metadata.name ?? '';
    await scene.annotate(installationKind, name, {
      ...RECONCILE,
      [annotations.reconcileReason]: 'retry',
    });
    await scene.until('no annotation', () => {
      const seen = scene.seen(installationKind, name);
      const was = seen.some((o) => o.metadata.annotations?.[annotations.operation] === 'reconcile');
      return was && operationOf(scene, name) === undefined;
    });
    await scene.calm();
    expect(scene.jobs(name)).to.have.length(1);
    expect(scene.jobs('stack')).to.have.length(1);
  });

  it('CORE-08: a change of the spec alone starts nothing', async () => {
    const scene = await here.scene();
    await scene.create(web());
    await scene.answer('web', 'app');
    await scene.finished('web', 'Succeeded');
    await scene.setBlueprint('web', changed);
    await scene.calm();
    expect(scene.jobs('web')).to.have.length(1);
  });

  it('CORE-09: with reconcile-if-changed a change starts one job, and the annotation stays', async () => {
    const scene = await here.scene();
    await scene.create(web({ annotations: { ...RECONCILE, ...IF_CHANGED } }));
    await scene.answer('web', 'app');
    const first = await scene.finished('web', 'Succeeded');
    await scene.setBlueprint('web', changed);
    await scene.until('the second job', () => scene.jobs('web').length === 2);
    await scene.answer('web', 'app');
    const second = await scene.finished('web', 'Succeeded', { after: first.status?.jobID });
    await scene.annotate(installationKind, 'web', { [annotations.touch]: 'true' });
    await scene.calm();
    expect(scene.jobs('web')).to.have.length(2);
    expect(second.metadata.annotations).to.deep.include(IF_CHANGED);
    expect(second.status?.observedGeneration).to.equal(second.metadata.generation);
  });

  it('CORE-10: reconcile-if-changed starts the first job, too', async () => {
    const scene = await here.scene();
    await scene.create(web({ annotations: IF_CHANGED }));
    await scene.answer('web', 'app');
    await scene.finished('web', 'Succeeded');
    await scene.calm();
    expect(scene.jobs('web')).to.have.length(1);
  });

  it('reconcile-if-changed starts one job of a new root that fails before it has read anything', async () => {
    const scene = await here.scene();
    const broken = root('twice');
    broken.spec.blueprint = { ref: { resourceName: 'blueprint' } };
    broken.spec.componentDescriptor = {
      ref: {
        repositoryContext: { type: 'local', baseUrl: 'none.ctf' },
        componentName: 'example.org/a',
        version: '0.1.0',
      },
    };
    broken.metadata.annotations = { ...IF_CHANGED };
    await scene.create(broken);
    const { metadata, status } = await scene.finished('twice', 'Failed');
    await scene.calm();
    expect(scene.jobs('twice')).to.have.length(1);
    expect(status?.observedGeneration).to.equal(metadata.generation);
  });

  it('CORE-11: a root without children and items runs to the end', async () => {
    const scene = await here.scene();
    await scene.create(root('empty'));
    const { status } = await scene.finished('empty', 'Succeeded');
    expect(scene.execution('empty')).to.equal(undefined);
    expect(status?.executionRef).to.equal(undefined);
    expect(scene.phases(installationKind, 'empty')[0]).to.equal('Init');
  });

  it('CORE-12: an owner that is not an installation does not make it a child', async () => {
    const scene = await here.scene();
    const { apiVersion, kind, metadata } = here.cluster.world.contexts.get(`${scene.ns}/default`)!;
    const installation = root('owned');
    installation.metadata.ownerReferences = [{ apiVersion, kind, name: 'default', uid: metadata.uid ?? '' }];
    await scene.create(installation);
    await scene.finished('owned', 'Succeeded');
  });

  it('a label without an owner does not make it a child: other roots see it', async () => {
    const scene = await here.scene();
    await scene.create(producer());
    await scene.finished('producer', 'Succeeded');
    const labelled = consumer();
    labelled.metadata.labels = { [labels.encompassedBy]: 'nobody' };
    await scene.create(labelled);
    const first = await scene.finished('consumer', 'Succeeded');
    await scene.again('producer', 'Succeeded');
    await scene.finished('consumer', 'Succeeded', { after: first.status?.jobID });
    await scene.delete('producer');
    await scene.busy('producer', 'InitDelete', 'SiblingImport');
  });

  it('CORE-13: after a conflict the job id is written again in the same reconcile, and there is one job', async () => {
    const scene = await here.scene();
    here.controllers.faults.arm(scene.ns, {
      what: 'conflict',
      nth: 1,
      matches: ({ verb, kind, sub }) => verb === 'merge' && kind.kind === 'Installation' && !sub,
    });
    await scene.create(root('empty'));
    await scene.finished('empty', 'Succeeded');
    expect(here.controllers.faults.hit(scene.ns)).to.not.equal(undefined);
    await scene.until('no annotation', () => scene.installation('empty') && !operationOf(scene, 'empty'));
    await scene.calm();
    expect(scene.jobs('empty')).to.have.length(1);
  });

  it('a root that is deleted before its first job needs a single job', async () => {
    const scene = await here.scene();
    const installation = web({ annotations: {} });
    installation.metadata.finalizers = ['test.example/keep'];
    await scene.create(installation);
    await scene.until('our finalizer', () =>
      scene.installation('web')?.metadata.finalizers?.includes(FINALIZER),
    );
    await scene.delete('web');
    const { status } = await scene.until('the deletion job', () => {
      const found = scene.installation('web');
      return found?.metadata.finalizers?.includes(FINALIZER) === false ? found : undefined;
    });
    expect(status?.jobID).to.match(UUID);
    expect(scene.jobs('web')).to.have.length(1);
    expect(scene.seen(executionKind, 'web')).to.have.length(0);
    expect(scene.phases(installationKind, 'web')).to.not.include('Init');
    await scene.patch(installationKind, 'web', { metadata: { finalizers: null } });
    await scene.gone(installationKind, 'web');
  });

  it('an unknown phase ends the job with a message, affects no other tree, and is replaced by the next job', async () => {
    const scene = await here.scene();
    await scene.create(web());
    await scene.waiting('web', 'app');
    await scene.patchStatus(installationKind, 'web', { phase: 'Deleting' });
    await scene.until(
      'the complaint',
      () => scene.installation('web')?.status?.lastError?.reason === 'UnknownPhase',
    );
    expect(scene.installation('web')?.status?.jobIDFinished, 'ends before its execution').to.equal(undefined);
    await scene.answer('web', 'app');
    const { status } = await scene.finished('web', 'Failed');
    expect(status?.lastError).to.include({ reason: 'UnknownPhase' });
    expect(status?.lastError?.message).to.match(/^phase "Deleting" is not valid .*start another job$/m);
    expect(scene.items('web'), 'nothing is deleted').to.have.length(1);

    await scene.create(root('other', { items: [mockItem('x')] }));
    await scene.finished('other', 'Succeeded');
    await scene.operation('web', 'reconcile');
    await scene.answer('web', 'app');
    await scene.finished('web', 'Succeeded', { after: status?.jobID });
  });
});
