import { expect } from 'chai';
import { parseYaml } from '../../../../src/lib/yaml.ts';
import { failure, render } from './support.ts';

const digest = `sha256:${'ab'.repeat(32)}`;

const results: readonly [string, string, string][] = [
  [
    'DF-90',
    '{{ .imports.num }} {{ .imports.big }} {{ .imports.mil }} {{ .imports.f }}',
    '3 2.097152e+07 1e+06 0.1',
  ],
  [
    'DF-91',
    '{{ int .imports.big }} {{ toJson .imports.mil }} {{ toYaml .imports.big }} {{ quote .imports.mil }}',
    '20971520 1000000 20971520 "1e+06"',
  ],
  ['DF-93', '{{ printf "%d %s" .imports.num .imports.num }}', '%!d(float64=3) %!s(float64=3)'],
  ['DF-94', '{{ printf "%03d %.0f %q" (int .imports.num) .imports.mil .imports.name }}', '003 1000000 "web"'],
  [
    'DF-95',
    '{{ .imports.nope }} {{ .imports.nul }} {{ .imports.nope | default "x" }}',
    '<no value> <no value> x',
  ],
  ['DF-98', '{{ toJson .imports.nope }} {{ .imports.nope | quote }}.', 'null .'],
  ['DF-99', '{{ if .imports.zero }}T{{ else if .imports.e }}U{{ else }}F{{ end }}', 'F'],
  ['DF-100', '{{ range $k, $v := .imports.m }}{{ $k }}={{ $v }};{{ end }}', 'a=1;b=2;'],
  ['DF-101', '{{ range .imports.nope }}x{{ else }}none{{ end }}', 'none'],
  ['DF-103', '{{ range $i := until 3 }}{{ if $i }},{{ end }}{{ $i }}{{ end }}', '0,1,2'],
  ['DF-104', '{{ with .imports.m }}{{ .a }}{{ $.imports.name }}{{ end }}', '1web'],
  ['DF-105', '{{ $x := 1 }}{{ if true }}{{ $x = 2 }}{{ $y := 3 }}{{ end }}{{ $x }}', '2'],
  [
    'DF-107',
    '{{ eq .imports.num 3.0 }} {{ eq (int .imports.num) 3 }} {{ eq "a" "b" "a" }} {{ has 2.0 .imports.nums }} {{ has 2 .imports.nums }}',
    'true true true true false',
  ],
  [
    'DF-108',
    '{{ index .imports.l 1 }} {{ index .imports "m" "a" }} {{ index .imports.m "zz" }}',
    'two 1 <no value>',
  ],
  [
    'DF-110',
    '{{ .imports.l }} {{ .imports.m }} {{ toJson .imports.m }}',
    '[one two] map[a:1 b:2] {"a":1,"b":2}',
  ],
  ['DF-111', 'm:{{ toYaml .imports.m | nindent 2 }}', 'm:\n  a: 1\n  b: 2'],
  // JSON keeps U+009F unescaped, and YAML rejects it: upstream writes nothing then.
  ['DF-111', '<{{ toYaml "\\u009f" }}>', '<>'],
  ['DF-111', '<{{ toYaml "\\u0007" }}>', '<"\\a">'],
  ['DF-112', 'a {{- " b " -}} c', 'a b c'],
  [
    'DF-113',
    '{{- define "r" }}<{{ .n }}>{{ end }}{{ template "r" (dict "n" "x") }}{{ template "r" (dict "n" 2) }}',
    '<x><2>',
  ],
  ['DF-114', '{{ and "" "x" }}|{{ or "" "x" }}|{{ not "" }}', '|x|true'],
  ['DF-115', '{{ toJson .imports.h }} {{ toRawJson .imports.h }}', '"\\u003ca\\u0026b\\u003e" "<a&b>"'],
  [
    'DF-118',
    '{{ add .imports.num 1 }} {{ div 7 2 }} {{ addf 0.1 0.2 }} {{ int .imports.s }} {{ atoi .imports.s }}',
    '4 3 0.3 7 7',
  ],
  ['DF-119', '{{ $d := dict }}{{ $_ := set $d "k" (list 1 2) }}{{ toJson $d }}', '{"k":[1,2]}'],
  [
    'DF-120',
    '{{ (splitn "/" 2 "a/b/c")._1 }} {{ splitList "," "a,b" | last }} {{ "YQ==" | b64dec }}',
    'b/c b a',
  ],
  ['DF-121', '{{ merge (dict "a" 1) (dict "a" 2 "b" 3) | toJson }}', '{"a":1,"b":3}'],
  [
    'DF-124',
    `{{ parseOCIRef "example.org/charts/web:1.2.3" }} {{ ociRefVersion "example.org/a@${digest}" }}`,
    `[example.org/charts/web 1.2.3] ${digest}`,
  ],
];

const failures: readonly [string, string, string][] = [
  ['DF-82', '{{ env "HOME" }}', 'function "env" not defined'],
  ['DF-96', '{{ .imports.nope.y }}', 'nil pointer evaluating interface {}.y'],
  ['DF-97', '{{ .imports.name.y }}', "can't evaluate field y in type interface {}"],
  ['DF-102', '{{ range .imports.name }}{{ end }}', "range can't iterate over web"],
  ['DF-106', '{{ eq .imports.num 3 }}', 'incompatible types for comparison'],
  ['DF-109', '{{ index .imports.l 5 }}', 'index out of range: 5'],
  ['DF-109', '{{ index .imports "deep" "x" "y" }}', 'index of nil pointer'],
  ['DF-122', '{{ nope 1 }}', 'template: execution:1: function "nope" not defined'],
  ['DF-123', '{{ fail "boom" }}', 'error calling fail: boom'],
];

describe('the GoTemplate scenarios', () => {
  for (const [number, text, expected] of results) {
    it(`${number}: ${text} renders ${expected.replaceAll('\n', '⏎')}`, () => {
      expect(render(text)).to.equal(expected);
    });
  }
  for (const [number, text, expected] of failures) {
    it(`${number}: ${text} fails with ${expected}`, () => {
      expect(failure(text)).to.contain(expected);
    });
  }

  it('DF-92: a number printed with an exponent is a number again when it is read as YAML', () => {
    expect(parseYaml(render('size: {{ .imports.big }}'))).to.deep.equal({ size: 20971520 });
    expect(parseYaml(render('size: "{{ .imports.big }}"'))).to.deep.equal({ size: '2.097152e+07' });
  });

  it('DF-116: a string that looks like a map breaks the YAML unless it is quoted', () => {
    expect(() => parseYaml(render('k: {{ .imports.t }}'))).to.throw(
      'mapping values are not allowed in this context',
    );
    expect(parseYaml(render('k: {{ .imports.t | quote }}'))).to.deep.equal({ k: 'a: b' });
  });

  it('DF-117: a string of digits is read as an octal number', () => {
    expect(parseYaml(render('k: {{ .imports.s }}'))).to.deep.equal({ k: 7 });
  });

  it('ends only the inner loop at a break in its else branch, as Go does', () => {
    const inner = '{{ range list }}{{ else }}{{ break }}{{ end }}';
    expect(render(`{{ range .imports.nums }}a${inner}b{{ end }}`)).to.equal('abab');
  });

  it('reports the remedy if an imported number is compared with an integer', () => {
    expect(failure('{{ eq .imports.num 3 }}')).to.contain('imported numbers are floating point');
  });
});
