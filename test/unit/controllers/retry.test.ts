import { expect } from 'chai';
import { intake, type Facts } from '../../../controllers/installation/intake.ts';
import { decideRetry, type Retry } from '../../../controllers/installation/retry.ts';
import type { Installation } from '../../../src/api/kinds/installation.ts';
import { annotations } from '../../../src/api/labels.ts';
import { effectsOf } from '../../support/ask.ts';
import { child, done, installation, running } from '../../support/given.ts';

type Wish = NonNullable<Installation['spec']['automaticReconcile']>;
type Status = NonNullable<Installation['status']>;

const FAILED: Wish = { failedReconcile: { interval: '1h', numberOfReconciles: 3 } };
const root = (automaticReconcile: Wish, status: Partial<Status>, meta = {}): Installation =>
  installation('web', { spec: { automaticReconcile }, status, meta });
const at = (time: string): string => `2026-01-01T${time}:00Z`;
const counted = (numberOfReconciles: number, time: string, onFailed = true) => ({
  automaticReconcileStatus: {
    generation: 1,
    ...(numberOfReconciles > 0 && { numberOfReconciles }),
    lastReconcileTime: at(time),
    ...(onFailed && { onFailed }),
  },
});

describe('a scheduled job', () => {
  const rows: { title: string; self: Installation; now?: string; expected: Retry['do'] | Retry }[] = [
    { title: 'needs a configuration', self: root({}, done('j', 'Failed')), expected: 'nothing' },
    {
      title: 'CORE-102: follows a failure at once',
      self: root(FAILED, done('j', 'Failed')),
      expected: {
        do: 'start',
        counter: { generation: 1, lastReconcileTime: at('08:00'), onFailed: true, numberOfReconciles: 1 },
      },
    },
    {
      title: 'CORE-102: waits for the interval after that',
      self: root(FAILED, { ...done('j', 'Failed'), ...counted(1, '08:00') }),
      now: at('08:30'),
      expected: { do: 'wait', ms: 30 * 60_000 + 1000 },
    },
    {
      title: 'CORE-102: starts when the interval is over',
      self: root(FAILED, { ...done('j', 'Failed'), ...counted(1, '08:00') }),
      now: at('09:01'),
      expected: {
        do: 'start',
        counter: { generation: 1, lastReconcileTime: at('09:01'), onFailed: true, numberOfReconciles: 2 },
      },
    },
    {
      title: 'CORE-102: does not start after the maximum number',
      self: root(FAILED, { ...done('j', 'Failed'), ...counted(3, '08:00') }),
      now: at('23:00'),
      expected: 'nothing',
    },
    {
      title: 'CORE-103: starts at the times of a cron expression',
      self: root(
        { failedReconcile: { cronSpec: '0 * * * *' } },
        { ...done('j', 'Failed'), ...counted(1, '08:20') },
      ),
      now: at('08:50'),
      expected: { do: 'wait', ms: 10 * 60_000 + 1000 },
    },
    {
      title: 'CORE-104: counts from a success, and does not start yet',
      self: root({ succeededReconcile: {} }, done('j')),
      expected: { do: 'note', counter: { generation: 1, lastReconcileTime: at('08:00') } },
    },
    {
      title: 'CORE-104: repeats a success after a day if no interval is given',
      self: root(
        { succeededReconcile: {} },
        {
          ...done('j'),
          automaticReconcileStatus: { generation: 1, lastReconcileTime: '2025-12-30T00:00:00Z' },
        },
      ),
      expected: {
        do: 'start',
        counter: { generation: 1, lastReconcileTime: at('08:00'), numberOfReconciles: 1 },
      },
    },
    {
      title: 'resets its count after a repetition succeeded',
      self: root(FAILED, { ...done('j'), ...counted(2, '08:00') }),
      expected: { do: 'note', counter: null },
    },
    {
      title: 'CORE-105: does not start while a job runs',
      self: root(FAILED, { ...running('j2', 'Failed'), jobIDFinished: 'j1' }),
      expected: 'nothing',
    },
    {
      title: 'does not start if the user has requested something',
      self: root(FAILED, done('j', 'Failed'), { annotations: { [annotations.operation]: 'reconcile' } }),
      expected: 'nothing',
    },
    {
      title: 'pauses if the spec was changed after a failure',
      self: root(FAILED, done('j', 'Failed'), { generation: 2 }),
      expected: 'rest',
    },
    {
      title: 'pauses if the spec was changed after a success',
      self: root({ succeededReconcile: {} }, done('j'), { generation: 2 }),
      expected: 'rest',
    },
    {
      title: 'is over, and does not pause, if it would not start anyway',
      self: root(FAILED, done('j'), { generation: 2 }),
      expected: 'nothing',
    },
    {
      title: 'does not exist for children',
      self: { ...child('p', 'a', done('j', 'Failed')), spec: root(FAILED, {}).spec },
      expected: 'nothing',
    },
    {
      title: 'never starts with an invalid cron expression',
      self: root(
        { failedReconcile: { cronSpec: 'now and then' } },
        { ...done('j', 'Failed'), ...counted(1, '08:00') },
      ),
      now: at('23:00'),
      expected: 'nothing',
    },
    ...['none', '0s', '999ms', '-1h'].map((interval) => ({
      title: `never starts at the interval ${interval}, which would overload the controllers`,
      self: root({ failedReconcile: { interval } }, { ...done('j', 'Failed'), ...counted(1, '08:00') }),
      now: at('23:00'),
      expected: 'nothing' as const,
    })),
    {
      title: 'starts at the shortest permitted interval, a second',
      self: root({ failedReconcile: { interval: '1s' } }, { ...done('j', 'Failed'), ...counted(1, '08:00') }),
      now: at('08:01'),
      expected: 'start',
    },
  ];
  for (const { title, self, now = at('08:00'), expected } of rows) {
    it(title, () => {
      const retry = decideRetry(self, now);
      if (typeof expected === 'string') expect(retry.do).to.equal(expected);
      else expect(retry).to.deep.equal(expected);
    });
  }

  const facts: Facts = {
    now: at('08:00'),
    newJobID: 'new',
    dependents: () => [],
    below: () => [],
    hasExports: () => false,
    isAbandoned: false,
  };

  it('begins like any other job, with its count in the same write', () => {
    const answer = intake(root(FAILED, done('j', 'Failed')), facts);
    expect(answer && effectsOf(answer)).to.deep.equal(['job web', 'amend web']);
    expect(answer?.effects[0]).to.have.nested.property(
      'body.status.automaticReconcileStatus.numberOfReconciles',
      1,
    );
  });

  it('CORE-102: resets its count after the user requested a job', () => {
    const asked = root(
      FAILED,
      { ...done('j', 'Failed'), ...counted(3, '07:00') },
      {
        annotations: { [annotations.operation]: 'reconcile' },
      },
    );
    expect(intake(asked, facts)?.effects[0]).to.have.nested.property(
      'body.status.automaticReconcileStatus',
      null,
    );
  });
});
