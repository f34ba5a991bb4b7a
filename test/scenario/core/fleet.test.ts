/** Several replicas share the work: which replica does what, and what happens when one starts, stops or dies. */
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { silentLogger, type Logger } from '../../../src/observability/log.ts';
import { shardLeaseName, SHARDS, shardOf } from '../../../src/runtime/fleet/names.ts';
import { leaseKind } from '../../../src/runtime/manager/lease.ts';
import { startCluster, startControllers, type Cluster, type Controllers } from '../../support/cluster.ts';
import { nameOfWrite } from '../../support/faults.ts';
import { fakeItem, mockItem, root } from '../../support/landscape.ts';
import type { Scene } from '../../support/scene.ts';

/**
 * For tests that wait until a dead replica loses its shards. On a busy machine a live one may lose them as well; that
 * costs time only.
 */
const short = { durationMs: 6_000, renewDeadlineMs: 4_000, renewMs: 500 };
const patient = { ms: 90_000 };

/** A replica, and the number of shards that it reports to hold. */
interface Replica extends Controllers {
  /** Resolves when it holds this number of shards. */
  holds(shards: number): Promise<void>;
}

/** Called whenever a replica reports the number of its shards. */
function listening(): { readonly log: Logger; holds(shards: number): Promise<void> } {
  let held = 0;
  const waiting = new Set<() => void>();
  const log: Logger = {
    ...silentLogger,
    info(fields) {
      const { shards } = fields as { shards?: number };
      if (shards === undefined) return;
      held = shards;
      for (const look of [...waiting]) look();
    },
    child: () => log,
  };
  return {
    log,
    holds: (shards) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (held !== shards) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
  };
}

describe('replicas that share the work', function () {
  this.timeout(300_000);
  let cluster: Cluster;
  let scene: Scene;
  let fleet: string;
  let running: Replica[];
  before(async () => {
    cluster = await startCluster();
  });
  after(() => cluster.stop());
  beforeEach(async () => {
    running = [];
    fleet = `fleet-${randomBytes(3).toString('hex')}`;
    scene = await cluster.scene();
  });
  afterEach(async () => {
    for (const replica of running) await replica.stop();
  });

  const start = async (timing?: typeof short): Promise<Replica> => {
    const { log, holds } = listening();
    const more = { log, fleet: { namespace: 'default', name: fleet, ...(timing && { timing }) } };
    const controllers = await startControllers(cluster, { more });
    const replica = { ...controllers, holds };
    running.push(replica);
    return replica;
  };
  const startTwo = async (timing?: typeof short): Promise<readonly [Replica, Replica]> => {
    const both = [await start(timing), await start(timing)] as const;
    await Promise.all(both.map((each) => each.holds(SHARDS / 2)));
    return both;
  };
  /** The replica that holds each shard. */
  const holderOf = async (name: string): Promise<string> => {
    const lease = shardLeaseName(fleet, shardOf(`${scene.ns}/${name}`));
    return (await cluster.client.get(leaseKind, `default/${lease}`)).spec?.holderIdentity ?? '';
  };
  /** The replica that wrote to the tree of a root. The names of all written objects begin with the name of the root. */
  const writersOf = (name: string): Replica[] =>
    running.filter(({ faults }) =>
      faults.writes(scene.ns).some((write) => nameOfWrite(write).split(' ').at(-1)?.startsWith(name)),
    );
  /** Two roots of different replicas, with names that begin like this. */
  const apart = async (one: string, other: string): Promise<readonly [string, string]> => {
    const first = `${one}0`;
    const holder = await holderOf(first);
    for (let i = 0; ; i++) {
      const second = `${other}${String(i)}`;
      if ((await holderOf(second)) !== holder) return [first, second];
    }
  };
  const expectOnce = (name: string): void => {
    expect(scene.jobs(name), `jobs of ${name}`).to.have.length(1);
    expect(scene.items(name), `items of ${name}`).to.have.length(1);
    const executions = cluster
      .history(scene.ns)
      .filter(({ object }) => object.kind === 'Execution' && object.metadata.name === name);
    expect(
      new Set(executions.map(({ object }) => object.metadata.uid)).size,
      `executions of ${name}`,
    ).to.equal(1);
  };

  it('each write to different trees, and all of them work', async () => {
    await startTwo();
    const names = Array.from({ length: 12 }, (_, i) => `r${String(i).padStart(2, '0')}`);
    for (const name of names) await scene.create(root(name, { items: [mockItem('i')] }));
    for (const name of names) await scene.finished(name, 'Succeeded', patient);
    await scene.calm();
    for (const name of names) {
      expectOnce(name);
      expect(writersOf(name), `writers of ${name}`).to.have.length(1);
    }
    expect(new Set(names.flatMap(writersOf)).size).to.equal(2);
  });

  it('start a root when a root of another replica changes its exports', async () => {
    await startTwo();
    const [producer, consumer] = await apart('producer-', 'consumer-');
    await scene.create(root(producer, { items: [fakeItem('i')], gives: { out: 'data' } }));
    await scene.waiting(producer, 'i', patient);
    await scene.create(root(consumer, { items: [mockItem('i')], takes: { in: 'data' } }));
    await scene.busy(consumer, 'Init');
    await scene.answer(producer, 'i');
    await scene.finished(producer, 'Succeeded', patient);
    await scene.finished(consumer, 'Succeeded', patient);
    expect(await holderOf(producer)).to.not.equal(await holderOf(consumer));
    const finished = scene.jobs(consumer).length;
    // The end of the producer starts its successor, on whichever replica that is.
    await scene.operation(producer, 'reconcile');
    await scene.answer(producer, 'i');
    await scene.until(
      'the consumer has had another job',
      () => scene.jobs(consumer).length > finished,
      patient,
    );
    await scene.finished(consumer, 'Succeeded', patient);
  });

  it('finish the job of a replica that was killed, with the same id and without duplicates', async () => {
    const [a, b] = await startTwo(short);
    await scene.create(root('killed', { items: [fakeItem('i')] }));
    const { status } = await scene.waiting('killed', 'i', patient);
    const [dead, alive] = writersOf('killed')[0] === a ? [a, b] : [b, a];
    await dead.crash();
    await alive.holds(SHARDS);
    await scene.answer('killed', 'i');
    const end = await scene.finished('killed', 'Succeeded', patient);
    expect(end.status?.jobID).to.equal(status?.jobID);
    expectOnce('killed');
  });

  for (const nth of [2, 4, 6]) {
    it(`finish the job of a replica that was killed before write ${String(nth)} of a tree`, async () => {
      const both = await startTwo(short);
      for (const { faults } of both) faults.arm(scene.ns, { what: 'hold', nth });
      await scene.create(root('cut', { items: [mockItem('i')] }));
      const dead = await Promise.race(
        both.map(async (each) => {
          await each.faults.struck(scene.ns);
          return each;
        }),
      );
      for (const each of both) if (each !== dead) each.faults.release(scene.ns);
      const id = scene.installation('cut')?.status?.jobID;
      const crashing = dead.crash();
      for (const each of both) if (each !== dead) await each.holds(SHARDS);
      const end = await scene.finished('cut', 'Succeeded', patient);
      if (id) expect(end.status?.jobID).to.equal(id);
      expectOnce('cut');
      dead.faults.release(scene.ns);
      await crashing;
    });
  }

  it('move trees during their jobs when one joins, and when one leaves', async () => {
    const names = Array.from({ length: 8 }, (_, i) => `m${String(i)}`);
    const first = await start();
    await first.holds(SHARDS);
    for (const name of names) await scene.create(root(name, { items: [fakeItem('i')] }));
    for (const name of names) await scene.waiting(name, 'i', patient);
    const second = await start();
    await Promise.all([first, second].map((each) => each.holds(SHARDS / 2)));
    for (const name of names.slice(0, 4)) await scene.answer(name, 'i');
    for (const name of names.slice(0, 4)) await scene.finished(name, 'Succeeded', patient);
    await first.stop();
    await second.holds(SHARDS);
    for (const name of names.slice(4)) await scene.answer(name, 'i');
    for (const name of names.slice(4)) await scene.finished(name, 'Succeeded', patient);
    for (const name of names) expectOnce(name);
  });

  it('continue without help after a time in which no lease could be written', async () => {
    const [a, b] = await startTwo(short);
    const isLease = (write: Parameters<typeof nameOfWrite>[0]): boolean => write?.kind.kind === 'Lease';
    expect(isLease({ verb: 'delete', kind: leaseKind, key: 'x' })).to.equal(true);
    for (const each of [a, b]) each.faults.arm('default', { what: 'hold', nth: 1, matches: isLease });
    await Promise.all([a, b].map((each) => each.faults.struck('default')));
    await Promise.all([a.holds(0), b.holds(0)]);
    await scene.create(root('late', { items: [mockItem('i')] }));
    for (const each of [a, b]) each.faults.release('default');
    await scene.finished('late', 'Succeeded', patient);
    expectOnce('late');
  });
});
