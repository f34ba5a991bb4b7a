/** The branches of templates, and which of them a rendering takes. */
import { expect } from 'chai';
import { branchesOf, branchId, templateId } from '../../../src/templating/branches.ts';
import { noFiles } from '../../../src/templating/files.ts';
import { renderText } from '../../../src/templating/render.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { systemRng } from '../../../src/lib/rng.ts';

const GO = `{{- define "name" }}{{ with .suffix }}web-{{ . }}{{ else }}web{{ end }}{{ end -}}
{{ if .ha }}a: 2{{ else if .small }}a: 0{{ end }}
{{ range .zones }}z: {{ . }}{{ end }}
{{ template "name" . }}`;

const HANDLEBARS = `{{#if ha}}a: 2{{else if small}}a: 0{{/if}}
{{#each zones}}{{#unless @last}},{{/unless}}{{else}}none{{/each}}
{{#raw}}{{#with suffix}}{{this}}{{/with}}{{/raw}}`;

const found = (type: string, source: string): readonly string[] =>
  branchesOf(type, source, {}).map(({ line, text, way }) => `${String(line)} ${way} ${text}`);

/** The branches that a rendering does not take. */
function untaken(type: string, template: string, values: object): readonly string[] {
  const taken = new Set<string>();
  renderText(
    { type, template },
    { ...values },
    {
      clock: systemClock,
      rng: systemRng,
      files: noFiles,
      onWay: (source, pos, way) => taken.add(branchId(templateId(source), pos, way)),
    },
  );
  return branchesOf(type, template, {})
    .filter(({ id }) => !taken.has(id))
    .map(({ line, text, way }) => `${String(line)} ${way} ${text}`);
}

describe('the branches of templates', () => {
  it('are both ways of conditions, also in definitions, and the elements of loops', () => {
    expect(found('GoTemplate', GO)).to.deep.equal([
      '1 block {{with .suffix}}',
      '1 else {{with .suffix}}',
      '2 block {{if .ha}}',
      '2 else {{if .ha}}',
      '2 block {{if .small}}',
      '2 else {{if .small}}',
      '3 block {{range .zones}}',
    ]);
    expect(found('Handlebars', HANDLEBARS)).to.deep.equal([
      '1 block {{#if ha}}',
      '1 else {{#if ha}}',
      '1 block {{else if small}}',
      '1 else {{else if small}}',
      '2 block {{#each zones}}',
      '2 else {{#each zones}}',
      '2 block {{#unless @last}}',
      '2 else {{#unless @last}}',
      '3 block {{#with suffix}}',
      '3 else {{#with suffix}}',
    ]);
  });

  it('are taken or not, depending on the values', () => {
    expect(untaken('GoTemplate', GO, { ha: true, zones: ['a'], suffix: 'x' })).to.deep.equal([
      '1 else {{with .suffix}}',
      '2 else {{if .ha}}',
      '2 block {{if .small}}',
      '2 else {{if .small}}',
    ]);
    expect(untaken('GoTemplate', GO, { ha: false, small: true, zones: [], suffix: '' })).to.deep.equal([
      '1 block {{with .suffix}}',
      '2 block {{if .ha}}',
      '2 else {{if .small}}',
      '3 block {{range .zones}}',
    ]);
    expect(
      untaken('Handlebars', HANDLEBARS, { ha: false, small: false, zones: ['a', 'b'], suffix: 'x' }),
    ).to.deep.equal([
      '1 block {{#if ha}}',
      '1 block {{else if small}}',
      '2 else {{#each zones}}',
      '3 else {{#with suffix}}',
    ]);
    expect(untaken('Handlebars', HANDLEBARS, { ha: true, zones: [], suffix: '' })).to.deep.equal([
      '1 else {{#if ha}}',
      '1 block {{else if small}}',
      '1 else {{else if small}}',
      '2 block {{#each zones}}',
      '2 block {{#unless @last}}',
      '2 else {{#unless @last}}',
      '3 block {{#with suffix}}',
    ]);
  });

  it('are none in Spiff, and in templates that cannot be parsed', () => {
    expect(found('Spiff', 'a: (( b ? 1 : 2 ))')).to.deep.equal([]);
    expect(found('GoTemplate', '{{ if }}')).to.deep.equal([]);
    expect(found('Handlebars', '{{#if a}}')).to.deep.equal([]);
  });
});
