import { expect } from 'chai';
import { judge, matches, type Gating } from '../../../hack/trace-gates.ts';

const gating: Gating = {
  gates: ['S-', 'D-'],
  needs: [{ scenario: 'D-(29|30)-*', needs: 'helm', reason: 'releases are made by it' }],
};

describe('recordings that must not differ', () => {
  it('are those whose names start with a prefix of the gates', () => {
    expect(judge(['S-01-a', 'X-02-b'], gating, new Set())).to.deep.equal({
      broken: ['S-01-a'],
      excepted: [],
    });
  });

  it('are skipped if a requirement is missing, with the reason', () => {
    expect(judge(['D-29-c', 'D-31-d'], gating, new Set())).to.deep.equal({
      broken: ['D-31-d'],
      excepted: ['D-29-c: not held to its recording without helm: releases are made by it'],
    });
  });

  it('are compared with their recording if the requirement is met', () => {
    expect(judge(['D-29-c'], gating, new Set(['helm'])).broken).to.deep.equal(['D-29-c']);
  });

  for (const [pattern, name, fits] of [
    ['D-*container*', 'D-50-container-run', true],
    ['D-26-*', 'D-261-x', false],
    ['D-2', 'D-26-x', false],
  ] as const) {
    it(`${pattern} ${fits ? 'matches' : 'does not match'} ${name}`, () => {
      expect(matches(pattern, name)).to.equal(fits);
    });
  }
});
