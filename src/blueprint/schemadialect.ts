/**
 * Brings a JSON schema to the form the validator knows: upstream's dialect is a mixture of drafts 4, 6 and 7 whatever
 * `$schema` says, while the validator is strict about drafts. Later keywords are ignored, as upstream does.
 */
import { isObject, type Fields } from '../lib/objects.ts';

const MAPS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  'definitions',
  '$defs',
  'dependencies',
]);
const SCHEMAS: ReadonlySet<string> = new Set([
  'additionalProperties',
  'additionalItems',
  'items',
  'contains',
  'propertyNames',
  'not',
  'if',
  'then',
  'else',
  'allOf',
  'anyOf',
  'oneOf',
]);
/** Identifiers would register the schema; `nullable` and the rest are not JSON schema before 2019. */
const DROPPED: ReadonlySet<string> = new Set([
  '$schema',
  'id',
  '$id',
  '$anchor',
  '$recursiveRef',
  '$async',
  'nullable',
]);
const KEPT_BESIDE_REF: ReadonlySet<string> = new Set(['$ref', 'definitions', '$defs']);

export function toDraft7(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(toDraft7);
  if (!isObject(schema)) return schema;
  const isReference = typeof schema['$ref'] === 'string';
  const result: Fields = {};
  for (const [key, value] of Object.entries(schema)) {
    if (DROPPED.has(key) || (isReference && !KEPT_BESIDE_REF.has(key))) continue;
    result[key] = inner(key, value);
  }
  moveExclusive(result, 'maximum', 'exclusiveMaximum');
  moveExclusive(result, 'minimum', 'exclusiveMinimum');
  return result;
}

function inner(key: string, value: unknown): unknown {
  if (SCHEMAS.has(key)) return toDraft7(value);
  if (!MAPS.has(key) || !isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, child]) => [name, isObject(child) ? toDraft7(child) : child]),
  );
}

/** Draft 4: `exclusiveMaximum: true` belongs to `maximum`. */
function moveExclusive(schema: Fields, limit: string, exclusive: string): void {
  const isExclusive = schema[exclusive];
  if (typeof isExclusive !== 'boolean') return;
  delete schema[exclusive];
  if (!isExclusive || schema[limit] === undefined) return;
  schema[exclusive] = schema[limit];
  delete schema[limit];
}
