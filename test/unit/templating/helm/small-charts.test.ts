import { expect } from 'chai';
import { printNatively, type Printed } from '../../../support/charts.ts';
import { recordedSmallCharts, smallChartNames, withSmallCharts } from '../../../support/small-charts.ts';

describe('small charts with constructs of many charts', () => {
  const recorded = recordedSmallCharts();
  const printed = new Map<string, Printed>();
  before(() =>
    withSmallCharts(async (cases) => {
      for (const each of cases) printed.set(each.name, await printNatively(each));
    }),
  );

  for (const name of smallChartNames) {
    const expected = recorded[name];
    it(`are rendered as by helm: ${name}${expected === null ? ', refused' : ''}`, () => {
      const { text, error } = printed.get(name) ?? {};
      if (expected === null) expect(error).to.be.a('string');
      else expect(text).to.equal(expected);
    });
  }

  it('are recorded: each of them, and no other', () => {
    expect(Object.keys(recorded)).to.have.members(smallChartNames);
  });
});
