import { expect } from 'chai';
import type { ConditionType } from '../../../src/api/conditions.ts';
import { executionKind, type Execution } from '../../../src/api/kinds/execution.ts';
import { drift, updateIdleConditions } from '../../../src/landscape/idle-conditions.ts';
import { NOW, child, done, execution, installation, item, running } from '../../support/given.ts';

const LATER = '2026-01-01T01:00:00Z';

describe('the conditions of an object at rest', () => {
  /** The condition for an item that failed with `message` in a job of its own. */
  const told = (self: Execution, message: string, now: string) => {
    const lastError = { operation: 'o', reason: 'r', message, lastTransitionTime: NOW, lastUpdateTime: NOW };
    const failed = item('plan', 'a', { ...done('own', 'Failed'), lastError });
    return updateIdleConditions(executionKind, self, drift(self, [failed]), now);
  };

  /** As a server written in Go stores it: without unpaired surrogates. */
  const stored = (self: Execution, answer: ReturnType<typeof told>): Execution => {
    const [effect] = answer?.effects ?? [];
    const { status } = (effect as unknown as { body: { status: object } }).body;
    const text = Buffer.from(JSON.stringify({ ...self.status, ...status })).toString();
    const asStored = text.replace(/\\ud[89a-f][0-9a-f]{2}/g, '\uFFFD');
    return { ...self, status: JSON.parse(asStored) as NonNullable<Execution['status']> };
  };

  const rested = execution('plan', { status: done('j1') });

  it('are read back unchanged', () => {
    for (const length of [1000, 1001, 1002, 1003, 1004]) {
      const message = `${'x'.repeat(length)}🌍 is full`;
      const self = stored(rested, told(rested, message, NOW));
      expect(self.status?.conditions).to.have.length(1);
      expect(told(self, message, LATER), `${length}`).to.equal(undefined);
    }
  });

  it('change their transition time only with the status, and are removed when they are over', () => {
    const self = stored(rested, told(rested, 'quota', NOW));
    const worse = stored(self, told(self, 'no node', LATER));
    expect(worse.status?.conditions?.[0]).to.deep.include({
      message: 'deploy item plan-a-x: no node',
      lastTransitionTime: NOW,
      lastUpdateTime: LATER,
    });
    expect(updateIdleConditions(executionKind, worse, [], LATER)?.effects[0]).to.have.deep.nested.property(
      'body.status',
      { conditions: null },
    );
  });

  const wanted = (type: ConditionType, message = 'm') =>
    ({ type, status: 'True', reason: `${type}Reason`, message }) as const;
  const stamped = (type: ConditionType) => ({
    ...wanted(type),
    lastTransitionTime: NOW,
    lastUpdateTime: NOW,
  });
  const having = (...types: readonly ConditionType[]): Execution =>
    execution('plan', { status: { ...done('j1'), conditions: types.map(stamped) } });
  const kept = (self: Execution, ...changes: readonly ReturnType<typeof wanted>[]) =>
    updateIdleConditions(executionKind, self, changes, LATER);

  it('are written and announced when they are new, and the rules continue', () => {
    expect(kept(having('CreateExports'), wanted('Drifted'))).to.deep.include({
      then: 'continue',
      event: { reason: 'DriftedReason', note: 'm' },
    });
  });

  it('are announced if one is the second', () => {
    const answer = kept(having('AutomaticReconcile'), wanted('AutomaticReconcile'), wanted('Drifted'));
    expect(answer?.event).to.include({ reason: 'DriftedReason' });
  });

  it('are not announced again if only the message has changed', () => {
    const answer = kept(having('CreateExports', 'Drifted'), wanted('Drifted', 'other words'));
    expect(answer?.effects).to.have.length(1);
    expect(answer).not.to.have.property('event');
  });

  it('are removed separately, and conditions of a job stay', () => {
    const answer = kept(having('AutomaticReconcile', 'Drifted', 'CreateExports'), wanted('Drifted'));
    expect(answer?.effects[0])
      .to.have.nested.property('body.status.conditions')
      .that.deep.equals([stamped('Drifted'), stamped('CreateExports')]);
    expect(answer).not.to.have.property('event');
  });
});

describe('an object that has drifted', () => {
  const self = execution('plan', { status: done('j1') });
  const lastError = (message: string) => ({
    lastError: { operation: 'o', reason: 'r', message, lastTransitionTime: NOW, lastUpdateTime: NOW },
  });
  const failed = item('plan', 'a', { ...done('own', 'Failed'), ...lastError('quota') });
  const drifted = child('stack', 'a', {
    ...done('j1'),
    conditions: [
      { type: 'Other', status: 'True', reason: 'r', message: 'not this', lastTransitionTime: NOW, lastUpdateTime: NOW },
      { type: 'Drifted', status: 'True', reason: 'r', message: 'item b failed', lastTransitionTime: NOW, lastUpdateTime: NOW },
    ],
  }); // prettier-ignore
  const rows: readonly (readonly [string, Parameters<typeof drift>, string | undefined])[] = [
    ['if an item failed in a job of its own', [self, [failed]], 'deploy item plan-a-x: quota'],
    ['if an item failed without a reason', [self, [item('plan', 'a', done('own', 'Failed'))]], 'deploy item plan-a-x: it failed'],
    ['if a child has drifted', [installation('stack', { status: done('j1') }), [drifted]], 'installation a-x: item b failed'],
    ['not if an item failed in the same job', [self, [item('plan', 'a', done('j1', 'Failed'))]], undefined],
    ['not while an item is running', [self, [item('plan', 'a', running('own', 'Failed'))]], undefined],
    ['not if an item succeeded by itself', [self, [item('plan', 'a', done('own'))]], undefined],
    ['not if an item has no status', [self, [{ ...failed, status: undefined }]], undefined],
    ['not if a child has not', [installation('stack', { status: done('j1') }), [child('stack', 'a', done('j1'))]], undefined],
    ['not if a child has failed by itself', [installation('stack', { status: done('j1') }), [child('stack', 'a', { ...done('own', 'Failed'), ...lastError('x') })]], undefined],
    ['not while its own job runs', [execution('plan', { status: running('j1', 'Succeeded') }), [failed]], undefined],
    ['not if its own job failed', [execution('plan', { status: done('j1', 'Failed') }), [failed]], undefined],
    ['not if it never had a job', [execution('plan'), [failed]], undefined],
    ['not without anything below', [self, []], undefined],
  ]; // prettier-ignore
  for (const [title, [parent, below], message] of rows) {
    it(`reports it ${title}`, () => {
      expect(drift(parent, below)).to.deep.equal(
        message === undefined ? [] : [{ type: 'Drifted', status: 'True', reason: 'FailedAfterJob', message }],
      );
    });
  }
});
