/** What counts as a difference between a recording of the original and what was written here. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { compare, isSameSequence, milestones, type Recording } from '../../../hack/recordings/compare.ts';
import { evaluateDifference, errorsIn, type Rule } from '../../../hack/recordings/deviations.ts';
import { outcomeOf, obsoleteDifferences, unusedRules } from '../../../hack/recordings/outcome.ts';

const wire = join(import.meta.dirname, '../../conformance/wire');
const read = (file: string): unknown => JSON.parse(readFileSync(join(wire, file), 'utf8'));

/** A recording of one installation that went through these states. */
const recording = (...changes: readonly Record<string, unknown>[]): Recording => ({
  scenario: 'S-1-test',
  title: 'test',
  objects: {
    'Installation/web': { changes, final: Object.assign({}, ...changes) as Record<string, unknown> },
  },
});

const status = (phase: string, jobID: string, jobIDFinished?: string) => ({
  status: { phase, jobID, ...(jobIDFinished && { jobIDFinished }) },
});

describe('recordings', () => {
  const done = status('Succeeded', 'j1', 'j1');

  it('are equal when only transient states were left out', () => {
    const upstream = recording(status('Init', 'j1'), status('ObjectsCreated', 'j1'), done);
    expect(compare(upstream, recording(status('Init', 'j1'), done))).to.deep.equal([]);
  });

  for (const [what, here] of [
    ['a state that is not theirs', [status('Init', 'j1'), status('Completing', 'j1'), done]],
    ['another order', [done, status('Init', 'j1'), done]],
    ['another end', [status('Init', 'j1'), status('Failed', 'j1', 'j1')]],
  ] as const) {
    it(`differ by ${what}`, () => {
      const upstream = recording(status('Init', 'j1'), done);
      expect(compare(upstream, recording(...here)).map(({ path }) => path)).to.include('milestones');
    });
  }

  describe('of roots whose jobs start at the same time', () => {
    /** Two roots and an item of the first, each with the id of its job. */
    const roots = (a: string, b: string, item: string): Recording => ({
      scenario: 'S-1-test',
      title: 'test',
      objects: Object.fromEntries(
        Object.entries({ 'Installation/b': b, 'Installation/a': a, 'DeployItem/a.item': item }).map(
          ([name, id]) => [name, { changes: [status('Deleting', id)], final: status('Deleting', id) }],
        ),
      ),
    });
    const upstream = roots('<id-1>', '<id-2>', '<id-1>');

    it('differ in the same places in any order of the ids', () => {
      const lone = (id: string, finished: string): Recording['objects'] => ({
        'Installation/c': { changes: [status('Deleting', id)], final: status('Deleting', id, finished) },
      });
      const joined = (recorded: Recording, more: Recording['objects']): Recording => ({
        ...recorded,
        objects: { ...recorded.objects, ...more },
      });
      const places = (here: Recording) =>
        compare(joined(upstream, lone('<id-3>', '<id-2>')), here).map(
          ({ object, path }) => `${object} ${path}`,
        );
      const expected = ['Installation/c status.jobIDFinished'];
      expect(places(joined(roots('<id-1>', '<id-2>', '<id-1>'), lone('<id-3>', '<id-4>')))).to.deep.equal(
        expected,
      );
      expect(places(joined(roots('<id-2>', '<id-1>', '<id-2>'), lone('<id-3>', '<id-4>')))).to.deep.equal(
        expected,
      );
    });

    it('are equal with the ids in another order', () => {
      expect(compare(upstream, roots('<id-7>', '<id-3>', '<id-7>'))).to.deep.equal([]);
    });

    it('differ if an item has the job of the other root', () => {
      const paths = compare(upstream, roots('<id-2>', '<id-1>', '<id-1>')).map(({ path }) => path);
      expect(paths).to.include('milestones').and.include('status.jobID');
    });
  });

  it('must show that a job was waited for', () => {
    const waited = ['- -/-', 'Progressing j1/-', 'Succeeded j1/j1'];
    expect(isSameSequence(waited, ['Succeeded j1/j1'])).to.equal(false);
    expect(isSameSequence(waited, ['Progressing j1/-', 'Succeeded j1/j1'])).to.equal(true);
  });

  it('name the codes of the last error in a state, but for hints', () => {
    const failed = {
      status: {
        phase: 'Failed',
        jobID: 'j',
        jobIDFinished: 'j',
        lastError: { codes: ['ERR_TIMEOUT', 'ERR_UNFINISHED'] },
      },
    };
    expect(milestones({ changes: [failed], final: failed })).to.deep.equal(['Failed j/j ERR_TIMEOUT']);
  });

  it('differ by the reasons and codes of last errors, not by how often one came', () => {
    const errors = (...reasons: readonly string[]) =>
      recording({
        status: { lastErrors: reasons.map((reason) => ({ operation: 'o', reason, message: 'm' })) },
      });
    expect(compare(errors('b', 'b', 'b'), errors('a', 'b'))).to.deep.equal([]);
    expect(compare(errors('a', 'b'), errors('b')).map(({ path }) => path)).to.deep.equal([
      'status.lastErrors',
    ]);
    expect(compare(errors('a', 'b'), errors('a', 'c'))).to.have.length(1);
    expect(compare(errors(), errors('a'))).to.have.length(1);
  });

  it('count the jobs of each object by itself', () => {
    const told = (id: string) =>
      compare(recording(status('A', 'j')), recording(status('A', id))).find(
        ({ path }) => path === 'status.jobID',
      );
    expect(told('<id-3>')?.counted).to.equal('<job 1>');
    expect(told('<id-4>')?.counted).to.equal('<job 1>');
  });

  it('tell where a scenario stopped', () => {
    const stopped = { ...recording(done), failure: 'timed out' };
    expect(compare(recording(done), stopped)).to.deep.equal([
      { object: '', path: 'end', upstream: 'reached', here: 'timed out', counted: 'timed out' },
    ]);
  });
});

describe('deviations', () => {
  const rule: Rule = {
    scenario: 'S-*',
    object: '^Installation/web$',
    path: '^status\\.phase$',
    reason: 'ADR 1: so',
  };
  const difference = {
    object: 'Installation/web',
    path: 'status.phase',
    upstream: 'A',
    here: 'B',
    counted: 'B',
  };
  const expected = { 'S-1-test': { 'Installation/web': { 'status.phase': 'B' } } };

  it('explain what is in the list of differences as it is there', () => {
    expect(evaluateDifference('S-1-test', difference, [rule], expected)).to.deep.equal({ rule });
  });

  for (const [what, changed, rules, list] of [
    ['without a rule', difference, [], expected],
    ['that is not in the list', difference, [rule], {}],
    ['with another value', { ...difference, here: 'C', counted: 'C' }, [rule], expected],
  ] as const) {
    it(`do not explain a difference ${what}`, () => {
      expect(evaluateDifference('S-1-test', changed, rules, list)).to.have.property('problem');
    });
  }

  it('hold the order of states to the list, but for those that need not be seen', () => {
    const roads: Rule = { ...rule, path: '^milestones$' };
    const list = { 'S-1-test': { 'Installation/web': { milestones: ['Init j/-', 'Failed j/j'] } } };
    const verdict = (here: readonly string[]) =>
      evaluateDifference(
        'S-1-test',
        { ...difference, path: 'milestones', here, counted: here },
        [roads],
        list,
      );
    expect(verdict(['Failed j/j'])).to.deep.equal({ rule: roads });
    expect(verdict(['Progressing j/-', 'Failed j/j'])).to.have.property('problem');
  });

  it('that nothing needs are named', () => {
    const outcome = outcomeOf(
      'S-1-test',
      recording(status('A', 'j')),
      recording(status('A', 'j')),
      [rule],
      expected,
    );
    expect(unusedRules([rule], [outcome])).to.deep.equal([
      'S-* ^Installation/web$ ^status\\.phase$ (ADR 1: so)',
    ]);
  });

  it('that are no difference any more are named', () => {
    const outcome = outcomeOf(
      'S-1-test',
      recording(status('A', 'j')),
      recording(status('A', 'j')),
      [rule],
      expected,
    );
    expect(obsoleteDifferences(expected, [outcome])).to.deep.equal([
      'S-1-test Installation/web status.phase',
    ]);
  });

  for (const [what, bad] of [
    ['every object', { ...rule, object: '' }],
    ['every path', { ...rule, path: '' }],
    ['ADR', { ...rule, reason: 'because' }],
  ] as const) {
    it(`are refused when they say too little: ${what}`, () => {
      expect(errorsIn([bad]).join('\n')).to.contain(what);
    });
  }

  it('of the project have no mistakes', () => {
    expect(errorsIn(read('deviations.json') as readonly Rule[])).to.deep.equal([]);
  });
});
