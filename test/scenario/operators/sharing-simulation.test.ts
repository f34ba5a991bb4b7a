/** Replicas that share the work, under faults, crashes and random interleavings. */
import { expect } from 'chai';
import { webPageScenario } from '../../../docs/samples/operators/webpage/simulation.ts';
import { seededRng } from '../../../src/lib/rng.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import { createMetrics } from '../../../src/observability/metrics.ts';
import type { Share } from '../../../src/runtime/controller/share.ts';
import { ConfigMap } from '../../../src/runtime/core-kinds.ts';
import { createFleet, type FleetOptions } from '../../../src/runtime/fleet/fleet.ts';
import { Shard } from '../../../src/runtime/fleet/shard.ts';
import { keyOf } from '../../../src/runtime/keys.ts';
import { simulate, SimulationFailure, startTestCluster, type Scenario } from '../../../src/testing/index.ts';
import { FakeClock } from '../../support/clock.ts';
import { FakeCluster } from '../../unit/runtime/support/fake-cluster.ts';
import { pages } from '../../support/operators.ts';
import { busyPages, newPage, sharedPages } from '../../support/shared-pages.ts';

/** Options of a fleet that never starts. */
const anyFleet = (): FleetOptions => {
  const clock = new FakeClock();
  const never = () => () => undefined;
  return {
    client: new FakeCluster(),
    clock,
    rng: seededRng(1),
    log: silentLogger,
    metrics: createMetrics(),
    namespace: 'default',
    name: 'none',
    identity: 'none',
    places: { placeOf: keyOf, guess: keyOf, onMoved: never },
    catchUp: () => Promise.resolve(),
  };
};

const lawsBrokenBy = async (scenario: () => Scenario, seeds = 5): Promise<string | undefined> => {
  const error: unknown = await simulate(scenario, { seeds }).catch((reason: unknown) => reason);
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

  it('hand over shards although they always have work', async () => {
    expect(await simulate(() => busyPages(3), { seeds: 4 })).to.be.greaterThan(500);
  });

  describe('are found within 100 seeds', () => {
    const seeds = 100;
    /** The fleet without one of its guarantees, for as long as `work` runs. */
    const withoutGuarantee = async <T extends object>(
      target: T,
      member: keyof T & string,
      broken: PropertyDescriptor,
      work: () => Promise<void>,
    ): Promise<void> => {
      const original = Object.getOwnPropertyDescriptor(target, member);
      if (!original) throw new TypeError(`there is no ${member}`);
      Object.defineProperty(target, member, { ...original, ...broken });
      try {
        await work();
      } finally {
        Object.defineProperty(target, member, original);
      }
    };

    it('if they do not catch up after taking over a shard', async () => {
      const fleet = Object.getPrototypeOf(createFleet(anyFleet())) as Pick<Share, 'catchUp'>;
      await withoutGuarantee(fleet, 'catchUp', { value: () => Promise.resolve() }, async () => {
        expect(await lawsBrokenBy(() => sharedPages(3), seeds)).to.equal(
          'a new shard holder sees the writes of the previous one',
        );
      });
    });

    it('if their shards accept work while they are being drained', async () => {
      const accepting = function (this: Shard): boolean {
        return this.state === 'held' || this.state === 'draining';
      };
      await withoutGuarantee(Shard.prototype, 'isAdmitting', { get: accepting }, async () => {
        expect(await lawsBrokenBy(() => busyPages(3), seeds)).to.equal(
          'no reconcile begins in a shard that is being handed over',
        );
      });
    });
  });

  it('are found if the place of an object changes each time', async () => {
    const unstable = (): Scenario => {
      let calls = 0;
      return { ...sharedPages(3), place: () => String(calls++) };
    };
    expect(await lawsBrokenBy(unstable)).to.be.oneOf([
      'an object is reconciled by one replica at a time',
      'only the shard holder writes to an object',
    ]);
  });

  it('are found if they write past the fence', async () => {
    const careless = (): Scenario => {
      const scenario = sharedPages(3);
      return {
        ...scenario,
        add(operator, services) {
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
          return scenario.add(operator, services);
        },
      };
    };
    expect(await lawsBrokenBy(careless)).to.equal('only the shard holder writes to an object');
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
      await cluster.settle();
      expect([...accounts.owners].sort()).to.deep.equal(['a', 'b', 'c', 'd']);
      expect(await cluster.get(ConfigMap, 'default/settings-a')).to.equal(undefined);
    } finally {
      await cluster.close();
    }
  });
});
