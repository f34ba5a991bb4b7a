/** The numbers of scenarios are unambiguous everywhere, and those in titles of tests exist in a specification. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { books } from '../../../hack/scenario-books.ts';

const root = join(import.meta.dirname, '../../..');

/** The last scenario of each specification; API belongs to the embedded API server, which has no page of its own. */
const last: Readonly<Record<string, number>> = {
  ...Object.fromEntries(books.map(({ prefix, last: number }) => [prefix, number])),
  API: 189,
};
/** RUN-C7 and the like are features of the runtime, which have a letter in their number. */
const NUMBERED =
  /(?:it|describe|title:|^ *\[?)\(? *['"`]([A-Z]+)-?([CDPVX]?)(\d+)[a-z]?(?=:|, ?\d|, [A-Z]+-)/gm;
/** A number without the prefix of a specification, such as S plus 12, or a feature of the runtime without RUN. */
const AMBIGUOUS = /(?<![\w-])(?:[ADSX]-\d{1,3}[a-z]?(?![\w.])|\([CDPVX]\d{1,2}\)|[Ss]cenarios? \d)/;
/** Recordings of upstream have numbers of their own, which are parts of file names. */
const RECORDINGS =
  /^(?:test\/conformance\/wire\/|hack\/recordings\/|test\/unit\/hack\/(?:recordings|trace-gates)|docs\/better-than)/;

const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const listed = (...paths: readonly string[]): readonly string[] =>
  execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', ...paths], {
    cwd: root,
    encoding: 'utf8',
  })
    .split('\n')
    .filter((file) => file !== '' && existsSync(join(root, file)));

const tests = listed('test/**/*.test.ts').filter((file) => !file.endsWith('scenario-numbers.test.ts'));

function titlesIn(
  file: string,
): readonly { readonly prefix: string; readonly letter: string; readonly number: number }[] {
  return [...read(file).matchAll(NUMBERED)].map(([, prefix = '', letter = '', number = '']) => ({
    prefix,
    letter,
    number: Number(number),
  }));
}

describe('the numbers of scenarios', () => {
  it('in titles of tests have a prefix of a specification and exist there', () => {
    const wrong = tests.flatMap((file) =>
      titlesIn(file)
        .filter(({ prefix, letter, number }) => number > (letter === '' ? (last[prefix] ?? 0) : 99))
        .map(({ prefix, letter, number }) => `${file}: ${prefix}-${letter}${String(number)}`),
    );
    expect(wrong).to.deep.equal([]);
  });

  it('in titles of tests are found', () => {
    expect(tests.flatMap(titlesIn).length).to.be.greaterThan(700);
  });

  it('have a prefix in all code and on all pages', () => {
    const code = listed('src', 'controllers', 'deployers', 'hack', 'test', 'docs', '*.md', 'Makefile').filter(
      (file) => /\.(?:ts|mjs|md)$|Makefile$/.test(file) && !RECORDINGS.test(file),
    );
    const wrong = code.flatMap((file) =>
      read(file)
        .split('\n')
        .flatMap((line, i) => {
          const found = AMBIGUOUS.exec(line)?.[0];
          return found === undefined ? [] : [`${file}:${String(i + 1)}: ${found}`];
        }),
    );
    expect(wrong).to.deep.equal([]);
  });

  const rows: readonly [string, boolean][] = [
    [['S', '12'].join('-'), true],
    [['D', '41b'].join('-'), true],
    [`(${['X', '28'].join('')})`, true],
    [['scenarios', '3 to 5'].join(' '), true],
    ['CORE-12', false],
    ['RUN-X28', false],
    ['SHA-512', false],
  ];
  for (const [text, isAmbiguous] of rows) {
    it(`${isAmbiguous ? 'do not include' : 'include'} ${text}`, () => {
      expect(AMBIGUOUS.test(text)).to.equal(isAmbiguous);
    });
  }
});
