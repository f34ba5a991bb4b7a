import { expect } from 'chai';
import { sleep } from '../../../src/lib/clock.ts';
import { seededRng } from '../../../src/lib/rng.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import { createMetrics } from '../../../src/observability/metrics.ts';
import { apiErrorFrom, LeadershipLostError } from '../../../src/runtime/errors.ts';
import { createLease, leaseKind, type Lease } from '../../../src/runtime/manager/lease.ts';
import { FakeClock, settle } from '../../support/clock.ts';
import { FakeCluster } from './support/fake-cluster.ts';
import { createWorld, nothing, succeeding, widget, widgets } from './support/world.ts';

describe('the lease', () => {
  let clock: FakeClock;
  let cluster: FakeCluster;
  let lost: string[];
  let ends: AbortController;
  beforeEach(() => {
    clock = new FakeClock();
    cluster = new FakeCluster();
    lost = [];
    ends = new AbortController();
  });

  interface Candidate {
    readonly lease: Lease;
    leadsSince: number | undefined;
  }
  const candidate = (identity: string, client: FakeCluster = cluster): Candidate => {
    const lease = createLease({
      client,
      clock,
      rng: seededRng(identity.length),
      log: silentLogger,
      metrics: createMetrics(),
      namespace: 'system',
      name: 'lead',
      identity,
      onLost: () => lost.push(identity),
    });
    return { lease, leadsSince: undefined };
  };
  const run = async (one: Candidate): Promise<void> => {
    one.lease.acquire(ends.signal).then(
      () => (one.leadsSince = clock.now()),
      () => undefined,
    );
    await settle();
  };
  const holder = (): string | undefined => cluster.read(leaseKind, 'system/lead')?.spec?.holderIdentity;
  /** Disconnects one candidate from the cluster. */
  const cutOff = (identity: string): void => {
    cluster.fault = ({ body }) =>
      JSON.stringify(body ?? '').includes(`"${identity}"`)
        ? apiErrorFrom(503, {}, { verb: 'update', kind: 'Lease' })
        : undefined;
  };

  it('is acquired by one of two', async () => {
    const [a, b] = [candidate('a'), candidate('b')];
    await run(a);
    await run(b);
    await clock.advance(120_000);
    expect(a.leadsSince).to.equal(0);
    expect(b.leadsSince).to.equal(undefined);
    expect(a.lease.isLeader).to.equal(true);
    expect(() => {
      b.lease.fence();
    }).to.throw(LeadershipLostError);
    expect(holder()).to.equal('a');
  });

  it('RUN-119: passes to the other within 18 s after the holder stops renewing, which has given up by then', async () => {
    const [a, b] = [candidate('a'), candidate('b')];
    await run(a);
    await run(b);
    await clock.advance(60_000);
    cutOff('a');
    const from = clock.now();
    await clock.advance(9_000);
    expect(b.leadsSince).to.equal(undefined);
    await clock.advance(3_000);
    expect(lost).to.deep.equal(['a']);
    expect(a.lease.isLeader).to.equal(false);
    await clock.advance(6_000);
    expect(b.leadsSince).to.be.within(from + 13_000, from + 18_000);
    expect(holder()).to.equal('b');
    expect(cluster.read(leaseKind, 'system/lead')?.spec?.leaseTransitions).to.equal(1);
  });

  it('never has two leaders, whenever requests fail', async () => {
    for (let seed = 0; seed < 20; seed++) {
      clock = new FakeClock();
      cluster = new FakeCluster();
      const rng = seededRng(seed);
      const candidates = ['a', 'bb', 'ccc'].map((identity) => candidate(identity));
      for (const each of candidates) await run(each);
      let failing = '';
      cluster.fault = ({ body, verb }) => {
        const isHit = verb === 'get' ? failing === 'get' : JSON.stringify(body).includes(`"${failing}"`);
        return failing && isHit ? apiErrorFrom(503, {}, { verb, kind: 'Lease' }) : undefined;
      };
      for (let i = 0; i < 60; i++) {
        failing = ['', 'a', 'bb', 'ccc', 'get'][Math.floor(rng.next() * 5)] ?? '';
        await clock.advance(Math.floor(rng.next() * 9_000));
        const leaders = candidates.filter(({ lease }) => lease.isLeader);
        expect(leaders.length, `leaders with seed ${String(seed)}`).to.be.lessThan(2);
      }
    }
  });

  it('does not trust a time stamp of another that is less than ten minutes old', async () => {
    cluster.put(leaseKind, {
      metadata: { namespace: 'system', name: 'lead' },
      spec: { holderIdentity: 'old', leaseDurationSeconds: 15, renewTime: '2025-12-31T23:51:00.000000Z' },
    });
    const a = candidate('a');
    await run(a);
    await clock.advance(14_000);
    expect(a.leadsSince).to.equal(undefined);
    await clock.advance(2_000);
    expect(a.leadsSince).to.be.a('number');
  });

  it('passes on at once if it is released', async () => {
    const [a, b] = [candidate('a'), candidate('b')];
    await run(a);
    await run(b);
    await clock.advance(5_000);
    await a.lease.release();
    expect(holder()).to.equal(undefined);
    const from = clock.now();
    await clock.advance(3_000);
    expect(b.leadsSince).to.be.within(from, from + 2_500);
    expect(lost).to.deep.equal([]);
  });

  it('stays with the leader through a short failure', async () => {
    const a = candidate('a');
    await run(a);
    await clock.advance(4_000);
    cutOff('a');
    await clock.advance(6_000);
    cluster.fault = () => undefined;
    await clock.advance(60_000);
    expect(lost).to.deep.equal([]);
    expect(a.lease.isLeader).to.equal(true);
  });

  it('is lost to a process that took it by force', async () => {
    const a = candidate('a');
    await run(a);
    cluster.edit(leaseKind, 'system/lead', { spec: { holderIdentity: 'admin' } });
    await clock.advance(5_000);
    expect(lost).to.deep.equal(['a']);
  });

  it('is given up on a request that is never answered', async () => {
    const a = candidate('a');
    await run(a);
    cluster.before = () => new Promise(() => undefined);
    await clock.advance(10_000);
    expect(a.lease.isLeader).to.equal(false);
    await clock.advance(1_000);
    expect(() => {
      a.lease.fence();
    }).to.throw(LeadershipLostError);
    expect(lost).to.deep.equal(['a']);
  });

  it('counts from when a renewal was sent, not from when it was answered', async () => {
    const a = candidate('a');
    await run(a);
    let requests = 0;
    cluster.before = () => (++requests === 1 ? sleep(clock, 3_000) : undefined);
    cluster.fault = ({ verb }) => (requests > 1 ? apiErrorFrom(503, {}, { verb, kind: 'Lease' }) : undefined);
    const sentAt = clock.now() + 2_000;
    await clock.advance(2_000 + 9_900);
    expect(a.lease.isLeader).to.equal(true);
    await clock.advance(200);
    expect(clock.now() - sentAt).to.equal(10_100);
    expect(a.lease.isLeader).to.equal(false);
    expect(lost).to.deep.equal(['a']);
  });

  it('counts from when the lease was first requested, too', async () => {
    const a = candidate('a');
    cluster.before = ({ verb }) => (verb === 'create' ? sleep(clock, 6_000) : undefined);
    await run(a);
    await clock.advance(6_000);
    expect(a.leadsSince).to.equal(6_000);
    cutOff('a');
    await clock.advance(3_900);
    expect(a.lease.isLeader).to.equal(true);
    await clock.advance(200);
    expect(a.lease.isLeader).to.equal(false);
  });

  it('does not start with a response that arrived when the lease may have expired already', async () => {
    let skew = 0;
    const now = clock.now.bind(clock);
    clock.now = () => now() + skew;
    const a = candidate('a');
    cluster.before = ({ verb }) => {
      // The event loop is blocked: time passes, but no timer fires.
      if (verb === 'create') skew = 12_000;
      return undefined;
    };
    await run(a);
    expect(a.leadsSince).to.equal(undefined);
    expect(a.lease.isLeader).to.equal(false);
  });

  it('RUN-120: rejects the first write after the event loop was blocked for too long', async () => {
    let skew = 0;
    const stalling = new FakeClock();
    const now = stalling.now.bind(stalling);
    stalling.now = () => now() + skew;
    const lostErrors: Error[] = [];
    const world = createWorld({
      clock: stalling,
      lease: { namespace: 'system', name: 'lead', onLost: (error) => lostErrors.push(error) },
    });
    let result: unknown;
    world.control(async (_, ctx) => {
      // The event loop is blocked: time passes, but no timer fires.
      skew = 12_000;
      result = await ctx
        .write({ verb: 'merge', kind: widgets, key: ctx.key, body: { spec: { size: 2 } } })
        .catch((error: unknown) => error);
      return nothing;
    });
    world.cluster.put(widgets, widget('A/1'));
    await world.start();
    expect(result).to.be.instanceOf(LeadershipLostError);
    expect(world.cluster.writes).to.deep.equal(['create Lease system/lead']);
    expect(lostErrors).to.have.length(1);
    await world.end();
  });

  it('RUN-119: lets only the leader reconcile, and the loser does not finish its queue', async () => {
    const shared = new FakeCluster();
    const common = new FakeClock();
    const losses: string[] = [];
    const replica = (identity: string) => {
      const world = createWorld({
        cluster: shared,
        clock: common,
        identity,
        lease: { namespace: 'system', name: 'lead', onLost: () => losses.push(identity) },
      });
      world.control(
        () =>
          new Promise((resolve) =>
            common.at(common.now() + 20_000, () => {
              resolve(nothing);
            }),
          ),
        { maxConcurrent: 1 },
      );
      return world;
    };
    const [first, second] = [replica('first'), replica('second')];
    for (let i = 0; i < 3; i++) shared.put(widgets, widget(`A/${String(i)}`));
    await first.start();
    const waiting = second.manager.start();
    await common.advance(5_000);
    expect(first.runs).to.deep.equal(['0 A/0']);
    expect(second.runs).to.deep.equal([]);
    shared.fault = ({ body, kind }) =>
      kind === 'Lease' && JSON.stringify(body ?? '').includes('first')
        ? apiErrorFrom(503, {}, { verb: 'update', kind })
        : undefined;
    await common.advance(18_000);
    await waiting;
    await settle();
    expect(losses).to.deep.equal(['first']);
    expect(second.runs).to.have.length(1);
    await common.advance(60_000);
    expect(first.runs).to.deep.equal(['0 A/0']);
    for (const world of [first, second]) await world.end();
  });

  it('needs no list to take over', async () => {
    const world = createWorld({ lease: { namespace: 'system', name: 'lead', onLost: () => undefined } });
    world.cluster.put(leaseKind, {
      metadata: { namespace: 'system', name: 'lead' },
      spec: { holderIdentity: 'other', leaseDurationSeconds: 15 },
    });
    world.control(succeeding);
    world.cluster.put(widgets, widget('A/1'));
    const started = world.manager.start();
    await settle();
    expect(world.caches.of(widgets).isSynced).to.equal(true);
    expect(world.manager.ready).to.equal(false);
    await world.clock.advance(16_000);
    await started;
    await settle();
    expect(world.runs).to.have.length(1);
    expect(world.manager.ready).to.equal(true);
    await world.end();
  });
});
