import { expect } from 'chai';
import { systemClock } from '../../../src/lib/clock.ts';
import { inTime } from '../../support/waiting.ts';

describe("the machine's clock", () => {
  it('never fires a timer before its time', async () => {
    const start = systemClock.now();
    const offsets = Array.from({ length: 200 }, (_, i) => i * 0.37);
    const early = await inTime(
      'all timers fire',
      Promise.all(
        offsets.map(
          (offset) =>
            new Promise<number>((resolve) => {
              const when = start + offset;
              systemClock.at(when, () => {
                resolve(when - systemClock.now());
              });
            }),
        ),
      ),
    );
    expect(early.filter((ms) => ms > 0)).to.deep.equal([]);
  });

  it('fires a timer that is already due, later', async () => {
    let isFired = false;
    const fired = new Promise<void>((resolve) => {
      systemClock.at(systemClock.now() - 10, () => {
        isFired = true;
        resolve();
      });
    });
    expect(isFired).to.equal(false);
    await inTime('the timer fires', fired);
  });

  it('does not fire a timer that was cancelled', async () => {
    let isFired = false;
    const when = systemClock.now() + 2;
    const cancel = systemClock.at(when, () => {
      isFired = true;
    });
    cancel();
    await inTime('a later timer fires', new Promise<void>((resolve) => systemClock.at(when + 2, resolve)));
    expect(isFired).to.equal(false);
  });
});
