/** Virtual time of landscape tests: it passes only while nothing happens. */
import { expect } from 'chai';
import { sleep } from '../../../../src/lib/clock.ts';
import { Driver, OutOfRealTime } from '../../../../src/cli/landscape-tests/time/driver.ts';
import { VirtualClock } from '../../../../src/cli/landscape-tests/time/virtual-clock.ts';

const START = Date.parse('2026-01-01T00:00:00Z');

describe('virtual time', () => {
  const quiet = { mark: () => 0, pending: () => 0 };

  it('fires timers in their order, and never at once', () => {
    const clock = new VirtualClock(START);
    const fired: string[] = [];
    clock.at(20, () => fired.push('b'));
    clock.at(10, () => {
      fired.push('a');
      clock.at(0, () => fired.push('now'));
    });
    const cancel = clock.at(15, () => fired.push('cancelled'));
    cancel();
    expect(clock.fireNext(Infinity)).to.equal(true);
    expect(fired).to.deep.equal(['a']);
    expect(clock.fireNext(10)).to.equal(true);
    expect(clock.fireNext(19)).to.equal(false);
    expect(clock.fireNext(20)).to.equal(true);
    expect(fired).to.deep.equal(['a', 'now', 'b']);
    expect([clock.now(), clock.wall() - START]).to.deep.equal([20, 20]);
  });

  it('passes until a condition is met, and not beyond the limit', async () => {
    const clock = new VirtualClock(START);
    const driver = new Driver(clock, quiet, 10_000);
    let isDone = false;
    clock.at(3_600_000, () => (isDone = true));
    expect(await driver.run(1_000, () => isDone)).to.equal(false);
    expect(clock.now()).to.equal(1_000);
    expect(await driver.run(1e9, () => isDone)).to.equal(true);
    expect(clock.now()).to.equal(3_600_000);
  });

  it('waits for work that takes no virtual time', async () => {
    const clock = new VirtualClock(START);
    let pending = 1;
    const driver = new Driver(clock, { mark: () => 0, pending: () => pending }, 10_000);
    const seen: number[] = [];
    let turns = 100;
    const work = (): void => {
      if (--turns > 0) setImmediate(work);
      else {
        seen.push(clock.now());
        pending = 0;
      }
    };
    setImmediate(work);
    await driver.run(500);
    expect(seen).to.deep.equal([0]);
  });

  it('passes while a promise waits for it', async () => {
    const clock = new VirtualClock(START);
    const driver = new Driver(clock, quiet, 10_000);
    await driver.during(sleep(clock, 60_000));
    expect(clock.now()).to.equal(60_000);
  });

  it('ends when a case takes too long on the machine', async () => {
    const clock = new VirtualClock(START);
    const driver = new Driver(clock, { mark: () => 0, pending: () => 1 }, 1);
    const error = await driver.run(1).catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(OutOfRealTime);
  });
});
