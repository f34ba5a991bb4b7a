/** Init: what an installation checks and prepares before it starts anything below it. */
import { expect } from 'chai';
import { installationKind, type Installation } from '../../../src/api/kinds/installation.ts';
import { API_VERSION, FINALIZER, annotations, labels } from '../../../src/api/labels.ts';
import { contextKind } from '../../../src/api/kinds/context.ts';
import { objectName } from '../../../src/dataflow/scope.ts';
import type { View } from '../../../src/runtime/types.ts';
import { useCluster } from '../../support/cluster.ts';
import {
  blueprint,
  child,
  childA,
  childB,
  consumer,
  dataObject,
  fakeItem,
  producer,
  root,
  stack,
  target,
  web,
} from '../../support/landscape.ts';
import type { Scene } from '../../support/scene.ts';

const IDLE = { annotations: {} };
const condition = (installation: View<Installation>, type: string) =>
  installation.status?.conditions?.find((c) => c.type === type);

/** Creates `greeting` and both roots, and runs the first job of the producer. */
async function produced(scene: Scene): Promise<void> {
  await scene.create(producer());
  await scene.finished('producer', 'Succeeded');
}

describe('the start of a job', () => {
  const here = useCluster();

  it('CORE-16: fails if the producer never ran', async () => {
    const scene = await here.scene();
    await scene.create(producer(IDLE));
    await scene.until('the producer', () => scene.installation('producer')?.metadata.finalizers);
    await scene.create(consumer());
    const { status } = await scene.finished('consumer', 'Failed');
    expect(status?.lastError?.reason).to.equal('AllPredecessorsSucceeded');
  });

  it('CORE-17: waits, without a request, for a running producer, and continues after it has succeeded', async () => {
    const scene = await here.scene();
    await scene.create(producer({ items: [fakeItem('app')] }));
    await scene.waiting('producer', 'app');
    await scene.create(consumer());
    const { status } = await scene.busy('consumer', 'Init', 'AllPredecessorsFinished');
    expect(status?.lastError?.codes).to.include('ERR_FOR_INFO_ONLY');
    expect(status?.lastError?.message).to.contain('producer');
    const before = scene.seen(installationKind, 'consumer').length;
    await scene.calm();
    expect(scene.seen(installationKind, 'consumer')).to.have.length(before);
    await scene.answer('producer', 'app');
    await scene.finished('consumer', 'Succeeded');
    await scene.calm();
    expect(scene.jobs('consumer'), 'a consumer that waits needs no second job').to.have.length(1);
  });

  it('CORE-18: waits for a producer with a requested job', async () => {
    const scene = await here.scene();
    await scene.create(producer({ items: [fakeItem('app')] }));
    await scene.answer('producer', 'app');
    await scene.finished('producer', 'Succeeded');
    await scene.operation('producer', 'reconcile');
    await scene.create(consumer());
    await scene.busy('consumer', 'Init', 'AllPredecessorsFinished');
    await scene.answer('producer', 'app');
    await scene.finished('consumer', 'Succeeded');
    expect(scene.jobs('producer')).to.have.length(2);
  });

  it('CORE-19: a child waits for a sibling that has not started its own job yet', async () => {
    const scene = await here.scene();
    await scene.create(stack({ children: [childA({ items: [fakeItem('app')] }), childB()] }));
    const a = await scene.until('a', () => scene.child('stack', 'a')?.metadata.name);
    await scene.answer(a, 'app');
    await scene.finished('stack', 'Succeeded');
    await scene.operation('stack', 'reconcile');
    await scene.waiting(a, 'app');
    const b = scene.child('stack', 'b')?.metadata.name ?? '';
    const { status } = await scene.busy(b, 'Init', 'AllPredecessorsFinished');
    expect(status?.jobID).to.equal(scene.installation('stack')?.status?.jobID);
    await scene.answer(a, 'app');
    await scene.finished('stack', 'Succeeded', { after: scene.jobs('stack')[0] });
  });

  it('CORE-20: a child fails if the sibling that it imports from has failed', async () => {
    const scene = await here.scene();
    await scene.create(stack({ children: [childA({ items: [fakeItem('app')] }), childB()] }));
    const a = await scene.until('a', () => scene.child('stack', 'a')?.metadata.name);
    await scene.answer(a, 'app', 'Failed');
    await scene.finished('stack', 'Failed');
    const b = scene.child('stack', 'b');
    expect(b?.status?.phase).to.equal('Failed');
    expect(b?.status?.lastError?.reason).to.equal('AllPredecessorsSucceeded');
  });

  it('CORE-21: with hasNoSiblingImports the producer does not matter', async () => {
    const scene = await here.scene();
    await scene.create(producer(IDLE));
    await scene.create(dataObject('greeting', 'hi'));
    await scene.create(consumer({ spec: { optimization: { hasNoSiblingImports: true } } }));
    await scene.finished('consumer', 'Succeeded');
  });

  it('CORE-22: fails if an import is missing, and does not retry', async () => {
    const scene = await here.scene();
    const imports = { targets: [{ name: 'cluster', target: 'nowhere' }] };
    const type = `${API_VERSION.split('/')[0] ?? ''}/kubernetes-cluster`;
    const more = { imports: [{ name: 'cluster', type: 'target', targetType: type }] };
    await scene.create(root('web', { spec: { imports }, more }));
    const { status } = await scene.finished('web', 'Failed');
    expect(status?.lastError).to.deep.include({ operation: 'init', reason: 'ImportsSatisfied' });
    expect(status?.lastError?.message).to.match(/"nowhere" not found \(import "cluster"\)$/m);
    await scene.calm();
    expect(scene.jobs('web')).to.have.length(1);
  });

  it('stays failed when the missing import is created, and names the command that starts another job', async () => {
    const scene = await here.scene();
    const imports = { targets: [{ name: 'cluster', target: 'late' }] };
    const type = `${API_VERSION.split('/')[0] ?? ''}/kubernetes-cluster`;
    const more = { imports: [{ name: 'cluster', type: 'target', targetType: type }] };
    await scene.create(root('web', { spec: { imports }, more }));
    const { status } = await scene.finished('web', 'Failed');
    const command = `installations reconcile web -n ${scene.ns}, or annotate it with ${annotations.operation}=reconcile`;
    expect(status?.lastError?.message)
      .to.contain('no other job starts by itself, even when the cause is fixed')
      .and.contain(command);
    await scene.create(target('late'));
    await scene.calm();
    expect(scene.jobs('web')).to.have.length(1);
    await scene.operation('web', 'reconcile'); // The command removes the annotation and sets it again.
    await scene.finished('web', 'Succeeded', { after: status?.jobID });
  });

  it('CORE-23: fails if the context does not exist', async () => {
    const scene = await here.scene();
    await scene.create(web({ spec: { context: 'missing' } }));
    const { status } = await scene.finished('web', 'Failed');
    expect(status?.lastError).to.deep.include({ operation: 'InitPrerequisites', reason: 'CalculateContext' });
    expect(status?.lastError?.message).to.contain('missing');
  });

  it('CORE-24: fails if neither context nor installation names a repository for the component', async () => {
    const scene = await here.scene();
    const ref = { componentName: 'example.org/c', version: '1.0.0' };
    await scene.create(web({ spec: { componentDescriptor: { ref } } }));
    const { status } = await scene.finished('web', 'Failed');
    expect(status?.lastError?.message).to.contain('RepositoryContextMissing');
  });

  it('CORE-25: reads imports again if their producer starts a job while they are read', async () => {
    const scene = await here.scene();
    await produced(scene);
    const { faults } = here.controllers;
    faults.arm(scene.ns, {
      what: 'hold',
      nth: 1,
      matches: ({ verb, kind }) => verb === 'create' && kind.kind === 'Execution',
    });
    await scene.create(consumer({ items: [fakeItem('app')] }));
    await faults.struck(scene.ns);
    const producerJob = await scene.again('producer', 'Succeeded');
    faults.release(scene.ns);
    const { status } = await scene.busy('consumer', 'Init', 'predecessorJobs');
    expect(status?.lastError?.codes).to.include('ERR_FOR_INFO_ONLY');
    expect(scene.execution('consumer')?.status?.jobID).to.equal(undefined);
    await scene.answer('consumer', 'app');
    await scene.finished('consumer', 'Succeeded');
    const read = scene.dataObject(objectName('Inst.consumer', 'text'));
    expect(read?.data).to.equal('hello');
    expect(scene.dataObject('greeting')?.metadata.labels?.[labels.dataJobId]).to.equal(
      producerJob.status?.jobID,
    );
  });

  it('CORE-27: deletes the old export before anything else in the job; the new one carries the job id', async () => {
    const scene = await here.scene();
    await scene.create(producer({ items: [fakeItem('app')] }));
    await scene.answer('producer', 'app');
    await scene.finished('producer', 'Succeeded');
    expect(scene.dataObject('greeting')?.data).to.equal('hello');
    await scene.operation('producer', 'reconcile');
    await scene.waiting('producer', 'app');
    expect(scene.dataObject('greeting')).to.equal(undefined);
    await scene.answer('producer', 'app');
    const { status } = await scene.finished('producer', 'Succeeded', { after: scene.jobs('producer')[0] });
    expect(scene.dataObject('greeting')?.metadata.labels?.[labels.dataJobId]).to.equal(status?.jobID);
  });

  it('CORE-28: fails with the chain of causes if a template is broken', async () => {
    const scene = await here.scene();
    const more = { deployExecutions: [{ name: 'd', type: 'GoTemplate', template: '{{' }] };
    await scene.create(root('web', { more }));
    const failed = await scene.finished('web', 'Failed');
    const { lastError } = failed.status ?? {};
    expect(lastError).to.deep.include({ operation: 'handlePhaseInit', reason: 'CreateImportsAndSubobjects' });
    expect(lastError?.message).to.match(
      /^Op: CreateImportsAndSubobjects - Reason: ReconcileExecution - Message: Op: RenderDeployItemTemplates/,
    );
    expect(condition(failed, 'ReconcileExecution')).to.deep.include({
      status: 'False',
      reason: 'TemplatingFailed',
    });
    await scene.setBlueprint('web', blueprint({ items: [fakeItem('app')] }));
    await scene.operation('web', 'reconcile');
    await scene.answer('web', 'app');
    const healed = await scene.finished('web', 'Succeeded', { after: failed.status?.jobID });
    expect(condition(healed, 'ReconcileExecution')?.status).to.equal('True');
  });

  it('CORE-29: children have parent, template, finalizer, owner and context, and start only after all of them exist', async () => {
    const scene = await here.scene();
    const team = {
      apiVersion: API_VERSION,
      kind: 'Context',
      metadata: { name: 'team', namespace: scene.ns },
    };
    await here.cluster.client.send({ verb: 'create', kind: contextKind, object: team });
    await scene.create(stack({ spec: { context: 'team' } }));
    const parent = await scene.finished('stack', 'Succeeded');
    for (const name of ['a', 'b']) {
      const { metadata, spec } = scene.child('stack', name)!;
      expect(metadata.name).to.match(new RegExp(`^${name}-[a-z0-9]{5}$`));
      expect(metadata.labels?.[labels.encompassedBy]).to.equal('stack');
      expect(metadata.finalizers).to.include(FINALIZER);
      expect(metadata.ownerReferences?.[0]).to.deep.include({
        controller: true,
        name: 'stack',
        uid: parent.metadata.uid,
      });
      expect(spec.context).to.equal('team');
      expect(scene.seen(installationKind, metadata.name)[0]?.status?.jobID, 'job at creation').to.equal(
        undefined,
      );
    }
    const active = parent.status?.subInstCache?.activeSubs ?? [];
    expect(active.map((s) => s.specName)).to.have.members(['a', 'b']);
    expect(active.map((s) => s.objectName)).to.have.members(
      scene.children('stack').map((c) => c.metadata.name),
    );
  });

  it('CORE-30: a child that was removed by force is recreated under another name', async () => {
    const scene = await here.scene();
    await scene.create(stack());
    await scene.finished('stack', 'Succeeded');
    const old = scene.child('stack', 'b')?.metadata.name ?? '';
    await scene.force(installationKind, old);
    await scene.again('stack', 'Succeeded');
    expect(scene.child('stack', 'b')?.metadata.name).to.match(/^b-/);
    expect(scene.child('stack', 'b')?.metadata.name).to.not.equal(old);
  });

  it('CORE-31: children with cyclic imports fail the job with the cycle in the message; none is created or deleted', async () => {
    const scene = await here.scene();
    const circle = [
      child('a', { takes: { q: 'back' }, gives: { out: 'link' } }),
      child('b', { takes: { in: 'link' }, gives: { o: 'back' } }),
    ];
    await scene.create(stack({ children: circle }));
    const { status } = await scene.finished('stack', 'Failed');
    expect(status?.lastError?.codes).to.include('ERR_CYCLIC_DEPENDENCIES');
    expect(status?.lastError?.message).to.match(/a -\{depends_on\}-> b|b -\{depends_on\}-> a/);
    expect(scene.children('stack')).to.have.length(0);

    await scene.setBlueprint('stack', blueprint({ children: [childA(), childB()] }));
    await scene.again('stack', 'Succeeded');
    const names = scene.children('stack').map((c) => c.metadata.name);
    await scene.setBlueprint('stack', blueprint({ children: circle }));
    await scene.again('stack', 'Failed');
    expect(scene.children('stack').map((c) => c.metadata.name)).to.have.members(names);
    await scene.setBlueprint('stack', blueprint({ children: [childA(), childB()] }));
    await scene.again('stack', 'Succeeded');
    expect(scene.children('stack').map((c) => c.metadata.name)).to.have.members(names);
  });

  it('CORE-32: two children with the same export fail the job', async () => {
    const scene = await here.scene();
    await scene.create(stack({ children: [childA(), child('b', { gives: { out: 'link' } })] }));
    const { status } = await scene.finished('stack', 'Failed');
    expect(status?.lastError?.message).to.match(/export 'link' is already exported by/);
  });

  it('CORE-33: does not overwrite an export that belongs to another installation', async () => {
    const scene = await here.scene();
    await scene.create(root('other', IDLE));
    const other = await scene.until('the other', () => scene.installation('other'));
    const object = dataObject('greeting', 'mine');
    object.metadata.ownerReferences = [
      { apiVersion: API_VERSION, kind: 'Installation', name: 'other', uid: other.metadata.uid ?? '' },
    ];
    await scene.create(object);
    await scene.create(producer());
    const failed = await scene.finished('producer', 'Failed');
    expect(failed.status?.lastError?.message).to.contain(
      'conflicts with existing dataobject owned by another installation',
    );
    expect(scene.dataObject('greeting')?.data).to.equal('mine');
    expect(condition(failed, 'CreateExports')).to.include({ status: 'False', reason: 'CreateDataObjects' });
  });

  it('CORE-33: names an export that the server rejects, with the reason', async () => {
    const scene = await here.scene();
    await scene.create(root('producer', { gives: { out: 'two words' } }));
    const failed = await scene.finished('producer', 'Failed');
    expect(failed.status?.lastError?.message).to.match(
      /^unable to create or update data object \S+ for export two words: .*label/,
    );
    expect(condition(failed, 'CreateExports')).to.include({ status: 'False', reason: 'CreateDataObjects' });
  });

  it('a target import whose value is not a target fails the job, and the next job removes the condition', async () => {
    const scene = await here.scene();
    await scene.create(target('cluster'));
    const bound = (bindings: string) => ({
      imports: [{ name: 'cluster', targetType: 'kubernetes-cluster' }],
      importExecutions: [{ name: 'i', type: 'GoTemplate', template: `bindings: ${bindings}` }],
    });
    const imports = { targets: [{ name: 'cluster', target: 'cluster' }] };
    await scene.create(root('consumer', { spec: { imports }, more: bound('{cluster: null}') }));
    const failed = await scene.finished('consumer', 'Failed');
    expect(failed.status?.lastError?.message).to.contain(
      'import "cluster" is of type target, but its value is not a target',
    );
    expect(condition(failed, 'CreateImports')).to.include({ status: 'False', reason: 'CreateTargets' });

    await scene.setBlueprint('consumer', blueprint({ more: bound('{}') }));
    await scene.operation('consumer', 'reconcile');
    const next = await scene.finished('consumer', 'Succeeded', { after: failed.status?.jobID });
    expect(condition(next, 'CreateImports')).to.equal(undefined);
  });

  it('CORE-34: without deploy items the old ones are uninstalled', async () => {
    const scene = await here.scene();
    await scene.create(web());
    await scene.answer('web', 'app');
    await scene.finished('web', 'Succeeded');
    await scene.setBlueprint('web', blueprint({}));
    await scene.operation('web', 'reconcile');
    await scene.uninstall('web', 'app');
    await scene.finished('web', 'Succeeded', { after: scene.jobs('web')[0] });
    expect(scene.items('web')).to.have.length(0);
    expect(scene.execution('web')?.status?.phase).to.equal('Succeeded');
  });

  it('CORE-35: keeps labels and annotations that users set on a child', async () => {
    const scene = await here.scene();
    await scene.create(stack());
    await scene.finished('stack', 'Succeeded');
    const name = scene.child('stack', 'a')?.metadata.name ?? '';
    const mine = { labels: { team: 'x' }, annotations: { team: 'x' } };
    await scene.patch(installationKind, name, { metadata: mine });
    await scene.setBlueprint(
      'stack',
      blueprint({ children: [childA({ spec: { importDataMappings: {} } }), childB()] }),
    );
    await scene.again('stack', 'Succeeded');
    expect(scene.child('stack', 'a')?.metadata.labels?.['team']).to.equal('x');
    expect(scene.child('stack', 'a')?.metadata.annotations?.['team']).to.equal('x');
    expect(scene.child('stack', 'a')?.metadata.name).to.equal(name);
  });

  it('CORE-122: two exporters of the same name fail the installations that import it, and no others', async () => {
    const scene = await here.scene();
    await scene.create(producer());
    await scene.finished('producer', 'Succeeded');
    await scene.create(root('rival', { gives: { out: 'greeting' }, ...IDLE }));
    await scene.create(root('bystander'));
    await scene.finished('bystander', 'Succeeded');
    await scene.create(consumer());
    const { status } = await scene.finished('consumer', 'Failed');
    expect(status?.lastError?.codes).to.include('ERR_CONFIGURATION_PROBLEM');
    expect(status?.lastError?.message).to.contain('producer').and.to.contain('rival');
  });

  it('CORE-26: a webhook that does not answer does not fail the job', async () => {
    const scene = await here.scene();
    here.controllers.faults.arm(scene.ns, {
      what: 'webhook-down',
      nth: 1,
      matches: ({ verb, kind }) => verb === 'create' && kind.kind === 'Execution',
    });
    await scene.create(web());
    const { status } = await scene.busy('web', 'Init', 'WriteExecution');
    expect(status?.lastError?.codes).to.include('ERR_WEBHOOK');
    await scene.answer('web', 'app');
    await scene.finished('web', 'Succeeded');
    expect(scene.jobs('web')).to.have.length(1);
  });
});
