/** What Go and sprig answer in cases that the recorded results do not contain. */
import { expect } from 'chai';
import { compileRegexp } from '../../../../src/templating/go/regexp.ts';
import { seededRng } from '../../../../src/lib/rng.ts';
import { failure, render } from './support.ts';

const rows: readonly (readonly [what: string, text: string, result: string])[] = [
  [
    'hexadecimal literals as integers, unless they have an exponent',
    '{{ printf "%T %T %T" 0x1e 0x1p4 1e3 }}',
    'int float64 float64',
  ],
  ['nothing for a zero of precision 0', '{{ printf "[%.0d|%5.0d|%.0d]" 0 0 1 }}', '[|     |1]'],
  [
    'the largest integer, and 0 for one that is too large',
    '{{ int64 "9223372036854775807" }} {{ int64 "9223372036854775808" }}',
    '9223372036854775807 0',
  ],
  [
    'the passwords of other programs for the same seed',
    '{{ derivePassword 1 "medium" "password" "user" "example.com" }}',
    'ZedJuz8$',
  ],
  ['pretty JSON with an indentation of two', '{{ dict "a" 1 | toPrettyJson }}', '{\n  "a": 1\n}'],
  [
    'the order of versions',
    '{{ with semver "2.0.0" }}{{ .LessThanEqual (semver "1.0.0") }} {{ .LessThanEqual . }}{{ end }}',
    'false true',
  ],
  [
    'the constraint => as >=',
    '{{ semverCompare "=>1.2.0" "1.2.0" }} {{ semverCompare "=>1.2.0" "1.1.9" }}',
    'true false',
  ],
  [
    'the parts of paths',
    '{{ base "a/b.c" }} {{ dir "a/b" }} {{ ext "b.c" }} {{ clean "a/../b" }} {{ isAbs "/a" }}',
    'b.c a .c b true',
  ],
  [
    'an address without scheme that begins with three slashes as a path',
    '{{ with urlParse "///a/b" }}{{ .host }}|{{ .path }}{{ end }}',
    '|///a/b',
  ],
];

describe('a Go template', () => {
  for (const [what, text, result] of rows) {
    it(`renders ${what}`, () => {
      expect(render(text)).to.equal(result);
    });
  }

  it('shuffles all characters', () => {
    const results = Array.from({ length: 20 }, (_, seed) =>
      render('{{ shuffle "ab" }}', {}, { rng: seededRng(seed) }),
    );
    expect(new Set(results)).to.deep.equal(new Set(['ab', 'ba']));
  });

  it('finds no files if there is no blueprint', () => {
    expect(failure('{{ readFile "x" }}')).to.contain('error calling readFile: file does not exist');
  });
});

describe('compiled regular expressions', () => {
  it('are dropped if they were not used for long', () => {
    const early = compileRegexp('early');
    expect(compileRegexp('early')).to.equal(early);
    for (let i = 0; i < 300; i++) compileRegexp(`text ${String(i)}`);
    expect(compileRegexp('early')).not.to.equal(early);
  });
});
