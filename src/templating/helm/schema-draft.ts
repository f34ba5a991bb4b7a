/**
 * Prepares a `values.schema.json` for Ajv, so that it means what it means to Helm: the draft is found in every spelling of
 * `$schema`, and keywords that the draft does not have, or has with another meaning, are removed or replaced.
 */
import { define } from '../../lib/json.ts';
import { isObject, ownField, type Fields, table } from '../../lib/objects.ts';
import type { Dialect } from '../ajvs.ts';

/** The schema cannot be used; the message is the end of a sentence. */
class SchemaUnusable extends Error {
  override readonly name = 'SchemaUnusable';
}

const DRAFTS: Readonly<Record<string, number>> = table({
  'json-schema.org/schema': 2020,
  'json-schema.org/draft/2020-12/schema': 2020,
  'json-schema.org/draft/2019-09/schema': 2019,
  'json-schema.org/draft-07/schema': 7,
  'json-schema.org/draft-06/schema': 6,
  'json-schema.org/draft-04/schema': 4,
});

/** @throws SchemaUnusable */
function draftOf(schema: unknown): number {
  const name = ownField(schema, '$schema');
  if (name === undefined) return 2020;
  const known = typeof name === 'string' ? /^https?:\/\/([^#]+)#?$/.exec(name)?.[1] : undefined;
  const draft = known === undefined ? undefined : DRAFTS[known];
  if (draft !== undefined) return draft;
  throw new SchemaUnusable(
    `its $schema ${JSON.stringify(name)} is not a known draft; use draft 4, 6, 7, 2019-09 or 2020-12, for example "http://json-schema.org/draft-07/schema#"`,
  );
}

const dialectOf = (draft: number): Dialect =>
  draft === 2020 ? '2020-12' : draft === 2019 ? '2019-09' : 'draft-07';

/** Where a schema contains others: as maps of schemas, as lists, or directly. */
const MAPS = ['properties', 'patternProperties', 'definitions', '$defs', 'dependentSchemas', 'dependencies'];
const LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items'];
const SINGLE = ['not', 'additionalProperties', 'additionalItems', 'items', 'contains', 'propertyNames', 'if'];
const SINGLE_MORE = ['then', 'else', 'unevaluatedProperties', 'unevaluatedItems', 'contentSchema'];
const CONTAINERS: ReadonlyMap<string, 'schemas' | 'schema'> = new Map([
  ...[...SINGLE, ...SINGLE_MORE].map((keyword) => [keyword, 'schema'] as const),
  ...[...MAPS, ...LISTS].map((keyword) => [keyword, 'schemas'] as const),
]);

/** Keywords of Ajv, and the first draft that has them; never if Helm does not know them. */
const SINCE: Readonly<Record<string, number>> = table({
  nullable: Infinity,
  $async: Infinity,
  discriminator: Infinity,
  const: 6,
  contains: 6,
  propertyNames: 6,
  if: 7,
  then: 7,
  else: 7,
});
/** Before draft 2019-09 these count beside `$ref`; the others are ignored. */
const BESIDE_REF: ReadonlySet<string> = new Set(['$ref', 'definitions', '$defs']);

interface PreparedSchema {
  readonly schema: unknown;
  readonly dialect: Dialect;
  /** Whether `format` is checked; it is an annotation in later drafts. */
  readonly checksFormats: boolean;
}

/** @throws SchemaUnusable */
export function prepareSchema(schema: unknown): PreparedSchema {
  const draft = draftOf(schema);
  return { schema: converted(schema, draft), dialect: dialectOf(draft), checksFormats: draft < 2019 };
}

function converted(schema: unknown, draft: number): unknown {
  if (!isObject(schema)) return schema;
  const ref = schema['$ref'];
  // Helm accepts everything for a name that it does not resolve.
  const isOpen = typeof ref === 'string' && ref.startsWith('urn:');
  const isAlone = draft < 2019 && typeof ref === 'string';
  const result: Fields = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === '$schema' || (isOpen && keyword === '$ref')) continue;
    if (isAlone && !BESIDE_REF.has(keyword) && isKeyword(keyword)) continue;
    if (draft < (SINCE[keyword] ?? 0)) continue;
    if (keyword === 'id' || keyword === '$id') {
      if ((keyword === 'id') === (draft === 4)) define(result, '$id', value);
      continue;
    }
    define(result, keyword, below(keyword, value, draft));
  }
  if (draft === 4) replaceOldLimits(result);
  return result;
}

/** Other names may be the targets of references. */
const isKeyword = (name: string): boolean =>
  KEYWORDS.has(name) || CONTAINERS.has(name) || Object.hasOwn(SINCE, name);
const KEYWORDS: ReadonlySet<string> = new Set(
  ['type', 'enum', 'format', 'pattern', 'required', 'multipleOf', 'uniqueItems', '$id', 'id'].concat(
    ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'minLength', 'maxLength'],
    ['minItems', 'maxItems', 'minProperties', 'maxProperties'],
  ),
);

function below(keyword: string, value: unknown, draft: number): unknown {
  const place = CONTAINERS.get(keyword);
  if (place === undefined) return value;
  if (Array.isArray(value)) return value.map((each) => converted(each, draft));
  if (place === 'schema' || keyword === 'items' || !isObject(value)) return converted(value, draft);
  const result: Fields = {};
  for (const [name, inner] of Object.entries(value))
    define(result, name, Array.isArray(inner) ? inner : converted(inner, draft));
  return result;
}

const LIMITS = [
  ['minimum', 'exclusiveMinimum'],
  ['maximum', 'exclusiveMaximum'],
] as const;

/** In draft 4 the exclusive limits say whether the others are exclusive. @throws SchemaUnusable */
function replaceOldLimits(schema: Fields): void {
  for (const [limit, exclusive] of LIMITS) {
    const is = schema[exclusive];
    if (is === undefined) continue;
    if (typeof is !== 'boolean')
      throw new SchemaUnusable(`${exclusive} must be a boolean in draft 4; name a later draft in $schema`);
    if (schema[limit] === undefined)
      throw new SchemaUnusable(`${exclusive} needs a ${limit} beside it in draft 4`);
    delete schema[exclusive];
    if (!is) continue;
    schema[exclusive] = schema[limit];
    delete schema[limit];
  }
}
