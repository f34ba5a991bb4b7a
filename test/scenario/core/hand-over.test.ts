/** Controllers continue with a cluster that other controllers left behind: upstream's, or their own before a restart. */
import { expect } from 'chai';
import { executionKind } from '../../../src/api/kinds/execution.ts';
import { installationKind, type Installation } from '../../../src/api/kinds/installation.ts';
import { FINALIZER, annotations } from '../../../src/api/labels.ts';
import { CustomResourceDefinition } from '../../../src/runtime/core-kinds.ts';
import type { Obj, View } from '../../../src/runtime/types.ts';
import { startCluster, startControllers, type Cluster, type Controllers } from '../../support/cluster.ts';
import { nameOfWrite } from '../../support/faults.ts';
import { strangeTo } from '../../support/original-shape.ts';
import {
  child,
  childB,
  consumer,
  fakeItem,
  mockItem,
  producer,
  root,
  stack,
  web,
} from '../../support/landscape.ts';
import type { Scene } from '../../support/scene.ts';
import { eventually } from '../../support/waiting.ts';

/** The state in which upstream leaves an installation after it has set its context. */
const adopted = (installation: Installation): Installation => ({
  ...installation,
  metadata: { ...installation.metadata, finalizers: [FINALIZER] },
  spec: { ...installation.spec, context: 'default' },
});

describe('controllers that take over', function () {
  this.timeout(20_000);
  let cluster: Cluster;
  let controllers: Controllers | undefined;

  before(async () => {
    cluster = await startCluster();
  });
  after(() => cluster.stop());
  afterEach(async () => {
    await controllers?.stop();
    controllers = undefined;
  });
  const start = async (): Promise<void> => {
    controllers = await startControllers(cluster);
  };

  it('CORE-14: delete a root whose job was never started, with that same job', async () => {
    const scene = await cluster.scene();
    await scene.create(adopted(web({ annotations: {} })));
    await scene.patchStatus(installationKind, 'web', { jobID: 'j1', observedGeneration: 0 });
    await scene.delete('web');
    await start();
    await scene.gone(installationKind, 'web');
    expect(scene.jobs('web')).to.deep.equal(['j1']);
    expect(scene.phases(installationKind, 'web')).to.not.include('Init');
    expect(scene.seen(executionKind, 'web')).to.have.length(0);
  });

  it('CORE-54: start the successors of a root whose end was stored by a process that then died', async () => {
    const scene = await cluster.scene();
    await start();
    await scene.create(producer());
    await scene.finished('producer', 'Succeeded');
    await scene.create(consumer());
    const before = await scene.finished('consumer', 'Succeeded');
    controllers?.faults.arm(scene.ns, {
      what: 'crash-after',
      nth: 1,
      matches: (write) =>
        write.verb === 'merge' && (write.body as { status?: Obj }).status !== undefined && isEnd(write.body),
    });
    await scene.operation('producer', 'reconcile');
    await controllers?.faults.struck(scene.ns);
    await controllers?.crash();
    await start();
    await scene.finished('consumer', 'Succeeded', { after: before.status?.jobID });
    await scene.until(
      'the list is empty',
      () => !scene.installation('producer')?.status?.dependentsToTrigger,
    );
    expect(scene.jobs('consumer')).to.have.length(2);
    expect(scene.jobs('producer')).to.have.length(2);
  });

  it('continue a running job, with a deployer that answered meanwhile', async () => {
    const scene = await cluster.scene();
    await start();
    await scene.create(web({ items: [fakeItem('a'), fakeItem('b', { dependsOn: ['a'] })] }));
    await scene.waiting('web', 'a');
    await scene.busy('web', 'Progressing');
    await controllers?.crash();
    await scene.answer('web', 'a');
    await start();
    await scene.answer('web', 'b');
    await scene.finished('web', 'Succeeded');
    expect(scene.jobs('web')).to.have.length(1);
    expect(scene.items('web')).to.have.length(2);
  });

  it('finish a deletion that continued without them', async () => {
    const scene = await cluster.scene();
    await start();
    await scene.create(web());
    await scene.answer('web', 'app');
    await scene.finished('web', 'Succeeded');
    await scene.delete('web');
    await scene.waiting('web', 'app');
    await controllers?.crash();
    await scene.uninstall('web', 'app');
    await start();
    await scene.empty();
  });

  it('CORE-121: write nothing and read nothing but lists if everything is finished', async function () {
    this.timeout(60_000);
    const scene = await cluster.scene();
    await start();
    const names = Array.from({ length: 30 }, (_, i) => `done-${i}`);
    await Promise.all(names.map((name) => scene.create(root(name, { items: [mockItem('app')] }))));
    await scene.create(root('pattern'));
    for (const name of [...names, 'pattern']) await scene.finished(name, 'Succeeded', { ms: 20_000 });
    await controllers?.stop();
    await putFinished(scene, 'pattern', 970);

    await start();
    await scene.calm();
    const { faults } = controllers as Controllers;
    expect(faults.writes(scene.ns).map(nameOfWrite)).to.deep.equal([]);
    expect(faults.reads.filter((read) => read.includes(scene.ns))).to.deep.equal([]);
    const lists = faults.reads.filter((read) => read.startsWith('list'));
    expect(lists, 'nothing is listed twice').to.deep.equal([...new Set(lists)]);
    expect(lists).to.include('list Installation');
  });

  it('work off a list of successors that upstream left behind', async () => {
    const scene = await cluster.scene();
    await scene.create(adopted(producer({ annotations: {} })));
    await scene.create(adopted(consumer({ annotations: {} })));
    const done = { jobID: 'j1', jobIDFinished: 'j1', phase: 'Succeeded', observedGeneration: 1 };
    await scene.patchStatus(installationKind, 'producer', {
      ...done,
      dependentsToTrigger: [{ name: 'consumer' }],
    });
    await start();
    await scene.until('the consumer has been asked', () => scene.jobs('consumer').length === 1);
    await scene.until(
      'the list is empty',
      () => !scene.installation('producer')?.status?.dependentsToTrigger,
    );
    expect(scene.jobs('producer')).to.deep.equal(['j1']);
  });

  it('never leave anything behind that upstream would reject or drop', async () => {
    const scene = await cluster.scene();
    await start();
    const automaticReconcile = { failedReconcile: { interval: '1h', numberOfReconciles: 1 } };
    await scene.create(producer({ items: [mockItem('app', { export: { key: 'value' } })] }));
    await scene.finished('producer', 'Succeeded');
    await scene.create(
      consumer({ items: [fakeItem('app', { timeout: '90s' })], spec: { automaticReconcile } }),
    );
    await scene.answer('consumer', 'app', 'Failed');
    await scene.until('the retry', () => scene.jobs('consumer').length === 2);
    await scene.create(
      stack({ children: [child('a', { items: [fakeItem('app')], gives: { out: 'link' } }), childB()] }),
    );
    const a = await scene.until('a', () => scene.child('stack', 'a'));
    await scene.waiting(a.metadata.name, 'app');
    await scene.busy('stack', 'Progressing');
    await scene.answer(a.metadata.name, 'app');
    await scene.finished('stack', 'Succeeded');
    await scene.operation('consumer', 'interrupt');
    await scene.finished('consumer', 'Failed', { after: scene.jobs('consumer')[0] });
    for (const name of ['consumer', 'stack']) await scene.delete(name);
    await scene.waiting(a.metadata.name, 'app');
    await scene.answer(a.metadata.name, 'app', 'DeleteFailed');
    await scene.until(
      'a failed deletion',
      () => scene.installation('stack')?.status?.phase === 'DeleteFailed',
    );

    const versions = cluster.history(scene.ns).map(({ object }) => object);
    expect(new Set(versions.map(({ kind }) => kind))).to.include.keys(
      'Installation',
      'Execution',
      'DeployItem',
    );
    const strange = versions.flatMap((object) => strangeTo(object).map((what) => `${object.kind} ${what}`));
    expect([...new Set(strange)]).to.deep.equal([]);
    const ours = versions.flatMap(
      ({ metadata: { annotations: a = {}, labels: l = {}, finalizers = [] } }) => [
        ...[...Object.keys(a), ...Object.keys(l)].filter(
          (key) => !/(^|\.)landscaper\.gardener\.cloud\//.test(key),
        ),
        ...finalizers.filter((name) => name !== FINALIZER),
      ],
    );
    // A note for ourselves. Upstream keeps it, as it keeps every annotation, and ignores it.
    const unknown = new Set(ours.filter((key) => key !== annotations.interruptedJob));
    expect([...unknown], 'keys that the original does not know').to.deep.equal([]);
  });

  it('CORE-15: keep fields that they do not know', async () => {
    const scene = await cluster.scene();
    const name = 'installations.landscaper.gardener.cloud';
    const path = '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/future';
    const change = (op: 'add' | 'remove') =>
      cluster.client.send({
        verb: 'json',
        kind: CustomResourceDefinition,
        key: name,
        ops: [{ op, path, ...(op === 'add' && { value: { type: 'integer' } }) }],
      });
    /** A real server needs time to serve a new CRD. */
    const isKnown = async (): Promise<boolean> => {
      const { spec, ...rest } = web();
      const object = {
        ...rest,
        metadata: { name: 'probe', namespace: scene.ns },
        spec: { ...spec, future: 1 },
      };
      const made = await cluster.client.send({
        verb: 'create',
        kind: installationKind,
        object,
        isDryRun: true,
      });
      return 'future' in made.spec;
    };
    await change('add');
    try {
      await eventually('the server knows the field', isKnown);
      await start();
      await scene.create(web({ annotations: {}, spec: { future: 1 } }));
      const made = await scene.until('the finalizer', () => {
        const found = scene.installation('web');
        return found?.metadata.finalizers?.includes(FINALIZER) ? found : undefined;
      });
      expect(made.spec).to.have.property('future', 1);
      await scene.annotate(installationKind, 'web', { [annotations.operation]: 'reconcile' });
      await scene.answer('web', 'app');
      expect((await scene.finished('web', 'Succeeded')).spec).to.have.property('future', 1);
    } finally {
      // Later tests may use the same server.
      await change('remove');
      await eventually('the server does not know the field', async () => !(await isKnown()));
    }
  });
});

/** Copies of a finished root, as controllers would have left them behind. */
async function putFinished(scene: Scene, name: string, count: number): Promise<void> {
  const { metadata, spec, status } = scene.installation(name) as View<Installation>;
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let i = next++; i < count; i = next++) {
      const { labels, annotations: noted, finalizers } = metadata;
      const copy = { name: `${name}-${i}`, labels, annotations: noted, finalizers };
      await scene.create({ ...root(copy.name), metadata: copy, spec } as Installation);
      await scene.patchStatus(installationKind, copy.name, status ?? {});
    }
  };
  await Promise.all(Array.from({ length: 16 }, worker));
  const isSeen = ({ status: seen }: View<Installation>): boolean => seen?.jobIDFinished !== undefined;
  await scene.until('they are in view', () => scene.installations.filter(isSeen).length > count);
}

const isEnd = (body: object): boolean => {
  const { status } = body as { status: { jobIDFinished?: string; dependentsToTrigger?: unknown } };
  return status.jobIDFinished !== undefined && status.dependentsToTrigger !== undefined;
};
