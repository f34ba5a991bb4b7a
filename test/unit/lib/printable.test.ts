import { expect } from 'chai';
import { printable, printableLines } from '../../../src/lib/printable.ts';

/** Sequences that hide text, set the title, write to the clipboard, move the cursor, and reverse text. */
const ATTACKS = [
  '\u001b[8m',
  '\u001b]0;title\u0007',
  '\u001b]52;c;eA==\u0007',
  '\u001b[2A',
  '\r',
  '\u009b2J',
  '\u202e',
];

describe('text on a terminal', () => {
  for (const attack of ATTACKS) {
    it(`cannot control it: ${JSON.stringify(attack)}`, () => {
      for (const shown of [printable(`a${attack}b`), printableLines(`a${attack}b`)]) {
        expect(shown).not.to.match(/[\p{Cc}\p{Cf}]/u);
        expect(shown).to.match(/^a.*b$/);
      }
    });
  }

  it('of one line has no line breaks', () => {
    expect(printable('a\nb\tc')).to.equal('a\\u000ab\\u0009c');
  });

  it('of several lines keeps line breaks, tabs and colours', () => {
    const text = '\u001b[1m\u001b[31mFailed\u001b[39m\u001b[22m\n\tä → ✓';
    expect(printableLines(text)).to.equal(text);
  });
});
