/** How a replica takes and releases shards: from the leases, the assignment and the state that each shard is in. */
import { expect } from 'chai';
import { readFleetState } from '../../../../src/runtime/fleet/fleet-state.ts';
import { Handover } from '../../../../src/runtime/fleet/handover.ts';
import type { LeaseWrites } from '../../../../src/runtime/fleet/lease-writes.ts';
import { Shard, type ShardState } from '../../../../src/runtime/fleet/shard.ts';
import type { LeaseObject } from '../../../../src/runtime/manager/lease.ts';
import { FakeClock } from '../../../support/clock.ts';

const lease = (role: string, holderIdentity: string | undefined): LeaseObject => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: {
    namespace: 'system',
    name: `${role}-${holderIdentity ?? ''}`,
    labels: { 'espalier.dev/fleet': 'main', 'espalier.dev/role': role },
  },
  spec: holderIdentity === undefined ? {} : { holderIdentity },
});

/** Shard 0 in a group of members; `holder` has its lease. Writes wait until the test answers. */
function stage(members: readonly string[], holder: string | undefined, state: ShardState, hasLease = true) {
  const leases = members.map((member) => lease('member', member));
  const fleet = readFleetState(hasLease ? [...leases, lease('0', holder)] : leases, 'main');
  const shard = new Shard(0, new FakeClock(), () => true, () => undefined); // prettier-ignore
  shard.state = state;
  const writes: string[] = [];
  const answers: ((isDone: boolean) => void)[] = [];
  const write = (text: string): Promise<boolean> => {
    writes.push(text);
    return new Promise((resolve) => answers.push(resolve));
  };
  const leaseWrites = {
    take: (number, _, identity) => write(`take ${String(number)} as ${identity}`),
    release: () => write('release'),
  } satisfies Partial<LeaseWrites> as unknown as LeaseWrites;
  const me: { identity: string | undefined } = { identity: 'me' };
  let warmings = 0;
  const handover = new Handover({
    leaseWrites,
    shards: [shard],
    identity: () => me.identity,
    onWarming: () => void warmings++,
  });
  return {
    shard,
    writes,
    me,
    warmings: () => warmings,
    settle: () => handover.settle(fleet, 'me'),
    answer: (isDone: boolean) => {
      answers.shift()?.(isDone);
    },
  };
}
describe('the hand-over of a shard', () => {
  const first = [
    ['is taken if it is free and assigned to this replica', ['me'], undefined, 'none', ['take 0 as me']],
    ['is taken if a replica that is not a member holds it', ['me'], 'dead', 'none', ['take 0 as me']],
    ['is taken if its lease already names this replica', ['me', 'z'], 'me', 'none', ['take 0 as me']],
    ['is not taken if it is assigned to another one', ['me', 'a'], undefined, 'none', []],
    ['is not taken from a member', ['me', 'a'], 'a', 'none', []],
    ['is not taken twice', ['me'], undefined, 'taking', []],
    ['is not released twice', ['a'], 'me', 'releasing', []],
    ['is kept if it is held', ['me'], 'me', 'held', []],
    ['is released if it is assigned to another one', ['a'], 'me', 'held', ['release']],
    ['is released when it has drained', ['a'], 'me', 'draining', ['release']],
  ] as const;
  for (const [title, members, holder, state, writes] of first)
    it(title, () => {
      const on = stage(members, holder, state);
      expect(on.settle()).to.have.length(writes.length);
      expect(on.writes).to.deep.equal(writes);
    });

  it('is taken without a lease if none exists yet', () => {
    const on = stage(['me'], undefined, 'none', false);
    expect(on.settle()).to.have.length(1);
    expect(on.writes).to.deep.equal(['take 0 as me']);
  });

  it('is lost when its lease names another replica, without a write', () => {
    const on = stage(['me', 'a'], 'a', 'held');
    let why = '';
    on.shard.begin((reason) => (why = reason.message));
    expect(on.settle()).to.deep.equal([]);
    expect([on.shard.state, on.writes]).to.deep.equal(['none', []]);
    expect(why).to.include('a holds its lease');
  });

  const answers = [
    ['warms up when it was taken', true, () => undefined, 'warming', true, 1],
    ['stays free when it could not be taken', false, () => undefined, 'none', false, 0],
    ['stays lost if it was lost meanwhile', true, (on) => on.shard.lose('x'), 'none', true, 0],
    [
      'is not of the new membership if it was taken by an old one',
      true,
      (on) => (on.me.identity = 'me-2'),
      'taking',
      true,
      0,
    ],
    [
      'is not ours after this replica has left',
      true,
      (on) => (on.me.identity = undefined),
      'taking',
      true,
      0,
    ],
  ] as const satisfies readonly [
    string,
    boolean,
    (on: ReturnType<typeof stage>) => unknown,
    ShardState,
    boolean,
    number,
  ][];
  for (const [title, isTaken, meanwhile, state, result, warmings] of answers)
    it(title, async () => {
      const on = stage(['me'], undefined, 'none');
      const [step] = on.settle();
      expect(on.shard.state).to.equal('taking');
      meanwhile(on);
      on.answer(isTaken);
      expect(await step).to.equal(result);
      expect([on.shard.state, on.warmings()]).to.deep.equal([state, warmings]);
    });

  it('drains while a reconcile is active, and warms up again if it is assigned back', () => {
    const leaving = stage(['a'], 'me', 'held');
    leaving.shard.begin(() => undefined);
    expect([leaving.settle(), leaving.shard.state, leaving.writes]).to.deep.equal([[], 'draining', []]);
    const staying = stage(['me'], 'me', 'draining');
    expect(staying.settle()).to.deep.equal([]);
    expect([staying.shard.state, staying.warmings(), staying.writes]).to.deep.equal(['warming', 1, []]);
    const held = stage(['me'], 'me', 'held');
    expect(held.settle()).to.deep.equal([]);
    expect([held.shard.state, held.warmings()]).to.deep.equal(['held', 0]);
  });

  for (const isReleased of [true, false])
    it(`leaves the next step to the leases when its release ${isReleased ? 'succeeded' : 'failed'}`, async () => {
      const on = stage(['a'], 'me', 'held');
      const [step] = on.settle();
      expect(on.shard.state).to.equal('releasing');
      on.answer(isReleased);
      expect([await step, on.shard.state]).to.deep.equal([isReleased, 'none']);
    });

  it('keeps the state of a later step if its release ends late', async () => {
    const on = stage(['a'], 'me', 'held');
    const [step] = on.settle();
    on.shard.state = 'taking';
    on.answer(true);
    await step;
    expect(on.shard.state).to.equal('taking');
  });
});
