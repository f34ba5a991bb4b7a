/** The leases of replicas: their names, reading and writing, and when a silent replica is treated as dead. */
import { expect } from 'chai';
import { silentLogger } from '../../../../src/observability/log.ts';
import { apiErrorFrom, ShareLostError } from '../../../../src/runtime/errors.ts';
import { LeaseWrites } from '../../../../src/runtime/fleet/lease-writes.ts';
import { readFleetState, type FleetState } from '../../../../src/runtime/fleet/fleet-state.ts';
import { memberLeaseName, SHARDS, shardLeaseName } from '../../../../src/runtime/fleet/names.ts';
import { FailureDetector } from '../../../../src/runtime/fleet/failure-detector.ts';
import type { LeaseObject } from '../../../../src/runtime/manager/lease.ts';
import type { Write } from '../../../../src/runtime/types.ts';
import { FakeClock } from '../../../support/clock.ts';

const lease = (
  name: string,
  role: string,
  spec: LeaseObject['spec'] = {},
  metadata: object = {},
): LeaseObject => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: {
    namespace: 'system',
    name,
    labels: { 'espalier.dev/fleet': 'main', 'espalier.dev/role': role },
    ...metadata,
  },
  spec,
});
const member = (
  identity: string | undefined,
  version = '1',
  seconds?: number,
  renewTime?: string,
): LeaseObject =>
  lease(
    `member-${identity ?? 'gone'}`,
    'member',
    {
      ...(identity !== undefined && { holderIdentity: identity }),
      ...(seconds !== undefined && { leaseDurationSeconds: seconds }),
      ...(renewTime !== undefined && { renewTime }),
    },
    { resourceVersion: version },
  );
const shard = (role: string, holder?: string): LeaseObject =>
  lease(`shard-${role}`, role, holder === undefined ? {} : { holderIdentity: holder });

describe('the leases of a fleet', () => {
  const read = (...leases: readonly LeaseObject[]): FleetState => readFleetState(leases, 'main');
  const held = ({ holders }: FleetState) =>
    holders.flatMap((holder, i) => (holder === undefined ? [] : [`${String(i)} ${holder}`]));
  const known = ({ shards }: FleetState) => shards.flatMap((each, i) => (each ? [i] : []));

  it('list live members, and those that have left', () => {
    const [a, gone, empty] = [member('a'), member(undefined), member('')];
    const { members, left } = read(a, gone, empty);
    expect([...members]).to.deep.equal([['a', a]]);
    expect(left).to.deep.equal([gone, empty]);
  });
  it('list holders of shards that are members, before or after them', () => {
    expect(held(read(shard('0', 'a'), member('a'), shard('3', 'a')))).to.deep.equal(['0 a', '3 a']);
  });
  it('list no holder that is not a member', () => {
    const state = read(shard('0', 'dead'), shard('1'), shard('2', ''));
    expect([held(state), known(state)]).to.deep.equal([[], [0, 1, 2]]);
  });
  it('have one entry for each shard, whatever leases exist', () => {
    const { shards, holders } = read(
      shard(String(SHARDS - 1)),
      shard(String(SHARDS)),
      shard('1.5'),
      shard('x'),
    );
    expect([shards.length, holders.length]).to.deep.equal([SHARDS, SHARDS]);
    expect(known(read(shard(String(SHARDS - 1)), shard(String(SHARDS))))).to.deep.equal([SHARDS - 1]);
    expect(known(read(shard('1.5'), shard('x')))).to.deep.equal([]);
  });
  for (const [title, labels] of [
    ['of another fleet', { 'espalier.dev/fleet': 'other', 'espalier.dev/role': 'member' }],
    ['without labels', undefined],
  ] as const) {
    it(`are not those ${title}`, () => {
      const { members, left } = read(lease('x', 'member', { holderIdentity: 'x' }, { labels }));
      expect([members.size, left]).to.deep.equal([0, []]);
    });
  }
});

describe('the name of a lease', () => {
  it('of a shard has two digits, so that names sort', () => {
    expect([shardLeaseName('main', 3), shardLeaseName('main', 12)]).to.deep.equal([
      'main-shard-03',
      'main-shard-12',
    ]);
  });
  for (const [title, identity, expected] of [
    ['contains the identity', 'pod-1', 'main-member-pod-1'],
    ['is in lower case', 'Pod-A', 'main-member-pod-a'],
    ['has a dash for invalid characters', 'a_b::c', 'main-member-a-b-c'],
    ['does not end with a dash', 'a--_', 'main-member-a'],
    ['has at most 253 characters', 'x'.repeat(300), `main-member-${'x'.repeat(241)}`],
    [
      'does not end with a dash where it was shortened',
      `${'x'.repeat(240)}-x`,
      `main-member-${'x'.repeat(240)}`,
    ],
  ] as const) {
    it(`of a member ${title}`, () => {
      expect(memberLeaseName('main', identity)).to.equal(expected);
    });
  }
});

describe('a silent replica', () => {
  const stateOf = (...members: readonly LeaseObject[]) => readFleetState(members, 'main');
  /** Reads leases, and returns the time until the next one that could expire. */
  const watching = () => {
    const clock = new FakeClock();
    const detector = new FailureDetector(clock, 15_000);
    return {
      clock,
      detect(...members: readonly LeaseObject[]) {
        const { dead, nextMs } = detector.read(stateOf(...members), 'self');
        return [dead.map(({ spec }) => spec?.holderIdentity), nextMs];
      },
    };
  };
  it('is treated as dead after the lease time of the group, and not before', async () => {
    const { clock, detect } = watching();
    expect(detect(member('a'))).to.deep.equal([[], 15_000]);
    await clock.advance(14_999);
    expect(detect(member('a'))).to.deep.equal([[], 1]);
    await clock.advance(1);
    expect(detect(member('a'))).to.deep.equal([['a'], Infinity]);
  });
  it('is treated as dead after its own lease time', async () => {
    const { clock, detect } = watching();
    expect(detect(member('a', '1', 40))).to.deep.equal([[], 40_000]);
    await clock.advance(40_000);
    expect(detect(member('a', '1', 40))).to.deep.equal([['a'], Infinity]);
  });
  it('is treated as dead at once if its lease expired more than ten minutes ago', () => {
    const { detect } = watching();
    const old = member('a', '1', 15, '2025-12-31T23:49:44.999000Z');
    const recent = member('b', '1', 15, '2025-12-31T23:49:45.000000Z');
    expect(detect(old, recent)).to.deep.equal([['a'], 15_000]);
    // Leases that appear or change later belong to replicas that are alive, however wrong their clocks are.
    expect(detect(member('a', '2', 15, '2025-12-31T23:49:44.999000Z'))).to.deep.equal([[], 15_000]);
    expect(detect(member('c', '1', 15, '2020-01-01T00:00:00.000000Z'))).to.deep.equal([[], 15_000]);
  });
  it('is live again when it has renewed', async () => {
    const { clock, detect } = watching();
    detect(member('a'));
    await clock.advance(10_000);
    expect(detect(member('a', '2'))).to.deep.equal([[], 15_000]);
    await clock.advance(10_000);
    expect(detect(member('a', '2'))).to.deep.equal([[], 5_000]);
  });
  it('is treated as new when it returns', async () => {
    const { clock, detect } = watching();
    detect(member('a'));
    await clock.advance(10_000);
    detect();
    expect(detect(member('a'))).to.deep.equal([[], 15_000]);
  });
  it('is never the replica itself', async () => {
    const { clock, detect } = watching();
    detect(member('self'));
    await clock.advance(60_000);
    expect(detect(member('self'))).to.deep.equal([[], Infinity]);
  });
  it('is distinguished from those that renew, and the next one counts', async () => {
    const { clock, detect } = watching();
    detect(member('a'), member('b'), member('c'));
    await clock.advance(6_000);
    detect(member('a'), member('b', '2'), member('c'));
    await clock.advance(4_000);
    detect(member('a'), member('b', '2'), member('c', '2'));
    await clock.advance(5_000);
    expect(detect(member('a'), member('b', '2'), member('c', '2'))).to.deep.equal([['a'], 6_000]);
  });
});

describe('a write of a lease', () => {
  const NOW = '2026-01-01T00:00:00.000000Z';
  /** @param answer the response of the server to a write */
  const writing = (answer: () => Promise<void> = () => Promise.resolve()) => {
    const writes: Write[] = [];
    const deeds = new LeaseWrites({
      async write(write) {
        writes.push(write);
        await answer();
        return {} as never;
      },
      clock: new FakeClock(),
      log: silentLogger,
      namespace: 'system',
      name: 'main',
    });
    return { writes, deeds };
  };
  const objects = (writes: readonly Write[]) =>
    writes.map((write) => [write.verb, 'object' in write ? write.object : undefined]);

  it('creates the lease of a shard that has none', async () => {
    const { writes, deeds } = writing();
    expect(await deeds.take(3, undefined, 'me')).to.equal(true);
    const spec = { holderIdentity: 'me', acquireTime: NOW, renewTime: NOW, leaseTransitions: 0 };
    expect(objects(writes)).to.deep.equal([['create', lease('main-shard-03', '3', spec)]]);
  });
  for (const [title, before, leaseTransitions] of [
    ['counts that a shard changes hands', { leaseTransitions: 4, leaseDurationSeconds: 9 }, 5],
    ['starts to count', undefined, 1],
  ] as const) {
    it(`${title}, and sends the version that was read`, async () => {
      const { writes, deeds } = writing();
      const found = lease('main-shard-03', '3', before, { resourceVersion: '7', uid: 'u' });
      expect(await deeds.take(3, found, 'me')).to.equal(true);
      const spec = { holderIdentity: 'me', acquireTime: NOW, renewTime: NOW, leaseTransitions };
      expect(objects(writes)).to.deep.equal([['replace', { ...found, spec }]]);
    });
  }
  for (const verb of ['release', 'evict'] as const) {
    it(`that is to ${verb} a lease removes the holder and nothing else`, async () => {
      const { writes, deeds } = writing();
      const held = lease('x', '3', { holderIdentity: 'a', leaseTransitions: 4 }, { resourceVersion: '7' });
      expect(await deeds[verb](held)).to.equal(true);
      expect(objects(writes)).to.deep.equal([['replace', { ...held, spec: { leaseTransitions: 4 } }]]);
    });
  }
  for (const [title, metadata, uid] of [
    ['deletes the lease of a member that has left, and no other of its name', { uid: 'u' }, { uid: 'u' }],
    ['deletes a lease without a uid by its name', {}, {}],
  ] as const) {
    it(title, async () => {
      const { writes, deeds } = writing();
      expect(await deeds.clear(lease('x', 'member', {}, metadata))).to.equal(true);
      const [{ kind: _, ...write } = {}] = writes;
      expect(write).to.deep.equal({ verb: 'delete', key: 'system/x', ...uid });
    });
  }

  const refused = (status: number, reason: string) =>
    apiErrorFrom(status, { reason }, { verb: 'x', kind: 'Lease' });
  for (const error of [
    refused(409, 'Conflict'),
    refused(409, 'AlreadyExists'),
    refused(404, 'NotFound'),
    refused(500, 'InternalError'),
    new ShareLostError({ message: 'no' }),
  ]) {
    it(`that fails with ${error.name} changes nothing, and may be retried`, async () => {
      const errors = [error];
      const { deeds } = writing(() => {
        const next = errors.shift();
        return next ? Promise.reject(next) : Promise.resolve();
      });
      expect(await deeds.take(3, undefined, 'me')).to.equal(false);
      expect(await deeds.take(3, undefined, 'me')).to.equal(true);
    });
  }
  it('waits for no other of the same lease, and for none of another', async () => {
    let answer: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (answer = resolve));
    const { writes, deeds } = writing(() => held);
    const first = deeds.take(3, undefined, 'me');
    expect(await deeds.take(3, undefined, 'me')).to.equal(false);
    expect(await deeds.clear(lease('main-shard-03', '3'))).to.equal(false);
    const other = deeds.take(4, undefined, 'me');
    expect(writes).to.have.length(2);
    answer();
    expect(await Promise.all([first, other])).to.deep.equal([true, true]);
  });
});
