/** The writes of a lease, and its retries; leadership itself is in leadership.test.ts. */
import { expect } from 'chai';
import { sleep } from '../../../src/lib/clock.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import { createMetrics, type Metrics } from '../../../src/observability/metrics.ts';
import { apiErrorFrom, Forbidden, LeadershipLostError, NotFound } from '../../../src/runtime/errors.ts';
import { createLease, leaseKind, type Lease, type LeaseOptions } from '../../../src/runtime/manager/lease.ts';
import type { Kind, Obj } from '../../../src/runtime/types.ts';
import { FakeClock, settle } from '../../support/clock.ts';
import { FakeCluster } from './support/fake-cluster.ts';
import { noChance } from './support/world.ts';

const KEY = 'system/lead';

describe('a lease', () => {
  let clock: FakeClock;
  let cluster: FakeCluster;
  let metrics: Metrics;
  let lost: Error[];
  let stop: AbortController;
  beforeEach(() => {
    clock = new FakeClock();
    cluster = new FakeCluster();
    metrics = createMetrics();
    lost = [];
    stop = new AbortController();
  });
  afterEach(() => {
    stop.abort(new Error('the test is over'));
  });

  /** Requests the lease. `since`: when it got it. */
  async function wanting(options: Partial<LeaseOptions> = {}): Promise<{ lease: Lease; since?: number }> {
    const lease = createLease({
      client: cluster,
      clock,
      rng: noChance,
      log: silentLogger,
      metrics,
      namespace: 'system',
      name: 'lead',
      identity: 'me',
      onLost: (error) => lost.push(error),
      ...options,
    });
    const one: { lease: Lease; since?: number } = { lease };
    void lease.acquire(stop.signal).then(
      () => (one.since = clock.now()),
      () => undefined,
    );
    await settle();
    return one;
  }
  const forbid = (): void => {
    cluster.fault = ({ verb }) => apiErrorFrom(403, {}, { verb, kind: 'Lease' });
  };
  const stored = () => cluster.read(leaseKind, KEY);
  const held = (spec?: object): void => {
    cluster.put(leaseKind, { metadata: { namespace: 'system', name: 'lead' }, ...(spec && { spec }) });
  };
  const gauge = async (): Promise<string[]> =>
    (await metrics.text()).split('\n').filter((line) => line.startsWith('leader_election_master_status'));
  const at = (second: number): string => `2026-01-01T00:00:${String(second).padStart(2, '0')}.000000Z`;

  it('is created with a holder, a duration and times, and renewed every two seconds', async () => {
    await wanting({ labels: { a: 'b' } });
    expect(stored()).to.deep.include({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' });
    expect(stored()?.metadata.labels).to.deep.equal({ a: 'b' });
    const spec = { holderIdentity: 'me', leaseDurationSeconds: 15, leaseTransitions: 0, acquireTime: at(0) };
    expect(stored()?.spec).to.deep.equal({ ...spec, renewTime: at(0) });
    await clock.advance(1_999);
    expect(stored()?.spec?.renewTime).to.equal(at(0));
    await clock.advance(2_001);
    expect(stored()?.spec).to.deep.equal({ ...spec, renewTime: at(4) });
    expect(cluster.requests.map(({ verb }) => verb)).to.deep.equal(['get', 'create', 'replace', 'replace']);
  });

  it('has no labels by default, and whole seconds', async () => {
    await wanting({ durationMs: 4_001 });
    expect(stored()?.metadata).not.to.have.property('labels');
    expect(stored()?.spec?.leaseDurationSeconds).to.equal(5);
  });

  it('counts how often it passes from one holder to another', async () => {
    held({ leaseTransitions: 3, acquireTime: at(0) });
    await clock.advance(7_000);
    await wanting();
    expect(stored()?.spec).to.deep.equal({
      holderIdentity: 'me',
      leaseDurationSeconds: 15,
      leaseTransitions: 4,
      acquireTime: at(7),
      renewTime: at(7),
    });
  });

  it('is taken back by a holder that was restarted, without a transition', async () => {
    held({ holderIdentity: 'me', leaseDurationSeconds: 15, leaseTransitions: 3, acquireTime: at(0) });
    await clock.advance(7_000);
    expect((await wanting()).since).to.equal(7_000);
    expect(stored()?.spec).to.deep.include({ leaseTransitions: 3, acquireTime: at(0), renewTime: at(7) });
  });

  for (const [title, spec, since] of [
    ['at once if its holder is not set', undefined, 0],
    ['at once if it has no holder', { holderIdentity: '', leaseDurationSeconds: 15 }, 0],
    [
      'when the duration of the other holder is over',
      { holderIdentity: 'you', leaseDurationSeconds: 5 },
      5_000,
    ],
    ['after 15 s if the other holder sets no duration', { holderIdentity: 'you' }, 15_000],
    [
      'at once if it expired more than ten minutes ago',
      { holderIdentity: 'you', leaseDurationSeconds: 5, renewTime: '2025-12-31T23:49:54.999000Z' },
      0,
    ],
    [
      'when its duration is over if it expired ten minutes ago',
      { holderIdentity: 'you', leaseDurationSeconds: 5, renewTime: '2025-12-31T23:49:55.000000Z' },
      5_000,
    ],
  ] as const)
    it(`is acquired ${title}`, async () => {
      held(spec);
      const one = await wanting();
      await clock.advance(20_000);
      expect(one.since).to.equal(since);
      expect(stored()?.spec?.holderIdentity).to.equal('me');
    });

  it('is requested about every two seconds while another holds it', async () => {
    held({ holderIdentity: 'you', leaseDurationSeconds: 60 });
    await wanting();
    await clock.advance(11_000);
    expect(cluster.requests.map(({ verb }) => verb)).to.deep.equal(Array(6).fill('get'));
  });

  it('counts as renewed by writes of its holder, and by nothing else', async () => {
    held({ holderIdentity: 'you', leaseDurationSeconds: 15, renewTime: at(0) });
    const one = await wanting();
    await clock.advance(4_400);
    cluster.edit(leaseKind, KEY, { spec: { renewTime: at(4) } });
    await clock.advance(4_400);
    cluster.edit(leaseKind, KEY, { metadata: { annotations: { a: 'b' } } });
    await clock.advance(60_000);
    // Observed with the request at 6.6 s.
    expect(one.since).to.equal(6_600 + 15_000);
  });

  it('is not taken from a holder that created it after the start, however far its clock is behind', async () => {
    cluster.fault = ({ verb }) =>
      verb === 'create' ? apiErrorFrom(503, {}, { verb, kind: 'Lease' }) : undefined;
    const one = await wanting();
    held({ holderIdentity: 'you', leaseDurationSeconds: 15, renewTime: '2020-01-01T00:00:00.000000Z' });
    await clock.advance(14_000);
    expect(one.since).to.equal(undefined);
  });

  it('is not taken from a holder that renews it, however far its clock is behind', async () => {
    const renewal = (minute: number) => ({ renewTime: `2025-12-31T00:0${String(minute)}:00.000000Z` });
    held({ holderIdentity: 'you', leaseDurationSeconds: 15, renewTime: at(0) });
    const one = await wanting();
    for (const minute of [1, 2, 3]) {
      cluster.edit(leaseKind, KEY, { spec: renewal(minute) });
      await clock.advance(10_000);
    }
    expect(one.since).to.equal(undefined);
  });

  it('is released, so that it can be acquired a second later at the latest', async () => {
    const { lease } = await wanting();
    await clock.advance(5_000);
    await lease.release();
    expect(lease.isLeader).to.equal(false);
    expect(stored()?.spec).to.deep.equal({
      leaseDurationSeconds: 1,
      leaseTransitions: 0,
      acquireTime: at(5),
      renewTime: at(5),
    });
    const { resourceVersion } = stored()?.metadata ?? {};
    await clock.advance(60_000);
    expect(stored()?.metadata.resourceVersion).to.equal(resourceVersion);
    expect(clock.pending).to.equal(0);
    expect(lost).to.deep.equal([]);
  });

  it('may be released by a process that does not hold it, or cannot reach the server', async () => {
    held({ holderIdentity: 'you', leaseDurationSeconds: 60 });
    const other = await wanting();
    await other.lease.release();
    expect(stored()?.spec?.holderIdentity).to.equal('you');
    cluster.edit(leaseKind, KEY, { spec: { holderIdentity: null } });
    const one = await wanting({ identity: 'they' });
    cluster.fault = ({ verb }) => apiErrorFrom(503, {}, { verb, kind: 'Lease' });
    await one.lease.release();
    expect(one.lease.isLeader).to.equal(false);
  });

  it('is neither renewed nor written again if it is left to expire', async () => {
    const { lease } = await wanting();
    lease.abandon();
    expect(lease.isLeader).to.equal(false);
    await clock.advance(60_000);
    expect(stored()?.spec).to.deep.include({ holderIdentity: 'me', renewTime: at(0) });
    expect(lost).to.deep.equal([]);
  });

  it('fails after ten seconds without permission, and not before', async () => {
    forbid();
    const failed: unknown[] = [];
    const { lease } = await wanting();
    void lease.acquire(stop.signal).catch((error: unknown) => failed.push(error));
    await clock.advance(9_000);
    expect(failed).to.deep.equal([]);
    await clock.advance(3_000);
    expect(failed).to.have.length(1);
    expect(failed[0]).to.be.instanceOf(Forbidden);
    const late = await wanting({ identity: 'late' });
    await clock.advance(6_000);
    cluster.fault = () => undefined;
    await clock.advance(3_000);
    expect(late.since).to.be.a('number');
  });

  it('fails after ten seconds if its namespace does not exist', async () => {
    cluster.fault = ({ verb }) =>
      verb === 'create' ? apiErrorFrom(404, {}, { verb, kind: 'Lease' }) : undefined;
    const failed: unknown[] = [];
    const { lease } = await wanting();
    void lease.acquire(stop.signal).catch((error: unknown) => failed.push(error));
    await clock.advance(12_000);
    expect(failed[0]).to.be.instanceOf(NotFound);
  });

  it('is requested until it has permission by a process that held it before', async () => {
    forbid();
    const one = await wanting({ purpose: 'member', isPersistent: true });
    await clock.advance(60_000);
    cluster.fault = () => undefined;
    await clock.advance(3_000);
    expect(one.since).to.be.a('number');
  });

  it('fails with the reason of the signal if it is no longer wanted', async () => {
    held({ holderIdentity: 'you', leaseDurationSeconds: 60 });
    const { lease } = await wanting();
    const again = lease.acquire(stop.signal).catch((error: unknown) => (error as Error).message);
    await settle();
    stop.abort(new Error('shutting down'));
    expect(await again).to.equal('shutting down');
  });

  it('reports once that it is lost, with its name and the reason', async () => {
    const { lease } = await wanting();
    cluster.fault = ({ verb }) => apiErrorFrom(503, {}, { verb, kind: 'Lease' });
    await clock.advance(30_000);
    const fence = (): void => {
      lease.fence();
    };
    expect(fence).to.throw(LeadershipLostError, 'lease system/lead: this process is not the leader');
    expect(lost.map(({ message }) => message)).to.deep.equal([
      'writes are blocked, lease system/lead: renewing the lease timed out',
    ]);
  });

  it('names the new holder', async () => {
    await wanting();
    cluster.edit(leaseKind, KEY, { spec: { holderIdentity: 'admin' } });
    await clock.advance(5_000);
    expect(lost.map(({ message }) => message).join()).to.contain('admin took the lease');
  });

  it('shows in the metrics whether this process leads', async () => {
    held({ holderIdentity: 'you', leaseDurationSeconds: 5 });
    const { lease } = await wanting();
    expect(await gauge()).to.deep.equal(['leader_election_master_status{name="lead"} 0']);
    await clock.advance(5_000);
    expect(await gauge()).to.deep.equal(['leader_election_master_status{name="lead"} 1']);
    await lease.release();
    expect(await gauge()).to.deep.equal(['leader_election_master_status{name="lead"} 0']);
  });

  it('shows in the metrics that leadership was lost or released', async () => {
    const first = await wanting();
    first.lease.abandon();
    expect(await gauge()).to.deep.equal(['leader_election_master_status{name="lead"} 0']);
    metrics = createMetrics();
    await wanting();
    expect(await gauge()).to.deep.equal(['leader_election_master_status{name="lead"} 1']);
    cluster.edit(leaseKind, KEY, { spec: { holderIdentity: 'admin' } });
    await clock.advance(5_000);
    expect(await gauge()).to.deep.equal(['leader_election_master_status{name="lead"} 0']);
  });

  for (const purpose of ['leader', 'member'] as const)
    it(`lets a ${purpose} write as long as it is renewed`, async () => {
      const { lease } = await wanting({ purpose });
      await clock.advance(60_000);
      lease.fence();
      expect(lease.isLeader).to.equal(true);
      expect(lost).to.deep.equal([]);
      expect(clock.pending, 'timers besides that of the next renewal').to.equal(1);
    });

  it('is lost at the first write after the clock was blocked, and reports it', async () => {
    const { lease } = await wanting();
    const now = clock.now();
    clock.now = () => now + 10_000;
    expect(() => {
      lease.fence();
    }).to.throw(LeadershipLostError);
    expect(lost.map(({ message }) => message).join()).to.contain('the lease was not renewed in time');
    expect(await gauge()).to.deep.equal(['leader_election_master_status{name="lead"} 0']);
  });

  it('is read again if a renewal has failed', async () => {
    const { lease } = await wanting();
    cluster.edit(leaseKind, KEY, { metadata: { annotations: { a: 'b' } } });
    await clock.advance(60_000);
    expect(lease.isLeader).to.equal(true);
    expect(stored()?.spec?.renewTime).to.equal('2026-01-01T00:01:00.000000Z');
    const verbs = cluster.requests.map(({ verb }) => verb);
    expect(verbs.slice(0, 6)).to.deep.equal(['get', 'create', 'replace', 'get', 'replace', 'replace']);
    expect(verbs.filter((verb) => verb === 'get')).to.have.length(2);
  });

  it('is requested again if a request is not answered within ten seconds', async () => {
    class Silent extends FakeCluster {
      #isSilent = true;
      override get<T extends Obj>(kind: Kind<T>, key: string, signal?: AbortSignal): Promise<T> {
        if (!this.#isSilent) return super.get(kind, key, signal);
        this.#isSilent = false;
        return sleep(clock, 60_000, signal).then(() => super.get(kind, key, signal));
      }
    }
    const one = await wanting({ client: new Silent() });
    await clock.advance(20_000);
    expect(one.since).to.equal(10_000 + 2_200);
  });

  it('can be released before it was ever requested', async () => {
    const options = { client: cluster, clock, rng: noChance, log: silentLogger, metrics };
    const names = { namespace: 'system', name: 'lead', identity: 'me', onLost: () => undefined };
    await createLease({ ...options, ...names }).release();
    expect(cluster.requests).to.deep.equal([]);
  });

  describe('that was deleted', () => {
    const deleted = async (purpose: 'leader' | 'member'): Promise<void> => {
      await wanting({ purpose });
      await clock.advance(1_000);
      cluster.remove(leaseKind, KEY);
      await clock.advance(6_000);
    };

    it('is recreated by its leader', async () => {
      await deleted('leader');
      expect(stored()?.spec?.holderIdentity).to.equal('me');
      expect(lost).to.deep.equal([]);
    });

    it('is lost to a member, which the others treat as dead', async () => {
      await deleted('member');
      expect(stored()).to.equal(undefined);
      expect(lost.map(({ message }) => message).join()).to.contain('an unknown process took the lease');
      expect(await gauge()).to.deep.equal([]);
    });
  });

  it('is lost to a member if another holds it, however long that was ago', async () => {
    await wanting({ purpose: 'member' });
    cluster.edit(leaseKind, KEY, { spec: { holderIdentity: '', leaseDurationSeconds: 0 } });
    await clock.advance(5_000);
    expect(lost).to.have.length(1);
    expect(stored()?.spec?.holderIdentity).to.equal('');
  });
});
