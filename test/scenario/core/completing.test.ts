/** Completing: exports are published, and the installations that import them are started. */
import { expect } from 'chai';
import { dataObjectKind } from '../../../src/api/kinds/dataobject.ts';
import { installationKind, type Installation } from '../../../src/api/kinds/installation.ts';
import { annotations, dataSourceTypes, labels } from '../../../src/api/labels.ts';
import type { View } from '../../../src/runtime/types.ts';
import { useCluster } from '../../support/cluster.ts';
import { RECONCILE, child, consumer, fakeItem, producer, root, stack, web } from '../../support/landscape.ts';
import type { Scene } from '../../support/scene.ts';

/** Both roots have finished a job, the consumer after the producer. */
async function connected(scene: Scene, itemsOfProducer?: ReturnType<typeof fakeItem>[]): Promise<void> {
  await scene.create(producer(itemsOfProducer ? { items: itemsOfProducer } : {}));
  if (itemsOfProducer) await scene.answer('producer', 'app');
  await scene.finished('producer', 'Succeeded');
  await scene.create(consumer());
  await scene.finished('consumer', 'Succeeded');
}

const claimOf = ({ status }: Pick<View<Installation>, 'status'>) =>
  status?.conditions?.find(({ type }) => type === 'CreateExports');

const pending = (scene: Scene, name: string) => scene.installation(name)?.status?.dependentsToTrigger;

describe('the end of a job', () => {
  const here = useCluster();

  it('CORE-47: publishes exports with their origin', async () => {
    const scene = await here.scene();
    await scene.create(producer());
    const { status } = await scene.finished('producer', 'Succeeded');
    const exported = scene.dataObject('greeting');
    expect(exported?.data).to.equal('hello');
    expect(exported?.metadata.labels).to.deep.include({
      [labels.dataSource]: 'Inst.producer',
      [labels.dataSourceType]: dataSourceTypes.export,
      [labels.dataKey]: 'greeting',
      [labels.dataJobId]: status?.jobID,
    });
    expect(claimOf({ status })).to.deep.include({ status: 'True', reason: 'DataObjectsCreated' });
  });

  it('no longer lists exports as its own if a later job failed before it wrote them', async () => {
    const scene = await here.scene();
    await scene.create(producer({ items: [fakeItem('app')] }));
    await scene.answer('producer', 'app');
    const first = await scene.finished('producer', 'Succeeded');
    expect(claimOf(first)).to.deep.include({ status: 'True' });
    await scene.operation('producer', 'reconcile');
    await scene.answer('producer', 'app', 'Failed');
    const failed = await scene.finished('producer', 'Failed', { after: first.status?.jobID });
    expect(scene.dataObject('greeting'), 'what the first job exported').to.equal(undefined);
    expect(claimOf(failed)).to.deep.include({ status: 'False', reason: 'JobFailed' });
    await scene.operation('producer', 'reconcile');
    await scene.answer('producer', 'app');
    const end = await scene.finished('producer', 'Succeeded', { after: failed.status?.jobID });
    expect(claimOf(end)).to.deep.include({ status: 'True', reason: 'DataObjectsCreated' });
  });

  it('no longer lists exports as its own if it is interrupted after they were removed', async () => {
    const scene = await here.scene();
    await scene.create(producer({ items: [fakeItem('app')] }));
    await scene.answer('producer', 'app');
    await scene.finished('producer', 'Succeeded');
    await scene.create(consumer({ gives: { out: 'answer' } }));
    const first = await scene.finished('consumer', 'Succeeded');
    expect(claimOf(first)).to.deep.include({ status: 'True' });
    await scene.operation('producer', 'reconcile');
    await scene.waiting('producer', 'app');
    await scene.operation('consumer', 'reconcile');
    await scene.busy('consumer', 'Init', 'AllPredecessorsFinished');
    await scene.until('no exports written', () => !scene.dataObject('answer'));
    await scene.operation('consumer', 'interrupt');
    const end = await scene.finished('consumer', 'Failed', { after: first.status?.jobID });
    expect(claimOf(end)).to.deep.include({ status: 'False', reason: 'JobFailed' });
  });

  it('no longer lists exports as its own if it fails in the same reconcile that removes them', async () => {
    const scene = await here.scene();
    await scene.create(producer());
    await scene.finished('producer', 'Succeeded');
    await scene.create(consumer({ gives: { out: 'answer' } }));
    const first = await scene.finished('consumer', 'Succeeded');
    await scene.patch(installationKind, 'consumer', { spec: { context: 'nowhere' } });
    await scene.operation('consumer', 'reconcile');
    const end = await scene.finished('consumer', 'Failed', { after: first.status?.jobID });
    await scene.until('no exports written', () => !scene.dataObject('answer'));
    expect(claimOf(end)).to.deep.include({ status: 'False', reason: 'JobFailed' });
  });

  it('still lists exports as its own if a failed job left them in place', async () => {
    const scene = await here.scene();
    await scene.create(root('east', { gives: { out: 'e' } }));
    const first = await scene.finished('east', 'Succeeded');
    await scene.create(root('west', { annotations: {}, takes: { in: 'e' }, gives: { out: 'w' } }));
    await scene.until('west', () => scene.installation('west'));
    await scene.patch(installationKind, 'east', {
      spec: { imports: { data: [{ name: 'in', dataRef: 'w' }] } },
    });
    await scene.operation('east', 'reconcile');
    const end = await scene.finished('east', 'Failed', { after: first.status?.jobID });
    expect(end.status?.lastError?.codes).to.include('ERR_CYCLIC_DEPENDENCIES');
    expect(scene.dataObject('e')?.data).to.equal('east-out');
    expect(claimOf(end)).to.deep.include({ status: 'True', reason: 'DataObjectsCreated' });
  });

  it('CORE-48: fails if the spec was edited during the job', async () => {
    const scene = await here.scene();
    await scene.create(web());
    await scene.waiting('web', 'app');
    await scene.busy('web', 'Progressing');
    await scene.patch(installationKind, 'web', { spec: { importDataMappings: { x: 1 } } });
    await scene.answer('web', 'app');
    const { status } = await scene.finished('web', 'Failed');
    expect(status?.lastError?.reason).to.equal('CheckObservedGeneration');
  });

  it('CORE-49: fails if an import differs from its value at the start; the next job succeeds', async () => {
    const scene = await here.scene();
    await scene.create(producer());
    await scene.finished('producer', 'Succeeded');
    await scene.create(consumer({ items: [fakeItem('app')] }));
    await scene.waiting('consumer', 'app');
    await scene.patch(dataObjectKind, 'greeting', { data: 'other' });
    await scene.until('the other value', () => scene.dataObject('greeting')?.data === 'other');
    await scene.calm();
    await scene.answer('consumer', 'app');
    const { status } = await scene.finished('consumer', 'Failed');
    expect(status?.lastError).to.include({ reason: 'CheckImportsHash' });
    expect(status?.lastError?.message).to.match(/^imports have changed$/m);
    await scene.operation('consumer', 'reconcile');
    await scene.answer('consumer', 'app');
    await scene.finished('consumer', 'Succeeded', { after: status?.jobID });
  });

  it('CORE-50: waits for a producer that runs again, and succeeds if it exports the same value', async () => {
    const scene = await here.scene();
    await scene.create(producer({ items: [fakeItem('app')] }));
    await scene.answer('producer', 'app');
    await scene.finished('producer', 'Succeeded');
    await scene.create(consumer({ items: [fakeItem('app')] }));
    await scene.waiting('consumer', 'app');
    await scene.operation('producer', 'reconcile');
    await scene.waiting('producer', 'app');
    await scene.answer('consumer', 'app');
    await scene.busy('consumer', 'Completing', 'AllPredecessorsFinished');
    await scene.answer('producer', 'app');
    await scene.finished('consumer', 'Succeeded');
  });

  it('CORE-51: a conflict while writing an export is not a failure', async () => {
    const scene = await here.scene();
    here.controllers.faults.arm(scene.ns, {
      what: 'conflict',
      nth: 1,
      matches: ({ kind }) => kind.kind === 'DataObject',
    });
    await scene.create(producer());
    await scene.finished('producer', 'Succeeded');
    expect(scene.dataObject('greeting')?.data).to.equal('hello');
    expect(scene.jobs('producer')).to.have.length(1);
  });

  it('CORE-52: fails if an export has no value', async () => {
    const scene = await here.scene();
    const exports = { data: [{ name: 'out', dataRef: 'greeting' }] };
    const more = { exports: [{ name: 'out', type: 'data', schema: { type: 'string' } }] };
    await scene.create(root('producer', { spec: { exports }, more }));
    const { status } = await scene.finished('producer', 'Failed');
    expect(status?.lastError?.reason).to.equal('ConstructExports');
    expect(scene.dataObject('greeting')).to.equal(undefined);
  });

  it('CORE-53: a success then starts the roots that import from this one', async () => {
    const scene = await here.scene();
    await connected(scene);
    const before = scene.installation('consumer')?.status?.jobID;
    const { status } = await scene.again('producer', 'Succeeded');
    await scene.finished('consumer', 'Succeeded', { after: before });
    await scene.until('the list is empty', () => (pending(scene, 'producer') ?? []).length === 0);
    const times = [status, scene.installation('consumer')?.status].map((s) => s?.transitionTimes);
    expect(times[1]?.triggerTime?.localeCompare(times[0]?.finishedTime ?? '')).to.be.at.least(0);
    await scene.calm();
    expect(scene.jobs('consumer')).to.have.length(2);
    expect(scene.jobs('producer')).to.have.length(2);
  });

  it('CORE-55: a child starts as soon as the one that it imports from has succeeded', async () => {
    const scene = await here.scene();
    await scene.create(
      stack({
        children: [
          child('a', { gives: { out: 'link' }, items: [fakeItem('app')] }),
          child('b', { takes: { in: 'link' } }),
        ],
      }),
    );
    const a = await scene.until('a', () => scene.child('stack', 'a')?.metadata.name);
    await scene.waiting(a, 'app');
    const release = here.cluster.clock.hold();
    try {
      await scene.answer(a, 'app');
      const b = scene.child('stack', 'b')?.metadata.name ?? '';
      await scene.finished(b, 'Succeeded');
    } finally {
      release();
    }
    await scene.finished('stack', 'Succeeded');
  });

  it('CORE-56: a failure starts no successor', async () => {
    const scene = await here.scene();
    await connected(scene, [fakeItem('app')]);
    await scene.operation('producer', 'reconcile');
    await scene.answer('producer', 'app', 'Failed');
    await scene.finished('producer', 'Failed', { after: scene.jobs('producer')[0] });
    await scene.calm();
    expect(scene.jobs('consumer')).to.have.length(1);
    expect(scene.installation('consumer')?.status?.phase).to.equal('Succeeded');
  });

  it('CORE-56: a failure does not spread along a chain of roots, and removes no exports of the others', async () => {
    const scene = await here.scene();
    await scene.create(root('first', { gives: { out: 'x' }, items: [fakeItem('app')] }));
    await scene.answer('first', 'app');
    await scene.finished('first', 'Succeeded');
    await scene.create(root('second', { takes: { in: 'x' }, gives: { out: 'y' } }));
    await scene.finished('second', 'Succeeded');
    await scene.create(root('third', { takes: { in: 'y' }, gives: { out: 'z' } }));
    await scene.finished('third', 'Succeeded');
    await scene.operation('first', 'reconcile');
    await scene.answer('first', 'app', 'Failed');
    await scene.finished('first', 'Failed', { after: scene.jobs('first')[0] });
    await scene.calm();
    for (const name of ['second', 'third']) {
      expect(scene.jobs(name), name).to.have.length(1);
      expect(scene.installation(name)?.status?.phase).to.equal('Succeeded');
    }
    expect(scene.dataObject('y')?.data).to.equal('second-out');
    expect(scene.dataObject('z')?.data).to.equal('third-out');
  });

  it('CORE-57: with hasNoSiblingExports no successor is started', async () => {
    const scene = await here.scene();
    await connected(scene);
    await scene.patch(installationKind, 'producer', {
      spec: { optimization: { hasNoSiblingExports: true } },
    });
    await scene.again('producer', 'Succeeded');
    await scene.calm();
    expect(scene.jobs('consumer')).to.have.length(1);
  });

  it('CORE-58: a successor that was deleted meanwhile is skipped', async () => {
    const scene = await here.scene();
    await connected(scene);
    await scene.patchStatus(installationKind, 'producer', { dependentsToTrigger: [{ name: 'nobody' }] });
    await scene.until('the list is worked off', () => {
      const all = scene.seen(installationKind, 'producer');
      return all.some((p) => p.status?.dependentsToTrigger) && pending(scene, 'producer') === undefined;
    });
    await scene.calm();
    expect(scene.jobs('producer')).to.have.length(1);
  });

  it('CORE-59: a successor that imports by a target map is started, too', async () => {
    const scene = await here.scene();
    const type = 'landscaper.gardener.cloud/kubernetes-cluster';
    const exports = { targets: [{ name: 'out', target: 't1' }] };
    const more = {
      exports: [{ name: 'out', type: 'target', targetType: type }],
      exportExecutions: [
        { name: 'e', type: 'GoTemplate', template: `exports: {out: {type: ${type}, config: {}}}` },
      ],
    };
    await scene.create(root('producer', { spec: { exports }, more }));
    await scene.finished('producer', 'Succeeded');
    const imports = { targets: [{ name: 'm', targetMap: { x: 't1' } }] };
    await scene.create(
      root('consumer', {
        spec: { imports },
        more: { imports: [{ name: 'm', type: 'targetMap', targetType: type }] },
      }),
    );
    const first = await scene.finished('consumer', 'Succeeded');
    await scene.again('producer', 'Succeeded');
    await scene.finished('consumer', 'Succeeded', { after: first.status?.jobID });
  });

  it('runs each root of a diamond once', async () => {
    const scene = await here.scene();
    const names = ['left', 'right'] as const;
    await scene.create(root('top', { gives: { out: 'x' }, items: [fakeItem('app')] }));
    for (const name of names) await scene.create(root(name, { takes: { in: 'x' }, gives: { out: name } }));
    await scene.create(root('bottom', { takes: { l: 'left', r: 'right' } }));
    await scene.busy('bottom', 'Init', 'AllPredecessorsFinished');
    await scene.answer('top', 'app');
    await scene.finished('bottom', 'Succeeded');
    await scene.calm();
    for (const name of ['top', ...names, 'bottom']) expect(scene.jobs(name), name).to.have.length(1);
  });

  it('CORE-107: touch starts nothing', async () => {
    const scene = await here.scene();
    await connected(scene);
    for (const value of ['true', null]) {
      await scene.annotate(installationKind, 'producer', { [annotations.touch]: value });
    }
    await scene.calm();
    expect(scene.jobs('producer')).to.have.length(1);
    expect(scene.jobs('consumer')).to.have.length(1);
  });

  it('CORE-106: ignore has no effect', async () => {
    const scene = await here.scene();
    await scene.create(web({ annotations: { ...RECONCILE, [annotations.ignore]: 'true' } }));
    await scene.answer('web', 'app');
    await scene.finished('web', 'Succeeded');
  });
});
