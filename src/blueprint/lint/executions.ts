/** Rules about template executions and their files: that a template exists, and that it can be parsed. */
import { templateTypes } from '../../api/blueprint.ts';
import { closest, hintFor } from '../../lib/closest.ts';
import { checkTemplate, type SyntaxProblem } from '../../templating/check.ts';
import { templateFunctions } from '../template-functions.ts';
import { fileOf } from '../templates.ts';
import { fileCallsIn, parsedGoTemplate } from './gouses.ts';
import { ruleGroup, type Report } from './finding.ts';
import type { Source } from './source.ts';
import type { FoundTemplate, Subject } from './subject.ts';
import type { Path } from './yaml-text.ts';

const rules = {
  'template-type-unknown': { level: 'error', about: 'an execution with an unknown `type`' },
  'template-missing': { level: 'error', about: 'an execution with neither `template` nor `file`' },
  'template-twice': {
    level: 'warning',
    about: 'an execution with `template` and `file`: the file is not read',
  },
  'template-syntax': { level: 'error', about: 'a template that cannot be parsed' },
  'file-missing': { level: 'error', about: 'a referenced file that does not exist' },
} as const;
type RuleName = keyof typeof rules;

export const executionRules = ruleGroup<RuleName>(rules, (subject, report) => {
  for (const template of subject.templates) {
    inspectPlace(subject, report, template);
    inspectSyntax(subject, report, template);
    inspectFileCalls(subject, report, template);
  }
  inspectMappings(subject, report);
  for (const [i, entry] of (subject.blueprint.info.subinstallations ?? []).entries()) {
    const file = fileOf(entry, i);
    if (file !== '') inspectFile(subject, report, file, ['subinstallations', i, 'file']);
  }
});

function inspectPlace(subject: Subject, report: Report<RuleName>, { executor, path }: FoundTemplate): void {
  const { document } = subject;
  const { template, file = '' } = executor;
  if (template === undefined && file === '') {
    report('template-missing', document.at(path), 'no template: write it under "template", or name a "file"');
  } else if (template !== undefined && file !== '') {
    const message = `the file ${file} is not read, because there is also a "template"`;
    report('template-twice', document.at([...path, 'file'], 'key'), message);
  } else if (template === undefined) inspectFile(subject, report, file, [...path, 'file']);
}

function inspectFile({ document, files }: Subject, report: Report<RuleName>, file: string, path: Path): void {
  if (!files.source(file)) report('file-missing', document.at(path), missingFile(file, files.paths));
}

function missingFile(file: string, paths: readonly string[]): string {
  const plain = file.replace(/^\/+/, '');
  const meant =
    closest(plain, paths) ?? paths.find((path) => path.split('/').at(-1) === plain.split('/').at(-1));
  const hint = meant === undefined ? '' : `; did you mean /${meant}?`;
  return `there is no file ${file} in the blueprint${hint}`;
}

function inspectSyntax(
  { document }: Subject,
  report: Report<RuleName>,
  { executor, path, source }: FoundTemplate,
): void {
  const { type, template = source?.text } = executor;
  const verdict = checkTemplate({ type, template, functions: templateFunctions(undefined) });
  const at = document.at([...path, 'type']);
  switch (verdict.kind) {
    case 'fine':
      return;
    case 'unknown': {
      const what = type === '' ? 'the execution has no type' : `there is no template type "${type}"`;
      report('template-type-unknown', at, `${what}; ${hintFor(type, templateTypes)}`);
      return;
    }
    case 'broken':
      if (isTree(template)) {
        const steps = stepsTo(verdict);
        report('template-syntax', document.at([...path, 'template', ...steps]), verdict.message);
      } else if (source) report('template-syntax', placeOf(verdict, source), verdict.message);
      else if (template !== undefined) {
        report('template-syntax', document.at([...path, 'template']), verdict.message);
      }
  }
}

const isTree = (template: unknown): boolean => typeof template === 'object' && template !== null;

/** The path to an error in a tree, in the form that documents use. */
const stepsTo = ({ path = [] }: SyntaxProblem): Path =>
  path.map((step) => {
    const [, index] = /^\[(\d+)\]$/.exec(step) ?? [];
    return index === undefined ? step : Number(index);
  });

function placeOf({ line, column }: SyntaxProblem, source: Source) {
  if (line === undefined) return source.place(0);
  if (column === undefined) return source.placeOfLine(line - 1);
  return source.place(source.lineStart(line - 1) + column);
}

/** Calls such as `include "/part.tpl"` with a literal name. */
function inspectFileCalls(
  { files }: Subject,
  report: Report<RuleName>,
  { executor, source }: FoundTemplate,
): void {
  const parsed = source && parsedGoTemplate(executor, source);
  if (!parsed) return;
  for (const { name, path, pos } of fileCallsIn(parsed)) {
    const included = name === 'include' ? files.source(path) : undefined;
    if (included) inspectText(report, executor.type, included);
    const isThere =
      name === 'readDir' ? files.tree.list(path) !== undefined : files.source(path) !== undefined;
    if (isThere) continue;
    const what =
      name === 'readDir' ? `there is no folder ${path} in the blueprint` : missingFile(path, files.paths);
    report('file-missing', source.place(pos, path.length + 2), what);
  }
}

/** A template may only include files of its own engine. */
function inspectText(report: Report<RuleName>, type: string, source: Source): void {
  const verdict = checkTemplate({
    type,
    template: source.text,
    functions: templateFunctions(undefined),
  });
  if (verdict.kind === 'broken') report('template-syntax', placeOf(verdict, source), verdict.message);
}

/** Mappings are Spiff documents. */
function inspectMappings({ caller }: Subject, report: Report<RuleName>): void {
  for (const field of ['importDataMappings', 'exportDataMappings'] as const) {
    for (const [key, template] of Object.entries(caller?.[field] ?? {})) {
      const verdict = checkTemplate({
        type: 'Spiff',
        template,
        functions: templateFunctions(undefined),
      });
      if (verdict.kind !== 'broken' || !caller) continue;
      report('template-syntax', caller.document.at([field, key, ...stepsTo(verdict)]), verdict.message);
    }
  }
}
