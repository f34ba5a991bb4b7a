import { expect } from 'chai';
import { linesOf } from '../../../../src/cli/commands/logs/lines.ts';

/** @param parts the bytes of each part, as text */
async function lines(parts: readonly string[], maxCharacters?: number): Promise<readonly string[]> {
  async function* bytes(): AsyncGenerator<Uint8Array> {
    for (const part of parts) yield await Promise.resolve(Buffer.from(part, 'latin1'));
  }
  const found: string[] = [];
  for await (const line of linesOf(bytes(), maxCharacters)) found.push(line);
  return found;
}

describe('the lines of a log', () => {
  const utf8 = Buffer.from('ü').toString('latin1');
  for (const [what, parts, expected] of [
    ['ends of lines within parts', ['a\nb\n', 'c\n'], ['a', 'b', 'c']],
    ['lines in several parts', ['a', 'b', 'c\nd'], ['abc', 'd']],
    ['a last line without an end', ['a\nb'], ['a', 'b']],
    ['empty lines', ['a\n\nb\n'], ['a', '', 'b']],
    ['characters in two parts', [utf8.slice(0, 1), `${utf8.slice(1)}\n`], ['ü']],
    ['an empty log', [], []],
  ] as const)
    it(`are split at ${what}`, async () => {
      expect(await lines(parts)).to.deep.equal(expected);
    });

  it('are cut if they are too long', async () => {
    expect(await lines(['abc', 'def', 'ghi\nj', 'klmno\np'], 4)).to.deep.equal(['abcd', 'jklm', 'p']);
    expect(await lines(['abcdefgh\nab\n'], 4)).to.deep.equal(['abcd', 'ab']);
  });

  it('keep at most a megabyte of a line in memory', async () => {
    const [line] = await lines(Array.from({ length: 5 }, () => 'x'.repeat(2 ** 19)));
    expect(line).to.have.length(2 ** 20);
  });
});
