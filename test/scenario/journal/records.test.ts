/** The journal: one record for each job of a root, in all circumstances, at the price of one write. */
import { expect } from 'chai';
import { defaultJournal, type JournalSettings } from '../../../src/api/journal.ts';
import { dataObjectKind } from '../../../src/api/kinds/dataobject.ts';
import { jobRecordKind, type JobRecord } from '../../../src/api/kinds/jobrecord.ts';
import { installationKind } from '../../../src/api/kinds/installation.ts';
import { annotations } from '../../../src/api/labels.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { ensureCrds } from '../../../src/landscape/ensure-crds.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import type { Write } from '../../../src/runtime/types.ts';
import {
  isRealServer,
  startCluster,
  startControllers,
  type Cluster,
  type Controllers,
} from '../../support/cluster.ts';
import { child, consumer, dataObject, mockItem, producer, root } from '../../support/landscape.ts';
import type { Scene } from '../../support/scene.ts';
import { skip } from '../../support/skip.ts';

const settings: JournalSettings = { ...defaultJournal, jobsPerRoot: 3 };
const isRecord = (write: Write): boolean => write.kind.kind === 'JobRecord';

/** The records of a namespace, by number. */
async function recordsIn({ cluster, ns }: Scene): Promise<readonly JobRecord[]> {
  const found: JobRecord[] = [];
  for await (const page of cluster.client.list<JobRecord>(jobRecordKind, { namespace: ns }))
    found.push(...page.items);
  return found.sort((a, b) => a.spec.number - b.spec.number);
}

/** Waits until a job is recorded. Records are not among the objects that a scene observes. */
async function recorded(scene: Scene, name: string): Promise<JobRecord> {
  const jobID = scene.installation(name)?.status?.jobIDFinished;
  for (;;) {
    const found = (await recordsIn(scene)).find(({ spec }) => spec.jobID === jobID);
    if (found) return found;
    scene.cluster.clock.advance(500);
  }
}

describe('the journal', function () {
  this.timeout(180_000);
  let cluster: Cluster;
  let controllers: Controllers;
  const start = () => startControllers(cluster, { config: { journal: settings } });

  before(async () => {
    cluster = await startCluster();
    await ensureCrds(cluster.client, systemClock, silentLogger, { hasJournal: true });
    controllers = await start();
  });
  after(async () => {
    await controllers.stop();
    await cluster.stop();
  });

  it('records who requested a job, what it worked on, and how its parts ended, with one write', async () => {
    const scene = await cluster.scene();
    await scene.create(dataObject('size', 4711));
    const parts = {
      takes: { size: 'size' },
      children: [
        child('a', { gives: { out: 'link' } }),
        child('b', { takes: { in: 'link' }, items: [mockItem('app')] }),
      ],
    };
    const web = root('web', parts);
    const object = { ...web, metadata: { ...web.metadata, namespace: scene.ns } };
    const manager = 'argocd';
    await cluster.client.send({ verb: 'apply', kind: installationKind, object, manager, force: false });
    await scene.finished('web', 'Succeeded');
    const { metadata, spec } = await recorded(scene, 'web');
    expect(spec).to.deep.include({ number: 1, result: 'Succeeded' });
    expect(spec.request).to.deep.equal({ reason: 'Requested', manager });
    expect(spec.installation).to.deep.equal(scene.installation('web')?.spec);
    expect(spec.blueprint?.digest).to.match(/^sha256:/);
    const size = scene.dataObject('size')?.metadata;
    expect(spec.imports).to.deep.equal([
      { name: 'size', kind: 'DataObject', object: 'size', version: `${size?.uid}/${size?.generation}` },
    ]);
    expect(
      spec.parts?.map(({ kind, title, phase, waitedFor = [] }) => [kind, title, phase, ...waitedFor]),
    ).to.deep.equal([
      ['Installation', 'a', 'Succeeded'],
      ['Installation', 'b', 'Succeeded', 'a'],
      ['Execution', scene.child('web', 'b')?.metadata.name, 'Succeeded'],
      ['DeployItem', 'app', 'Succeeded'],
    ]);
    expect(metadata.ownerReferences?.[0]?.uid).to.equal(spec.root.uid);
    expect(controllers.faults.writes(scene.ns).filter(isRecord)).to.have.length(1);
    expect(JSON.stringify(spec), 'imported values').not.to.include('4711');
    expect(JSON.stringify(spec), 'hashes of imported values').not.to.include(
      scene.installation('web')?.status?.importsHash,
    );
  });

  it('records what changed since the last job, and numbers the jobs', async () => {
    const scene = await cluster.scene();
    await scene.create(dataObject('size', 1));
    await scene.create(root('web', { takes: { size: 'size' }, items: [mockItem('app')] }));
    await scene.finished('web', 'Succeeded');
    await recorded(scene, 'web');
    await scene.again('web', 'Succeeded');
    const same = await recorded(scene, 'web');
    expect([same.spec.number, same.spec.changes, same.spec.importsChanged]).to.deep.equal([
      2,
      undefined,
      false,
    ]);
    await scene.patch(dataObjectKind, 'size', { data: 2 });
    await scene.patch(installationKind, 'web', {
      spec: { exports: {}, importDataMappings: { size: '(( size ))' } },
    });
    await scene.again('web');
    const changed = await recorded(scene, 'web');
    expect(changed.spec.number).to.equal(3);
    expect(changed.spec.changes).to.deep.equal(['spec', 'imports']);
  });

  it('names the root whose end started a job', async () => {
    const scene = await cluster.scene();
    await scene.create(producer());
    await scene.finished('producer', 'Succeeded');
    await scene.create(consumer());
    const first = await scene.finished('consumer', 'Succeeded');
    await scene.again('producer', 'Succeeded');
    await scene.finished('consumer', 'Succeeded', { after: first.status?.jobID });
    const { request } = (await recorded(scene, 'consumer')).spec;
    expect(request).to.include({ reason: 'Predecessor', predecessor: 'producer' });
    expect(scene.installation('consumer')?.metadata.annotations).not.to.have.property(
      annotations.requestedBy,
    );
  });

  it('records scheduled retries and the causes of failures', async () => {
    const scene = await cluster.scene();
    const automaticReconcile = { failedReconcile: { numberOfReconciles: 1, interval: '10s' } };
    await scene.create(
      root('web', { items: [mockItem('app', { phase: 'Failed' })], spec: { automaticReconcile } }),
    );
    const first = await scene.finished('web', 'Failed');
    await scene.finished('web', 'Failed', { after: first.status?.jobID });
    const { spec } = await recorded(scene, 'web');
    expect(spec.request).to.deep.equal({ reason: 'RetryAfterFailure', attempt: 1 });
    expect(spec.error?.message).to.be.a('string');
    expect(spec.parts?.find(({ kind }) => kind === 'DeployItem')?.phase).to.equal('Failed');
  });

  it('keeps a fixed number of records, and replaces the oldest', async () => {
    const scene = await cluster.scene();
    await scene.create(root('web', { items: [mockItem('app')] }));
    await scene.finished('web', 'Succeeded');
    await recorded(scene, 'web');
    for (let job = 2; job <= 5; job++) {
      await scene.again('web', 'Succeeded');
      await recorded(scene, 'web');
    }
    expect((await recordsIn(scene)).map(({ spec }) => spec.number)).to.deep.equal([3, 4, 5]);
    const writes = controllers.faults.writes(scene.ns).filter(isRecord);
    expect(writes.map(({ verb }) => verb)).to.deep.equal([
      'create',
      'create',
      'create',
      'replace',
      'replace',
    ]);
  });

  it('deletes records that are too old', async () => {
    const scene = await cluster.scene();
    await scene.create(root('web'));
    await scene.finished('web', 'Succeeded');
    await recorded(scene, 'web');
    for (let days = 0; days < 92; days++) cluster.clock.advance(86_400_000);
    while ((await recordsIn(scene)).length > 0) cluster.clock.advance(1_000);
  });

  for (const what of ['conflict', 'too-many', 'server-error', 'lost', 'reset'] as const) {
    it(`records a job once when the write of its record fails (${what})`, async () => {
      const scene = await cluster.scene();
      controllers.faults.arm(scene.ns, { what, nth: 1, matches: isRecord });
      await scene.create(root('web'));
      await scene.finished('web', 'Succeeded');
      const { spec } = await recorded(scene, 'web');
      expect(spec.number).to.equal(1);
      expect(await recordsIn(scene)).to.have.length(1);
    });
  }

  it('deletes the records with the root', async function () {
    if (isRealServer()) return skip(this, 'without kube-controller-manager nothing deletes dependents');
    const scene = await cluster.scene();
    await scene.create(root('web'));
    await scene.finished('web', 'Succeeded');
    await recorded(scene, 'web');
    await scene.delete('web');
    await scene.gone(installationKind, 'web');
    while ((await recordsIn(scene)).length > 0) cluster.clock.advance(1_000);
  });

  for (const what of ['crash-before', 'crash-after'] as const) {
    it(`records a job once if the process ends at the write of its record (${what})`, async () => {
      const scene = await cluster.scene();
      controllers.faults.arm(scene.ns, { what, nth: 1, matches: isRecord });
      await scene.create(root('web', { items: [mockItem('app')] }));
      await scene.finished('web', 'Succeeded');
      await controllers.faults.struck(scene.ns);
      await controllers.crash();
      controllers = await start();
      const { spec } = await recorded(scene, 'web');
      expect(spec.request.reason, 'known from the annotation').to.equal('Requested');
      expect(spec.parts?.map(({ kind }) => kind)).to.deep.equal(['Execution', 'DeployItem']);
      await scene.again('web', 'Succeeded');
      await recorded(scene, 'web');
      expect((await recordsIn(scene)).map((one) => one.spec.number)).to.deep.equal([1, 2]);
    });
  }
});
