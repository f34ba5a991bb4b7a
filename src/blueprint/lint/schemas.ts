/** Rules about JSON schemas: that they are usable, and that defaults match them. */
import { isObject, type View } from '../../lib/objects.ts';
import type { ImportDefinition } from '../../api/blueprint.ts';
import { checkSchema, schemaProblem } from '../json-schema.ts';
import { MAPS, SCHEMAS, dialectOf } from '../schema-dialect.ts';
import { ruleGroup, type Report } from './finding.ts';
import type { Subject } from './subject.ts';
import { hintFor } from './words.ts';
import type { Path } from './yaml-text.ts';

const rules = {
  'schema-invalid': {
    level: 'error',
    about: 'an invalid schema: not a JSON schema, or with missing or cyclic references',
  },
  'schema-keyword': { level: 'warning', about: 'a keyword in a schema that has no effect' },
  'default-mismatch': { level: 'error', about: 'a default that does not match its own schema' },
  'local-type-invalid': {
    level: 'warning',
    about: 'an invalid entry of `localTypes` that is not used',
  },
  'local-type-unused': { level: 'info', about: 'an entry of `localTypes` that nothing refers to' },
} as const;
type RuleName = keyof typeof rules;

export const schemaRules = ruleGroup<RuleName>(rules, (subject, report) => {
  const { info } = subject.blueprint;
  for (const [path, schema] of schemasOf(subject)) {
    const [list, type] = path;
    // Errors in a local type that is used are reported where it is used.
    if (list !== 'localTypes') inspectSchema(subject, report, schema, path);
    else if (!isInUse(subject, String(type)))
      inspectSchema(subject, report, schema, path, 'local-type-invalid');
    inspectKeywords(subject, report, schema, path);
  }
  visitImports(info.imports ?? [], ['imports'], (definition, path) => {
    inspectDefault(subject, report, definition, path);
  });
  inspectUse(subject, report);
});

/** The rule about keywords, which needs no compiled schema. */
export const schemaWordRules = ruleGroup<'schema-keyword'>(
  { 'schema-keyword': rules['schema-keyword'] },
  (subject, report) => {
    for (const [path, schema] of schemasOf(subject)) inspectKeywords(subject, report, schema, path);
  },
);

type Definition = View<ImportDefinition>;

function visitImports(
  definitions: readonly Definition[],
  list: Path,
  visit: (definition: Definition, path: Path) => void,
): void {
  for (const [i, definition] of definitions.entries()) {
    const path = [...list, i];
    visit(definition, path);
    visitImports(definition.imports ?? [], [...path, 'imports'], visit);
  }
}

function schemasOf({ blueprint: { info } }: Subject): readonly (readonly [Path, unknown])[] {
  const found: (readonly [Path, unknown])[] = Object.entries(info.localTypes ?? {}).map(
    ([name, schema]) => [['localTypes', name], schema] as const,
  );
  const add = ({ schema }: { readonly schema?: unknown }, path: Path): void => {
    if (schema !== undefined) found.push([[...path, 'schema'], schema]);
  };
  visitImports(info.imports ?? [], ['imports'], add);
  for (const [i, definition] of (info.exports ?? []).entries()) add(definition, ['exports', i]);
  return found;
}

function inspectSchema(
  { document, blueprint }: Subject,
  report: Report<RuleName>,
  schema: unknown,
  path: Path,
  rule: RuleName = 'schema-invalid',
): void {
  // Contents of components are not available here; `render --component` checks them.
  const references = referencesIn(schema);
  if (references.some(([, ref]) => ref.startsWith('cd://'))) return;
  const problem = schemaProblem(schema, blueprint);
  if (problem === undefined) return;
  const [text, where] = wordsOf(problem);
  const named = references.find(
    ([, ref]) => text.includes(ref.replace(/^local:\/\//, '')) || text.includes(ref),
  );
  const deeper = where === undefined ? named?.[0] : [...where, '$ref'];
  report(rule, document.at([...path, ...(deeper ?? [])]), `the schema cannot be used: ${text}`);
}

/** The reason without the steps that led to it, and the path of the reference. */
function wordsOf(problem: string): readonly [string, Path | undefined] {
  const text = problem.replace(/^validator creation failed: error compiling jsonschema: /, '');
  const [, at, why] = /^error resolving reference at \[\](\S*)\.\$ref: (.*)$/s.exec(text) ?? [];
  if (at === undefined || why === undefined) return [text, undefined];
  const steps = [...at.matchAll(/\.([^.[\]]+)|\[(\d+)\]/g)].map(([, key, index]) => key ?? Number(index));
  return [why, steps];
}

function referencesIn(schema: unknown, path: Path = []): readonly (readonly [Path, string])[] {
  if (Array.isArray(schema)) return schema.flatMap((item, i) => referencesIn(item, [...path, i]));
  if (!isObject(schema)) return [];
  const ref = schema['$ref'];
  const own = typeof ref === 'string' ? [[[...path, '$ref'], ref] as const] : [];
  return [...own, ...Object.entries(schema).flatMap(([key, item]) => referencesIn(item, [...path, key]))];
}

// ---------------------------------------------------------------- keywords

const KEYWORDS: readonly string[] = [
  '$schema',
  '$id',
  'id',
  '$ref',
  '$comment',
  '$defs',
  'definitions',
  '$anchor',
  'title',
  'description',
  'default',
  'examples',
  'readOnly',
  'writeOnly',
  'deprecated',
  'nullable',
  'type',
  'enum',
  'const',
  'format',
  'contentMediaType',
  'contentEncoding',
  'contentSchema',
  'properties',
  'patternProperties',
  'additionalProperties',
  'propertyNames',
  'required',
  'dependencies',
  'minProperties',
  'maxProperties',
  'items',
  'additionalItems',
  'contains',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minLength',
  'maxLength',
  'pattern',
  'multipleOf',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
];
/** Keywords of later drafts than the supported ones. */
const TOO_NEW: readonly string[] = [
  'unevaluatedProperties',
  'unevaluatedItems',
  'dependentRequired',
  'dependentSchemas',
  'prefixItems',
  '$recursiveRef',
  '$recursiveAnchor',
  '$dynamicRef',
  '$dynamicAnchor',
  'minContains',
  'maxContains',
];

function inspectKeywords(
  subject: Subject,
  report: Report<'schema-keyword'>,
  schema: unknown,
  path: Path,
  isLater = dialectOf(schema) !== 'draft-07',
): void {
  const inner = (value: unknown, here: Path): void => {
    inspectKeywords(subject, report, value, here, isLater);
  };
  if (Array.isArray(schema)) for (const [i, item] of schema.entries()) inner(item, [...path, i]);
  if (!isObject(schema)) return;
  for (const [key, value] of Object.entries(schema)) {
    const here = [...path, key];
    const message = keywordProblem(key, isLater);
    if (message !== undefined) report('schema-keyword', subject.document.at(here, 'key'), message);
    if (SCHEMAS.has(key)) inner(value, here);
    if (MAPS.has(key) && isObject(value)) {
      for (const [name, item] of Object.entries(value)) if (isObject(item)) inner(item, [...here, name]);
    }
  }
}

function keywordProblem(key: string, isLater: boolean): string | undefined {
  if (TOO_NEW.includes(key)) {
    return isLater ? undefined : `"${key}" has no effect: the schema is read as drafts 4, 6 and 7`;
  }
  if (KEYWORDS.includes(key) || key.startsWith('x-')) return undefined;
  return `"${key}" is not a keyword of schemas; ${hintFor(key, KEYWORDS, 'it has no effect')}`;
}

// ---------------------------------------------------------------- defaults and local types

function inspectDefault(
  { document, blueprint }: Subject,
  report: Report<RuleName>,
  { name, schema, default: fallback }: Definition,
  path: Path,
): void {
  if (schema === undefined || fallback?.value === undefined || fallback.value === null) return;
  if (referencesIn(schema).some(([, ref]) => ref.startsWith('cd://'))) return;
  const verdict = checkSchema(schema, fallback.value, blueprint);
  if (verdict.kind !== 'invalid') return;
  const message = `the default of "${name}" does not fit its schema: ${verdict.message}`;
  report('default-mismatch', document.at([...path, 'default', 'value']), message);
}

/** Whether imports and exports refer to a local type, perhaps through others. */
function isInUse(subject: Subject, type: string): boolean {
  const reached = new Set<string>();
  const follow = (schema: unknown): void => {
    for (const [, ref] of referencesIn(schema)) {
      const name = /^local:\/\/([^/#]+)/.exec(ref)?.[1];
      if (name === undefined || reached.has(name)) continue;
      reached.add(name);
      follow(subject.blueprint.info.localTypes?.[name]);
    }
  };
  for (const [[list], schema] of schemasOf(subject)) if (list !== 'localTypes') follow(schema);
  return reached.has(type);
}

function inspectUse({ document, raw, blueprint: { info }, files }: Subject, report: Report<RuleName>): void {
  const texts = files.paths.map((path) => files.source(path)?.text ?? '').join('\n') + JSON.stringify(raw);
  for (const name of Object.keys(info.localTypes ?? {})) {
    if (texts.includes(`local://${name}`)) continue;
    report(
      'local-type-unused',
      document.at(['localTypes', name], 'key'),
      `nothing refers to local://${name}`,
    );
  }
}
