/** Rules about exports: every export has a source, and exports of sub-installations are used. */
import { exportedNames, importedNames } from '../../api/data-names.ts';
import { anyCaseField, isObject } from '../../lib/objects.ts';
import { ruleGroup, type Report } from './finding.ts';
import { knowsAllChildren } from './sub-installations.ts';
import type { Subject } from './subject.ts';
import { isOpen, resultOf, type TemplateResult } from './template-result.ts';
import { hintFor, mentions } from './words.ts';

const rules = {
  'export-not-made': { level: 'warning', about: 'an export that no export execution creates' },
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
  const keys = allKeys(subject);
  // A loop may produce names that are not in the source.
  if (!keys && texts.some((text) => /\{\{-?\s*range|sum\[|map\[|#each/.test(text))) return;
  for (const [i, { name }] of (blueprint.info.exports ?? []).entries()) {
    if (name === '' || (keys ? keys.has(name) : texts.some((text) => mentions(text, name)))) continue;
    if (caller?.exportDataMappings && Object.hasOwn(caller.exportDataMappings, name)) continue;
    const why = texts.length === 0 ? 'there are no exportExecutions' : 'no export execution creates it';
    const { data = [], targets = [] } = caller?.exports ?? {};
    const isAskedFor = [...data, ...targets].some((one) => one.name === name);
    const rule = isAskedFor ? 'export-missing' : 'export-not-made';
    report(rule, document.at(['exports', i, 'name']), `the export "${name}" is never created: ${why}`);
  }
}

/** The keys of all export executions; undefined if there may be others. */
function allKeys(subject: Subject): ReadonlySet<string> | undefined {
  const results = exportResults(subject);
  const isKnown = results.every((one) => {
    const keys = one?.isWhole === true ? keysOf(one) : undefined;
    return keys !== undefined && !Object.keys(keys).some(isOpen);
  });
  return isKnown ? new Set(results.flatMap((one) => Object.keys(keysOf(one) ?? {}))) : undefined;
}

const exportResults = (subject: Subject): readonly (TemplateResult | undefined)[] =>
  subject.templates.flatMap((template) => (template.kind === 'export' ? [resultOf(template, subject)] : []));

/** undefined if an expression creates all exports */
const keysOf = (result: TemplateResult | undefined): Readonly<Record<string, unknown>> | undefined => {
  const exports = anyCaseField(result?.value, 'exports') ?? {};
  return isObject(exports) ? exports : undefined;
};

function inspectDeclared(subject: Subject, report: Report<RuleName>): void {
  const { blueprint, caller } = subject;
  if (caller?.exportDataMappings) return;
  const declared = (blueprint.info.exports ?? []).map(({ name }) => name);
  for (const result of exportResults(subject)) {
    for (const name of Object.keys(keysOf(result) ?? {})) {
      if (!result || isOpen(name) || declared.includes(name)) continue;
      const hint = hintFor(name, declared, 'it is dropped');
      const at = result.document.at(['exports', name], 'key');
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
