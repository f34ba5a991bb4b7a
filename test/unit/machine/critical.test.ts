import { expect } from 'chai';
import { bugIn, describeBug, withProblem } from '../../../src/machine/critical.ts';
import { PhaseError } from '../../../src/machine/decision.ts';
import { NotNow } from '../../../src/machine/run.ts';
import { KubeconfigError, TransportError } from '../../../src/runtime/errors.ts';
import { NOW, execution } from '../../support/given.ts';

const problem = { operation: 'o', reason: 'r', message: 'm' };

describe('what a failed pass says about the program', () => {
  const bug = new TypeError('x is undefined');
  const rows: [string, unknown, unknown][] = [
    ['S-117: access to what is not there is a bug', bug, bug],
    ['a bug within a phase is one', new NotNow(problem, { cause: bug }), bug],
    ['a phase that fails on purpose is none', new PhaseError('o', 'r', 'm'), undefined],
    ['a wait is none', new NotNow(problem), undefined],
    ['a mistake of a user is none', new KubeconfigError('no cluster'), undefined],
    [
      'a lost connection is none, whatever the socket threw',
      new TransportError('lost', true, { cause: bug }),
      undefined,
    ],
    ['an unforeseen failure of no special sort is none', new Error('odd'), undefined],
  ];
  for (const [title, error, answer] of rows) {
    it(title, () => {
      expect(bugIn(error)).to.equal(answer);
    });
  }

  it('names the object, the controller and the place in the program', () => {
    const text = describeBug(bug, 'execution', execution('plan'));
    expect(text).to.match(
      /^TypeError at Execution demo\/plan in controller execution: x is undefined \| at /,
    );
  });

  it('does not quote what a parser read', () => {
    const { error } = tryTo(() => JSON.parse('"password" x') as unknown);
    expect(describeBug(error, 'execution', execution('plan'))).not.to.match(/password/);
  });
});

function tryTo(run: () => unknown): { error: Error } {
  try {
    run();
  } catch (error) {
    return { error: error as Error };
  }
  throw new Error('nothing was thrown');
}

describe('the record of critical problems', () => {
  const entry = (n: number, minutesAgo = 60) => ({
    podName: 'pod-a',
    creationTime: new Date(Date.parse(NOW) - minutesAgo * 60_000).toISOString(),
    description: `problem ${String(n)}`,
  });
  const ten = Array.from({ length: 10 }, (_, n) => entry(n));

  it('S-117: keeps the newest ten', () => {
    const next = withProblem(ten, entry(10, 0));
    expect(next?.map(({ description }) => description)).to.deep.equal(
      Array.from({ length: 10 }, (_, n) => `problem ${String(n + 1)}`),
    );
  });

  it('notes the same problem of the same pod once in five minutes', () => {
    expect(withProblem([entry(1, 4)], entry(1, 0))).to.equal(undefined);
    expect(withProblem([entry(1, 6)], entry(1, 0))).to.have.length(2);
    expect(withProblem([entry(1, 4)], { ...entry(1, 0), podName: 'pod-b' })).to.have.length(2);
  });
});
