import { expect } from 'chai';
import {
  changed,
  inPhase,
  mergeConditions,
  waitingFor,
  withoutWait,
  withProblem,
  type Status,
} from '../../../src/machine/status.ts';

const EARLIER = '2026-01-01T00:00:00Z';
const NOW = '2026-01-01T00:01:00Z';
/** An object without any history. */
const none: Status = {};
const problem = { operation: 'init', reason: 'ImportsSatisfied', message: 'no data object "x"' };

describe('the last error of a status', () => {
  it('appears with both times set to now', () => {
    expect(withProblem(none, problem, NOW).lastError).to.deep.equal({
      ...problem,
      lastTransitionTime: NOW,
      lastUpdateTime: NOW,
    });
  });

  it('is unchanged if the same problem occurs again, so that nothing is written', () => {
    const status = withProblem(none, problem, EARLIER);
    expect(withProblem(status, problem, NOW)).to.equal(status);
  });

  it('is shortened if the object would be too large otherwise, and stays the same then', () => {
    const long = { ...problem, message: `${'x'.repeat(2 ** 21)}\nthe way out` };
    const status = withProblem(none, long, EARLIER);
    expect(status.lastError?.message)
      .to.have.lengthOf.at.most(8192)
      .and.match(/\nthe way out$/);
    expect(withProblem(status, long, NOW)).to.equal(status);
  });

  it('keeps its transition time while the operation stays the same', () => {
    const status = withProblem(none, problem, EARLIER);
    const next = withProblem(status, { ...problem, message: 'another' }, NOW).lastError;
    expect(next).to.include({ lastTransitionTime: EARLIER, lastUpdateTime: NOW });
  });

  it('changes its transition time with the operation', () => {
    const status = withProblem(none, problem, EARLIER);
    const next = withProblem(status, { ...problem, operation: 'other' }, NOW).lastError;
    expect(next).to.include({ lastTransitionTime: NOW, lastUpdateTime: NOW });
  });

  it('changes its update time with the reason', () => {
    const status = withProblem(none, problem, EARLIER);
    const next = withProblem(status, { ...problem, reason: 'Other' }, NOW).lastError;
    expect(next).to.include({ reason: 'Other', lastTransitionTime: EARLIER, lastUpdateTime: NOW });
  });

  it('has codes only if there are some', () => {
    expect(withProblem(none, { ...problem, codes: [] }, NOW).lastError).not.to.have.property('codes');
    const { lastError } = withProblem(none, { ...problem, codes: ['ERR_TIMEOUT'] }, NOW);
    expect(lastError?.codes).to.deep.equal(['ERR_TIMEOUT']);
  });

  it('is removed if there is no problem', () => {
    expect(withProblem(withProblem(none, problem, EARLIER), undefined, NOW)).to.deep.equal({});
  });
});

describe('the message of a wait', () => {
  const names = (count: number) => Array.from({ length: count }, (_, i) => `item ${i}`);
  const rows: readonly (readonly [string, readonly string[], string])[] = [
    ['names the awaited objects', names(2), 'waits for item 0, item 1'],
    ['names ten', names(10), `waits for ${names(10).join(', ')}`],
    ['counts those it does not name', names(11), `waits for ${names(10).join(', ')} and 1 more`],
  ];
  for (const [title, objects, message] of rows) {
    it(title, () => {
      const { conditions } = waitingFor(none, { reason: 'JobsUnfinished', objects }, NOW);
      expect(conditions?.map((condition) => condition.message)).to.deep.equal([message]);
    });
  }

  it('is removed if there is another problem, and other conditions stay', () => {
    const other = { type: 'CreateExports', status: 'True', reason: 'r', message: 'm' } as const;
    const status = waitingFor(
      changed(none, { conditions: [other] }, NOW),
      { reason: 'JobsUnfinished', objects: ['a'] },
      NOW,
    );
    expect(withoutWait(status, NOW).conditions?.map(({ type }) => type)).to.deep.equal(['CreateExports']);
  });

  it('is that of the object that holds the job up, if there is one', () => {
    const { conditions } = waitingFor(none, { reason: 'ReconcileError', message: 'item a: no chart' }, NOW);
    expect(conditions?.map(({ reason, message }) => [reason, message])).to.deep.equal([
      ['ReconcileError', 'item a: no chart'],
    ]);
  });
});

describe('entering a phase', () => {
  it('finishes the job in the same write as the final phase', () => {
    const status: Status = { phase: 'Completing', jobID: 'j', transitionTimes: { triggerTime: EARLIER } };
    expect(inPhase(status, 'Succeeded', NOW, { final: true })).to.deep.equal({
      phase: 'Succeeded',
      phaseTransitionTime: NOW,
      jobID: 'j',
      jobIDFinished: 'j',
      transitionTimes: { triggerTime: EARLIER, finishedTime: NOW },
    });
  });

  it('keeps the transition time if the phase is the same', () => {
    const status: Status = { phase: 'Progressing', phaseTransitionTime: EARLIER };
    expect(inPhase(status, 'Progressing', NOW, { final: false })).to.deep.equal(status);
  });
});

describe('conditions', () => {
  it('are removed when their problem is solved', () => {
    const told = { type: 'CreateImports', status: 'False', reason: 'x', message: 'y' } as const;
    const before = changed(none, { conditions: [told, { ...told, type: 'CreateExports' }] }, NOW);
    const types = changed(before, { settled: ['CreateImports'] }, NOW).conditions?.map(({ type }) => type);
    expect(types).to.deep.equal(['CreateExports']);
  });

  const ok = {
    type: 'CreateExports',
    status: 'True',
    reason: 'DataObjectsCreated',
    message: 'fine',
  } as const;
  const stored = { ...ok, lastTransitionTime: EARLIER, lastUpdateTime: EARLIER };

  it('are added with both times', () => {
    expect(mergeConditions([], [ok], NOW)).to.deep.equal([
      { ...ok, lastTransitionTime: NOW, lastUpdateTime: NOW },
    ]);
  });

  it('are unchanged if nothing changed', () => {
    expect(mergeConditions([stored], [ok], NOW)).to.deep.equal([stored]);
  });

  it('keep their place and their transition time if only the message changed', () => {
    const other = { ...stored, type: 'Other' };
    const [, second] = mergeConditions([other, stored], [{ ...ok, message: 'still fine' }], NOW);
    expect(second).to.deep.equal({
      ...ok,
      message: 'still fine',
      lastTransitionTime: EARLIER,
      lastUpdateTime: NOW,
    });
  });

  it('change their transition time with the status', () => {
    const [changed] = mergeConditions([stored], [{ ...ok, status: 'False' }], NOW);
    expect(changed).to.include({ status: 'False', lastTransitionTime: NOW });
  });
});
