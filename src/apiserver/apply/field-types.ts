/**
 * Field ownership types of a kind: which lists are sets or maps, and which values are atomic. Built lazily from a
 * schema, because schemas of built-in kinds reference each other.
 */
import type { JsonSchema } from '../schema/types.ts';
import { isObject } from '../types.ts';

export interface ScalarType {
  readonly shape: 'scalar';
  readonly scalar: 'string' | 'numeric' | 'boolean' | 'untyped';
}

export interface ListType {
  readonly shape: 'list';
  readonly kind: 'atomic' | 'set' | 'map';
  readonly keys: readonly string[];
  readonly items: FieldType;
  /** Defaults of the keys, so that `port: 80` and `port: 80, protocol: TCP` are the same item. */
  readonly keyDefaults: Readonly<Record<string, unknown>>;
}

export interface MapType {
  readonly shape: 'map';
  readonly isAtomic: boolean;
  /** Members with a type of their own. */
  field(name: string): FieldType | undefined;
  /** The type of all other members; undefined if there must not be any. */
  readonly values: FieldType | undefined;
}

/** The type is deduced from the value: maps are granular, lists are atomic. */
interface DeducedType {
  readonly shape: 'deduced';
}

export type FieldType = ScalarType | ListType | MapType | DeducedType;

const deduced: DeducedType = { shape: 'deduced' };
const scalar = (kind: ScalarType['scalar']): ScalarType => ({ shape: 'scalar', scalar: kind });

const deducedMap: MapType = { shape: 'map', isAtomic: false, field: () => undefined, values: deduced };
const deducedList: ListType = { shape: 'list', kind: 'atomic', keys: [], items: deduced, keyDefaults: {} };
const anyScalar = scalar('untyped');

/** The type of a value without a schema. */
export const deduceFrom = (value: unknown): Exclude<FieldType, DeducedType> =>
  Array.isArray(value) ? deducedList : isObject(value) ? deducedMap : anyScalar;

/** A map of named members; `values` is the type of the others. */
function mapOf(fields: Readonly<Record<string, FieldType>>, values?: FieldType, isAtomic = false): MapType {
  const byName = new Map(Object.entries(fields));
  return { shape: 'map', isAtomic, field: (name) => byName.get(name), values };
}

const listOf = (kind: ListType['kind'], items: FieldType, ...keys: readonly string[]): ListType => ({
  shape: 'list',
  kind,
  keys,
  items,
  keyDefaults: {},
});

const text = scalar('string');

const ownerReference = mapOf(
  {
    apiVersion: text,
    kind: text,
    name: text,
    uid: text,
    controller: scalar('boolean'),
    blockOwnerDeletion: scalar('boolean'),
  },
  undefined,
  true,
);

/** `metadata`, the same for every kind. */
export const objectMeta: MapType = mapOf({
  name: text,
  generateName: text,
  namespace: text,
  selfLink: text,
  uid: text,
  resourceVersion: text,
  generation: scalar('numeric'),
  creationTimestamp: text,
  deletionTimestamp: text,
  deletionGracePeriodSeconds: scalar('numeric'),
  labels: mapOf({}, text),
  annotations: mapOf({}, text),
  ownerReferences: listOf('map', ownerReference, 'uid'),
  finalizers: listOf('set', text),
  managedFields: listOf('atomic', deduced),
});

/** Resolves a `$ref`. */
type Resolve = (ref: string) => FieldType;

const noRefs: Resolve = () => deduced;

/** The type of the values of a schema. */
export function typeOfSchema(schema: JsonSchema | undefined, resolve: Resolve = noRefs): FieldType {
  if (!schema) return deduced;
  if (schema.$ref !== undefined) return resolve(schema.$ref);
  const only = schema.allOf?.length === 1 && schema.type === undefined ? schema.allOf[0] : undefined;
  if (only) return withMapType(typeOfSchema(only, resolve), schema);
  if (schema['x-kubernetes-int-or-string'] === true || schema.format === 'int-or-string') return anyScalar;
  switch (schema.type) {
    case 'string':
      return text;
    case 'integer':
    case 'number':
      return scalar('numeric');
    case 'boolean':
      return scalar('boolean');
    case 'array':
      return listType(schema, resolve);
    case 'object':
      return objectType(schema, resolve);
    default:
      return schema.properties ? objectType(schema, resolve) : schema.oneOf ? anyScalar : deduced;
  }
}

/** A property may declare a referenced granular type as atomic, and an atomic one as granular. */
function withMapType(type: FieldType, { 'x-kubernetes-map-type': mapType }: JsonSchema): FieldType {
  return type.shape === 'map' && mapType !== undefined ? { ...type, isAtomic: mapType === 'atomic' } : type;
}

function listType(schema: JsonSchema, resolve: Resolve): ListType {
  const kind = schema['x-kubernetes-list-type'] ?? 'atomic';
  const keys = kind === 'map' ? (schema['x-kubernetes-list-map-keys'] ?? []) : [];
  let items: FieldType | undefined;
  let keyDefaults: Record<string, unknown> | undefined;
  return {
    shape: 'list',
    kind,
    keys,
    get items() {
      return (items ??= typeOfSchema(schema.items, resolve));
    },
    get keyDefaults() {
      return (keyDefaults ??= defaultsOf(schema.items, keys, resolve));
    },
  };
}

/** Defaults of list-map keys; those of referenced items come with the type, see `defaultsOfType`. */
function defaultsOf(
  item: JsonSchema | undefined,
  keys: readonly string[],
  resolve: Resolve,
): Record<string, unknown> {
  const own = item?.properties;
  if (own) {
    return Object.fromEntries(
      keys.flatMap((key) => {
        const value = own[key]?.default;
        return value === undefined ? [] : [[key, value]];
      }),
    );
  }
  return keys.length === 0 ? {} : defaultsOfType(typeOfSchema(item, resolve), keys);
}

const memberDefaults = new WeakMap<MapType, JsonSchema>();

function defaultsOfType(type: FieldType, keys: readonly string[]): Record<string, unknown> {
  const schema = type.shape === 'map' ? memberDefaults.get(type) : undefined;
  return schema ? defaultsOf(schema, keys, noRefs) : {};
}

function objectType(schema: JsonSchema, resolve: Resolve): MapType {
  const properties = new Map(Object.entries(schema.properties ?? {}));
  const types = new Map<string, FieldType>();
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true;
  const isOpen =
    schema['x-kubernetes-preserve-unknown-fields'] === true ||
    schema.additionalProperties === true ||
    (properties.size === 0 && schema.additionalProperties === undefined && !isEmbedded);
  const values =
    typeof schema.additionalProperties === 'object'
      ? typeOfSchema(schema.additionalProperties, resolve)
      : isOpen
        ? deduced
        : undefined;
  const type: MapType = {
    shape: 'map',
    isAtomic: schema['x-kubernetes-map-type'] === 'atomic',
    values,
    field(name) {
      const property = properties.get(name);
      if (property === undefined) return isEmbedded ? embeddedMember(name) : undefined;
      let found = types.get(name);
      if (!found) types.set(name, (found = typeOfSchema(property, resolve)));
      return found;
    },
  };
  memberDefaults.set(type, schema);
  return type;
}

const embeddedMember = (name: string): FieldType | undefined =>
  name === 'metadata' ? objectMeta : name === 'apiVersion' || name === 'kind' ? text : undefined;

/** The type of whole objects of a custom kind. */
export function customObjectType(schema: JsonSchema | undefined): MapType {
  const body = schema
    ? typeOfSchema(schema.type === undefined ? { ...schema, type: 'object' } : schema)
    : deducedMap;
  const map = body.shape === 'map' ? body : deducedMap;
  return {
    shape: 'map',
    isAtomic: false,
    values: map.values,
    field: (name) => embeddedMember(name) ?? map.field(name),
  };
}
