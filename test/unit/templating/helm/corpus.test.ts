import { expect } from 'chai';
import { chartCases, printNatively, recorded } from '../../../support/charts.ts';

/** Why an error differs from Helm's wording. */
const WORDED_OTHERWISE: Readonly<Record<string, string>> = {
  'bad-dependencies': 'Helm names neither the chart nor the way out',
  'bad-metadata': 'Helm names no file',
  'bad-mismatch': 'Helm shows the value, by a mistake in its format',
  'bad-yaml': 'Helm counts the lines wrong',
  'schema-bad': 'Helm shows the value',
};

describe('charts are rendered as by helm template', () => {
  for (const each of chartCases) {
    const { text, error } = recorded(each);
    it(text === undefined ? `${each.name}: refused` : `${each.name}: byte for byte`, async () => {
      const ours = await printNatively(each);
      if (text !== undefined || !(each.name in WORDED_OTHERWISE))
        expect(ours).to.deep.equal(text === undefined ? { error } : { text });
      else expect(ours.error).to.be.a('string').and.not.equal(error);
    });
  }

  it('at least 25 charts render completely', () => {
    const whole = new Set(
      chartCases.filter((each) => recorded(each).text !== undefined).map(({ chart }) => chart),
    );
    expect(whole.size).to.be.at.least(25);
  });
});
