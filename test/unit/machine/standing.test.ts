import { expect } from 'chai';
import { executionKind, type Execution } from '../../../src/api/kinds/execution.ts';
import { drift, keepStanding } from '../../../src/machine/standing.ts';
import { NOW, done, execution, item } from '../../support/given.ts';

const LATER = '2026-01-01T01:00:00Z';

describe('what an object at rest says', () => {
  /** What the object says of an item that failed with `message` in a job of its own. */
  const told = (self: Execution, message: string, now: string) => {
    const lastError = { operation: 'o', reason: 'r', message, lastTransitionTime: NOW, lastUpdateTime: NOW };
    const failed = item('plan', 'a', { ...done('own', 'Failed'), lastError });
    return keepStanding(executionKind, self, drift(self, [failed]), now);
  };

  /** As a server written in Go keeps it: it has no half characters. */
  const stored = (self: Execution, answer: ReturnType<typeof told>): Execution => {
    const [effect] = answer?.effects ?? [];
    const { status } = (effect as unknown as { body: { status: object } }).body;
    const text = Buffer.from(JSON.stringify({ ...self.status, ...status })).toString();
    const asStored = text.replace(/\\ud[89a-f][0-9a-f]{2}/g, '\uFFFD');
    return { ...self, status: JSON.parse(asStored) as NonNullable<Execution['status']> };
  };

  const rested = execution('plan', { status: done('j1') });

  it('is found again, whatever it is about', () => {
    for (const length of [1000, 1001, 1002, 1003, 1004]) {
      const message = `${'x'.repeat(length)}🌍 is full`;
      const self = stored(rested, told(rested, message, NOW));
      expect(self.status?.conditions).to.have.length(1);
      expect(told(self, message, LATER), `${length}`).to.equal(undefined);
    }
  });

  it('moves its transition time with the status only, and goes when it is over', () => {
    const self = stored(rested, told(rested, 'quota', NOW));
    const worse = stored(self, told(self, 'no node', LATER));
    expect(worse.status?.conditions?.[0]).to.deep.include({
      message: 'deploy item plan-a-x: no node',
      lastTransitionTime: NOW,
      lastUpdateTime: LATER,
    });
    expect(keepStanding(executionKind, worse, [], LATER)?.effects[0]).to.have.deep.nested.property(
      'body.status',
      { conditions: null },
    );
  });
});
