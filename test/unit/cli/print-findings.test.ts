import { expect } from 'chai';
import pico from 'picocolors';
import type { Finding } from '../../../src/blueprint/lint/finding.ts';
import { ownField } from '../../../src/lib/objects.ts';
import { sarifLog } from '../../../src/cli/terminal/sarif.ts';
import { countsOf, findingText, githubText, summaryText } from '../../../src/cli/terminal/print-findings.ts';

const plain = { paint: pico.createColors(false), columns: 80 };

const finding = (place: Partial<Finding['place']> = {}, more: Partial<Finding> = {}): Finding => ({
  rule: 'some-rule',
  level: 'error',
  message: 'this is wrong',
  place: { file: 'a/b.yaml', line: 12, column: 5, length: 3, sourceLine: '    foo: bar', ...place },
  ...more,
});

describe('a finding', () => {
  it('is shown with its place, its line, and a mark below it', () => {
    expect(findingText(finding(), plain)).to.equal(
      [
        'a/b.yaml:12:5: error: this is wrong [some-rule]', //
        '   12 |     foo: bar',
        '      |     ^^^',
      ].join('\n'),
    );
  });

  it('keeps tabs, so that the mark is below the right characters', () => {
    expect(findingText(finding({ column: 2, sourceLine: '\tfoo' }), plain)).to.contain('\n      | \t^^^');
  });

  it('shows only a part of a long line', () => {
    const sourceLine = `${'x'.repeat(300)}here${'y'.repeat(300)}`;
    const [, line = '', mark = ''] = findingText(
      finding({ column: 301, length: 4, sourceLine }),
      plain,
    ).split('\n');
    expect(line.length).to.be.at.most(80);
    expect(line.slice(mark.indexOf('^'), mark.lastIndexOf('^') + 1)).to.equal('here');
  });

  it('is coloured only if the terminal has colours', () => {
    const coloured = findingText(finding(), { ...plain, paint: pico.createColors(true) });
    expect(coloured).to.contain('\u001b[31merror:');
    expect(findingText(finding(), plain)).not.to.contain('\u001b');
  });

  it('is a GitHub annotation, with escaped characters', () => {
    const text = githubText(
      finding({ file: 'a,b:c.yaml' }, { level: 'info', message: '50% of\nall: this, too' }),
    );
    expect(text).to.equal(
      '::notice file=a%2Cb%3Ac.yaml,line=12,endLine=12,col=5,endColumn=8,title=some-rule::50%25 of%0Aall: this, too',
    );
  });
});

describe('the summary', () => {
  const rows: readonly (readonly [Finding['level'][], number, string])[] = [
    [[], 1, 'no problems found in 1 blueprint'],
    [['error'], 1, '1 error in 1 blueprint'],
    [['error', 'error', 'warning'], 2, '2 errors and 1 warning in 2 blueprints'],
    [['error', 'warning', 'info', 'info'], 1, '1 error, 1 warning and 2 hints in 1 blueprint'],
  ];
  for (const [levels, blueprints, text] of rows)
    it(`says: ${text}`, () => {
      const counts = countsOf(levels.map((level) => finding({}, { level })));
      expect(summaryText(counts, blueprints)).to.equal(text);
    });
});

describe('findings as SARIF', () => {
  it('have a rule, a level and a range', () => {
    const rule = 'unknown-field';
    const log = sarifLog([finding({ file: './my blueprint/b#.yaml' }, { rule, level: 'info' })], '1.2.3');
    const [run] = (log as { runs: { tool: { driver: { rules: { id: string }[] } }; results: never[] }[] })
      .runs;
    const [result] = run?.results ?? [];
    expect(result).to.deep.include({ ruleId: rule, level: 'note', message: { text: 'this is wrong' } });
    expect(run?.tool.driver.rules[ownField(result, 'ruleIndex') as number]?.id).to.equal(rule);
    expect(result).to.have.nested.property(
      'locations[0].physicalLocation.artifactLocation.uri',
      'my%20blueprint/b%23.yaml',
    );
    expect(result)
      .to.have.nested.property('locations[0].physicalLocation.region')
      .that.deep.equals({
        startLine: 12,
        startColumn: 5,
        endLine: 12,
        endColumn: 8,
        snippet: { text: '    foo: bar' },
      });
  });

  it('lists each rule once, with help', () => {
    const log = sarifLog([], '1.2.3') as {
      runs: { tool: { driver: { rules: { id: string; help: object }[] } } }[];
    };
    const rules = log.runs[0]?.tool.driver.rules ?? [];
    expect(rules.length)
      .to.equal(new Set(rules.map(({ id }) => id)).size)
      .and.greaterThan(20);
    for (const { help } of rules) expect(help).to.have.property('text').that.matches(/\w/);
  });
});
