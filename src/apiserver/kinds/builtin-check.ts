/**
 * Type checks of built-in kinds with upstream's schemas: reports values that Go's decoder would refuse, and unknown
 * members. Unknown members are dropped, as Go's decoder does.
 */
import { canonicalQuantity, QUANTITY_RULE } from '../../lib/quantity.ts';
import { kindsData, REF } from './schemas.ts';
import type { NamedSchema } from './schemas.ts';
import type { Kind } from './kinds.ts';
import type { JsonSchema } from '../schema/types.ts';
import { isObject, textOf } from '../types.ts';
import type { JsonObject } from '../types.ts';

/** A value that Go could not decode; the message is the decoder's. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';
}

const SKIPPED: ReadonlySet<string> = new Set(['io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta']);

/** Schemas of scalars or of arbitrary values. */
const OPAQUE = /(?:runtime\.RawExtension|JSONSchemaProps|v1\.JSON|FieldsV1|Patch)$/;

interface Place {
  /** Go struct that contains the member, for example `DeploymentSpec`. */
  readonly struct: string;
  /** Path without indices, for messages of the decoder. */
  readonly plain: string;
  /** Path with indices, for unknown members. */
  readonly path: string;
}

/**
 * Checks `object` and drops unknown members in place.
 * @param unknown receives the paths of dropped members
 * @throws DecodeError for values of the wrong type
 */
export function checkBuiltIn(kind: Kind, object: JsonObject, unknown: string[]): void {
  const name = kindsData().nameOf(kind.group, kind.version, kind.kind);
  const schema = name === undefined ? undefined : kindsData().schemas[name];
  if (!schema) return;
  checkStruct(schema, object, { struct: kind.kind, plain: '', path: '' }, unknown);
}

const last = (name: string): string => name.slice(name.lastIndexOf('.') + 1);

/** The schema of a reference, with the name of its Go struct. */
function resolve(schema: JsonSchema): { schema: JsonSchema; name: string | undefined } {
  const ref = schema.$ref ?? schema.allOf?.[0]?.$ref;
  if (ref === undefined) return { schema, name: undefined };
  const name = ref.slice(REF.length);
  return { schema: kindsData().schemas[name] ?? {}, name };
}

function checkStruct(schema: NamedSchema, object: JsonObject, at: Place, unknown: string[]): void {
  const properties = schema.properties ?? {};
  for (const member of Object.keys(object)) {
    const property = properties[member];
    const path = at.path === '' ? member : `${at.path}.${member}`;
    if (property === undefined) {
      const isRoot =
        at.path === '' && (member === 'kind' || member === 'apiVersion' || member === 'metadata');
      if (isRoot) continue;
      unknown.push(path);
      delete object[member];
      continue;
    }
    if (at.path === '' && member === 'metadata') continue;
    const plain = at.plain === '' ? member : `${at.plain}.${member}`;
    checkValue(property, object[member], { struct: at.struct, plain, path }, unknown, (value) => {
      object[member] = value;
    });
  }
}

type Put = (value: unknown) => void;

function checkValue(raw: JsonSchema, value: unknown, at: Place, unknown: string[], put: Put): void {
  if (value === null || value === undefined) return;
  const { schema, name } = resolve(raw);
  if (name !== undefined && (OPAQUE.test(name) || SKIPPED.has(name))) return;
  if (name?.endsWith('api.resource.Quantity')) {
    const canonical = canonicalQuantity(typeof value === 'number' ? String(value) : textOf(value));
    if (canonical === undefined) throw new DecodeError(QUANTITY_RULE);
    if (canonical !== value) put(canonical);
    return;
  }
  if (schema.properties) {
    if (!isObject(value)) throw mismatch(value, at, `v1.${last(name ?? at.struct)}`);
    checkStruct(schema, value, { struct: last(name ?? at.struct), plain: at.plain, path: at.path }, unknown);
    return;
  }
  if (schema.type === 'array') checkList(schema, value, at, unknown);
  else if (schema.type === 'object') checkMap(schema, value, at, unknown);
  else checkScalar(schema, value, at);
}

function checkList(schema: JsonSchema, value: unknown, at: Place, unknown: string[]): void {
  if (!Array.isArray(value)) throw mismatch(value, at, `[]${goType(schema.items ?? {})}`);
  value.forEach((item: unknown, i) => {
    checkValue(schema.items ?? {}, item, { ...at, path: `${at.path}[${i}]` }, unknown, (fixed) => {
      value[i] = fixed;
    });
  });
}

function checkMap(schema: JsonSchema, value: unknown, at: Place, unknown: string[]): void {
  const items = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
  if (!isObject(value))
    throw mismatch(value, at, items ? `map[string]${goType(items)}` : 'map[string]interface {}');
  if (!items) return;
  for (const key of Object.keys(value))
    checkValue(items, value[key], { ...at, path: `${at.path}.${key}` }, unknown, (fixed) => {
      value[key] = fixed;
    });
}

function checkScalar(schema: JsonSchema, value: unknown, at: Place): void {
  switch (schema.type) {
    case 'string':
      if (typeof value !== 'string' && schema.format !== 'int-or-string')
        throw mismatch(value, at, goType(schema));
      return;
    case 'integer':
      if (typeof value !== 'number') throw mismatch(value, at, goType(schema));
      if (!Number.isInteger(value))
        throw new DecodeError(
          `json: cannot unmarshal number ${String(value)} into Go struct field ${at.struct}.${at.plain} of type ${goType(schema)}`,
        );
      return;
    case 'number':
      if (typeof value !== 'number') throw mismatch(value, at, 'float64');
      return;
    case 'boolean':
      if (typeof value !== 'boolean') throw mismatch(value, at, 'bool');
      return;
    default:
  }
}

function goType(raw: JsonSchema): string {
  const { schema, name } = resolve(raw);
  if (name !== undefined && schema.properties) return `v1.${last(name)}`;
  switch (schema.type) {
    case 'integer':
      return schema.format ?? 'int32';
    case 'number':
      return 'float64';
    case 'boolean':
      return 'bool';
    case 'string':
      return schema.format === 'byte' ? '[]uint8' : schema.format === 'date-time' ? 'v1.Time' : 'string';
    case 'array':
      return `[]${goType(schema.items ?? {})}`;
    default:
      return 'interface {}';
  }
}

const kindOfValue = (value: unknown): string =>
  Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;

const mismatch = (value: unknown, at: Place, type: string): DecodeError =>
  new DecodeError(
    `json: cannot unmarshal ${kindOfValue(value)} into Go struct field ${at.struct}.${at.plain} of type ${type}`,
  );
