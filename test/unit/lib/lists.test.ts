import { expect } from 'chai';
import { append, firstLines, largest, smallest } from '../../../src/lib/lists.ts';

const LONG = Array.from({ length: 300_000 }, (_, i) => i);

describe('lists of any length', () => {
  it('are appended in order', () => {
    const list = [-1];
    append(list, LONG);
    expect(list).to.have.length(300_001);
    expect([list[0], list[1], list.at(-1)]).to.deep.equal([-1, 0, 299_999]);
  });

  it('have a smallest and a largest number', () => {
    expect([smallest(LONG), largest(LONG)]).to.deep.equal([0, 299_999]);
    expect([smallest([2, -3]), largest([2, -3])]).to.deep.equal([-3, 2]);
  });

  it('give the results of Math if they are empty or contain other values', () => {
    expect([smallest([]), largest([])]).to.deep.equal([Infinity, -Infinity]);
    expect([smallest([1, NaN]), largest([NaN, 1])]).to.deep.equal([NaN, NaN]);
  });

  it('shortens a list of lines, and counts what it leaves out', () => {
    expect(firstLines(['a', 'b', 'c'], 3)).to.equal('a\nb\nc');
    expect(firstLines(['a', 'b', 'c'], 1)).to.equal('a\nand 2 more');
    expect(firstLines([], 1)).to.equal('');
  });
});
