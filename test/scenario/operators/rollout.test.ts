/** The rollout operator of the documentation: it waits for its Deployment, for a limited time. */
import { expect } from 'chai';
import { addRollouts, rollouts } from '../../../docs/samples/operators/rollout/rollouts.ts';
import { Deployment } from '../../../src/runtime/core-kinds.ts';
import { startTestCluster, type TestCluster } from '../../../src/testing/index.ts';
import { crdOf } from '../../support/operators.ts';

const key = 'default/web';

describe('the rollout operator', function () {
  this.timeout(60_000);
  let cluster: TestCluster;
  beforeEach(async () => {
    cluster = await startTestCluster({
      crds: [crdOf(rollouts)],
      add: (manager) => addRollouts(manager),
      workloads: false,
    });
    await create('web');
  });
  afterEach(() => cluster?.close());

  const create = (name: string) =>
    cluster.client.send({
      verb: 'create',
      kind: rollouts,
      object: {
        apiVersion: 'rollout.example.org/v1',
        kind: 'Rollout',
        metadata: { name, namespace: 'default' },
        spec: { image: 'web:1', replicas: 2 },
      },
    });
  const phase = async () => (await cluster.get(rollouts, key))?.status?.phase;
  const reached = (wanted: string) =>
    cluster.until(`the rollout is ${wanted}`, async () => (await phase()) === wanted);
  const report = async (availableReplicas: number) => {
    const observedGeneration = (await cluster.get(Deployment, key))?.metadata.generation ?? 0;
    const body = {
      status: { observedGeneration, availableReplicas, replicas: 2, readyReplicas: availableReplicas },
    };
    await cluster.client.send({ verb: 'merge', sub: 'status', kind: Deployment, key, body });
  };

  it('is available when the Deployment is, and not before', async () => {
    await reached('Waiting');
    await report(1);
    await cluster.advance(60_000);
    expect(await phase()).to.equal('Waiting');
    await report(2);
    await reached('Available');
  });

  it('is stuck after ten minutes, and no longer with another image', async () => {
    await reached('Waiting');
    await cluster.advance(590_000);
    expect(await phase()).to.equal('Waiting');
    await cluster.advance(15_000);
    expect(await phase()).to.equal('Stuck');
    await cluster.client.send({ verb: 'merge', kind: rollouts, key, body: { spec: { image: 'web:2' } } });
    await reached('Waiting');
    await report(2);
    await reached('Available');
  });

  it('starts ten rollouts at once, and then one every five seconds', async () => {
    await cluster.settle();
    for (let i = 1; i <= 12; i++) await create(`more-${String(i)}`);
    await cluster.advance(2_000);
    const started = async () =>
      (
        await Promise.all(
          Array.from({ length: 12 }, (_, i) => cluster.get(Deployment, `default/more-${String(i + 1)}`)),
        )
      ).filter(Boolean).length;
    expect(await started()).to.be.within(8, 10);
    await cluster.advance(20_000);
    expect(await started()).to.equal(12);
  });
});
