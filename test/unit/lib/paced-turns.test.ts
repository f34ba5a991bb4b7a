import { expect } from 'chai';
import { PacedTurns } from '../../../src/lib/paced-turns.ts';
import { FakeClock } from '../../support/clock.ts';

/** A clock on which work takes time. */
class WorkingClock extends FakeClock {
  #spent = 0;
  spend(ms: number): void {
    this.#spent += ms;
  }
  override now(): number {
    return super.now() + this.#spent;
  }
}

describe('work that blocks the thread', () => {
  it('is followed by as much time for everything else', async () => {
    const clock = new WorkingClock();
    const turns = new PacedTurns();
    const began: number[] = [];
    const work = (ms: number) => () => {
      began.push(clock.now());
      clock.spend(ms);
      return ms;
    };
    const all = Promise.all([
      turns.run(clock, work(100)),
      turns.run(clock, work(300)),
      turns.run(clock, work(0)),
    ]);
    await clock.advance(99);
    expect(began).to.have.length(1);
    await clock.advance(1_000);
    expect(await all).to.deep.equal([100, 300, 0]);
    const [first = 0, second = 0, third = 0] = began;
    expect(second - first).to.be.at.least(200);
    expect(third - second).to.be.at.least(600);
  });

  it('continues after an error', async () => {
    const [clock, turns] = [new FakeClock(), new PacedTurns()];
    const failing = turns.run(clock, () => {
      throw new Error('broken');
    });
    expect(await failing.catch((error: unknown) => (error as Error).message)).to.equal('broken');
    expect(await turns.run(clock, () => 'next')).to.equal('next');
  });
});
