import { expect } from 'chai';
import {
  beginReconcile,
  endReconcile,
  isLastAttempt,
  next,
  type Next,
  type ReconcileResult,
  type Slot,
  type Timing,
} from '../../../src/runtime/controller/decide.ts';
import { exponential, retryPolicies, retryPolicyOf } from '../../../src/runtime/queue/retry.ts';
import { noChance } from './support/world.ts';

const timing: Timing = {
  retry: exponential({ initialMs: 1_000, factor: 2, maxMs: 60_000, maxAttempts: 3 }),
  syncMs: 3_600_000,
  syncJitter: 0.1,
};
const now = 10_000;

describe('the step after a reconcile', () => {
  const ok: ReconcileResult = { ok: true };
  const failed: ReconcileResult = { ok: false, error: new Error('no'), retry: true };
  const final: ReconcileResult = { ok: false, error: new Error('no'), retry: false };
  const sync: Next = { do: 'wait', ms: 3_600_000, kind: 'sync' };
  const retry = (ms: number): Next => ({ do: 'wait', ms, kind: 'retry' });
  const again = (ms: number): Next => ({ do: 'wait', ms, kind: 'requeue' });

  type Row = readonly [string, Partial<Slot>, ReconcileResult, Next];
  const rows: readonly Row[] = [
    ['RUN-04: gone and failed: drop', { gone: true }, failed, { do: 'drop' }],
    ['gone and removed: drop', { gone: true }, { ok: true, removed: 'u' }, { do: 'drop' }],
    ['gone and dirty: drop', { gone: true, dirty: true }, ok, { do: 'drop' }],
    [
      'RUN-04: removed and dirty: park',
      { dirty: true },
      { ok: true, removed: 'u' },
      { do: 'park', uid: 'u' },
    ],
    ['removed: park', {}, { ok: true, removed: 'u' }, { do: 'park', uid: 'u' }],
    ['RUN-04: failed and dirty: run', { dirty: true }, failed, { do: 'run' }],
    ['finally failed and dirty: run', { dirty: true }, final, { do: 'run' }],
    [
      'RUN-04: fine, dirty, with a delay: run',
      { dirty: true },
      { ok: true, requeueAfterMs: 5_000 },
      { do: 'run' },
    ],
    ['RUN-04: failed: first retry', {}, failed, retry(1_000)],
    ['failed again: second retry', { attempt: 1 }, failed, retry(2_000)],
    ['failed for the last time: sync', { attempt: 3 }, failed, sync],
    [
      'failed before the pending retry: its time stays',
      { attempt: 1, retryAt: 17_000 },
      failed,
      retry(7_000),
    ],
    [
      'failed when the pending retry is due: the next one',
      { attempt: 1, retryAt: now },
      failed,
      retry(2_000),
    ],
    ['failed with a delay: back-off', {}, { ...failed, requeueAfterMs: 99 }, retry(1_000)],
    ['finally failed: sync', {}, final, sync],
    ['finally failed with a delay: delay', {}, { ...final, requeueAfterMs: 30_000 }, again(30_000)],
    ['finally failed with a retry pending: sync', { retryAt: 17_000 }, final, sync],
    ['RUN-04: fine with a delay: delay', {}, { ok: true, requeueAfterMs: 5_000 }, again(5_000)],
    ['RUN-04: fine: sync', {}, ok, sync],
    ['fine with a retry pending: sync', { attempt: 1, retryAt: 17_000 }, ok, sync],
  ];
  for (const [title, slot, result, expected] of rows) {
    it(title, () => {
      const full = { attempt: 0, gone: false, dirty: false, ...slot };
      expect(next(full, result, timing, now, noChance)).to.deep.equal(expected);
    });
  }

  it('never repeats if there is no sync period', () => {
    const slot = { attempt: 0, gone: false, dirty: false };
    expect(next(slot, ok, { ...timing, syncMs: 0 }, now, noChance)).to.deep.equal({ do: 'rest' });
  });

  it('varies the sync period by a tenth', () => {
    const slot = { attempt: 0, gone: false, dirty: false };
    const at = (value: number): Next => next(slot, ok, timing, now, { next: () => value });
    expect(at(0)).to.deep.include({ ms: 3_240_000 });
    expect(at(0.999999)).to.have.property('ms').that.is.closeTo(3_960_000, 10);
  });

  it('counts a reconcile as a retry exactly if one is due', () => {
    const slot: Slot = { attempt: 1, retryAt: now, gone: false, dirty: true };
    expect(beginReconcile(slot, now - 1)).to.equal(false);
    expect(slot).to.deep.equal({ attempt: 1, retryAt: now, gone: false, dirty: false });
    expect(beginReconcile(slot, now)).to.equal(true);
    expect(slot).to.deep.equal({ attempt: 2, gone: false, dirty: false });
  });

  it('counts no reconcile as a retry if none is due', () => {
    const slot: Slot = { attempt: 1, gone: false, dirty: false };
    expect(beginReconcile(slot, now)).to.equal(false);
    expect(slot.attempt).to.equal(1);
  });

  it('drops a pending retry after success and after a final failure only', () => {
    const pending = (result: ReconcileResult): number | undefined => {
      const slot: Slot = { attempt: 1, retryAt: 17_000, gone: false, dirty: false };
      endReconcile(slot, result);
      return slot.retryAt;
    };
    expect([ok, final, failed].map(pending)).to.deep.equal([undefined, undefined, 17_000]);
  });

  it('resets the count after success and after a final failure only', () => {
    const counted = (result: ReconcileResult): number => {
      const slot: Slot = { attempt: 2, retryAt: 1, gone: false, dirty: false };
      endReconcile(slot, result);
      return slot.attempt;
    };
    expect([ok, final, failed].map(counted)).to.deep.equal([0, 0, 2]);
  });

  it('detects the last attempt', () => {
    const at = (attempt: number, retryAt?: number): boolean =>
      isLastAttempt({ attempt, gone: false, dirty: false, ...(retryAt && { retryAt }) }, timing.retry);
    expect([at(0), at(2), at(3), at(3, 17_000)]).to.deep.equal([false, false, true, false]);
    expect(isLastAttempt({ attempt: 0, gone: false, dirty: false }, retryPolicies.none)).to.equal(true);
  });
});

describe('retry policies', () => {
  const delays = (name: keyof typeof retryPolicies, attempts: readonly number[]): (number | undefined)[] =>
    attempts.map((attempt) => retryPolicies[name].delay(attempt, noChance));

  it('grow as their names say', () => {
    expect(delays('standard', [1, 2, 3, 9, 10, 99])).to.deep.equal([
      1_000, 2_000, 4_000, 256_000, 300_000, 300_000,
    ]);
    expect(delays('gradual', [1, 2, 3, 5, 6])).to.deep.equal([2_000, 3_000, 4_500, 10_125, undefined]);
    expect(delays('fast', [1, 2, 99])).to.deep.equal([5, 10, 1_000_000]);
    expect(delays('external', [1, 7, 99])).to.deep.equal([1_000, 60_000, 60_000]);
    expect(delays('growing', [1, 2, 7, 8, 99])).to.deep.equal([500, 1_000, 32_000, 60_000, 60_000]);
    expect(delays('none', [1])).to.deep.equal([undefined]);
  });

  it('vary by a tenth', () => {
    expect(retryPolicies.growing.delay(1, { next: () => 0 })).to.equal(450);
    expect(retryPolicies.growing.delay(1, { next: () => 0.999999 })).to.be.closeTo(550, 0.01);
  });

  it('are given by name, as an object, or default to the standard one', () => {
    const own = exponential({ initialMs: 7, factor: 1, maxMs: 7 });
    expect(retryPolicyOf(own)).to.equal(own);
    expect(retryPolicyOf('external')).to.equal(retryPolicies.external);
    expect(retryPolicyOf()).to.equal(retryPolicies.standard);
  });
});
