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

  it('compares neither very long words nor more than 1000', () => {
    const long = 'a'.repeat(1e6);
    expect(closest(long, [`${long}b`])).to.equal(undefined);
    expect(closest('word', ['a'.repeat(1e6), 'words'])).to.equal('words');
    expect(closest('word', [...Array.from({ length: 1000 }, () => 'other-name'), 'words'])).to.equal(
      undefined,
    );
  });
});
