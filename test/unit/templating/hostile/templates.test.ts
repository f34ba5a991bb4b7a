import { expect } from 'chai';
import { RenderError } from '../../../../src/templating/errors.ts';
import { blueprint } from '../../dataflow/given.ts';
import { useRunner, watched } from './support.ts';

/** An attack in each language that can express it, and its expected end: a value, or an error with this message. */
interface Attack {
  readonly GoTemplate?: string;
  readonly Handlebars?: string;
  readonly ends: RegExp | { readonly value: unknown };
}

const link = (value: string) => ({ $type: 'symlink', value });
const files = {
  'self.tpl': '{{ include "/self.tpl" . }}',
  'a.tpl': '{{ include "/b.tpl" . }}',
  'b.tpl': '{{ include "/a.tpl" . }}',
  'self.hbs': '{{include "/self.hbs" this}}',
  'a.hbs': '{{> b.hbs}}',
  'b.hbs': '{{> a.hbs}}',
  'two.hbs': '{{> two2.hbs}}{{> two2.hbs}}',
  'two2.hbs': '{{> two3.hbs}}{{> two3.hbs}}',
  'two3.hbs': '{{#each (until 10000)}}{{#each (until 10000)}}x{{/each}}{{/each}}',
  outside: link('../../../../etc/passwd'),
  absolute: link('/etc/passwd'),
  loop: link('loop'),
  folder: { loop: link('..') },
};
const bomb = [
  'a0: &a0 [x,x,x,x,x,x,x,x,x]',
  ...Array.from(
    { length: 20 },
    (_, i) => `a${i + 1}: &a${i + 1} [${Array.from({ length: 9 }, () => `*a${i}`).join()}]`,
  ),
].join('\n');
const evil = `${'a'.repeat(50_000)}!`;
const values = { imports: { evil, bomb, list: [1, 2], name: 'web', obj: { own: 1 } } };

const TOO_LARGE = /more than \d+ bytes|larger than \d+ bytes/;
const TOO_LONG = /takes longer than \d+ ms|more than \d+ steps/;
const TOO_MUCH = /needs more than \d+ MiB of memory/;
const ENDLESS = new RegExp(
  [TOO_LARGE, TOO_LONG, TOO_MUCH].map(({ source }) => source).join('|') +
    '|maximum template depth|memory or depth',
);

const attacks: Readonly<Record<string, Attack>> = {
  'the prototype of a map': {
    GoTemplate: 'a: {{ .imports.obj.__proto__ | toJson }}',
    Handlebars: 'a: {{default "null" imports.obj.__proto__}}',
    ends: { value: { a: null } },
  },
  'a constructor': {
    GoTemplate: 'a: {{ .constructor | toJson }}',
    Handlebars: 'a: {{default "null" constructor}}',
    ends: { value: { a: null } },
  },
  'a constructor of a constructor': {
    GoTemplate: '{{ .imports.name.constructor.constructor }}',
    Handlebars: '{{imports.name.constructor.constructor}}',
    ends: /can't evaluate field constructor|there is no constructor/,
  },
  'a prototype by its name': {
    GoTemplate: 'a: {{ index .imports.obj "__proto__" | toJson }}',
    Handlebars: 'a: {{default "null" (lookup imports.obj "__proto__")}}',
    ends: { value: { a: null } },
  },
  'a method of a list': {
    GoTemplate: '{{ .imports.list.map }}',
    Handlebars: '{{imports.list.map}}',
    ends: /can't evaluate field map|there is no map/,
  },
  'a change of all prototypes': {
    GoTemplate:
      '{{ $_ := set .imports.obj "__proto__" (dict "polluted" "yes") }}a: {{ dict.polluted | toJson }}',
    Handlebars:
      '{{#with (set imports.obj "__proto__" (dict "polluted" "yes"))}}{{/with}}a: {{default "null" (lookup (dict) "polluted")}}',
    ends: { value: { a: null } },
  },
  'an expression with catastrophic backtracking': {
    GoTemplate: 'a: {{ regexMatch "^(a+)+$" .imports.evil }}',
    Handlebars: 'a: {{regexMatch "^(a+)+$" imports.evil}}',
    ends: { value: { a: false } },
  },
  'a huge expression': {
    GoTemplate: '{{ mustRegexMatch "((a{1,100}){1,100}){1,100}" "a" }}',
    Handlebars: '{{mustRegexMatch "((a{1,100}){1,100}){1,100}" "a"}}',
    ends: /invalid repeat count|error parsing regexp/,
  },
  'an expression that matches everywhere': {
    GoTemplate: '{{ $s := repeat 8000000 "a" }}{{ regexReplaceAll "" $s (repeat 1000 "b") | len }}',
    Handlebars: '{{len (regexReplaceAll "" (repeat 8000000 "a") (repeat 1000 "b"))}}',
    ends: ENDLESS,
  },
  'YAML of a billion laughs': {
    GoTemplate: '{{ .imports.bomb | fromYaml | toJson | len }}',
    Handlebars: '{{len (toJson (fromYaml imports.bomb))}}',
    ends: /excessive aliasing/,
  },
  'a result of a billion laughs': {
    GoTemplate: '{{ .imports.bomb }}',
    Handlebars: '{{imports.bomb}}',
    ends: /excessive aliasing/,
  },
  'a result that is nested a million times': {
    GoTemplate: '{{ repeat 1000000 "[" }}',
    Handlebars: '{{repeat 1000000 "["}}',
    ends: /exceeded max depth|nested|did not find expected/,
  },
  'a file that includes itself': {
    GoTemplate: '{{ include "/self.tpl" . }}',
    Handlebars: '{{include "/self.hbs" this}}',
    ends: /nested reference|maximum template depth/,
  },
  'files that include each other': {
    GoTemplate: '{{ include "/a.tpl" . }}',
    Handlebars: '{{> a.hbs}}',
    ends: /nested reference|maximum template depth/,
  },
  'partials that grow like a tree': { Handlebars: '{{> two.hbs}}', ends: ENDLESS },
  'a template that calls itself': {
    GoTemplate: '{{ define "x" }}{{ template "x" . }}{{ end }}{{ template "x" . }}',
    Handlebars: '{{#*inline "x"}}{{> x}}{{/inline}}{{> x}}',
    ends: /maximum template depth/,
  },
  'a layout that is its own block': {
    Handlebars: '{{#*inline "x"}}{{#> x}}{{> @partial-block}}{{/x}}{{/inline}}{{#> x}}{{/x}}',
    ends: /maximum template depth/,
  },
  'functions that call each other': {
    GoTemplate: '{{ tpl "{{ 1 }}" . }}',
    Handlebars: '{{tpl "{{1}}" this}}',
    ends: /function "tpl" not defined|no function tpl/,
  },
  '100 MB by repetition': {
    GoTemplate: '{{ repeat 100000000 "x" }}',
    Handlebars: '{{repeat 100000000 "x"}}',
    ends: TOO_LARGE,
  },
  '100 MB by nested loops': {
    GoTemplate: '{{ range until 10000 }}{{ range until 10000 }}xxxxxxxxxx{{ end }}{{ end }}',
    Handlebars: '{{#each (until 10000)}}{{#each (until 10000)}}xxxxxxxxxx{{/each}}{{/each}}',
    ends: ENDLESS,
  },
  'a string that doubles': {
    GoTemplate: '{{ $x := "ab" }}{{ range until 60 }}{{ $x = print $x $x }}{{ end }}',
    ends: ENDLESS,
  },
  'a list of a billion numbers': {
    GoTemplate: '{{ until 1000000000 | len }}',
    Handlebars: '{{len (until 1000000000)}}',
    ends: TOO_LARGE,
  },
  'an endless count': {
    GoTemplate: '{{ range 9223372036854775807 }}{{ end }}',
    Handlebars: '{{seq 1 9007199254740991}}',
    ends: ENDLESS,
  },
  'a range that never ends': {
    GoTemplate: 'a: {{ untilStep 0 10 0 | len }}',
    Handlebars: 'a: {{len (untilStep 0 10 0)}}',
    ends: { value: { a: 0 } },
  },
  'a width of a billion': {
    GoTemplate: '{{ lt (len (printf "%1000000000d" 1)) 100 }}',
    Handlebars: '{{lt (len (printf "%1000000000d" 1)) 100}}',
    ends: { value: true },
  },
  'many wide columns': {
    GoTemplate: `{{ printf "${'%999999d'.repeat(50)}" 1 | len }}`,
    Handlebars: `{{len (printf "${'%999999d'.repeat(50)}" 1)}}`,
    ends: TOO_LARGE,
  },
  'an indentation of a billion': {
    GoTemplate: '{{ indent 1000000000 "x" }}',
    Handlebars: '{{indent 1000000000 "x"}}',
    ends: TOO_LARGE,
  },
  'a map that contains itself': {
    GoTemplate: '{{ $d := dict }}{{ $_ := set $d "d" $d }}{{ $d | toJson }}',
    Handlebars: '{{#with (dict "a" 1) as |d|}}{{set d "d" d}}{{/with}}',
    ends: /memory or depth/,
  },
  'blocks nested ten thousand times': {
    GoTemplate: `${'{{ if true }}'.repeat(10_000)}x${'{{ end }}'.repeat(10_000)}`,
    Handlebars: `${'{{#if true}}'.repeat(10_000)}x${'{{/if}}'.repeat(10_000)}`,
    ends: /nested too deeply|memory or depth/,
  },
  'expressions nested twenty thousand times': {
    GoTemplate: `{{ ${'('.repeat(20_000)}1${')'.repeat(20_000)} }}`,
    Handlebars: `{{not ${'(not '.repeat(20_000)}1${')'.repeat(20_000)}}}`,
    ends: /nested too deeply|memory or depth/,
  },
  'a file above the root': {
    GoTemplate: '{{ readFile "../../../../../../etc/passwd" | toString }}',
    Handlebars: '{{readFile "../../../../../../etc/passwd"}}',
    ends: /file does not exist/,
  },
  'a file of the host': {
    GoTemplate: '{{ readFile "/etc/passwd" | toString }}',
    Handlebars: '{{> /etc/passwd}}',
    ends: /file does not exist|no partial/,
  },
  'a link out of the blueprint': {
    GoTemplate: '{{ readFile "/outside" | toString }}',
    Handlebars: '{{readFile "/absolute"}}',
    ends: /file does not exist/,
  },
  'a link to itself': {
    GoTemplate: '{{ include "/loop" . }}',
    Handlebars: '{{> loop}}',
    ends: /file does not exist|no partial/,
  },
  'a folder that contains itself': {
    GoTemplate: `{{ readFile "/folder${'/loop/folder'.repeat(100)}/nothing" }}`,
    Handlebars: `{{readFile "/folder${'/loop/folder'.repeat(100)}/nothing"}}`,
    ends: /file does not exist/,
  },
  'JSON of five million lists': {
    GoTemplate: '{{ printf "[%s[]]" (repeat 5000000 "[],") | mustFromJson | len }}',
    ends: /more than 1000000 values/,
  },
  'the environment': {
    GoTemplate: '{{ env "PATH" }}',
    Handlebars: '{{env "PATH"}}',
    ends: /function "env" not defined|no function env/,
  },
  'the environment, expanded': {
    GoTemplate: '{{ expandenv "$HOME" }}',
    Handlebars: '{{expandenv "$HOME"}}',
    ends: /function "expandenv" not defined|no function expandenv/,
  },
  'the network': {
    GoTemplate: '{{ getHostByName "localhost" }}',
    Handlebars: '{{getHostByName "localhost"}}',
    ends: /function "getHostByName" not defined|no function getHostByName/,
  },
  'the process': {
    GoTemplate: '{{ .process.env }}{{ process }}',
    Handlebars: '{{process.env.PATH}}',
    ends: /function "process" not defined|process.env.PATH is missing/,
  },
  'the global object': {
    Handlebars: '{{globalThis}}',
    ends: /globalThis is missing/,
  },
};

describe('a malicious template', () => {
  const here = useRunner();
  const loaded = blueprint({}, files);

  for (const [what, attack] of Object.entries(attacks)) {
    for (const type of ['GoTemplate', 'Handlebars'] as const) {
      const template = attack[type];
      if (template === undefined) continue;
      it(`${type}: ${what} has no effect`, async () => {
        const execution = { name: 'evil', type, template };
        const ending = await watched(() => here.runner.render({ execution, values, blueprint: loaded }));
        expect(ending.stalledMs, 'the controllers go on meanwhile').to.be.below(1_000);
        if (ending.error !== undefined || attack.ends instanceof RegExp) {
          expect(ending.error, `it gave ${JSON.stringify(ending.value)}`).to.be.instanceOf(RenderError);
          expect(ending.error?.message).to.match(attack.ends as RegExp);
          expect(ending.error?.message).not.to.contain('root:x:');
        } else expect(ending.value).to.deep.equal({ output: attack.ends.value });
      });
    }
  }

  it('does not affect the next one', async () => {
    const execution = { type: 'GoTemplate', template: 'a: {{ dict.polluted | toJson }}' };
    expect(await here.runner.render({ execution, values, blueprint: loaded })).to.deep.equal({
      output: { a: null },
    });
    expect(({} as Record<string, unknown>)['polluted']).to.equal(undefined);
  });
});
