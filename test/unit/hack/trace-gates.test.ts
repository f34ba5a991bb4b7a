import { expect } from 'chai';
import { evaluate, matches, type Gating } from '../../../hack/trace-gates.ts';

const gating: Gating = {
  gates: ['S-', 'D-'],
  needs: [{ scenario: 'D-(29|30)-*', needs: 'helm', reason: 'releases are made by it' }],
};

describe('recordings that must not differ', () => {
  it('are those whose names begin as the gates say', () => {
    expect(evaluate(['S-01-a', 'X-02-b'], gating, new Set())).to.deep.equal({
      broken: ['S-01-a'],
      exempt: [],
    });
  });

  it('are let off where what they need is missing, with the reason', () => {
    expect(evaluate(['D-29-c', 'D-31-d'], gating, new Set())).to.deep.equal({
      broken: ['D-31-d'],
      exempt: ['D-29-c: may differ from its recording without helm: releases are made by it'],
    });
  });

  it('are held to their recording where it is there', () => {
    expect(evaluate(['D-29-c'], gating, new Set(['helm'])).broken).to.deep.equal(['D-29-c']);
  });

  for (const [pattern, name, fits] of [
    ['D-*container*', 'D-50-container-run', true],
    ['D-26-*', 'D-261-x', false],
    ['D-2', 'D-26-x', false],
  ] as const) {
    it(`${pattern} ${fits ? 'means' : 'does not mean'} ${name}`, () => {
      expect(matches(pattern, name)).to.equal(fits);
    });
  }
});
