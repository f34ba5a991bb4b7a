/** When the guard of costs fails, and what it prints. */
import { expect } from 'chai';
import {
  BYTES,
  CODE,
  compared,
  isFailure,
  lower,
  type Baseline,
  type Figures,
} from '../../bench/guard/baseline.ts';
import { closingLine, report } from '../../bench/guard/report.ts';

const STEP = 'mock, installed';
const NODE = 20;

const costs = (changes: Readonly<Record<string, number>> = {}): Figures => ({
  [STEP]: {
    'patch installations/status': 4,
    [BYTES.sent]: 1000,
    [BYTES.stored]: 1000,
    [CODE.blocks]: 1000,
    [CODE.allocated]: 1000,
    ...changes,
  },
});
const baseline: Baseline = { reason: 'a smaller status', node: NODE, figures: costs() };
const without = (what: string): Figures => {
  const { [what]: _, ...rest } = costs()[STEP] ?? {};
  return { [STEP]: rest };
};
const verdictOf = (what: string, now: Figures, node = NODE): string | undefined =>
  compared(baseline, now, node).find((each) => each.what === what)?.verdict;

describe('the guard of costs', () => {
  for (const [what, passes, fails] of [
    ['patch installations/status', 4.1, 4.3],
    [BYTES.sent, 1050, 1051],
    [BYTES.stored, 1050, 1051],
    [CODE.blocks, 1100, 1101],
    [CODE.allocated, 1100, 1101],
  ] as const) {
    it(`fails if ${what} exceed the limit, and not at the limit`, () => {
      expect(verdictOf(what, costs({ [what]: passes }))).to.equal('equal');
      expect(verdictOf(what, costs({ [what]: fails }))).to.equal('more');
    });

    it(`reports ${what} that are lower by more than 5 %`, () => {
      const before = costs()[STEP]?.[what] ?? 0;
      expect(verdictOf(what, costs({ [what]: before * 0.95 }))).to.equal('equal');
      expect(verdictOf(what, costs({ [what]: before * 0.94 }))).to.equal('less');
    });
  }

  it('fails if there is a new kind of write', () => {
    expect(verdictOf('patch nodes', costs({ 'patch nodes': 1 }))).to.equal('more');
  });

  it('passes if a kind of write does not occur any more', () => {
    expect(verdictOf('patch installations/status', without('patch installations/status'))).to.equal('less');
  });

  for (const what of [BYTES.sent, BYTES.stored, CODE.blocks, CODE.allocated]) {
    it(`fails if ${what} were not measured, or the baseline does not have them`, () => {
      expect(verdictOf(what, without(what))).to.equal('missing');
      const [comparison] = compared({ ...baseline, figures: without(what) }, costs(), NODE).filter(isFailure);
      expect(comparison).to.include({ what, verdict: 'missing', now: 1000 });
    });
  }

  it('fails if a step was not measured', () => {
    expect(compared(baseline, {}, NODE).filter(isFailure)).to.have.length(4);
  });

  it('compares writes and bytes, but not code, with a baseline of another version of Node.js', () => {
    const now = costs({ [BYTES.sent]: 2000, [CODE.blocks]: 2000, [CODE.allocated]: 2000 });
    expect(verdictOf(BYTES.sent, now, 26)).to.equal('more');
    expect(verdictOf(CODE.blocks, now, 26)).to.equal('other Node.js');
    expect(verdictOf(CODE.allocated, now, 26)).to.equal('other Node.js');
    expect(closingLine(compared(baseline, now, 26))).to.equal('2 passed, 1 failed, 2 skipped');
  });

  it('takes the lower figure of two rounds, and no write that only one of them needed', () => {
    const one = costs({ [BYTES.sent]: 900, [BYTES.stored]: 1200, 'create events': 1 });
    const two = costs({ [BYTES.sent]: 1100, [BYTES.stored]: 1000 });
    expect(lower(one, two)).to.deep.equal(costs({ [BYTES.sent]: 900, [BYTES.stored]: 1000 }));
    expect(lower(two, one)).to.deep.equal(lower(one, two));
  });
});

describe('the report of the guard', () => {
  const linesFor = (now: Figures): string[] => report(compared(baseline, now, NODE), baseline);

  it('names both figures of an excess, the reason of the baseline and the command that changes it', () => {
    const text = linesFor(costs({ [BYTES.sent]: 1200 })).join('\n');
    expect(text).to.match(/sent bytes +1,000 +1,200 +\+20\.0 % {2}more/);
    expect(text).to.include('failed: mock, installed: sent bytes: 1,200 per tree, and 1,000 in the baseline');
    expect(text).to.include('the baseline was last changed because: a smaller status');
    expect(text).to.include(`make guard ARGS="--update 'REASON'"`);
  });

  it('says which side lacks a figure', () => {
    expect(linesFor(without(BYTES.sent)).join('\n')).to.include('sent bytes: there is no figure now');
  });

  it('recommends a new baseline after a gain, and nothing if all is equal', () => {
    const command = /make guard ARGS/;
    expect(linesFor(costs({ [BYTES.sent]: 800 })).join('\n')).to.match(command);
    expect(linesFor(costs()).join('\n')).not.to.match(command);
  });

  it('closes with the number of figures that passed and failed', () => {
    expect(closingLine(compared(baseline, costs({ [BYTES.sent]: 1200 }), NODE))).to.equal(
      '4 passed, 1 failed',
    );
    expect(closingLine(compared(baseline, costs(), NODE))).to.equal('5 passed, 0 failed');
  });
});
