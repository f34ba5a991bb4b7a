/** The reports of landscape tests, for people and for other programs. */
import { expect } from 'chai';
import pico from 'picocolors';
import { junitText } from '../../../../src/cli/landscape-tests/report/junit.ts';
import { githubLines, resultsJson } from '../../../../src/cli/landscape-tests/report/other.ts';
import { caseText, totalsOf, totalsText } from '../../../../src/cli/landscape-tests/report/text.ts';

const file = 'shop.test.yaml';
const passed = {
  file,
  name: 'installs "it"',
  line: 2,
  outcome: 'passed',
  realMs: 512.3,
  virtualMs: 600_000,
  problems: [],
  touched: { started: [], succeeded: [], imports: [], branches: [] },
} as const;
const failed = {
  ...passed,
  name: 'fails',
  line: 9,
  outcome: 'failed',
  problems: [
    {
      place: { file, line: 12, column: 5 },
      title: 'installation <shop> is not as expected',
      details: ['phase', '  expected  Failed', '  actual    Succeeded'],
    },
    { title: 'a\u0007b', details: [] },
  ],
} as const;
const skipped = { ...passed, name: 'later', outcome: 'skipped', note: 'not ready', realMs: 0 } as const;
const results = [passed, failed, skipped];
const paint = pico.createColors(false);

describe('the report of landscape tests', () => {
  it('has a line for each case, and what is wrong with it', () => {
    expect(results.map((result) => caseText(result, paint)).join('\n')).to.equal(
      `  ✓ installs "it" (0.5s, 10m of virtual time)
  ✗ fails (0.5s, 10m of virtual time)
      shop.test.yaml:12:5: installation <shop> is not as expected
        phase
          expected  Failed
          actual    Succeeded
      a\u0007b
  - later skipped: not ready`,
    );
    expect(totalsText(totalsOf(results), 1_200, paint)).to.equal('1 passed, 1 failed, 1 skipped in 1.2s');
  });

  it('has the format of JUnit', () => {
    expect(junitText(results)).to.equal(`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="espalier test" tests="3" failures="1" skipped="1" time="1.025">
  <testsuite name="shop.test.yaml" tests="3" failures="1" skipped="1" time="1.025">
    <testcase name="installs &quot;it&quot;" classname="shop.test.yaml" file="shop.test.yaml" line="2" time="0.512"/>
    <testcase name="fails" classname="shop.test.yaml" file="shop.test.yaml" line="9" time="0.512">
      <failure message="installation &lt;shop&gt; is not as expected">shop.test.yaml:12:5
installation &lt;shop&gt; is not as expected
  phase
    expected  Failed
    actual    Succeeded</failure>
      <failure message="a\ufffdb">shop.test.yaml
a\ufffdb</failure>
    </testcase>
    <testcase name="later" classname="shop.test.yaml" file="shop.test.yaml" line="2" time="0.000">
      <skipped message="not ready"/>
    </testcase>
  </testsuite>
</testsuites>`);
  });

  it('has annotations for GitHub, at the place of each problem', () => {
    expect(githubLines(results)).to.deep.equal([
      '::error file=shop.test.yaml,line=12,col=5,title=fails::installation <shop> is not as expected%0A  phase%0A    expected  Failed%0A    actual    Succeeded',
      '::error file=shop.test.yaml,line=9,col=1,title=fails::a\u0007b',
    ]);
  });

  it('is data for programs', () => {
    const { cases, ...totals } = resultsJson(results, undefined) as { cases: object[] };
    expect(totals).to.deep.equal({ passed: 1, failed: 1, skipped: 1 });
    expect(cases[0]).to.include({ outcome: 'passed', seconds: 0.512, virtualSeconds: 600 });
  });
});
