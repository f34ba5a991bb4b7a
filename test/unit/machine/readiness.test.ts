/** The conditions Ready, Reconciling and Stalled, from the status that is written. */
import { expect } from 'chai';
import { executionKind } from '../../../src/api/kinds/execution.ts';
import type { Condition } from '../../../src/api/shared.ts';
import { readinessAt } from '../../../src/machine/readiness.ts';
import type { Obj } from '../../../src/runtime/types.ts';
import { FakeClock } from '../../support/clock.ts';
import { kstatusOf } from '../../support/kstatus.ts';

const EARLIER = '2020-01-01T00:00:00Z';

const objectWith = (status?: object): Obj => ({
  apiVersion: 'landscaper.gardener.cloud/v1alpha1',
  kind: executionKind.kind,
  metadata: { name: 'web', namespace: 'demo', generation: 2 },
  ...(status && { status }),
});
const conditionOf = (type: string, status: string, rest: Partial<Condition> = {}): Condition => ({
  type,
  status,
  reason: 'Some',
  message: 'some',
  lastTransitionTime: EARLIER,
  lastUpdateTime: EARLIER,
  ...rest,
});
const running = { jobID: 'b', jobIDFinished: 'a', observedGeneration: 2 };
const ended = { jobID: 'b', jobIDFinished: 'b', observedGeneration: 2 };
const lastError = { operation: 'o', reason: 'R', message: 'no such image' };

/** The status after a write, without the fields that every condition has. */
function written(patch: object, before: object = {}, isShown = true) {
  const clock = new FakeClock();
  const target = objectWith(before);
  const status = readinessAt(clock, isShown)(target, patch) as {
    readonly conditions?: readonly Condition[] | null;
  };
  return status.conditions;
}

const gist = (conditions: readonly Condition[] | null | undefined) =>
  conditions?.map(({ type, status, reason, message }) => `${type}=${status} ${reason}: ${message}`);

describe('conditions for other tools', () => {
  const rows: readonly (readonly [string, object, readonly string[], string])[] = [
    [
      'a job that has only its id',
      running,
      [
        'Ready=Unknown JobNotStarted: the job has not started',
        'Reconciling=True JobNotStarted: the job has not started',
      ],
      'InProgress',
    ],
    [
      'a job that has not started, after one that succeeded',
      { ...running, phase: 'Succeeded' },
      [
        'Ready=Unknown JobNotStarted: the job has not started',
        'Reconciling=True JobNotStarted: the job has not started',
      ],
      'InProgress',
    ],
    [
      'a job in a phase',
      { ...running, phase: 'Progressing' },
      [
        'Ready=Unknown Progressing: the job is in phase Progressing',
        'Reconciling=True Progressing: the job is in phase Progressing',
      ],
      'InProgress',
    ],
    [
      'a job that succeeded',
      { ...ended, phase: 'Succeeded' },
      ['Ready=True Succeeded: the last job succeeded'],
      'Current',
    ],
    [
      'a job that failed',
      { ...ended, phase: 'Failed', lastError },
      ['Ready=False Failed: no such image', 'Stalled=True Failed: no such image'],
      'Failed',
    ],
    [
      'a deletion that failed without an error',
      { ...ended, phase: 'DeleteFailed' },
      ['Ready=False DeleteFailed: the job failed', 'Stalled=True DeleteFailed: the job failed'],
      'Failed',
    ],
  ];
  for (const [what, status, expected, verdict] of rows) {
    it(`describe ${what}`, () => {
      const conditions = written(status);
      expect(gist(conditions)).to.deep.equal(expected);
      expect(conditions?.map(({ observedGeneration }) => observedGeneration)).to.deep.equal(
        expected.map(() => 2),
      );
      expect(kstatusOf(objectWith({ ...status, conditions }))).to.equal(verdict);
    });
  }

  it('name what the job waits for', () => {
    const waiting = conditionOf('Waiting', 'True', { reason: 'JobsUnfinished', message: 'waits for a' });
    expect(
      gist(written({ ...running, phase: 'Progressing', conditions: [waiting] }))?.slice(1),
    ).to.deep.equal([
      'Ready=Unknown JobsUnfinished: waits for a',
      'Reconciling=True JobsUnfinished: waits for a',
    ]);
  });

  const unfinished = ['ERR_UNFINISHED', 'ERR_FOR_INFO_ONLY'];
  const problems: readonly (readonly [string, object, string])[] = [
    ['the error that the job retries', { lastError }, 'ReconcileError: no such image'],
    [
      'what a deployer waits for',
      { lastError: { ...lastError, message: '0 of 1 ready', codes: unfinished } },
      'InProgress: 0 of 1 ready',
    ],
    [
      'the phase if the last error is only for information',
      { lastError: { ...lastError, codes: ['ERR_FOR_INFO_ONLY'] } },
      'Progressing: the job is in phase Progressing',
    ],
  ];
  for (const [what, status, expected] of problems)
    it(`name ${what}`, () => {
      expect(gist(written({ ...running, phase: 'Progressing', ...status }))).to.deep.equal([
        `Ready=Unknown ${expected}`,
        `Reconciling=True ${expected}`,
      ]);
    });

  it('say that something failed after the job', () => {
    const drifted = conditionOf('Drifted', 'True', { reason: 'FailedAfterJob', message: 'item a failed' });
    const conditions = written({ conditions: [drifted] }, { ...ended, phase: 'Succeeded' });
    expect(gist(conditions)?.slice(1)).to.deep.equal(['Ready=False FailedAfterJob: item a failed']);
    expect(kstatusOf(objectWith({ ...ended, conditions }))).to.equal('InProgress');
  });

  it('are absent before the first job', () => {
    expect(written({ observedGeneration: 1 })).to.equal(undefined);
  });

  it('stay as they are, with their times, as long as they say the same', () => {
    const ready = conditionOf('Ready', 'True', {
      reason: 'Succeeded',
      message: 'the last job succeeded',
      observedGeneration: 2,
    });
    const before = { ...ended, phase: 'Succeeded', conditions: [ready] };
    expect(readinessAt(new FakeClock(), true)(objectWith(before), { deployItemCache: null })).to.deep.equal({
      deployItemCache: null,
    });
  });

  it('follow the generation', () => {
    const ready = conditionOf('Ready', 'True', {
      reason: 'Succeeded',
      message: 'the last job succeeded',
      observedGeneration: 1,
    });
    const [now] =
      written({ observedGeneration: 2 }, { ...ended, phase: 'Succeeded', conditions: [ready] }) ?? [];
    expect(now?.observedGeneration).to.equal(2);
    expect(now?.lastTransitionTime).to.equal(EARLIER);
  });

  it('cut long messages', () => {
    const [ready] =
      written({ ...ended, phase: 'Failed', lastError: { ...lastError, message: 'x'.repeat(9000) } }) ?? [];
    expect(ready?.message).to.have.length(300).and.match(/x…$/);
  });

  it('follow the other conditions', () => {
    const other = conditionOf('CreateExports', 'True');
    const before = {
      ...running,
      phase: 'Completing',
      conditions: [conditionOf('Ready', 'Unknown'), other, conditionOf('Reconciling', 'True')],
    };
    const after = written({ jobIDFinished: 'b', phase: 'Succeeded' }, before);
    expect(after?.map(({ type }) => type)).to.deep.equal(['CreateExports', 'Ready']);
  });

  it('are removed when they are switched off, by the next write', () => {
    const other = conditionOf('CreateExports', 'True');
    const before = { ...ended, phase: 'Succeeded', conditions: [conditionOf('Ready', 'True'), other] };
    expect(written({ jobID: 'c' }, before, false)).to.deep.equal([other]);
    expect(written({ jobID: 'c' }, { conditions: [conditionOf('Ready', 'True')] }, false)).to.equal(null);
    expect(written({ jobID: 'c' }, { conditions: [other] }, false)).to.equal(undefined);
  });
});
