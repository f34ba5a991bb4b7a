import { expect } from 'chai';
import {
  setStatusCondition,
  type StatusCondition,
} from '../../../src/runtime/controller/status-condition.ts';
import { FakeClock } from '../../support/clock.ts';

const ready = { type: 'Ready', status: 'True', reason: 'Available', message: '' } as const;
const stored: StatusCondition = { ...ready, lastTransitionTime: '2025-12-31T00:00:00Z' };
const synced: StatusCondition = { ...stored, type: 'Synced' };

describe('a condition of a status', () => {
  it('is added with the time of the wall clock', async () => {
    const clock = new FakeClock('2026-01-01T00:00:00Z');
    await clock.advance(61_500);
    const lastTransitionTime = '2026-01-01T00:01:01Z';
    expect(setStatusCondition(undefined, ready, clock)).to.deep.equal([{ ...ready, lastTransitionTime }]);
    expect(setStatusCondition([synced], ready, clock)).to.deep.equal([
      synced,
      { ...ready, lastTransitionTime },
    ]);
  });

  it('keeps its time while its status is the same, and takes the other fields', () => {
    const wanted = { ...ready, reason: 'Restarted', message: 'a pod restarted', observedGeneration: 2 };
    expect(setStatusCondition([stored, synced], wanted, new FakeClock())).to.deep.equal([
      { ...wanted, lastTransitionTime: stored.lastTransitionTime },
      synced,
    ]);
  });

  it('gets a new time when its status changes', () => {
    const wanted = { ...ready, status: 'False', reason: 'Unavailable' } as const;
    const [changed] = setStatusCondition([stored], wanted, new FakeClock('2026-01-01T00:00:00Z'));
    expect(changed).to.deep.equal({ ...wanted, lastTransitionTime: '2026-01-01T00:00:00Z' });
  });

  it('does not change the conditions that it is given', () => {
    const given = Object.freeze([Object.freeze(stored)]);
    setStatusCondition(given, { ...ready, status: 'False' }, new FakeClock());
    expect(given).to.deep.equal([stored]);
  });
});
