import { expect } from 'chai';
import { phases } from '../../../controllers/installation/phases.ts';
import type { Snapshot } from '../../../controllers/installation/snapshot.ts';
import type { LastError } from '../../../src/api/shared.ts';
import { causeOf, causesText, listed, type Cause } from '../../../src/machine/causes.ts';
import { treeTooLarge } from '../../../src/landscape/tree-limit.ts';
import { withProblem, type Status } from '../../../src/machine/status.ts';
import { ask } from '../../support/ask.ts';
import { NOW, child, done, installation, running } from '../../support/given.ts';
import { reservation } from '../../support/reservation.ts';

const JOB = 'j1';
const refusal = treeTooLarge(
  installation(`${'x'.repeat(50)}-leaf`),
  reservation({ present: 9_998, reserved: 17, limit: 10_000, root: 'r'.repeat(50), isGranted: false }),
  'InitPrerequisites',
).message;

const inside = (reason: string, message: string): LastError => ({
  operation: 'o',
  reason,
  message,
  lastTransitionTime: NOW,
  lastUpdateTime: NOW,
});

/** The error of a sibling that waited for another one without success. */
const sibling = inside(
  'AllPredecessorsSucceeded',
  'Op: NotCompletedDependents - Reason: NotCompletedDependents - Message: depending on installation "n/a" which is not succeeded',
);
const own = (message: string): LastError => inside('r', message);

/** The message of a parent whose failed children have these errors. */
function parentOf(errors: readonly LastError[]): string {
  const children = errors.map((lastError, i) =>
    child('stack', `level-${i}`, { ...done(JOB, 'Failed'), lastError }),
  );
  const decision = ask<Snapshot>(phases.Progressing.phase, {
    self: installation('stack', { status: running(JOB) }),
    now: NOW,
    ancestors: [],
    children,
    execution: undefined,
  });
  if (decision.do !== 'fail') throw new Error(decision.do);
  return withProblem<Status>({}, decision.problem, NOW).lastError?.message ?? '';
}

const texts = (...all: readonly string[]): readonly Cause[] => all.map((text) => ({ text }));

describe('the causes of a failure', () => {
  const rows: readonly (readonly [string, (message: string) => readonly LastError[]])[] = [
    ['one child each', (message) => [own(message)]],
    ['children that waited for the failed one', (message) => [own(message), sibling, sibling]],
    [
      'children that failed for their own reasons',
      (message) => [own(parentOf([own('no such host')])), own(message)],
    ],
    [
      'more children than are listed',
      (message) => [own(message), ...Array<LastError>(30).fill(own('no such host'))],
    ],
    ['children with long messages', (message) => [own('y'.repeat(8000)), own(message)]],
    ['hundreds of children', (message) => [own(message), ...Array<LastError>(300).fill(sibling)]],
  ];
  for (const [title, below] of rows) {
    it(`reach the root of a tree of 30 levels with ${title}, with the complete message of the leaf`, () => {
      let message = refusal;
      for (let level = 29; level > 0; level--) message = parentOf(below(message));
      expect(message).to.match(/^Failed sub-installation\(s\): level-0-x/);
      if (title === 'more children than are listed') expect(message).to.contain('10 of 31: ');
      else expect(message).to.contain(refusal);
      expect(Buffer.byteLength(message)).to.be.at.most(8192);
    });
  }

  it('are cut in the middle', () => {
    const [text] = [causesText(texts(`top: first ${'x '.repeat(1000)}raise limits.treeDepth))`))];
    expect(text).to.have.length.at.most(1024);
    expect(text).to.match(/^top: first x .*x \(…\) x .*raise limits\.treeDepth\)\)$/);
  });

  it('are shown completely up to 1024 characters', () => {
    const fitting = 'x'.repeat(1024);
    expect(causesText(texts(fitting))).to.equal(fitting);
    expect(causesText(texts(`${fitting}x`))).to.contain(' (…) ');
  });

  it('have 7000 characters together, however many there are', () => {
    const causes = Array.from({ length: 10 }, (_, i) => `c${i}: ${'x'.repeat(2000)}`);
    expect(causesText(texts(...causes))).to.have.length.within(6900, 7100);
  });

  it('keep the last 600 characters', () => {
    const text = causesText(texts(`a: ${'x'.repeat(2000)}${'y'.repeat(600)}`));
    expect(text.split(' (…) ')[1]).to.equal('y'.repeat(600));
  });

  it('have no halves of words beside the cut, except of very long ones', () => {
    const text = causesText(texts('between '.repeat(300)));
    expect(text).to.match(/^(between )+\(…\) (between )+$/);
  });

  it('are never cut in the middle of a character', () => {
    for (let length = 600; length < 640; length++) {
      const text = causesText(texts(`${'x'.repeat(length)}${'🌍'.repeat(1000)}`));
      expect(JSON.stringify(text), 'half a pair is escaped').to.not.match(/\\ud[89a-f]/);
    }
  });

  it('count what they do not show', () => {
    const causes = Array.from({ length: 12 }, (_, i) => `c${i}`);
    expect(causesText(texts(...causes))).to.equal('10 of 12: c0; c1; c2; c3; c4; c5; c6; c7; c8; c9');
    expect(causesText(texts(...causes.slice(0, 10)))).to.equal('c0; c1; c2; c3; c4; c5; c6; c7; c8; c9');
  });

  it('of a sibling that waited come first, and yield to others', () => {
    const waited = Array.from({ length: 12 }, (_, i) => causeOf(`b${i}`, sibling));
    expect(causesText([...waited, causeOf('a', own('no such host'))])).to.match(
      /^10 of 13: b0: Op: .*; a: no such host$/,
    );
    expect(causesText([causeOf('a', undefined, 'phase Failed')])).to.equal('a: phase Failed');
  });
});

describe('a list of names', () => {
  it('counts those beyond the first twenty', () => {
    const names = Array.from({ length: 22 }, (_, i) => `n${i}`);
    expect(listed(names.slice(0, 2))).to.equal('n0, n1');
    expect(listed(names)).to.match(/, n19 and 2 more$/);
    expect(listed(names.slice(0, 20))).to.match(/, n19$/);
  });
});

describe('the message for a tree that would be too large', () => {
  const said = (reserved: number) =>
    treeTooLarge(
      installation('leaf'),
      reservation({ root: 'top', present: 4, reserved, added: 3, limit: 5, isGranted: false }),
      'InitPrerequisites',
    );

  it('has the numbers, and the remedy', () => {
    expect(said(0)).to.deep.equal({
      operation: 'InitPrerequisites',
      reason: 'TreeTooLarge',
      message:
        'installation "demo/leaf" would create 3 objects (installations, executions, deploy items), ' +
        'the tree below "top" has 4, and at most 5 are allowed; check whether a blueprint renders itself as its own ' +
        'sub-installation, or raise limits.treeObjects in the configuration',
      codes: ['ERR_CONFIGURATION_PROBLEM'],
    });
  });

  it('includes objects that others are about to create', () => {
    expect(said(2).message).to.contain('has 4 and 2 that other installations are creating, and at most 5');
  });
});
