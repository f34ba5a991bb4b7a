import { expect } from 'chai';
import { closest } from '../../../src/lib/closest.ts';

describe('the suggestion for a misspelt word', () => {
  const known = ['installations', 'executions', 'deployItems', 'contexts', 'kind'];
  const rows: readonly [string, string | undefined][] = [
    ['instalations', 'installations'],
    ['INSTALLATIONS', 'installations'],
    ['deployitem', 'deployItems'],
    ['context', 'contexts'],
    ['kin', 'kind'],
    ['colour', undefined],
    ['', undefined],
  ];
  for (const [word, meant] of rows) {
    it(`"${word}" is ${meant ?? 'none of the known'}`, () => {
      expect(closest(word, known)).to.equal(meant);
    });
  }
});
