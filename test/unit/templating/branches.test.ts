/** The branches of templates, and which of them a rendering takes. */
import { expect } from 'chai';
import { branchesOf, branchId, filesIncludedBy, templateId } from '../../../src/templating/branches.ts';
import { noFiles } from '../../../src/templating/files.ts';
import type { Way } from '../../../src/templating/fork.ts';
import { renderExecution, renderText } from '../../../src/templating/render.ts';
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
  const options = {
    clock: systemClock,
    rng: systemRng,
    files: noFiles,
    onWay: (source: string, pos: number, way: Way) => {
      taken.add(branchId(templateId(source), pos, way));
    },
  };
  // The results of the other templates are not YAML.
  (type === 'Spiff' ? renderExecution : renderText)({ type, template }, { ...values }, options);
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

  const SPIFF = `size: (( ha ? "large" :(small ? "small" :"medium") ))
name: (( suffix || "web" ))
text: >-
  (( note
  // "none" ))
of: (( |x|-> integer(x) > 1 ? "many" :"one" ))
numbers: (( map[ counts |n|-> .of(n) ] ))`;

  it('are in Spiff both ways of conditions, and both operands of || and //', () => {
    expect(found('Spiff', SPIFF)).to.deep.equal([
      '1 block (( ha ? "large" :(small ? "small" :"medium") ))',
      '1 else (( ha ? "large" :(small ? "small" :"medium") ))',
      '1 block (( small ? "small" :"medium" ))',
      '1 else (( small ? "small" :"medium" ))',
      '2 block (( suffix || "web" ))',
      '2 else (( suffix || "web" ))',
      '5 block (( note // "none" ))',
      '5 else (( note // "none" ))',
      '6 block (( integer(x) > 1 ? "many" :"one" ))',
      '6 else (( integer(x) > 1 ? "many" :"one" ))',
    ]);
  });

  it('of Spiff are taken or not, depending on the values', () => {
    expect(untaken('Spiff', SPIFF, { ha: true, suffix: 'x', note: null, counts: [1, 2] })).to.deep.equal([
      '1 else (( ha ? "large" :(small ? "small" :"medium") ))',
      '1 block (( small ? "small" :"medium" ))',
      '1 else (( small ? "small" :"medium" ))',
      '2 else (( suffix || "web" ))',
      '5 block (( note // "none" ))',
    ]);
    expect(untaken('Spiff', SPIFF, { ha: false, small: true, note: 'x', counts: [2] })).to.deep.equal([
      '1 block (( ha ? "large" :(small ? "small" :"medium") ))',
      '1 else (( small ? "small" :"medium" ))',
      '2 block (( suffix || "web" ))',
      '5 else (( note // "none" ))',
      '6 else (( integer(x) > 1 ? "many" :"one" ))',
    ]);
  });

  it('of Spiff have an id for each operator of an expression', () => {
    const source = 'a: (( b || c || "d" ))';
    expect(new Set(branchesOf('Spiff', source, {}).map(({ id }) => id)).size).to.equal(4);
    expect(untaken('Spiff', source, { c: 1 })).to.deep.equal([
      '1 block (( b || c ))',
      '1 else (( b || c || "d" ))',
    ]);
  });

  for (const [type, source, files] of [
    [
      'GoTemplate',
      '{{ include "a.tpl" . }}{{ if .x }}{{ indent 2 (include "b/c.tpl" .y) }}{{ end }}',
      ['a.tpl', 'b/c.tpl'],
    ],
    ['GoTemplate', '{{ define "d" }}{{ include "a.tpl" . }}{{ end }}{{ include .path . }}', ['a.tpl']],
    [
      'Handlebars',
      '{{> a.hbs }}{{#if x}}{{> b/c.hbs y}}{{/if}}{{{include "d.hbs" this}}}',
      ['a.hbs', 'b/c.hbs', 'd.hbs'],
    ],
    [
      'Handlebars',
      '{{#> layout.hbs}}{{yaml (include "e.hbs" this)}}{{/layout.hbs}}{{> (lookup . "p")}}',
      ['layout.hbs', 'e.hbs'],
    ],
    ['Spiff', 'a: 1', []],
    ['GoTemplate', '{{ include', []],
  ] as const)
    it(`are also in the files that a template includes by a constant path: ${source}`, () => {
      expect(filesIncludedBy(type, source, {})).to.have.members(files);
    });

  it('are none in templates that cannot be parsed', () => {
    expect(found('Spiff', 'a: (( b ? ))')).to.deep.equal([]);
    expect(found('Spiff', 'a: [')).to.deep.equal([]);
    expect(found('GoTemplate', '{{ if }}')).to.deep.equal([]);
    expect(found('Handlebars', '{{#if a}}')).to.deep.equal([]);
  });
});
