import { expect } from 'chai';
import * as fc from 'fast-check';
import { comparisonsDuring } from '../../support/comparisons.ts';
import { StringSearch } from '../../../src/lib/string-search.ts';

describe('a search for many strings', () => {
  it('finds the longest string at each position, as a comparison with all of them does', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 30 });
    const strings = fc.array(fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 4, maxLength: 12 }));
    fc.assert(
      fc.property(text, strings, (searched, known) => {
        const search = new StringSearch(known);
        for (let at = 0; at <= searched.length; at++) {
          const all = known.filter((one) => searched.startsWith(one, at));
          const longest = all.toSorted((a, b) => b.length - a.length)[0];
          expect(search.at(searched, at)).to.equal(longest);
          const short = all.filter(({ length }) => length < 6).toSorted((a, b) => b.length - a.length)[0];
          expect(search.at(searched, at, ({ length }) => length < 6)).to.equal(short);
        }
      }),
    );
  });

  it('finds long strings in parts that overlap', () => {
    const long = Array.from({ length: 1000 }, (_, i) => String.fromCharCode(97 + ((i * i) % 26))).join('');
    const search = new StringSearch([long]);
    let end = 0;
    for (let at = 0; at < long.length; at++) {
      const found = search.at(long, at);
      if (found === undefined) continue;
      expect(at).to.be.at.most(Math.max(0, end - 1));
      end = Math.max(end, at + found.length);
    }
    expect(end).to.equal(1000);
  });

  it('does not find short strings, which are too common', () => {
    expect(new StringSearch(['abc', '']).at('abc', 0)).to.equal(undefined);
  });

  it('compares a few of the strings at each position, however many there are', () => {
    const search = new StringSearch(Array.from({ length: 10_000 }, (_, i) => `secret-${String(i)}`));
    const text = 'secret-x of secret-99999 '.repeat(40);
    const comparisons = comparisonsDuring(() => {
      for (let at = 0; at < text.length; at++) search.at(text, at);
    });
    expect(comparisons).to.be.within(1, 10 * text.length);
  });
});
