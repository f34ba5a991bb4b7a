/** Simulated workloads, which become ready although nothing runs: scenario API-188, on the embedded server only. */
import { expect } from 'chai';
import { conditionOf, deployment } from './fixtures.ts';
import { skipUnlessEmbedded, useSubject } from './subject.ts';
import type { Json } from './subject.ts';
import { stopwatch } from '../../support/waiting.ts';

describe('simulated workloads', () => {
  const s = useSubject({ simulate: true });
  let ns: string;

  beforeEach(async function () {
    skipUnlessEmbedded(this, s);
    ns = await s.namespace();
  });

  const apps = (plural: string): string => `/apis/apps/v1/namespaces/${ns}/${plural}`;
  const pods = (): string => `/api/v1/namespaces/${ns}/pods`;
  const troubled = (kind: string): Json => {
    const body = deployment('d');
    body.spec.template.metadata.annotations = { 'espalier.dev/simulate': kind };
    return body;
  };

  it('API-188: a deployment becomes available through a replica set and pods', async () => {
    await s.post(apps('deployments'), deployment('d', { spec: { replicas: 3 } }));
    const { body } = await s.eventually(
      `${apps('deployments')}/d`,
      (r) => r.body.status.availableReplicas === 3,
    );
    expect(body.status).to.include({
      observedGeneration: body.metadata.generation,
      replicas: 3,
      updatedReplicas: 3,
      readyReplicas: 3,
    });
    expect(conditionOf(body, 'Available')).to.include({ status: 'True', reason: 'MinimumReplicasAvailable' });
    expect(conditionOf(body, 'Progressing')).to.include({ status: 'True', reason: 'NewReplicaSetAvailable' });
    const sets = (await s.get(apps('replicasets'))).body.items;
    expect(sets).to.have.length(1);
    expect(sets[0].metadata.ownerReferences[0]).to.include({
      kind: 'Deployment',
      name: 'd',
      controller: true,
    });
    expect((await s.get(pods())).body.items).to.have.length(3);
  });

  it('API-188: a new template is rolled out, and the old pods are deleted', async () => {
    await s.post(apps('deployments'), deployment('d'));
    await s.eventually(`${apps('deployments')}/d`, (r) => r.body.status.availableReplicas === 1);
    await s.strategic(`${apps('deployments')}/d`, {
      spec: { template: { spec: { containers: [{ name: 'c', image: 'nginx:2' }] } } },
    });
    await s.eventually(
      `${apps('deployments')}/d`,
      (r) =>
        r.body.status.observedGeneration === 2 &&
        r.body.status.updatedReplicas === 1 &&
        r.body.status.replicas === 1,
    );
    const { body } = await s.eventually(pods(), (r) => r.body.items.length === 1);
    expect(body.items[0].spec.containers[0].image).to.equal('nginx:2');
    expect(body.items[0].status.podIPs).to.deep.equal([{ ip: body.items[0].status.podIP }]);
    // A rollback uses the old replica set again, however the template is written.
    await s.strategic(`${apps('deployments')}/d`, {
      spec: { template: { spec: { containers: [{ image: 'nginx:1', name: 'c' }] } } },
    });
    await s.eventually(
      pods(),
      (r) => r.body.items.length === 1 && r.body.items[0].spec.containers[0].image === 'nginx:1',
    );
    expect((await s.get(apps('replicasets'))).body.items).to.have.length(2);
  });

  for (const kind of ['never-ready', 'crash-loop'])
    it(`API-188: ${kind} delays a deployment`, async () => {
      await s.post(apps('deployments'), troubled(kind));
      const { body } = await s.eventually(
        `${apps('deployments')}/d`,
        (r) => r.body.status.unavailableReplicas === 1 && r.body.status.replicas === 1,
      );
      expect(conditionOf(body, 'Available').status).to.equal('False');
      await s.eventually(pods(), (r) => r.body.items[0]?.status.phase === 'Running');
      expect((await s.get(`${apps('deployments')}/d`)).body.status).to.not.have.property('readyReplicas');
    });

  it('API-188: an annotation delays readiness', async () => {
    const elapsed = stopwatch();
    await s.post(apps('deployments'), troubled('delay=1s'));
    const ready = await s.eventually(`${apps('deployments')}/d`, (r) => r.body.status.readyReplicas === 1);
    expect(ready.body.status.readyReplicas).to.equal(1);
    expect(elapsed()).to.be.at.least(1000);
  });

  const template = (name: string): Json => deployment(name).spec.template;

  const createDatabase = (spec: Json): Promise<unknown> =>
    s.post(apps('statefulsets'), {
      metadata: { name: 'db' },
      spec: { serviceName: 'db', replicas: 2, selector: { matchLabels: { app: 'db' } }, ...spec },
    });

  it('API-188: a stateful set numbers its pods', async () => {
    await createDatabase({ template: template('db') });
    const { body } = await s.eventually(
      `${apps('statefulsets')}/db`,
      (r) => r.body.status.readyReplicas === 2,
    );
    expect(body.status).to.include({
      replicas: 2,
      currentReplicas: 2,
      updatedReplicas: 2,
      availableReplicas: 2,
      collisionCount: 0,
    });
    expect(body.status.currentRevision).to.equal(body.status.updateRevision);
    expect((await s.get(pods())).body.items.map((p: Json) => p.metadata.name)).to.deep.equal([
      'db-0',
      'db-1',
    ]);
  });

  it('API-188: each pod of a stateful set has its own claims, which stay when the set is deleted', async () => {
    const pod = template('db');
    pod.spec.containers[0].volumeMounts = [{ name: 'data', mountPath: '/data' }];
    await createDatabase({
      template: pod,
      volumeClaimTemplates: [
        {
          metadata: { name: 'data' },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        },
      ],
    });
    await s.eventually(`${apps('statefulsets')}/db`, (r) => r.body.status.readyReplicas === 2);
    const volume = (await s.get(`${pods()}/db-1`)).body.spec.volumes.find((v: Json) => v.name === 'data');
    expect(volume.persistentVolumeClaim.claimName).to.equal('data-db-1');
    await s.delete(`${apps('statefulsets')}/db`);
    await s.eventually(pods(), (r) => r.body.items.length === 0);
    const claims = (await s.get(`/api/v1/namespaces/${ns}/persistentvolumeclaims`)).body.items;
    expect(claims.map((c: Json) => c.metadata.name)).to.deep.equal(['data-db-0', 'data-db-1']);
    expect(claims[0].metadata.labels).to.deep.equal({ app: 'db' });
  });

  it('API-188: a daemon set has a pod on each node', async () => {
    await s.post(apps('daemonsets'), {
      metadata: { name: 'ds' },
      spec: { selector: { matchLabels: { app: 'ds' } }, template: template('ds') },
    });
    const { body } = await s.eventually(`${apps('daemonsets')}/ds`, (r) => r.body.status.numberReady === 1);
    expect(body.status).to.include({
      desiredNumberScheduled: 1,
      currentNumberScheduled: 1,
      numberAvailable: 1,
      numberMisscheduled: 0,
    });
  });

  it('API-188: a job completes, or fails on request', async () => {
    const jobs = `/apis/batch/v1/namespaces/${ns}/jobs`;
    const job = (name: string, annotations: Json = {}): Json => ({
      metadata: { name },
      spec: {
        backoffLimit: 1,
        template: {
          metadata: { annotations },
          spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] },
        },
      },
    });
    await s.post(jobs, job('good'));
    const good = (await s.eventually(`${jobs}/good`, (r) => conditionOf(r.body, 'Complete') !== undefined))
      .body;
    expect(good.status).to.include({ succeeded: 1, ready: 0 });
    expect(good.status.completionTime).to.be.a('string');
    await s.post(jobs, job('bad', { 'espalier.dev/simulate': 'fail' }));
    const bad = (await s.eventually(`${jobs}/bad`, (r) => conditionOf(r.body, 'Failed') !== undefined)).body;
    expect(conditionOf(bad, 'Failed').reason).to.equal('BackoffLimitExceeded');
    expect(bad.status.failed).to.equal(2);
  });
});
