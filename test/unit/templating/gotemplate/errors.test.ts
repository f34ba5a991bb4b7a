import { expect } from 'chai';
import { TemplateError } from '../../../../src/templating/gotemplate/errors.ts';
import { failure, render } from './support.ts';

const v = { name: 'web', num: 3, l: ['one', 'two'], m: { a: 1 }, nul: null, t: 'a: b' };
const data = { imports: { v } };

/** The template text of the fifth line, and upstream's message about it. */
const rows: readonly [string, string][] = [
  [
    '{{ .imports.v.nope.y }}',
    '5:18: executing "execution" at <.imports.v.nope.y>: nil pointer evaluating interface {}.y',
  ],
  [
    '{{ .imports.v.l.y }}',
    `5:18: executing "execution" at <.imports.v.l.y>: can't evaluate field y in type interface {}`,
  ],
  [
    '{{ range .imports.v.num }}{{ end }}',
    `5:24: executing "execution" at <.imports.v.num>: range can't iterate over 3`,
  ],
  [
    '{{ eq .imports.v.m .imports.v.m }}',
    '5:10: executing "execution" at <eq .imports.v.m .imports.v.m>: error calling eq: non-comparable type map[a:%!s(float64=1)]: map[string]interface {}',
  ],
  [
    '{{ lt .imports.v.name 3 }}',
    '5:10: executing "execution" at <lt .imports.v.name 3>: error calling lt: incompatible types for comparison: string and int',
  ],
  [
    '{{ lt .imports.v.nul 3 }}',
    '5:10: executing "execution" at <lt .imports.v.nul 3>: error calling lt: invalid type for comparison',
  ],
  [
    '{{ index .imports.v.l 5 }}',
    '5:10: executing "execution" at <index .imports.v.l 5>: error calling index: index out of range: 5',
  ],
  [
    '{{ index .imports.v.m 1 }}',
    '5:10: executing "execution" at <index .imports.v.m 1>: error calling index: value has type int; should be string',
  ],
  [
    '{{ index .imports.v.l 1.0 }}',
    '5:10: executing "execution" at <index .imports.v.l 1.0>: error calling index: cannot index slice/array with type float64',
  ],
  [
    '{{ 12345678901234567890 }}',
    '5:10: executing "execution" at <12345678901234567890>: 12345678901234567890 overflows int',
  ],
  ['{{ nil }}', '5:10: executing "execution" at <nil>: nil is not a command'],
  [
    '{{ slice "abcdef" 1 3 }}',
    '5:10: executing "execution" at <slice "abcdef" 1 3>: error calling slice: list should be type of slice or array but string',
  ],
  ['{{ until 2.5 }}', '5:16: executing "execution" at <2.5>: expected integer; found 2.5'],
  [
    '{{ upper .imports.v.num }}',
    '5:24: executing "execution" at <.imports.v.num>: wrong type for value; expected string; got float64',
  ],
  [
    '{{ replace "a" }}',
    '5:10: executing "execution" at <replace>: wrong number of args for replace: want 3 got 1',
  ],
  [
    '{{ upper "a" "b" }}',
    '5:10: executing "execution" at <upper>: wrong number of args for upper: want 1 got 2',
  ],
  [
    '{{ div 1 0 }}',
    '5:10: executing "execution" at <div 1 0>: error calling div: runtime error: integer divide by zero',
  ],
  ['{{ nope 1 }}', '5: function "nope" not defined'],
  ['{{ fail "boom" }}', '5:10: executing "execution" at <fail "boom">: error calling fail: boom'],
  [
    '{{ mustFromJson "{" }}',
    '5:10: executing "execution" at <mustFromJson "{">: error calling mustFromJson: unexpected end of JSON input',
  ],
  [
    '{{ semverCompare "^1" "x" }}',
    '5:10: executing "execution" at <semverCompare "^1" "x">: error calling semverCompare: invalid semantic version',
  ],
  [
    '{{ template "nowhere" . }}',
    '5:19: executing "execution" at <{{template "nowhere" .}}>: template "nowhere" not defined',
  ],
  ['{{ .imports.v.name', '6: function "w" not defined'],
  ['{{ if true }}x', '7: unexpected EOF'],
  ['{{ end }}', '5: unexpected {{end}}'],
  ['{{ $nope }}', '5: undefined variable "$nope"'],
  ['{{ .imports.v.a-b }}', `5: bad character U+002D '-'`],
  ['{{ $x = 1 }}', '5:15: executing "execution" at <1>: undefined variable: $x'],
  ['{{ "open }}', '5: unterminated quoted string'],
  ['{{ (1 }}', '5: unclosed left paren'],
  ['{{ 1) }}', '5: unexpected right paren'],
  ['{{/* open }}', '5: unclosed comment'],
  ['{{ }}', '5: missing value for command'],
  ['{{ 1 | 2 }}', '5: non executable command in pipeline stage 2'],
  ['{{ break }}', '5: {{break}} outside {{range}}'],
  ['{{ 1+2 }}', '5: bad number syntax: "1+2"'],
  [
    '{{ index .imports.v.m .imports.v.nul }}',
    '5:10: executing "execution" at <index .imports.v.m .imports.v.nul>: error calling index: value is nil; should be of type string',
  ],
  [
    '{{ eq .imports.v.l .imports.v.m }}',
    '5:10: executing "execution" at <eq .imports.v.l .imports.v.m>: error calling eq: non-comparable types [one two]: []interface {}, map[string]interface {}: map[a:1]',
  ],
  [
    '{{ lt now.Year "a" }}',
    '5:10: executing "execution" at <lt now.Year "a">: error calling lt: incompatible types for comparison: int and string',
  ],
  [
    '{{ range $x = .imports.v.l }}{{ end }}',
    '5:29: executing "execution" at <.imports.v.l>: undefined variable: $x',
  ],
  ['{{ and false ($x := 1) }}{{ $x }}', '5:35: executing "execution" at <$x>: undefined variable: $x'],
  [
    '{{ dig .imports.v.nope "x" (dict) }}',
    '5:10: executing "execution" at <dig .imports.v.nope "x" (dict)>: error calling dig: interface conversion: interface {} is nil, not string',
  ],
  [
    '{{ substr -1 10 "abc" }}',
    '5:10: executing "execution" at <substr -1 10 "abc">: error calling substr: runtime error: slice bounds out of range [:10] with length 3',
  ],
  [
    '{{ mustToDate "2006-01-02" "2024-02-30" }}',
    '5:10: executing "execution" at <mustToDate "2006-01-02" "2024-02-30">: error calling mustToDate: parsing time "2024-02-30": day out of range',
  ],
  ['{{ 3 4 }}', `5:10: executing "execution" at <3>: can't give argument to non-function 3`],
  [
    '{{ .imports.v.name 4 }}',
    '5:18: executing "execution" at <.imports.v.name>: name is not a method but has arguments',
  ],
];

const around = (line: string): string =>
  `deployItems:\n- name: a\n  type: test\n  config:\n    v: ${line}\n    w: 1\n`;

describe('a failing template', () => {
  for (const [line, expected] of rows) {
    it(`fails for ${line} with: ${expected}`, () => {
      expect(failure(around(line), data)).to.equal(`template: execution:${expected}`);
    });
  }

  it('is reported with line, column and the text of the line', () => {
    try {
      render(around('{{ .imports.v.nope.y }}'), data);
      expect.fail('it succeeded');
    } catch (error) {
      expect(error).to.be.instanceOf(TemplateError);
      const { template, line, column, sourceLine, reason } = error as TemplateError;
      expect({ template, line, column, sourceLine, reason }).to.deep.equal({
        template: 'execution',
        line: 5,
        column: 18,
        sourceLine: '    v: {{ .imports.v.nope.y }}',
        reason: 'nil pointer evaluating interface {}.y',
      });
    }
  });

  it('with an unexpected else is reported at the line where the block begins', () => {
    expect(failure('\n{{ block "b" . }}\n\n{{ else }}{{ end }}', data)).to.equal(
      'template: execution:2: unexpected {{else}} in block clause',
    );
  });

  it('has columns in bytes, as in Go', () => {
    expect(failure('äö {{ .a.b }}', {})).to.contain('execution:1:10:');
  });

  it('is reported with the name of the executing template', () => {
    expect(failure('{{ define "x" }}{{ .a.b }}{{ end }}{{ template "x" . }}', {})).to.contain(
      'executing "x" at <.a.b>',
    );
  });
});
