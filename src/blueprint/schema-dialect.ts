/**
 * Converts a JSON schema to the form that the validator supports. Upstream's dialect is a mixture of drafts 4, 6 and
 * 7, whatever `$schema` says, while the validator is strict about drafts. Draft 2019-09 or 2020-12 is used if the
 * schema names it; old keywords are then supported as well, because existing blueprints contain them.
 */
import { define } from '../lib/json.ts';
import { isObject, type Fields } from '../lib/objects.ts';
import type { Dialect } from '../templating/ajvs.ts';

/** Keywords whose values are maps of schemas. */
export const MAPS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  'definitions',
  '$defs',
  'dependencies',
  'dependentSchemas',
]);
/** Keywords whose values are schemas, or lists of them. */
export const SCHEMAS: ReadonlySet<string> = new Set([
  'additionalProperties',
  'additionalItems',
  'unevaluatedProperties',
  'unevaluatedItems',
  'items',
  'prefixItems',
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
/** Identifiers would register the schema; `nullable` is not a keyword of JSON schema. */
const DROPPED: ReadonlySet<string> = new Set(['$schema', 'id', '$id', '$async', 'nullable']);
/** Keywords that exist since draft 2019-09. */
const LATER: ReadonlySet<string> = new Set(['$anchor', '$recursiveRef']);
const KEPT_BESIDE_REF: ReadonlySet<string> = new Set(['$ref', 'definitions', '$defs']);

/** The draft that the schema names, if it is a later one; otherwise upstream's mixture. */
export function dialectOf(schema: unknown): Dialect {
  const name = isObject(schema) ? schema['$schema'] : undefined;
  const draft = typeof name === 'string' && /\bdraft\/(2019-09|2020-12)\b/.exec(name)?.[1];
  return draft ? (draft as Dialect) : 'draft-07';
}

/** The schema in the form of its draft. */
export function normalSchema(schema: unknown, dialect: Dialect): unknown {
  if (Array.isArray(schema)) return schema.map((element) => normalSchema(element, dialect));
  if (!isObject(schema)) return schema;
  const isOld = dialect === 'draft-07';
  const isReference = isOld && typeof schema['$ref'] === 'string';
  const result: Fields = {};
  for (const [key, value] of Object.entries(schema)) {
    if (DROPPED.has(key) || (isOld && LATER.has(key)) || (isReference && !KEPT_BESIDE_REF.has(key))) continue;
    define(result, key, inner(key, value, dialect));
  }
  moveExclusive(result, 'maximum', 'exclusiveMaximum');
  moveExclusive(result, 'minimum', 'exclusiveMinimum');
  if (dialect === '2020-12') moveTuple(result);
  return result;
}

function inner(key: string, value: unknown, dialect: Dialect): unknown {
  if (SCHEMAS.has(key)) return normalSchema(value, dialect);
  if (!MAPS.has(key) || !isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, child]) => [
      name,
      isObject(child) ? normalSchema(child, dialect) : child,
    ]),
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

/** Before 2020-12 a list of `items` described a tuple, and `additionalItems` the other elements. */
function moveTuple(schema: Fields): void {
  if (!Array.isArray(schema['items'])) return;
  const { items, additionalItems } = schema;
  delete schema['items'];
  delete schema['additionalItems'];
  schema['prefixItems'] = items;
  if (additionalItems !== undefined) schema['items'] = additionalItems;
}
