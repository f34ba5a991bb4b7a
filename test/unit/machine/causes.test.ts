import { expect } from 'chai';
import { phases } from '../../../controllers/installation/phases.ts';
import type { Snapshot } from '../../../controllers/installation/snapshot.ts';
import { causesText, listed } from '../../../src/machine/causes.ts';
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

/** The message of a parent whose failed children have these messages. */
function parentOf(messages: readonly string[]): string {
  const children = messages.map((message, i) =>
    child('stack', `level-${i}`, {
      ...done(JOB, 'Failed'),
      lastError: { operation: 'o', reason: 'r', message, lastTransitionTime: NOW, lastUpdateTime: NOW },
    }),
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

const sibling =
  'Op: NotCompletedDependents - Reason: NotCompletedDependents - Message: depending on installation "n/a" which is not succeeded';

describe('the causes of a failure', () => {
  const rows: readonly (readonly [string, (message: string) => readonly string[]])[] = [
    ['one child each', (message) => [message]],
    ['children that waited for the failed one in vain', (message) => [message, sibling, sibling]],
    ['children that failed for their own reasons', (message) => [parentOf(['no such host']), message]],
    [
      'more children than are listed',
      (message) => [...Array<string>(30).fill('no such host'), message].reverse(),
    ],
    ['children with long messages', (message) => ['y'.repeat(8000), message]],
    ['hundreds of children', (message) => [message, ...Array<string>(300).fill(sibling)]],
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

  it('are cut in the middle of the chain', () => {
    const chain = `Failed sub-installation(s): a (a: ${'x'.repeat(2000)} Execution is failed (b: raise limits.treeDepth))`;
    const text = causesText([`top: ${chain}`]);
    expect(text).to.have.length.at.most(1024);
    expect(text).to.match(
      /^top: Failed sub-installation\(s\): a \(a: xxx.* \(…\) b: raise limits\.treeDepth\)\)$/,
    );
  });

  it('are shown completely up to 1024 characters', () => {
    const chain = 'Execution is failed (b: raise limits.treeDepth)';
    const fitting = `${chain}${'x'.repeat(1024 - chain.length)}`;
    expect(causesText([fitting])).to.equal(fitting);
    expect(causesText([`${fitting}x`])).to.contain(' (…) ');
  });

  it('have 7000 characters together, however many there are', () => {
    const causes = Array.from({ length: 10 }, (_, i) => `c${i}: ${'x'.repeat(2000)}`);
    expect(causesText(causes)).to.have.length.within(6900, 7100);
  });

  it('have 600 characters of the message of the leaf', () => {
    const text = causesText([`a: Execution is failed (${'x'.repeat(2000)}`]);
    expect(text.split(' (…) ')[1]).to.have.lengthOf.within(590, 600);
  });

  it('keep the start and the end of a single long message', () => {
    const text = causesText([`a: first ${'x'.repeat(9000)} last`]);
    expect(text)
      .to.match(/^a: first x.* … x.* last$/)
      .and.not.contain('(…)');
  });

  it('are never cut in the middle of a character', () => {
    for (let length = 600; length < 640; length++) {
      const text = causesText([`${'x'.repeat(length)}${'🌍'.repeat(1000)}`]);
      expect(JSON.stringify(text), 'half a pair is escaped').to.not.match(/\\ud[89a-f]/);
    }
  });

  it('count what they do not show', () => {
    const causes = Array.from({ length: 12 }, (_, i) => `c${i}`);
    expect(causesText(causes)).to.equal('10 of 12: c0; c1; c2; c3; c4; c5; c6; c7; c8; c9');
    expect(causesText(causes.slice(0, 10))).to.equal('c0; c1; c2; c3; c4; c5; c6; c7; c8; c9');
  });

  it('of a sibling that waited in vain come first, and yield to others', () => {
    const causes = [...Array.from({ length: 12 }, (_, i) => `b${i}: ${sibling}`), 'a: no such host'];
    expect(causesText(causes)).to.match(/^10 of 13: b0: Op: .*; a: no such host$/);
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
