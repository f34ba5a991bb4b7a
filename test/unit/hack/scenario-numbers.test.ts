/** The numbers of scenarios in titles of tests are unambiguous, and exist in a specification. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { books } from '../../../hack/scenario-books.ts';

const root = join(import.meta.dirname, '../../..');

/** The last scenario of each specification; API belongs to the embedded API server, which has no page of its own. */
const last: Readonly<Record<string, number>> = {
  ...Object.fromEntries(books.map(({ prefix, last: number }) => [prefix, number])),
  API: 188,
};
/** RUN-C7 and the like: features of the runtime, which have letters of their own. */
const NUMBERED =
  /(?:it|describe|title:|^ *\[?)\(? *['"`]([A-Z]+)-?([CDPVX]?)(\d+)[a-z]?(?=:|, ?\d|, [A-Z]+-)/gm;

const files = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.test.ts') && !file.endsWith('scenario-numbers.test.ts'),
);

function titlesIn(
  file: string,
): readonly { readonly prefix: string; readonly letter: string; readonly number: number }[] {
  const source = readFileSync(join(root, 'test', file), 'utf8');
  return [...source.matchAll(NUMBERED)].map(([, prefix = '', letter = '', number = '']) => ({
    prefix,
    letter,
    number: Number(number),
  }));
}

describe('the numbers of scenarios in titles of tests', () => {
  it('have a prefix of a specification and exist there', () => {
    const wrong = files.flatMap((file) =>
      titlesIn(file)
        .filter(({ prefix, letter, number }) => number > (letter === '' ? (last[prefix] ?? 0) : 99))
        .map(({ prefix, letter, number }) => `${file}: ${prefix}-${letter}${String(number)}`),
    );
    expect(wrong).to.deep.equal([]);
  });

  it('are found', () => {
    expect(files.flatMap(titlesIn).length).to.be.greaterThan(700);
  });
});
