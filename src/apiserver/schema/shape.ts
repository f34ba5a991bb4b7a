/**
 * Schema operations that change an object: pruning of unknown members, and defaults. Objects are copied only if
 * they change; otherwise the same value is returned.
 */
import { copy } from '../../lib/json.ts';
import { childPath, takesAnyMember, valueSchema, type JsonSchema } from './types.ts';
import { isObject, type JsonObject } from '../types.ts';

/** Members of every object that has its own apiVersion: the root, and embedded resources. */
const META = new Set(['apiVersion', 'kind', 'metadata']);

/** Possible members of metadata. */
export const OBJECT_META: ReadonlySet<string> = new Set([
  'annotations',
  'creationTimestamp',
  'deletionGracePeriodSeconds',
  'deletionTimestamp',
  'finalizers',
  'generateName',
  'generation',
  'labels',
  'managedFields',
  'name',
  'namespace',
  'ownerReferences',
  'resourceVersion',
  'selfLink',
  'uid',
]);

/** A preprocessed schema with its children. */
export interface Shape {
  readonly fields: ReadonlyMap<string, Shape>;
  readonly values: Shape | undefined;
  readonly items: Shape | undefined;
  readonly isOpen: boolean;
  readonly isEmbedded: boolean;
  /** Whether this is the whole object, whose metadata is handled elsewhere. */
  readonly isRoot: boolean;
  readonly isNullable: boolean;
  readonly defaultValue: unknown;
  /** Fields with a default. */
  readonly defaulted: readonly string[];
  /** Whether there is a default anywhere below. */
  readonly hasDefaults: boolean;
  readonly listType: 'set' | 'map' | undefined;
  readonly listKeys: readonly string[];
  /** Whether there is a list with unique items here or below. */
  readonly hasUnique: boolean;
}

export function shapeOf(schema: JsonSchema, isRoot = false): Shape {
  const fields = new Map(
    Object.entries(schema.properties ?? {}).map(([name, field]) => [name, shapeOf(field)]),
  );
  const values = valueSchema(schema);
  const valueShape = values ? shapeOf(values) : undefined;
  const items = schema.items ? shapeOf(schema.items) : undefined;
  const below = [...fields.values(), ...(valueShape ? [valueShape] : []), ...(items ? [items] : [])];
  const listType = schema['x-kubernetes-list-type'];
  const unique = listType === 'set' || listType === 'map' ? listType : undefined;
  return {
    fields,
    values: valueShape,
    items,
    isOpen: schema['x-kubernetes-preserve-unknown-fields'] === true || takesAnyMember(schema),
    isEmbedded: isRoot || schema['x-kubernetes-embedded-resource'] === true,
    isRoot,
    isNullable: schema.nullable === true,
    defaultValue: schema.default,
    defaulted: [...fields].filter(([, field]) => field.defaultValue !== undefined).map(([name]) => name),
    hasDefaults: below.some((shape) => shape.hasDefaults || shape.defaultValue !== undefined),
    listType: unique,
    listKeys: schema['x-kubernetes-list-map-keys'] ?? [],
    hasUnique: unique !== undefined || below.some((shape) => shape.hasUnique),
  };
}

/**
 * `value` without unknown members; their paths are added to `unknown`. Below a shape that preserves unknown
 * members, only the named members are processed.
 */
export function pruneValue(value: unknown, shape: Shape, path: string, unknown?: string[]): unknown {
  if (Array.isArray(value)) {
    const items = shape.items;
    if (items) return mapList(value, (item, i) => pruneValue(item, items, `${path}[${i}]`, unknown));
    return shape.isOpen ? value : mapList(value, (item, i) => stripped(item, `${path}[${i}]`, unknown));
  }
  if (!isObject(value)) return value;
  return mapObject(value, (member, name) => {
    if (shape.isEmbedded && META.has(name)) {
      return name === 'metadata' && !shape.isRoot
        ? pruneMeta(member, childPath(path, name), unknown)
        : member;
    }
    const field = shape.fields.get(name) ?? shape.values;
    if (field) return pruneValue(member, field, childPath(path, name), unknown);
    if (shape.isOpen) return member;
    unknown?.push(childPath(path, name));
    return undefined;
  });
}

/** Metadata of an embedded resource. */
function pruneMeta(value: unknown, path: string, unknown: string[] | undefined): unknown {
  if (!isObject(value)) return value;
  return mapObject(value, (member, name) => {
    if (OBJECT_META.has(name)) return member;
    unknown?.push(childPath(path, name));
    return undefined;
  });
}

/** Items of a list without an item schema lose all their members, as in upstream. */
function stripped(value: unknown, path: string, unknown: string[] | undefined): unknown {
  if (Array.isArray(value)) return mapList(value, (item, i) => stripped(item, `${path}[${i}]`, unknown));
  if (!isObject(value)) return value;
  return mapObject(value, (_, name) => {
    unknown?.push(childPath(path, name));
    return undefined;
  });
}

/** `value` with defaults, applied top down, so that a default object gets its own defaults. */
export function defaultValue(value: unknown, shape: Shape): unknown {
  if (!shape.hasDefaults) return value;
  if (Array.isArray(value)) {
    const items = shape.items;
    return items ? mapList(value, (item) => defaultValue(orDefault(item, items), items)) : value;
  }
  if (!isObject(value)) return value;
  let object = value;
  for (const name of shape.defaulted) {
    const field = shape.fields.get(name);
    if (!field || !(object[name] === undefined || (object[name] === null && !field.isNullable))) continue;
    if (object === value) object = { ...value };
    object[name] = copy(field.defaultValue);
  }
  return mapObject(object, (member, name) => {
    const named = shape.fields.get(name);
    if (named) return defaultValue(member, named);
    return shape.values ? defaultValue(orDefault(member, shape.values), shape.values) : member;
  });
}

const orDefault = (value: unknown, shape: Shape): unknown =>
  value === null && !shape.isNullable && shape.defaultValue !== undefined ? copy(shape.defaultValue) : value;

/** `value` without nulls at places where the schema does not allow them and has no default. */
export function dropNulls(value: unknown, shape: Shape): unknown {
  if (Array.isArray(value)) {
    const items = shape.items;
    return items ? mapList(value, (item) => dropNulls(item, items)) : value;
  }
  if (!isObject(value)) return value;
  return mapObject(value, (member, name) => {
    const field = shape.fields.get(name) ?? shape.values;
    if (!field) return member;
    if (member === null && !field.isNullable && field.defaultValue === undefined) return undefined;
    return dropNulls(member, field);
  });
}

/**
 * The object with each member replaced by the result of `change`; undefined drops the member. Returns the same
 * object if nothing changed.
 */
export function mapObject(
  object: JsonObject,
  change: (member: unknown, name: string) => unknown,
): JsonObject {
  let result: JsonObject | undefined;
  for (const name of Object.keys(object)) {
    const member = object[name];
    const next = change(member, name);
    if (next === member) continue;
    result ??= { ...object };
    if (next === undefined) delete result[name];
    else result[name] = next;
  }
  return result ?? object;
}

/** The list with each item replaced by the result of `change`; the same list if nothing changed. */
export function mapList(
  list: readonly unknown[],
  change: (item: unknown, index: number) => unknown,
): readonly unknown[] {
  let result: unknown[] | undefined;
  list.forEach((item, index) => {
    const next = change(item, index);
    if (next === item) return;
    result ??= [...list];
    result[index] = next;
  });
  return result ?? list;
}
