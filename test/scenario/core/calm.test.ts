import { expect } from 'chai';
import { configMapKind } from '../../../src/landscape/world.ts';
import { startControllers, useCluster } from '../../support/cluster.ts';

describe('a test that waits until the cluster settles', function () {
  this.timeout(60_000);
  const scenes = useCluster();

  it('continues after the last of a series of writes that follow each other within two seconds, whatever they write', async () => {
    const scene = await scenes.scene();
    const { client, clock } = scenes.cluster;
    const written: string[] = [];
    const writeLater = (left: number): void => {
      clock.at(clock.now() + 1_500, () => {
        const name = `late-${left}`;
        const metadata = { name, namespace: scene.ns };
        const object = { apiVersion: 'v1', kind: 'ConfigMap' as const, metadata };
        void client.send({ verb: 'create', kind: configMapKind, object }).then(() => {
          written.push(name);
          if (left > 1) writeLater(left - 1);
        });
      });
    };
    writeLater(3);
    await scene.calm();
    expect(written).to.deep.equal(['late-3', 'late-2', 'late-1']);
  });

  it('does not wait for a pause of replicas that renew their leases all the time', async () => {
    const scene = await scenes.scene();
    const { cluster } = scenes;
    const timing = { durationMs: 6_000, renewDeadlineMs: 4_000, renewMs: 500 };
    const fleet = { namespace: 'default', name: scene.ns, timing };
    const replica = await startControllers(cluster, {
      controllers: [],
      deployers: ['mock'],
      more: { fleet },
    });
    try {
      await scene.calm();
      const before = replica.faults.leaseWrites;
      await scene.calm();
      expect(replica.faults.leaseWrites).to.be.above(before);
    } finally {
      await replica.stop();
    }
  });

  it('does not wait for a write that is due later', async () => {
    const scene = await scenes.scene();
    const { clock } = scenes.cluster;
    let isDue = false;
    const cancel = clock.at(clock.now() + 60_000, () => (isDue = true));
    await scene.calm();
    cancel();
    expect(isDue).to.equal(false);
  });
});
