/** How the console writes values. */
import { expect } from 'chai';
import {
  durationText,
  jobDuration,
  phaseText,
  scopeWords,
  sinceText,
  timeText,
} from '../../../web/console/format.ts';

describe('values in the console', () => {
  const durations: readonly (readonly [ms: number, text: string])[] = [
    [-5_000, '0s'],
    [999, '0s'],
    [60_000, '1m'],
    [61_999, '1m1s'],
    [3_600_000, '1h'],
    [3_599_000, '59m59s'],
    [86_400_000, '1d'],
    [86_399_000, '23h59m'],
  ];
  for (const [ms, text] of durations)
    it(`are durations with at most two units: ${ms} ms`, () => {
      expect(durationText(ms)).to.equal(text);
    });

  it('are the time since a moment, if it is known', () => {
    expect([sinceText(1_000, 6_000), sinceText(undefined, 6_000)]).to.deep.equal(['5s', '']);
  });

  it('are the duration of a job: so far, or until its end', () => {
    expect(jobDuration({ startedAt: 1_000 }, 9_000)).to.equal('8s');
    expect(jobDuration({ startedAt: 1_000, endedAt: 3_000 }, 9_000)).to.equal('2s');
    expect(jobDuration({ endedAt: 3_000 }, 9_000)).to.equal('');
  });

  it('are times in UTC, to the second', () => {
    expect(timeText(Date.UTC(2026, 0, 2, 3, 4, 5, 678))).to.equal('2026-01-02 03:04:05 UTC');
  });

  it('are phases with their marks', () => {
    expect(phaseText({ phase: 'Failed', marks: [] })).to.equal('Failed');
    expect(phaseText({ phase: '', marks: ['suspended', 'being deleted'] })).to.equal(
      'No job yet (suspended, being deleted)',
    );
  });

  it('are words for the namespaces that the viewer sees', () => {
    const scopes = ['all', ['shop'], ['shop', 'bank'], []] as const;
    expect(scopes.map((namespaces) => scopeWords({ namespaces }))).to.deep.equal([
      'all namespaces',
      'namespace shop',
      '2 namespaces',
      '0 namespaces',
    ]);
  });
});
