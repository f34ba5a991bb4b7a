/** Replicas that share the work, under faults, crashes and random interleavings. */
import { expect } from 'chai';
import { webPageScenario } from '../../../docs/samples/operators/webpage/simulation.ts';
import { ConfigMap } from '../../../src/runtime/core-kinds.ts';
import { keyOf } from '../../../src/runtime/keys.ts';
import { simulate, SimulationFailure, startTestCluster, type Scenario } from '../../../src/testing/index.ts';
import { pages } from '../../support/operators.ts';
import { newPage, sharedPages } from '../../support/shared-pages.ts';

const lawsBrokenBy = async (scenario: () => Scenario): Promise<string | undefined> => {
  const error: unknown = await simulate(scenario, { seeds: 5 }).catch((reason: unknown) => reason);
  expect(error).to.be.instanceOf(SimulationFailure);
  return (error as SimulationFailure).law;
};

describe('replicas that share the work, simulated', function () {
  this.timeout(600_000);

  it('reconcile each object in one of them at a time, write only what is theirs, and miss no change', async () => {
    expect(await simulate(() => sharedPages(3), { seeds: 2 })).to.be.greaterThan(1_000);
  });

  it('run workflows: the sample of web pages', async () => {
    await simulate(() => ({ ...webPageScenario(), replicas: 3 }), { seeds: 1 });
  });

  it('are found if the place of an object changes each time', async () => {
    const unstable = (): Scenario => {
      let calls = 0;
      return { ...sharedPages(3), place: () => String(calls++) };
    };
    expect(await lawsBrokenBy(unstable)).to.be.oneOf([
      'an object is reconciled by one replica at a time',
      'only the replica that is responsible for an object writes',
    ]);
  });

  it('are found if they write past the fence', async () => {
    const careless = (): Scenario => {
      const scenario = sharedPages(3);
      return {
        ...scenario,
        add(operator, outside) {
          operator.caches.of(pages).subscribe({
            name: 'careless',
            ownEvents: 'deliver',
            on({ type, obj }) {
              if (type === 'delete' || obj.metadata.labels?.['seen']) return;
              const body = { metadata: { labels: { seen: 'yes' } } };
              operator.client
                .send({ verb: 'merge', kind: pages, key: keyOf(obj), body })
                .catch(() => undefined);
            },
          });
          return scenario.add(operator, outside);
        },
      };
    };
    expect(await lawsBrokenBy(careless)).to.equal(
      'only the replica that is responsible for an object writes',
    );
  });

  it('do not create external resources twice when objects move, however old the last poll is', async () => {
    const { accounts, ...scenario } = sharedPages(3, { everyMs: 3_600_000 });
    const cluster = await startTestCluster(scenario);
    try {
      await cluster.advance(30_000);
      for (const name of ['a', 'b', 'c', 'd'])
        await cluster.client.send({ verb: 'create', kind: pages, object: newPage(name) });
      await cluster.advance(10_000);
      for (let round = 0; round < 4; round++) {
        cluster.crash();
        await cluster.advance(40_000);
      }
      await cluster.rest();
      expect([...accounts.owners].sort()).to.deep.equal(['a', 'b', 'c', 'd']);
      expect(await cluster.get(ConfigMap, 'default/settings-a')).to.equal(undefined);
    } finally {
      await cluster.close();
    }
  });
});
