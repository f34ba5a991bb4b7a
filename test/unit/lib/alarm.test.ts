import { expect } from 'chai';
import { Alarm } from '../../../src/lib/alarm.ts';
import { FakeClock } from '../../support/clock.ts';

describe('an alarm', () => {
  let clock: FakeClock;
  let rung: number[];
  let alarm: Alarm;
  beforeEach(() => {
    clock = new FakeClock();
    rung = [];
    const start = clock.now();
    alarm = new Alarm(clock, () => rung.push(clock.now() - start));
  });
  const inMs = (ms: number): void => {
    alarm.by(clock.now() + ms);
  };

  it('fires once, at the earliest of all requested times', async () => {
    for (const ms of [300, 100, 200, Infinity]) inMs(ms);
    await clock.advance(1_000);
    expect(rung).to.deep.equal([100]);
  });

  it('can be set again after it has fired', async () => {
    inMs(100);
    await clock.advance(100);
    inMs(50);
    await clock.advance(100);
    expect(rung).to.deep.equal([100, 150]);
  });

  it('does not fire after it is cancelled, or at an infinite time', async () => {
    inMs(100);
    alarm.cancel();
    inMs(Infinity);
    await clock.advance(1_000);
    expect(rung).to.deep.equal([]);
  });
});
