/** Rules about a blueprint and the installation, or template of one, that uses it: their names must match. */
import type { ImportDefinition } from '../../api/blueprint.ts';
import type { TargetImport } from '../../api/kinds/installation.ts';
import type { View } from '../../lib/objects.ts';
import { declaredImports } from '../template-checks.ts';
import { ruleGroup, type Report } from './finding.ts';
import type { Caller, Subject } from './subject.ts';
import { hintFor } from './words.ts';
import type { Path } from './yaml-text.ts';

const rules = {
  'required-import-missing': {
    level: 'error',
    about: 'an installation does not supply an import that its blueprint requires',
  },
  'import-not-declared': {
    level: 'info',
    about:
      'an installation supplies an import that its blueprint does not declare, and has no mapping that could read it',
  },
  'import-of-other-kind': {
    level: 'error',
    about: 'an import of the wrong kind, such as data instead of a target',
  },
  'target-type-mismatch': { level: 'error', about: 'a target of a type that the blueprint does not accept' },
  'export-not-declared': {
    level: 'error',
    about: 'an installation exports a name that its blueprint does not declare and no mapping creates',
  },
  'mapping-unknown': {
    level: 'warning',
    about: 'an import mapping for a name that the blueprint does not declare',
  },
  'mapping-reference': { level: 'error', about: 'a mapping that refers to a name that does not exist' },
} as const;
type RuleName = keyof typeof rules;
type Say = Report<RuleName>;

export const callerRules = ruleGroup<RuleName>(rules, (subject, report) => {
  if (!subject.caller) return;
  inspectRequired(subject, subject.caller, report);
  inspectSupplied(subject, subject.caller, report);
  inspectExports(subject, subject.caller, report);
  inspectMappings(subject, subject.caller, report);
});

const dataNames = ({ imports }: Caller): readonly string[] => (imports?.data ?? []).map(({ name }) => name);
const targetNames = ({ imports }: Caller): readonly string[] =>
  (imports?.targets ?? []).map(({ name }) => name);
const mappedNames = ({ importDataMappings }: Caller): readonly string[] =>
  Object.keys(importDataMappings ?? {});

function inspectRequired({ blueprint: { info } }: Subject, caller: Caller, say: Say): void {
  const supplied = new Set([...dataNames(caller), ...targetNames(caller), ...mappedNames(caller)]);
  const visit = (definitions: readonly View<ImportDefinition>[]): void => {
    for (const { name, type = '', required = true, imports = [], default: fallback } of definitions) {
      const isThere = supplied.has(name);
      if (name !== '' && !isThere && required) {
        const message = `${caller.name} does not supply the import "${name}" (${type}), which its blueprint requires`;
        say('required-import-missing', caller.document.at(['imports'], 'key'), message);
      }
      const hasValue = isThere || required || (fallback?.value ?? undefined) !== undefined;
      if (hasValue) visit(imports);
    }
  };
  visit(info.imports ?? []);
}

function inspectSupplied({ blueprint: { info } }: Subject, caller: Caller, say: Say): void {
  const declared = declaredImports(info);
  const types = targetTypes(info.imports ?? []);
  const hasMappings = mappedNames(caller).length > 0;
  const inspect = (name: string, given: string, path: Path): void => {
    const type = declared.get(name);
    const at = caller.document.at(path);
    if (type === undefined) {
      if (hasMappings && given === 'data') return;
      const why = hintFor(name, [...declared.keys()], 'nothing reads it');
      say('import-not-declared', at, `the blueprint of ${caller.name} has no import "${name}"; ${why}`);
    } else if (type !== given && type !== '') {
      // A mapping may convert the value.
      if (mappedNames(caller).includes(name)) return;
      say(
        'import-of-other-kind',
        at,
        `the import "${name}" of the blueprint has type ${type}, but the installation supplies a ${given}`,
      );
    } else if (given !== 'data') {
      const [is, wanted] = [caller.targetTypeOf(name), types.get(name)];
      if (is === undefined || wanted === undefined || is === wanted) return;
      const message = `"${name}" is a target of type ${is}, but the blueprint expects ${wanted}`;
      say('target-type-mismatch', at, message);
    }
  };
  for (const [i, name] of dataNames(caller).entries()) inspect(name, 'data', ['imports', 'data', i, 'name']);
  for (const [i, entry] of (caller.imports?.targets ?? []).entries()) {
    inspect(entry.name, formOf(entry), ['imports', 'targets', i, 'name']);
  }
}

function formOf(entry: View<TargetImport>): 'target' | 'targetList' | 'targetMap' {
  if (entry.targets !== undefined || entry.targetListRef) return 'targetList';
  return entry.targetMap !== undefined || entry.targetMapRef ? 'targetMap' : 'target';
}

function targetTypes(definitions: readonly View<ImportDefinition>[]): ReadonlyMap<string, string> {
  const types = new Map<string, string>();
  for (const { name, targetType, imports = [] } of definitions) {
    if (targetType !== undefined) types.set(name, targetType);
    for (const [inner, type] of targetTypes(imports)) types.set(inner, type);
  }
  return types;
}

function inspectExports({ blueprint: { info } }: Subject, caller: Caller, say: Say): void {
  const declared = (info.exports ?? []).map(({ name }) => name);
  const mapped = Object.keys(caller.exportDataMappings ?? {});
  const inspect = (name: string, path: Path): void => {
    if (declared.includes(name) || mapped.includes(name)) return;
    const why = hintFor(name, declared, 'no mapping creates it either');
    say(
      'export-not-declared',
      caller.document.at(path),
      `the blueprint of ${caller.name} has no export "${name}"; ${why}`,
    );
  };
  for (const [i, { name }] of (caller.exports?.data ?? []).entries())
    inspect(name, ['exports', 'data', i, 'name']);
  for (const [i, { name }] of (caller.exports?.targets ?? []).entries()) {
    inspect(name, ['exports', 'targets', i, 'name']);
  }
}

// ---------------------------------------------------------------- mappings

function inspectMappings({ blueprint: { info } }: Subject, caller: Caller, say: Say): void {
  const declared = [...declaredImports(info).keys()];
  for (const name of mappedNames(caller)) {
    if (declared.includes(name)) continue;
    const why = hintFor(name, declared, 'the mapping has no effect');
    const at = caller.document.at(['importDataMappings', name], 'key');
    say('mapping-unknown', at, `the blueprint of ${caller.name} has no import "${name}"; ${why}`);
  }
  const exports = (info.exports ?? []).map(({ name }) => name);
  const sides = [
    ['importDataMappings', [...dataNames(caller), ...targetNames(caller)]],
    ['exportDataMappings', [...exports, 'exports']],
  ] as const;
  for (const [field, names] of sides) {
    for (const [key, document] of Object.entries(caller[field] ?? {})) {
      if (typeof document !== 'string') continue;
      for (const name of namesIn(document)) {
        if (names.includes(name)) continue;
        const why = hintFor(
          name,
          names,
          names.length === 0 ? 'there are no names to refer to' : `there are ${names.join(', ')}`,
        );
        say(
          'mapping-reference',
          caller.document.at([field, key]),
          `the mapping refers to "${name}", which does not exist; ${why}`,
        );
      }
    }
  }
}

/**
 * Names in an expression, if it is a simple sequence of references and strings; other expressions are left to the
 * engine.
 */
function namesIn(text: string): readonly string[] {
  const code = /^\s*\(\((?!!)([\s\S]*)\)\)\s*$/.exec(text)?.[1];
  if (code === undefined) return [];
  const bare = code.replace(/"(?:[^"\\]|\\.)*"/g, ' ');
  if (!/^[\w\s.-]*$/.test(bare)) return [];
  return [...bare.matchAll(/(?<![\w.-])([A-Za-z_][\w-]*)/g)]
    .map(([name]) => name)
    .filter((name) => !['true', 'false', 'nil'].includes(name));
}
