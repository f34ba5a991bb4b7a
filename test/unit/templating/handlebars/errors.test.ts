import { expect } from 'chai';
import { TemplateBroken } from '../../../../src/templating/errors.ts';
import { TemplateExecutionError } from '../../../../src/templating/gotemplate/errors.ts';
import { complaint, render } from './support.ts';

const values = {
  imports: { provider: 'aws', list: [1, 2], nothing: null, password: 's3cr3t-value' },
  name: 'web',
};
const tree = {
  'part.hbs': 'first\n  {{nope}}',
  'broken.hbs': '{{#if}',
  'again.hbs': '{{> again.hbs}}',
  'layout.hbs': '<{{> @partial-block}}>',
};

const rows: readonly (readonly [string, string, string])[] = [
  [
    'a missing field, with the intended name',
    'a\n  {{imports.provder}}',
    'execution:2:2: at <{{imports.provder}}>: imports.provder is missing: there is no provder; imports is a map; did you mean provider?',
  ],
  [
    'the first missing part of a path',
    '{{imports.cloud.region.zone}}',
    'imports.cloud.region.zone is missing: there is no cloud; imports is a map',
  ],
  [
    'a field of a string',
    '{{imports.provider.name}}',
    'imports.provider.name is missing: there is no name; imports.provider is a string',
  ],
  [
    'a missing argument',
    '{{upper imports.region}}',
    'execution:1:8: at <imports.region>: imports.region is missing',
  ],
  [
    'a null in the output',
    '{{imports.nothing}}',
    'the value is null, which cannot be printed; give it a default',
  ],
  ['an unknown function', '{{uppr name}}', 'there is no function uppr; did you mean upper?'],
  [
    'an argument of the wrong kind',
    '{{upper imports.list}}',
    'error calling upper: argument 1: expected a string, found a list',
  ],
  ['too few arguments', '{{replace "a" name}}', 'error calling replace: expected 3 arguments, found 2'],
  [
    'named arguments for a function',
    '{{upper name size=1}}',
    'upper takes no named arguments; (dict size=…) makes a map of them',
  ],
  [
    'a path with arguments',
    '{{imports.provider 1}}',
    'a path cannot be called; only functions take arguments',
  ],
  ['a value without elements', '{{#each name}}{{/each}}', 'expected a list or a map, found a string'],
  [
    'a missing partial',
    '{{> other.hbs}}',
    'there is no partial other.hbs: neither a file of the blueprint nor defined by inline',
  ],
  [
    'a mistake in a partial, with both places',
    'x\n{{> part.hbs}}',
    'execution:2:0: at <{{> part.hbs}}>: template: part.hbs:2:2: at <{{nope}}>: nope is missing: there is no nope\ntemplate source:\n1:    first\n2:      {{nope}}\n        ˆ≈≈≈≈≈≈≈\n\ntemplate source:\n1:    x\n2:    {{> part.hbs}}\n',
  ],
  [
    'a mistake in a block that a partial prints, without a source that is not a file',
    '{{#> layout.hbs}}\n{{nope}}{{/layout.hbs}}',
    'there is no nope\ntemplate source:\n1:    <{{> @partial-block}}>\n',
  ],
  ['an invalid partial', '{{> broken.hbs}}', 'template: broken.hbs:1:5: found "}", expected'],
  ['a partial that contains itself', '{{> again.hbs}}', 'exceeded maximum template depth (500)'],
  ...['and', 'or', 'lookup'].map(
    (word) =>
      [
        `${word} as a block`,
        `{{#${word} imports "list"}}x{{else}}y{{/${word}}}`,
        `{{#${word}}} is no block; write {{#if (${word} …)}}`,
      ] as const,
  ),
  [
    'a function as an inverted block',
    '{{^upper name}}x{{/upper}}',
    '{{^upper}} is no block; write {{#unless (upper …)}}',
  ],
  [
    'a block with the wrong end',
    'x\n{{#if name}}{{/each}}',
    'execution:2:3: {{#if}} is closed by {{/each}}; expected {{/if}}',
  ],
  [
    'a block that is never closed',
    'x\n{{#if name}}',
    'execution:2:0: {{#if}} is never closed; expected {{/if}} before the end of the template',
  ],
  ['a mustache that is never closed', 'one\ntwo {{name', 'execution:2:'],
  ['a decorator', '{{* x}}', 'only {{#*inline "name"}} may stand here'],
  [
    'an error that the template raises',
    '{{#if name}}{{fail "no"}}{{/if}}',
    'execution:1:12: at <{{fail "no"}}>: error calling fail: no',
  ],
  ['a missing context of a partial', '{{> part.hbs imports.x}}', 'imports.x is missing'],
];

describe('a broken Handlebars template', () => {
  for (const [what, template, message] of rows) {
    it(`reports ${what}`, () => {
      expect(complaint(template, values, { tree })).to.contain(message);
    });
  }

  it('is shown with the line and the place', () => {
    expect(complaint('deployItems:\n- name: a\n  type: {{imports.kind}}\n- name: b', values)).to.equal(
      [
        'template: execution:3:8: at <{{imports.kind}}>: imports.kind is missing: there is no kind; imports is a map',
        'template source:',
        '1:    deployItems:',
        '2:    - name: a',
        '3:      type: {{imports.kind}}',
        '              ˆ≈≈≈≈≈≈≈',
        '4:    - name: b',
        '',
      ].join('\n'),
    );
  });

  it('is shown with its input, without the values', () => {
    expect(() => render('{{nope}}', values))
      .to.throw(TemplateBroken, '"password":"[...] (string)"')
      .and.satisfies(({ message }: Error) => !message.includes('s3cr3t-value'));
  });

  it('has the place in its error object, too', () => {
    expect(() => render('a\n {{nope}}'))
      .to.throw(TemplateBroken)
      .with.property('cause')
      .that.is.instanceOf(TemplateExecutionError)
      .and.includes({ line: 2, column: 1, sourceLine: ' {{nope}}' });
  });
});
