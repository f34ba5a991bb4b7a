/** Interrupts, and deletions that leave installed objects in place. */
import { expect } from 'chai';
import { isFinished } from '../../../src/api/job.ts';
import { deployItemKind } from '../../../src/api/kinds/deployitem.ts';
import { executionKind } from '../../../src/api/kinds/execution.ts';
import { installationKind } from '../../../src/api/kinds/installation.ts';
import { annotations } from '../../../src/api/labels.ts';
import { useCluster } from '../../support/cluster.ts';
import {
  abc,
  blueprint,
  child,
  consumer,
  fakeItem,
  producer,
  root,
  stack,
  web,
} from '../../support/landscape.ts';
import type { Scene } from '../../support/scene.ts';

const FORGET = { [annotations.deleteWithoutUninstall]: 'true' };
const worker = (name: string) => child(name, { items: [fakeItem('app')] });
const nameOf = (scene: Scene, template: string): string =>
  scene.children('stack', template)[0]?.metadata.name ?? '';
const operationOf = (scene: Scene, name: string) =>
  scene.installation(name)?.metadata.annotations?.[annotations.operation];

/** `web` with items a (finished), b (running) and c (waiting). */
async function halfWay(scene: Scene): Promise<void> {
  const items = [fakeItem('a'), fakeItem('b'), fakeItem('c', { dependsOn: ['a', 'b'] })];
  await scene.create(web({ items }));
  await scene.waiting('web', 'b');
  await scene.answer('web', 'a');
  await scene.busy('web', 'Progressing');
}

async function expectInterrupted(scene: Scene): Promise<void> {
  await scene.finished('web', 'Failed');
  const { jobID } = scene.installation('web')?.status ?? {};
  for (const name of ['b', 'c']) {
    const { status } = scene.item('web', name)!;
    expect(status).to.deep.include({ phase: 'Failed', jobID, jobIDFinished: jobID });
    expect(status?.lastError?.message).to.equal('operation was interrupted');
  }
  expect(scene.item('web', 'a')?.status?.phase).to.equal('Succeeded');
  expect(scene.execution('web')?.status?.phase).to.equal('Failed');
  expect(operationOf(scene, 'web')).to.equal(undefined);
  expect(scene.execution('web')?.metadata.annotations?.[annotations.operation]).to.equal(undefined);
}

describe('an interrupt', () => {
  const here = useCluster();

  it('CORE-95: travels down a tree and ends its job', async () => {
    const scene = await here.scene();
    await scene.create(stack({ items: [fakeItem('own')], children: [worker('a'), worker('b')] }));
    for (const name of ['a', 'b']) {
      await scene.until(name, () => scene.child('stack', name));
      await scene.waiting(nameOf(scene, name), 'app');
    }
    await scene.waiting('stack', 'own');
    await scene.operation('stack', 'interrupt');
    const { status } = await scene.finished('stack', 'Failed');
    expect(operationOf(scene, 'stack')).to.equal(undefined);
    for (const name of [nameOf(scene, 'a'), nameOf(scene, 'b')]) {
      expect(scene.installation(name)?.status?.phase).to.equal('Failed');
      expect(scene.item(name, 'app')?.status?.lastError?.reason).to.equal('InterruptOperation');
      expect(operationOf(scene, name)).to.equal(undefined);
    }
    expect(scene.item('stack', 'own')?.status?.phase).to.equal('Failed');
    expect(status?.lastError?.message).to.contain('operation was interrupted');
  });

  it('CORE-96: fails running and waiting items, and leaves finished ones alone', async () => {
    const scene = await here.scene();
    await halfWay(scene);
    await scene.operation('web', 'interrupt');
    await expectInterrupted(scene);
  });

  it('CORE-96: works on an execution alone', async () => {
    const scene = await here.scene();
    await halfWay(scene);
    await scene.annotate(executionKind, 'web', { [annotations.operation]: 'interrupt' });
    await expectInterrupted(scene);
  });

  it('CORE-96: on a deploy item ends that item alone; the rest of the job ends normally', async () => {
    const scene = await here.scene();
    await halfWay(scene);
    const { name } = scene.item('web', 'b')!.metadata;
    await scene.annotate(deployItemKind, name, { [annotations.operation]: 'interrupt' });
    const { status } = await scene.finished('web', 'Failed');
    const b = scene.item('web', 'b')!;
    expect(b.status).to.deep.include({ phase: 'Failed', jobID: status?.jobID, jobIDFinished: status?.jobID });
    expect(b.status?.lastError?.message).to.equal('operation was interrupted');
    expect(scene.item('web', 'c')?.status?.jobID, 'waited for b, and never began').to.equal(undefined);
    expect(status?.lastError?.message).to.contain('b: operation was interrupted');
    await scene.until(
      'the annotation is gone',
      () => !scene.item('web', 'b')?.metadata.annotations?.[annotations.operation],
    );
  });

  it('CORE-96: on a deploy item without a job is removed without effect', async () => {
    const scene = await here.scene();
    await halfWay(scene);
    for (const template of ['a', 'c']) {
      const { name } = scene.item('web', template)!.metadata;
      await scene.annotate(deployItemKind, name, { [annotations.operation]: 'interrupt' });
      await scene.until('the annotation is gone', () => {
        const seen = scene.seen(deployItemKind, name);
        const was = seen.some((i) => i.metadata.annotations?.[annotations.operation] === 'interrupt');
        return was && !scene.item('web', template)?.metadata.annotations?.[annotations.operation];
      });
    }
    for (const template of ['b', 'c']) await scene.answer('web', template);
    await scene.finished('web', 'Succeeded');
  });

  for (const what of ['conflict', 'server-error', 'lost', 'reset'] as const) {
    it(`CORE-97: is completed even if writing an item fails: ${what}`, async () => {
      const scene = await here.scene();
      await halfWay(scene);
      here.controllers.faults.arm(scene.ns, {
        what,
        nth: 1,
        matches: ({ kind, sub }) => kind.kind === 'DeployItem' && sub === 'status',
      });
      await scene.operation('web', 'interrupt');
      await expectInterrupted(scene);
    });
  }

  it('CORE-98: can be followed by an ordinary job', async () => {
    const scene = await here.scene();
    await halfWay(scene);
    await scene.operation('web', 'interrupt');
    const { status } = await scene.finished('web', 'Failed');
    await scene.operation('web', 'reconcile');
    for (const name of ['a', 'b', 'c']) await scene.answer('web', name);
    const end = await scene.finished('web', 'Succeeded', { after: status?.jobID });
    expect(end.status?.lastError).to.equal(undefined);
  });

  it('ends the wait for orphans', async () => {
    const scene = await here.scene();
    await scene.create(stack({ children: [worker('a'), worker('b')] }));
    for (const name of ['a', 'b']) {
      await scene.until(name, () => scene.child('stack', name));
      await scene.answer(nameOf(scene, name), 'app');
    }
    const first = await scene.finished('stack', 'Succeeded');
    await scene.setBlueprint('stack', blueprint({ children: [worker('a')] }));
    await scene.operation('stack', 'reconcile');
    await scene.waiting(nameOf(scene, 'b'), 'app');
    await scene.busy('stack', 'CleanupOrphaned');
    await scene.operation('stack', 'interrupt');
    const { status } = await scene.finished('stack', 'Failed', { after: first.status?.jobID });
    expect(status?.lastError?.reason).to.equal('AllOrphanedSubinstallationsFailed');
  });

  it('ends a deletion with DeleteFailed', async () => {
    const scene = await here.scene();
    await scene.create(web());
    await scene.answer('web', 'app');
    const first = await scene.finished('web', 'Succeeded');
    await scene.delete('web');
    await scene.waiting('web', 'app');
    await scene.operation('web', 'interrupt');
    await scene.finished('web', 'DeleteFailed', { after: first.status?.jobID });
    expect(scene.item('web', 'app')?.status?.phase).to.equal('DeleteFailed');
    await scene.operation('web', 'reconcile');
    await scene.uninstall('web', 'app');
    await scene.empty();
  });

  it('on a finished root is removed without effect', async () => {
    const scene = await here.scene();
    await scene.create(web());
    await scene.answer('web', 'app');
    await scene.finished('web', 'Succeeded');
    await scene.operation('web', 'interrupt');
    await scene.until('it is gone', () => {
      const seen = scene.seen(installationKind, 'web');
      const was = seen.some((o) => o.metadata.annotations?.[annotations.operation] === 'interrupt');
      return was && operationOf(scene, 'web') === undefined;
    });
    await scene.calm();
    expect(scene.installation('web')?.status?.phase).to.equal('Succeeded');
    expect(scene.item('web', 'app')?.status?.phase).to.equal('Succeeded');
    expect(scene.jobs('web')).to.have.length(1);
  });

  it('ends the wait of a root in Init', async () => {
    const scene = await here.scene();
    await scene.create(producer({ items: [fakeItem('app')] }));
    await scene.waiting('producer', 'app');
    await scene.create(consumer());
    await scene.busy('consumer', 'Init', 'AllPredecessorsFinished');
    await scene.operation('consumer', 'interrupt');
    await scene.finished('consumer', 'Failed');
  });
});

describe('a deletion without uninstall', () => {
  const here = useCluster();

  it('CORE-99: needs no deployer and marks everything below', async () => {
    const scene = await here.scene();
    await scene.create(web({ items: abc() }));
    for (const name of ['a', 'b', 'c']) await scene.answer('web', name);
    await scene.finished('web', 'Succeeded');
    const jobs = scene.items('web').map((i) => [i.metadata.name, i.status?.jobID] as const);
    await scene.annotate(installationKind, 'web', FORGET);
    await scene.delete('web');
    await scene.empty();
    for (const [name, jobID] of jobs) {
      const seen = scene.seen(deployItemKind, name);
      expect(
        seen.some((i) => i.metadata.annotations?.[annotations.deleteWithoutUninstall] === 'true'),
      ).to.equal(true);
      expect(
        seen.every((i) => !i.status?.jobID || i.status.jobID === jobID),
        'no job for the deployer',
      ).to.equal(true);
    }
    const execution = scene.seen(executionKind, 'web');
    expect(execution.at(-1)?.metadata.annotations).to.deep.include(FORGET);
  });

  it('CORE-99: works after a failed uninstall', async () => {
    const scene = await here.scene();
    await scene.create(stack({ children: [worker('a')] }));
    await scene.until('a', () => scene.child('stack', 'a'));
    const a = nameOf(scene, 'a');
    await scene.answer(a, 'app');
    const first = await scene.finished('stack', 'Succeeded');
    await scene.delete('stack');
    await scene.answer(a, 'app', 'DeleteFailed');
    await scene.finished('stack', 'DeleteFailed', { after: first.status?.jobID });
    await scene.annotate(installationKind, 'stack', { ...FORGET, [annotations.operation]: 'reconcile' });
    await scene.empty();
  });

  it('CORE-99: of one child affects that child only', async () => {
    const scene = await here.scene();
    await scene.create(stack({ children: [worker('a'), worker('b')] }));
    for (const name of ['a', 'b']) {
      await scene.until(name, () => scene.child('stack', name));
      await scene.answer(nameOf(scene, name), 'app');
    }
    await scene.finished('stack', 'Succeeded');
    const [a, b] = [nameOf(scene, 'a'), nameOf(scene, 'b')];
    await scene.annotate(installationKind, a, FORGET);
    await scene.delete('stack');
    await scene.gone(installationKind, a);
    await scene.uninstall(b, 'app');
    await scene.empty();
  });

  it('CORE-100: is requested only by the exact value "true"', async () => {
    const scene = await here.scene();
    await scene.create(root('web', { items: [fakeItem('app')] }));
    await scene.answer('web', 'app');
    await scene.finished('web', 'Succeeded');
    await scene.annotate(installationKind, 'web', { [annotations.deleteWithoutUninstall]: 'yes' });
    await scene.delete('web');
    const item = await scene.waiting('web', 'app');
    expect(isFinished(item)).to.equal(false);
    expect(item.metadata.annotations).to.not.have.property(annotations.deleteWithoutUninstall);
    await scene.uninstall('web', 'app');
    await scene.empty();
  });
});

describe('a job that is repeated on schedule', () => {
  const here = useCluster();
  const failedReconcile = { interval: '1h', numberOfReconciles: 3 };

  it('CORE-102: starts at once after the first failure, and then at its interval', async () => {
    const scene = await here.scene();
    await scene.create(web({ spec: { automaticReconcile: { failedReconcile } } }));
    await scene.answer('web', 'app', 'Failed');
    await scene.until('the repetition', () => scene.jobs('web').length === 2);
    await scene.answer('web', 'app', 'Failed');
    const { status } = await scene.finished('web', 'Failed', { after: scene.jobs('web')[0] });
    expect(status?.automaticReconcileStatus?.numberOfReconciles).to.equal(1);
    await scene.calm();
    expect(scene.jobs('web')).to.have.length(2);
  });

  it('reports that no job is scheduled after the spec has changed, until the next job', async () => {
    const scene = await here.scene();
    const told = () =>
      scene.installation('web')?.status?.conditions?.find(({ type }) => type === 'AutomaticReconcile');
    const patient = { interval: '1h', numberOfReconciles: 1 };
    await scene.create(web({ spec: { automaticReconcile: { failedReconcile: patient } } }));
    await scene.answer('web', 'app', 'Failed');
    await scene.until('the repetition', () => scene.jobs('web').length === 2);
    await scene.answer('web', 'app', 'Failed');
    await scene.finished('web', 'Failed', { after: scene.jobs('web')[0] });
    expect(told()).to.equal(undefined);
    await scene.setBlueprint('web', blueprint({ items: [] }));
    const condition = await scene.until('it says so', told);
    expect(condition).to.deep.include({ status: 'False', reason: 'SpecChanged' });
    expect(condition.message).to.contain(`${annotations.operation}=reconcile`);
    expect(scene.jobs('web')).to.have.length(2);
    await scene.operation('web', 'reconcile');
    await scene.until('the item goes', () => scene.item('web', 'app')?.metadata.deletionTimestamp);
    expect(told()).to.equal(undefined);
    await scene.uninstall('web', 'app');
    await scene.finished('web', 'Succeeded', { after: scene.jobs('web')[1] });
  });

  it('CORE-104: does not start at once after a success', async () => {
    const scene = await here.scene();
    await scene.create(root('empty', { spec: { automaticReconcile: { succeededReconcile: {} } } }));
    await scene.finished('empty', 'Succeeded');
    await scene.until('the count', () => scene.installation('empty')?.status?.automaticReconcileStatus);
    await scene.calm();
    expect(scene.jobs('empty')).to.have.length(1);
  });

  it('CORE-105: runs once if the user requests it at the same time', async () => {
    const scene = await here.scene();
    await scene.create(web({ spec: { automaticReconcile: { failedReconcile } } }));
    await scene.answer('web', 'app', 'Failed');
    await scene.answer('web', 'app', 'Failed');
    const second = await scene.until('the second end', () => {
      const found = scene.installation('web');
      return scene.jobs('web').length === 2 && found && isFinished(found) ? found : undefined;
    });
    await scene.operation('web', 'reconcile');
    await scene.answer('web', 'app');
    await scene.finished('web', 'Succeeded', { after: second.status?.jobID });
    await scene.calm();
    expect(scene.jobs('web')).to.have.length(3);
  });
});
