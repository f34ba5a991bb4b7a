/** One shard, and how it becomes ready for work. */
import { expect } from 'chai';
import { silentLogger } from '../../../../src/observability/log.ts';
import { apiErrorFrom, ShareLostError, TransportError } from '../../../../src/runtime/errors.ts';
import { MAX_IN_FLIGHT_MS, Shard, type ShardState } from '../../../../src/runtime/fleet/shard.ts';
import { WarmUp } from '../../../../src/runtime/fleet/warmup.ts';
import type { Write } from '../../../../src/runtime/types.ts';
import { FakeClock, settle } from '../../../support/clock.ts';

const STATES = ['none', 'taking', 'warming', 'held', 'draining', 'releasing'] as const;
const request = { verb: 'delete', kind: {} as never, key: 'a' } as const satisfies Write;

/** A shard in a process that may write until the test forbids it. */
function shardIn(state: ShardState) {
  const clock = new FakeClock();
  const may = { write: true };
  let idle = 0;
  const shard = new Shard(
    3,
    clock,
    () => may.write,
    () => void idle++,
  );
  shard.state = state;
  return { clock, shard, may, idle: () => idle };
}

describe('a shard', () => {
  for (const state of STATES) {
    const isOurs = !['none', 'taking'].includes(state);
    it(`that is ${state} is ${isOurs ? 'ours' : 'not ours'} and ${state === 'held' ? 'admits' : 'does not admit'} work`, () => {
      const { shard } = shardIn(state);
      expect([shard.isOurs, shard.isAdmitting]).to.deep.equal([isOurs, state === 'held']);
    });
  }
  it('admits nothing while the process may not write', () => {
    const { shard, may } = shardIn('held');
    may.write = false;
    expect(shard.isAdmitting).to.equal(false);
  });

  it('is busy while a reconcile is running', () => {
    const { shard } = shardIn('held');
    expect(shard.busyMs).to.equal(0);
    const [first, second] = [shard.begin(() => undefined), shard.begin(() => undefined)];
    first.end();
    expect(shard.busyMs).to.equal(Infinity);
    second.end();
    expect(shard.busyMs).to.equal(0);
  });
  for (const [title, error, expected] of [
    ['an unanswered write', new TransportError({ message: 'gone', safeToRepeat: false }), MAX_IN_FLIGHT_MS],
    ['a write that the server refused', apiErrorFrom(500, {}, { verb: 'x', kind: 'X' }), 0],
    ['a write that was not sent', new ShareLostError({ message: 'no' }), 0],
  ] as const) {
    it(`is busy for ${String(expected)} ms after ${title}`, async () => {
      const { shard, clock } = shardIn('held');
      const pass = shard.begin(() => undefined);
      const write = pass.around(() => Promise.reject(error));
      const failure: unknown = await write(request).catch((each: unknown) => each);
      pass.end();
      expect([failure, shard.busyMs]).to.deep.equal([error, expected]);
      await clock.advance(expected);
      expect(shard.busyMs).to.equal(0);
    });
  }
  it('returns the response of a write', async () => {
    const { shard } = shardIn('held');
    const answer = {} as never;
    expect(await shard.begin(() => undefined).around(() => Promise.resolve(answer))(request)).to.equal(
      answer,
    );
  });

  it('reports once when its last reconcile has ended while it drains', () => {
    const { shard, idle } = shardIn('held');
    const [first, second] = [shard.begin(() => undefined), shard.begin(() => undefined)];
    shard.state = 'draining';
    first.end();
    first.end();
    expect(idle()).to.equal(0);
    second.end();
    second.end();
    expect(idle()).to.equal(1);
  });
  it('does not report the end of a reconcile while it is held', () => {
    const { shard, idle } = shardIn('held');
    shard.begin(() => undefined).end();
    expect(idle()).to.equal(0);
  });
});

describe('a reconcile in a shard', () => {
  it('may write', () => {
    expect(shardIn('held').shard.begin(() => undefined).fence).not.to.throw();
  });
  it('may not write while the process may not', () => {
    const { shard, may } = shardIn('held');
    const { fence } = shard.begin(() => undefined);
    may.write = false;
    expect(fence).to.throw(ShareLostError, 'writes to shard 3 are blocked: this replica could not renew');
  });
  it('ends with the shard, once', () => {
    const { shard } = shardIn('held');
    const reasons: Error[] = [];
    const { fence } = shard.begin((reason) => void reasons.push(reason));
    shard.lose('others hold it');
    shard.lose('again');
    expect(reasons.map(({ message }) => message)).to.deep.equal([
      'writes to shard 3 are blocked: others hold it',
    ]);
    expect(fence).to.throw(ShareLostError, 'others hold it');
    expect([shard.state, shard.busyMs]).to.deep.equal(['none', 0]);
  });
  it('that has ended receives no loss', () => {
    const { shard } = shardIn('held');
    const reasons: Error[] = [];
    shard.begin((reason) => void reasons.push(reason)).end();
    shard.lose('others hold it');
    expect(reasons).to.deep.equal([]);
  });
  it('is lost from the start in a shard that is not held', () => {
    const { shard } = shardIn('draining');
    const reasons: Error[] = [];
    const { fence } = shard.begin((reason) => void reasons.push(reason));
    expect(reasons).to.have.length(1);
    expect(fence).to.throw('it was lost before the reconcile began');
    expect(shard.busyMs).to.equal(0);
  });
});

describe('new shards', () => {
  const warming = (count: number) => {
    const clock = new FakeClock();
    const abort = new AbortController();
    const life: { now: object } = { now: {} };
    const shards = Array.from(
      { length: count },
      (_, i) =>
        new Shard(
          i,
          clock,
          () => true,
          () => undefined,
        ),
    );
    const held: number[][] = [];
    const rounds: ((error?: Error) => void)[] = [];
    const warmUp = new WarmUp(
      {
        clock,
        log: silentLogger,
        retryAfterMs: 1_000,
        shards,
        member: () => life.now,
        prepare: () =>
          new Promise((resolve, reject) => {
            rounds.push((error) => (error ? reject(error) : resolve()));
          }),
        onHeld: (ready) => void held.push(ready.map(({ number }) => number)),
      },
      abort.signal,
    );
    return {
      clock,
      abort,
      life,
      shards,
      held,
      rounds,
      begin(...numbers: readonly number[]) {
        for (const number of numbers) (shards[number] as Shard).state = 'warming';
        warmUp.begin();
      },
      /** Ends the current round. */
      async caughtUp(error?: Error) {
        rounds.at(-1)?.(error);
        await settle();
      },
      states: () => shards.map(({ state }) => state),
    };
  };

  it('are held after the caches have caught up, and not before', async () => {
    const { begin, caughtUp, states, held } = warming(3);
    begin(0, 2);
    await settle();
    expect(states()).to.deep.equal(['warming', 'none', 'warming']);
    await caughtUp();
    expect(states()).to.deep.equal(['held', 'none', 'held']);
    expect(held).to.deep.equal([[0, 2]]);
  });
  it('wait for a round that started after they were assigned', async () => {
    const { begin, caughtUp, states, rounds } = warming(2);
    begin(0);
    begin(1);
    await caughtUp();
    expect(states()).to.deep.equal(['held', 'warming']);
    expect(rounds).to.have.length(2);
    await caughtUp();
    expect(states()).to.deep.equal(['held', 'held']);
  });
  it('start a new round after the last one is over', async () => {
    const { begin, caughtUp, states, rounds } = warming(2);
    begin(0);
    await caughtUp();
    begin(1);
    await caughtUp();
    expect([states(), rounds.length]).to.deep.equal([['held', 'held'], 2]);
  });
  it('are not held if they were lost meanwhile', async () => {
    const { begin, caughtUp, shards, states, held } = warming(2);
    begin(0, 1);
    shards[0]?.lose('others hold it');
    await caughtUp();
    expect([states(), held]).to.deep.equal([['none', 'held'], [[1]]]);
  });
  it('catch up again if the replica was treated as dead and has joined again meanwhile', async () => {
    const { begin, caughtUp, life, states, rounds } = warming(1);
    begin(0);
    life.now = {};
    await caughtUp();
    expect([states(), rounds.length]).to.deep.equal([['warming'], 2]);
    await caughtUp();
    expect(states()).to.deep.equal(['held']);
  });
  it('retry a second after a failure', async () => {
    const { begin, caughtUp, clock, states, rounds } = warming(1);
    begin(0);
    await caughtUp(new Error('no'));
    await clock.advance(999);
    expect(rounds).to.have.length(1);
    await clock.advance(1);
    expect(rounds).to.have.length(2);
    await caughtUp();
    expect(states()).to.deep.equal(['held']);
  });
  for (const [title, error] of [
    ['succeeds', undefined],
    ['fails', new Error('no')],
  ] as const) {
    it(`start no further round at the end of the process, if the last one ${title}`, async () => {
      const { begin, caughtUp, abort, clock, rounds } = warming(2);
      begin(0);
      begin(1);
      abort.abort();
      await caughtUp(error);
      await clock.advance(5_000);
      expect(rounds).to.have.length(1);
    });
  }
});
