import { expect } from 'chai';
import { shorten } from '../../../src/lib/masking.ts';
import { seededRng } from '../../../src/lib/rng.ts';
import {
  ResultHasNoValue,
  ResultUnreadable,
  TemplateBroken,
  TemplateNotFound,
  TemplateTypeUnknown,
} from '../../../src/templating/errors.ts';
import type { TemplateFiles } from '../../../src/templating/files.ts';
import { fn } from '../../../src/templating/gotemplate/signature.ts';
import {
  renderExecution,
  renderText,
  type EngineOptions,
  type TemplateExecution,
} from '../../../src/templating/render.ts';
import { FakeClock } from '../../support/clock.ts';

const files = (tree: Readonly<Record<string, string>>): TemplateFiles => ({
  read(path) {
    const content = tree[path.replace(/^\//, '')];
    return content === undefined ? undefined : Buffer.from(content);
  },
  list(path) {
    if (path !== '/') return undefined;
    return Object.entries(tree).map(([name, text]) => ({
      name,
      isDirectory: false,
      size: Buffer.byteLength(text),
    }));
  },
});

const options = (
  tree: Readonly<Record<string, string>> = {},
  more: Partial<EngineOptions> = {},
): EngineOptions => ({
  clock: new FakeClock(),
  rng: seededRng(1),
  files: files(tree),
  ...more,
});

const go = (template: string): TemplateExecution => ({ name: 'main', type: 'GoTemplate', template });
const values = { imports: { name: 'web', password: 's3cr3t' }, cd: null };

describe('a template execution', () => {
  it('returns its result as JSON', () => {
    expect(
      renderExecution(go('a: {{ .imports.name }}\nb: [on, 0777]\n---\nc: 1'), values, options()),
    ).to.deep.equal({
      a: 'web',
      b: [true, 511],
    });
  });

  it('returns null for an empty result', () => {
    expect(renderExecution(go(''), values, options())).to.equal(null);
  });

  it('reads its template from a file of the blueprint, unless it has an inline one', () => {
    const tree = { 'deploy.yaml': 'from: file' };
    const execution: TemplateExecution = { type: 'GoTemplate', file: '/deploy.yaml' };
    expect(renderExecution(execution, values, options(tree))).to.deep.equal({ from: 'file' });
    expect(renderExecution({ ...execution, template: 'from: text' }, values, options(tree))).to.deep.equal({
      from: 'text',
    });
  });

  it('may use functions of the caller', () => {
    const functions = { answer: fn('', () => 42n) };
    expect(renderExecution(go('a: {{ answer }}'), values, options({}, { functions }))).to.deep.equal({
      a: 42,
    });
  });

  it('does not round integers silently', () => {
    expect(() => renderExecution(go('a:\n- 9007199254740993'), values, options())).to.throw(
      ResultUnreadable,
      'yaml: line 2: integer 9007199254740993 is beyond 2^53',
    );
  });

  const refused: readonly [string, TemplateExecution, new (...args: never[]) => Error, string][] = [
    [
      'DF-88: fails for an unknown type',
      { type: 'Jinja', template: 'a' },
      TemplateTypeUnknown,
      'unknown template type Jinja; known are GoTemplate, Spiff, Handlebars',
    ],
    ['fails without a type', { type: '', template: 'a' }, TemplateTypeUnknown, 'unknown template type '],
    ['DF-89: fails without a template', { type: 'GoTemplate' }, TemplateNotFound, 'no template found'],
    [
      'fails if its file is missing',
      { type: 'GoTemplate', file: '/x' },
      TemplateNotFound,
      'file does not exist',
    ],
    [
      'fails with a map instead of a string',
      { type: 'GoTemplate', template: { a: 1 } },
      TemplateNotFound,
      'json: cannot unmarshal object into Go value of type string',
    ],
  ];
  for (const [what, execution, kind, message] of refused) {
    it(what, () => {
      expect(() => renderText(execution, values, options()))
        .to.throw(kind, message)
        .with.property('name', kind.name);
    });
  }
});

describe('a broken template', () => {
  const message = (text: string, tree: Readonly<Record<string, string>> = {}): string => {
    try {
      renderText(go(text), values, options(tree));
    } catch (error) {
      expect(error).to.be.instanceOf(TemplateBroken);
      return (error as Error).message;
    }
    throw new Error('it succeeded');
  };

  it('DF-75: is shown with the lines around the error', () => {
    expect(message('deployItems:\n- name: a\n  type: {{ .imports.kind.name }}')).to.contain(
      [
        'template: execution:3:19: executing "execution" at <.imports.kind.name>: nil pointer evaluating interface {}.name',
        'template source:',
        '1:    deployItems:',
        '2:    - name: a',
        '3:      type: {{ .imports.kind.name }}',
        `${' '.repeat(25)}ˆ≈≈≈≈≈≈≈`,
        '',
        'template input:',
        '\tcd: null',
        '\timports: {',
      ].join('\n'),
    );
  });

  const unparsable: readonly [what: string, action: string, reason: string, column: number][] = [
    ['an unknown function', '{{ frobnicate 1 }}', 'function "frobnicate" not defined', 11],
    ['an unknown variable', '{{ $it }}', 'undefined variable "$it"', 11],
    ['a missing operand', '{{ if }}', 'missing value for if', 14],
    ['an invalid character', '{{ .a ! }}', 'unexpected "!" in operand', 14],
  ];
  for (const [what, action, reason, column] of unparsable) {
    it(`DF-75: has the marker below ${what}, although Go reports only the line`, () => {
      expect(message(`deployItems:\n- name: ${action}`)).to.contain(
        [
          `template: execution:2: ${reason}`,
          'template source:',
          '1:    deployItems:',
          `2:    - name: ${action}`,
          `${' '.repeat(6 + column)}ˆ≈≈≈≈≈≈≈`,
        ].join('\n'),
      );
    });
  }

  it('DF-78: is shown with its input, but without the values', () => {
    const text = message('{{ .imports.kind.name }}');
    expect(text).to.contain('"password":"[...] (string)"');
    expect(text).not.to.contain('s3cr3t');
  });

  it('DF-79: hides the exports of deploy items too', () => {
    const input = { deployitems: { a: { token: 's3cr3t' } }, dataobjects: { b: ['s3cr3t'] } };
    expect(() => renderText(go('{{ .a.b }}'), input, options()))
      .to.throw(TemplateBroken)
      .and.satisfies(
        (error: Error) =>
          !error.message.includes('s3cr3t') && error.message.includes('"token":"[...] (string)"'),
      );
  });

  it('is shown with both sources if it includes the broken one', () => {
    const text = message('a: {{ include "/part.tpl" . }}', { 'part.tpl': 'first\n{{ nope }}' });
    expect(text).to.contain(
      'error calling include: template: execution:2: function "nope" not defined\ntemplate source:\n1:    first\n',
    );
    expect(text).to.contain('template source:\n1:    a: {{ include');
  });

  it('has a message that can be shortened for a status', () => {
    const text = message(`{{ .a.b }}\n# ${'x'.repeat(20000)}`);
    expect(Buffer.byteLength(shorten(text))).to.be.below(8200);
  });

  it('keeps the suggestion when it is shortened', () => {
    const long = 'x'.repeat(30_000);
    const render = (): unknown => renderText(go(`{{ .imports.nmae.first }} # ${long}`), values, options());
    const end = '…\nhint: there is no "nmae" in .imports; did you mean "name"?\nin deploy execution "main"';
    expect(render)
      .to.throw(TemplateBroken)
      .with.property('message')
      .that.satisfies((text: string) => shorten(`${text}\nin deploy execution "main"`).endsWith(end));
  });

  it('DF-84: is reported if a file includes itself', () => {
    expect(message('{{ include "/part.tpl" . }}', { 'part.tpl': '{{ include "/part.tpl" . }}' })).to.contain(
      'rendering template has a nested reference name: /part.tpl',
    );
  });
});

describe('a result with <no value> in it', () => {
  const template = 'items:\n- a: 1\n  v: {{ .imports.nope }}\n  w: {{ .imports.password }}\n';

  it('DF-76: is rejected, with the place in the result and in the template', () => {
    expect(() =>
      renderText(go(template), values, options({}, { refuseNoValueIn: 'deploy execution' })),
    ).to.throw(
      ResultHasNoValue,
      'template "deploy execution" contains fields with "no value":\n\nline 3:5\nmissing: {{.imports.nope}}\n1:    items:\n',
    );
  });

  it('does not show the rendered text', () => {
    expect(() => renderText(go(template), values, options({}, { refuseNoValueIn: 'export execution' })))
      .to.throw(ResultHasNoValue)
      .and.satisfies((error: Error) => !error.message.includes('s3cr3t'));
  });

  it('is rejected even if the template itself contains the text', () => {
    const refuse = options({}, { refuseNoValueIn: 'deploy execution' });
    expect(() => renderText(go('a: "x <no value>"'), values, refuse)).to.throw(ResultHasNoValue, 'line 1:6');
  });

  it('DF-77: is accepted in import executions', () => {
    expect(renderExecution(go('bindings: {a: "{{ .imports.nope }}"}'), values, options())).to.deep.equal({
      bindings: { a: '<no value>' },
    });
  });
});

describe('files in templates', () => {
  const tree = {
    'a.txt': 'hi',
    'part.tpl': 'v: {{ .x }}',
    'defines.tpl': '{{ define "n" }}inner{{ end }}{{ template "n" }}',
  };
  const rows: readonly [string, string, string][] = [
    [
      'DF-83: are included with a value of their own',
      '{{ include "/part.tpl" (dict "x" 1) | nindent 2 }}',
      '\n  v: 1',
    ],
    [
      'DF-85: are bytes when they are read',
      '{{ readFile "/a.txt" }} {{ readFile "/a.txt" | toString }}',
      '[104 105] hi',
    ],
    ['are base64 in JSON', '{{ readFile "a.txt" | toJson }}', '"aGk="'],
    [
      'define names for themselves only',
      '{{ define "n" }}outer{{ end }}{{ include "defines.tpl" . }}-{{ template "n" }}',
      'inner-outer',
    ],
    [
      'can be listed',
      '{{ range readDir "/" }}{{ .Name }} {{ .IsDir }} {{ .Size }};{{ end }}',
      'a.txt false 2;part.tpl false 11;defines.tpl false 48;',
    ],
  ];
  for (const [what, text, expected] of rows) {
    it(what, () => {
      expect(renderText(go(text), {}, options(tree))).to.equal(expected);
    });
  }

  it('fail if they are missing', () => {
    expect(() => renderText(go('{{ readFile "/nope" }}'), {}, options())).to.throw(
      'error calling readFile: file does not exist',
    );
    expect(() => renderText(go('{{ include "/nope" . }}'), {}, options())).to.throw(
      'unable to read include file "/nope": file does not exist',
    );
  });
});

describe('image references', () => {
  const rows: readonly [string, string][] = [
    ['nginx:1.27', '[nginx 1.27]'],
    ['library/nginx:1', '[nginx 1]'],
    ['docker.io/org/app:2', '[org/app 2]'],
    ['index.docker.io/x/y:3', '[x/y 3]'],
    ['localhost:5000/a/b:1', '[localhost:5000/a/b 1]'],
    ['example.org/a:1@sha256:ab', '[example.org/a sha256:ab]'],
  ];
  for (const [reference, expected] of rows) {
    it(`${reference} is ${expected}`, () => {
      expect(renderText(go(`{{ parseOCIRef "${reference}" }}`), {}, options())).to.equal(expected);
    });
  }

  it('without any colon are invalid', () => {
    expect(() => renderText(go('{{ ociRefRepo "nginx" }}'), {}, options())).to.throw('invalid reference');
  });
});
