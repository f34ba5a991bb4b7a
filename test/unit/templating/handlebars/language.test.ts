import { expect } from 'chai';
import Handlebars from 'handlebars';
import { render } from './support.ts';

const data = {
  name: 'web',
  n: 3,
  zero: 0,
  no: false,
  yes: true,
  empty: [],
  none: null,
  list: [{ id: 'a' }, { id: 'b' }, { id: 'c' }],
  words: ['x', 'y'],
  map: { a: { v: 1 }, b: { v: 2 } },
  deep: { er: { name: 'inner', 'odd key': 'odd' } },
};

/** Templates that the package's own runtime renders without additional helpers. */
const same: readonly string[] = [
  '{{name}} {{{name}}} {{&name}} {{n}}',
  '{{deep.er.name}} {{deep/er/name}} {{deep.er.[odd key]}} {{list.[1].id}} {{list.1.id}}',
  '{{#if name}}yes{{else}}no{{/if}}{{#if zero}}yes{{else}}no{{/if}}{{#if empty}}yes{{else}}no{{/if}}',
  '{{#if zero includeZero=true}}yes{{else}}no{{/if}}{{#unless no}}u{{/unless}}{{#if nope}}{{else}}gone{{/if}}',
  '{{#if zero includeZero=false}}yes{{else}}no{{/if}}{{#unless zero includeZero=no}}u{{else}}x{{/unless}}',
  '{{#if no}}1{{else if yes}}2{{else}}3{{/if}}{{^no}}inverse{{/no}}',
  '{{#each list}}{{@index}}:{{id}}{{#unless @last}},{{/unless}}{{#if @first}}!{{/if}}{{/each}}',
  '{{#each map}}{{@key}}={{v}} {{@index}};{{/each}}{{#each empty}}x{{else}}nothing{{/each}}{{#each nope}}x{{/each}}',
  '{{#each list as |item i|}}{{i}}{{item.id}}{{../name}}{{/each}}',
  '{{#each list}}{{../name}}{{#each ../words}}{{this}}{{../id}}{{../../n}}{{@../index}}{{/each}}{{/each}}',
  '{{#with deep.er}}{{name}} {{../name}} {{@root.n}}{{/with}}{{#with nope}}x{{else}}y{{/with}}',
  '{{#with deep as |d|}}{{#with d.er as |e|}}{{e.name}}{{d.er.name}}{{/with}}{{/with}}',
  '{{#deep}}{{er.name}}{{/deep}}{{#list}}{{id}}{{/list}}{{#yes}}{{name}}{{/yes}}{{#no}}x{{/no}}{{#nope}}x{{/nope}}',
  '{{#with zero}}[{{this}}]{{else}}none{{/with}}{{#with empty}}x{{else}}y{{/with}}{{#with no}}x{{else}}y{{/with}}',
  '{{#unless zero}}u{{/unless}}{{#unless zero includeZero=true}}x{{else}}z{{/unless}}{{#zero}}[{{this}}]{{/zero}}{{^none}}n{{/none}}',
  '{{lookup words 1}}{{lookup map.a "v"}}{{#with (lookup list 2)}}{{id}}{{/with}}',
  'a\n{{#if yes}}\n  b\n{{/if}}\nc\n{{! comment }}\nd {{~name~}} e\n{{!-- {{x}} --}}\nf',
  'x {{~#if yes~}} y {{~else~}} z {{~/if~}} w',
  '{{#*inline "part"}}<{{name}}{{x}}>{{/inline}}{{> part x=1}}{{#with deep.er}}{{> part x=2}}{{/with}}{{> part deep.er x=3}}',
  '{{#*inline "lay"}}top {{> @partial-block}} end{{/inline}}{{#> lay}}inner {{name}}{{/lay}}{{#> missing}}fallback{{/missing}}',
  '{{#*inline "a"}}{{#each list}}{{> b}}{{/each}}{{/inline}}{{#*inline "b"}}[{{id}}]{{/inline}}{{> a}}',
  '  {{#*inline "lines"}}\n1\n\n2\n{{/inline}}\nk:\n  {{> lines}}\nend',
  '{{> (lookup names "p")}}{{#*inline "dyn"}}dynamic{{/inline}}',
  '\\{{name}} \\\\{{name}} {{"name"}} {{[name]}} {{this.name}} {{./name}}',
];

describe('Handlebars', () => {
  for (const template of same) {
    it(`renders ${JSON.stringify(template)} as the original does`, () => {
      const values = { ...data, names: { p: 'dyn' } };
      const expected = Handlebars.create().compile(template, { noEscape: true })(values);
      expect(render(template, values)).to.equal(expected);
    });
  }

  const other: readonly [string, string, string][] = [
    [
      'prints maps and lists as JSON',
      '{{map.a}} {{words}} {{toJson list.[0]}}',
      '{"v":1} ["x","y"] {"id":"a"}',
    ],
    [
      'prints numbers in decimal',
      '{{big}} {{half}} {{mul n 1000000}} {{huge}}',
      '1000000 0.5 3000000 1152921504606846976',
    ],
    ['escapes nothing', '{{html}}', '<a href="x">&\'</a>'],
    ['visits maps in the order of their keys', '{{#each mixed}}{{@key}}{{/each}}', 'abc'],
    [
      'compares numbers in any form',
      '{{eq n 3}} {{eq n 3.0}} {{lt 1.5 n}} {{gt n 2}} {{ne n 4}}',
      'true true true true true',
    ],
    ['prefers a field to a function of that name', '{{first}} {{upper first}}', 'field FIELD'],
    [
      'passes the content of a block to a function',
      '{{#indent 2}}a\n{{name}}{{/indent}}|{{#upper}}x{{name}}{{/upper}}',
      '  a\n  web|XWEB',
    ],
    [
      'passes named arguments as a map',
      '{{toJson (dict "a" 1 b=name c=(list n "x"))}}',
      '{"a":1,"b":"web","c":[3,"x"]}',
    ],
    [
      'accepts missing values in functions that test for them',
      '{{default "d" nope.x}}{{coalesce nope "c"}}{{#if (not nope)}}n{{/if}}{{or nope name}}{{empty nope}}',
      'dcnwebtrue',
    ],
    [
      'stops at the first argument that decides',
      '{{or name (fail "never")}}{{#if (and no (fail "never"))}}{{else}}-{{/if}}',
      'web-',
    ],
    ['leaves raw blocks alone', '{{{{raw}}}}{{name}} {{#if}}{{{{/raw}}}}', '{{name}} {{#if}}'],
    ['reads YAML and JSON', '{{get (fromYaml "a: 12") "a"}} {{lookup (fromJson "{\\"b\\":7}") "b"}}', '12 7'],
  ];
  const more = {
    big: 1e6,
    half: 0.5,
    huge: 2n ** 60n,
    html: '<a href="x">&\'</a>',
    mixed: { c: 1, a: 2, b: 3 },
    first: 'field',
  };
  for (const [what, template, expected] of other) {
    it(what, () => {
      expect(render(template, { ...data, ...more })).to.equal(expected);
    });
  }

  it('has the time of the execution', () => {
    expect(render('{{date "2006-01-02" (now)}}')).to.equal('2026-01-02');
  });

  const tree = {
    'dir/part.hbs': 'v: {{x}}\nw: {{../name}}\n',
    'layout.hbs': 'head\n{{> @partial-block}}\nfoot',
    'data.txt': 'plain',
  };
  const partials: readonly [string, string, string][] = [
    [
      'are files of the blueprint, indented where they stand',
      'k:\n  {{> /dir/part.hbs map.a x=name}}\n',
      'k:\n  v: web\n  w: web\n',
    ],
    ['may be layouts', '{{#> layout.hbs}}{{name}}{{/layout.hbs}}', 'head\nwebfoot'],
    ['can be read without rendering', '{{readFile "/data.txt"}}', 'plain'],
  ];
  describe('partials', () => {
    for (const [what, template, expected] of partials) {
      it(what, () => {
        expect(render(template, data, { tree })).to.equal(expected);
      });
    }

    it('see the value that is passed to them', () => {
      const values = { a: { x: 1 }, name: 'web' };
      const shown = { 'p.hbs': '[{{x}}]' };
      expect(render('{{> p.hbs a}}{{> "/p.hbs" a}}{{include "/p.hbs" a}}', values, { tree: shown })).to.equal(
        '[1][1][1]',
      );
    });
  });
});
