/** Rules about each import, export and execution of a blueprint on its own. */
import { exportTypes, importTypes, type ImportDefinition } from '../../api/blueprint.ts';
import { closest } from '../../lib/closest.ts';
import type { View } from '../../lib/objects.ts';
import { ruleGroup, type Report } from './finding.ts';
import { executionLists, type Subject } from './subject.ts';
import { hintFor } from './words.ts';
import type { Path } from './yaml-text.ts';

const rules = {
  'name-missing': { level: 'error', about: 'an import or export without a name' },
  'duplicate-name': { level: 'error', about: 'two imports, exports or sub-installations with the same name' },
  'execution-name': {
    level: 'warning',
    about: 'an execution without a name of its own: messages and stored state cannot tell it from others',
  },
  'type-unknown': { level: 'error', about: 'an import or export without a type, or with an unknown type' },
  'schema-missing': { level: 'error', about: 'data without a `schema`' },
  'target-type-missing': { level: 'error', about: 'a target without a `targetType`' },
  'schema-or-target-type': {
    level: 'warning',
    about: 'a `schema` beside a `targetType`: only one of them has an effect',
  },
  'target-type-spelling': { level: 'warning', about: 'a target type that is almost a well-known one' },
  'default-ignored': {
    level: 'warning',
    about: 'a default that is never used: the import is required, or a target',
  },
  'conditional-import': {
    level: 'warning',
    about: 'conditional imports below a required import: they are always required',
  },
} as const;
type RuleName = keyof typeof rules;

export const definitionRules = ruleGroup<RuleName>(rules, (subject, report) => {
  inspectImports(subject, report);
  inspectExports(subject, report);
  inspectExecutionNames(subject, report);
});

type Definition = View<ImportDefinition>;

function inspectImports(subject: Subject, report: Report<RuleName>): void {
  const seen = new Set<string>();
  const visit = (definitions: readonly Definition[], list: Path): void => {
    for (const [i, definition] of definitions.entries()) {
      const path = [...list, i];
      inspectName(subject, report, { path, name: definition.name, what: 'import', seen });
      inspectType(subject, report, { path, definition, what: 'import', types: importTypes });
      inspectDefault(subject, report, definition, path);
      if (definition.imports && (definition.required ?? true)) {
        report(
          'conditional-import',
          subject.document.at([...path, 'imports'], 'key'),
          `the imports below "${definition.name}" are always required because "${definition.name}" is required; set required: false`,
        );
      }
      visit(definition.imports ?? [], [...path, 'imports']);
    }
  };
  visit(subject.blueprint.info.imports ?? [], ['imports']);
}

function inspectExports(subject: Subject, report: Report<RuleName>): void {
  const seen = new Set<string>();
  for (const [i, definition] of (subject.blueprint.info.exports ?? []).entries()) {
    const path = ['exports', i];
    inspectName(subject, report, { path, name: definition.name, what: 'export', seen });
    inspectType(subject, report, { path, definition, what: 'export', types: exportTypes });
  }
}

function inspectExecutionNames({ document, blueprint }: Subject, report: Report<RuleName>): void {
  for (const [, list] of executionLists) {
    const seen = new Set<string>();
    for (const [i, { name = '' }] of (blueprint.info[list] ?? []).entries()) {
      if (name === '') report('execution-name', document.at([list, i]), 'give the execution a name');
      else if (seen.has(name)) {
        report(
          'execution-name',
          document.at([list, i, 'name']),
          `another of the ${list} has the same name "${name}"`,
        );
      }
      seen.add(name);
    }
  }
}

interface Named {
  readonly path: Path;
  readonly name: string;
  readonly what: 'import' | 'export';
  readonly seen: Set<string>;
}

function inspectName(
  { document }: Subject,
  report: Report<RuleName>,
  { path, name, what, seen }: Named,
): void {
  if (name === '') report('name-missing', document.at(path), `the ${what} has no name`);
  else if (seen.has(name)) {
    report(
      'duplicate-name',
      document.at([...path, 'name']),
      `there is another ${what} with the name "${name}"`,
    );
  }
  seen.add(name);
}

interface Typed {
  readonly path: Path;
  readonly definition: Definition;
  readonly what: 'import' | 'export';
  readonly types: readonly string[];
}

function inspectType(
  { document }: Subject,
  report: Report<RuleName>,
  { path, definition, what, types }: Typed,
): void {
  const { name, type, schema, targetType = '' } = definition;
  if (type === undefined) {
    const way = 'give it a schema if it is data, a targetType if it is a target';
    report('type-unknown', document.at(path), `the ${what} "${name}" has no type; ${way}`);
    return;
  }
  if (!types.includes(type)) {
    const hint = hintFor(type, types, `known are ${types.join(', ')}`);
    report('type-unknown', document.at([...path, 'type']), `there is no ${what} type "${type}"; ${hint}`);
    return;
  }
  if (type === 'data' && schema === undefined) {
    const message = `the ${what} "${name}" has no schema; schema: {} allows any value`;
    report('schema-missing', document.at(path), message);
  }
  if (type !== 'data' && targetType === '') {
    const message = `the ${what} "${name}" has no targetType, such as landscaper.gardener.cloud/kubernetes-cluster`;
    report('target-type-missing', document.at(path), message);
  }
  if (schema !== undefined && targetType !== '') {
    const [idle, used] = type === 'data' ? ['targetType', 'schema'] : ['schema', 'targetType'];
    const message = `the ${idle} of the ${what} "${name}" has no effect: as ${type} it is checked against its ${used}`;
    report('schema-or-target-type', document.at([...path, idle], 'key'), message);
  }
  inspectSpelling({ document }, report, [...path, 'targetType'], targetType);
}

const GROUP_OF_TYPES = 'landscaper.gardener.cloud';
const WELL_KNOWN = 'kubernetes-cluster';

/** Custom types are allowed, so only names that are very similar to a known type are reported. */
function inspectSpelling(
  { document }: Pick<Subject, 'document'>,
  report: Report<RuleName>,
  path: Path,
  targetType: string,
): void {
  const meant = `${GROUP_OF_TYPES}/${WELL_KNOWN}`;
  const [group = '', type = ''] = targetType.split('/');
  const isClose =
    (group === GROUP_OF_TYPES && closest(type, [WELL_KNOWN]) !== undefined) ||
    (type === WELL_KNOWN && closest(group, [GROUP_OF_TYPES]) !== undefined);
  if (!isClose || targetType === meant) return;
  report('target-type-spelling', document.at(path), `did you mean the target type "${meant}"?`);
}

function inspectDefault(
  { document }: Subject,
  report: Report<RuleName>,
  definition: Definition,
  path: Path,
): void {
  const { name, type, required = true } = definition;
  if (definition.default === undefined) return;
  const why =
    type !== undefined && type !== 'data'
      ? 'targets have none'
      : required
        ? 'the import is required; set required: false'
        : undefined;
  if (why === undefined) return;
  report(
    'default-ignored',
    document.at([...path, 'default'], 'key'),
    `the default of "${name}" is never used: ${why}`,
  );
}
