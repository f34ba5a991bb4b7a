/** Rules about exports: every export has a source, and exports of sub-installations are used. */
import { exportedNames, importedNames } from '../../api/data-names.ts';
import { ruleGroup, type Report } from './finding.ts';
import { knowsAllChildren } from './sub-installations.ts';
import type { Subject } from './subject.ts';
import { hintFor, mentions } from './words.ts';

const rules = {
  'export-not-made': { level: 'warning', about: 'an export that no export execution mentions' },
  'export-missing': { level: 'error', about: 'an export that is used but never created' },
  'export-undeclared': {
    level: 'warning',
    about: 'an export execution creates an export that the blueprint does not declare',
  },
  'child-export-unused': {
    level: 'info',
    about: 'a sub-installation exports a value that no other one imports and no export execution reads',
  },
} as const;
type RuleName = keyof typeof rules;

export const exportRules = ruleGroup<RuleName>(rules, (subject, report) => {
  inspectMade(subject, report);
  inspectDeclared(subject, report);
  inspectWanted(subject, report);
});

const exportTexts = ({ templates }: Subject): readonly string[] =>
  templates.flatMap(({ kind, source }) => (kind === 'export' && source ? [source.text] : []));

function inspectMade(subject: Subject, report: Report<RuleName>): void {
  const { blueprint, caller, document } = subject;
  const texts = exportTexts(subject);
  // A loop may produce names that are not in the source.
  if (texts.some((text) => /\{\{-?\s*range|sum\[|map\[|#each/.test(text))) return;
  for (const [i, { name }] of (blueprint.info.exports ?? []).entries()) {
    if (name === '' || texts.some((text) => mentions(text, name))) continue;
    if (caller?.exportDataMappings && Object.hasOwn(caller.exportDataMappings, name)) continue;
    const why = texts.length === 0 ? 'there are no exportExecutions' : 'no export execution mentions it';
    const { data = [], targets = [] } = caller?.exports ?? {};
    const isAskedFor = [...data, ...targets].some((one) => one.name === name);
    const rule = isAskedFor ? 'export-missing' : 'export-not-made';
    report(rule, document.at(['exports', i, 'name']), `the export "${name}" is never created: ${why}`);
  }
}

/** Names on the first level below `exports:`, if they are a block of YAML. */
function inspectDeclared({ templates, blueprint, caller }: Subject, report: Report<RuleName>): void {
  const declared = (blueprint.info.exports ?? []).map(({ name }) => name);
  if (caller?.exportDataMappings) return;
  for (const { kind, source } of templates) {
    if (kind !== 'export' || !source) continue;
    const [head] = /^exports:[ \t]*\r?\n(?=( +))/m.exec(source.text) ?? [];
    if (head === undefined) continue;
    const begin = source.text.search(/^exports:[ \t]*\r?\n/m) + head.length;
    const body = /^(?:[ \t].*\r?\n?|\r?\n)*/.exec(source.text.slice(begin))?.[0] ?? '';
    const indent = /^ +/.exec(body)?.[0] ?? '';
    for (const found of body.matchAll(new RegExp(`^${indent}([A-Za-z_][\\w.-]*):`, 'gm'))) {
      const name = found[1] ?? '';
      if (declared.includes(name)) continue;
      const hint = hintFor(name, declared, 'it is dropped');
      const at = source.place(begin + found.index + indent.length, name.length);
      report('export-undeclared', at, `the blueprint declares no export "${name}"; ${hint}`);
    }
  }
}

function inspectWanted(subject: Subject, report: Report<RuleName>): void {
  const { children } = subject;
  if (!knowsAllChildren(subject)) return;
  const wanted = new Set(children.flatMap(({ template }) => [...importedNames(template)]));
  const texts = exportTexts(subject);
  for (const { template, document } of children) {
    const unwanted = [...exportedNames(template)].filter((id) => !wanted.has(id));
    for (const id of unwanted) {
      const [kind = '', ...rest] = id.split('/');
      const ref = rest.join('/');
      if (texts.some((text) => mentions(text, ref))) continue;
      const list = kind === 'data' ? 'data' : 'targets';
      const i = [...(template.exports?.[list] ?? [])].findIndex(
        (one) => ('dataRef' in one ? one.dataRef : one.target) === ref,
      );
      const at = document.at(['exports', list, i, kind === 'data' ? 'dataRef' : 'target']);
      report('child-export-unused', at, `"${ref}", which ${template.name} exports, is never read`);
    }
  }
}
