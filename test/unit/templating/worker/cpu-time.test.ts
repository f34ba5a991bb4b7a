import { expect } from 'chai';
import {
  cpuTimeOf,
  fromSchedstat,
  fromStat,
  ownCpuClock,
  ownThread,
} from '../../../../src/templating/worker/cpu-time.ts';
import { skip } from '../../../support/skip.ts';
import { pause, stopwatch } from '../../../support/waiting.ts';

/** Of the processor time, each of which takes some microseconds of it. */
const MOST_READS = 1_000_000;

describe('the processor time of a thread', () => {
  it('is read in nanoseconds', () => {
    expect(fromSchedstat('31866506 20561236 55\n')).to.equal(31.866506);
  });

  it('is unknown if the kernel does not count it', () => {
    expect(fromSchedstat('0 0 0\n')).to.equal(undefined);
    expect(fromSchedstat('')).to.equal(undefined);
    expect(fromStat('')).to.equal(undefined);
  });

  it('is read in ticks if there is nothing better, also with special characters in the thread name', () => {
    const line = '22535 (a) b (c) R 1 2 3 0 -1 4194304 100 0 0 0 37 5 0 0 20 0 12 0 98 1 2';
    expect(fromStat(line)).to.equal(420);
  });

  it('is unknown for a thread that does not exist', () => {
    expect(cpuTimeOf('0')).to.equal(undefined);
  });

  it('grows with work and not with waiting', async function () {
    const self = ownThread();
    if (self === undefined) return skip(this, 'this system does not report the processor time of a thread');
    const seen = (): number => cpuTimeOf(self) ?? NaN;
    const clock = ownCpuClock();
    const [before, clockBefore] = [seen(), clock()];
    for (let reads = 0; seen() - before < 100 && reads < MOST_READS; reads++);
    expect(seen() - before, 'work').to.be.within(100, 5_000);
    expect(clock() - clockBefore, 'the same by its own clock').to.be.within(80, 5_000);
    const atRest = seen();
    const elapsed = stopwatch();
    await pause(300);
    expect(seen() - atRest, 'waiting').to.be.below(elapsed() / 2);
  });
});
