/**
 * Merges an applied configuration into an object, removes fields from an object, and validates a configuration
 * against its type.
 */
import { append } from '../../lib/lists.ts';
import { goQuote, plainText } from '../schema/field-errors.ts';
import { elementText, isMember, type FieldNode, type FieldSet } from './field-set.ts';
import { deduceFrom, type FieldType, type ListType, type MapType, type ScalarType } from './field-types.ts';
import { mapList, mapObject } from '../schema/shape.ts';
import { itemElement, memberType } from './typed-compare.ts';
import { isObject, type JsonObject } from '../types.ts';

/** Merges the configuration into `live`: values of the configuration win, the rest stays. */
export function mergeValues(type: FieldType, live: unknown, config: unknown): unknown {
  if (config === undefined) return live;
  if (live === undefined || live === null || config === null) return config;
  const known = type.shape === 'deduced' ? deduceFrom(config) : type;
  if (known.shape === 'map' && !known.isAtomic && isObject(live) && isObject(config)) {
    const result: JsonObject = { ...live };
    for (const name of Object.keys(config)) {
      result[name] = mergeValues(memberType(known, name), live[name], config[name]);
    }
    return result;
  }
  if (known.shape === 'list' && known.kind !== 'atomic' && Array.isArray(live) && Array.isArray(config)) {
    return mergeItems(known, live, config);
  }
  return config;
}

/**
 * The items of both lists. Items in both lists are in the order of the configuration; an item that is only in the
 * live list stays before the shared item that it preceded.
 */
function mergeItems(type: ListType, live: readonly unknown[], config: readonly unknown[]): unknown[] {
  const left = live.map((item) => itemElement(type, item));
  const right = config.map((item) => itemElement(type, item));
  const inLeft = new Map(left.map((element, i) => [element, live[i]]));
  const inRight = new Map(right.map((element, i) => [element, config[i]]));
  const shared = right.filter((element) => inLeft.has(element));
  const done = new Set<string>();
  const result: unknown[] = [];
  let nextShared = shared.shift();
  const take = (element: string): void => {
    result.push(mergeValues(type.items, inLeft.get(element), inRight.get(element)));
    done.add(element);
  };
  for (let l = 0, r = 0; l < left.length || r < right.length;) {
    const ours = left[l];
    const theirs = right[r];
    if (ours !== undefined && theirs !== undefined) {
      if (ours === theirs) {
        take(theirs);
        l++;
        r++;
        nextShared = shared.shift();
        continue;
      }
      if (inRight.has(ours) && nextShared !== undefined && nextShared !== ours) {
        l++;
        continue;
      }
    }
    if (ours !== undefined) {
      if (!inRight.has(ours)) {
        result.push(live[l]);
        l++;
        continue;
      }
      if (done.has(ours)) l++;
    }
    if (theirs !== undefined) {
      take(theirs);
      r++;
      if (nextShared === theirs) nextShared = shared.shift();
    }
  }
  return result;
}

/** `value` without the fields of the set; undefined if a non-empty container becomes empty. */
export function removeFields(type: FieldType, value: unknown, set: FieldSet): unknown {
  const known = type.shape === 'deduced' ? deduceFrom(value) : type;
  if (known.shape === 'map' && isObject(value))
    return known.isAtomic ? value : removeMembers(known, value, set);
  if (known.shape === 'list' && Array.isArray(value)) {
    return known.kind === 'atomic' ? value : removeItems(known, value, set);
  }
  return value;
}

function removeMembers(type: MapType, map: JsonObject, set: FieldNode): JsonObject | undefined {
  const result: JsonObject = {};
  let isEmpty = true;
  for (const name of Object.keys(map)) {
    const node = set[`f:${name}`];
    if (node && isMember(node)) continue;
    const left = node ? removeFields(memberType(type, name), map[name], node) : map[name];
    if (left === undefined) continue;
    result[name] = left;
    isEmpty = false;
  }
  return isEmpty && Object.keys(map).length > 0 ? undefined : result;
}

function removeItems(type: ListType, list: readonly unknown[], set: FieldNode): unknown[] | undefined {
  const result: unknown[] = [];
  for (const item of list) {
    const node = set[itemElement(type, item)];
    if (node && isMember(node)) continue;
    const left = node ? removeFields(type.items, item, node) : item;
    if (left !== undefined) result.push(left);
  }
  return result.length === 0 && list.length > 0 ? undefined : result;
}

const ZERO = { string: '', numeric: 0, boolean: false, untyped: undefined } as const;

/** `value` as Go decodes it: a null member is absent, a null value of a plain map is empty. */
export function withoutNulls(type: FieldType, value: unknown): unknown {
  if (type.shape === 'list' && Array.isArray(value))
    return mapList(value, (item) => withoutNulls(type.items, item));
  if (type.shape !== 'map' || !isObject(value)) return value;
  return mapObject(value, (member, name) => {
    const named = type.field(name);
    if (member === null) {
      const other = named ? undefined : type.values;
      return other?.shape === 'scalar' ? ZERO[other.scalar] : other ? null : undefined;
    }
    return withoutNulls(named ?? type.values ?? DEDUCED, member);
  });
}

const DEDUCED: FieldType = { shape: 'deduced' };

/** Why a configuration does not match its kind; messages start with the path. */
export function typeErrors(type: FieldType, value: unknown, path = ''): string[] {
  if (value === null || value === undefined) return [];
  const known = type.shape === 'deduced' ? deduceFrom(value) : type;
  const say = (why: string): string[] => [`${path === '' ? '' : `${path}: `}${why}`];
  if (known.shape === 'scalar') return scalarErrors(known, value).flatMap(say);
  if (known.shape === 'list') {
    return Array.isArray(value)
      ? itemErrors(known, value, path)
      : say(`expected list, got ${goValue(value)}`);
  }
  if (!isObject(value)) return say(`expected map, got ${goValue(value)}`);
  return Object.keys(value).flatMap((name) => {
    const at = `${path}.${name}`;
    const member = known.field(name) ?? known.values;
    return member ? typeErrors(member, value[name], at) : [`${at}: field not declared in schema`];
  });
}

function scalarErrors({ scalar }: ScalarType, value: unknown): string[] {
  const is = typeof value;
  switch (scalar) {
    case 'numeric':
      return is === 'number' ? [] : [`expected numeric (int or float), got ${goTypeOf(value)}`];
    case 'string':
      return is === 'string'
        ? []
        : [`expected string, got &value.valueUnstructured{Value:${goValue(value)}}`];
    case 'boolean':
      return is === 'boolean' ? [] : [`expected boolean, got &{${goValue(value)}}`];
    case 'untyped':
      return is === 'object' ? [`expected any scalar, got ${goValue(value)}`] : [];
  }
}

const goTypeOf = (value: unknown): string =>
  typeof value === 'string'
    ? 'string'
    : typeof value === 'boolean'
      ? 'bool'
      : Array.isArray(value)
        ? '[]interface {}'
        : 'map[string]interface {}';

const goValue = (value: unknown): string => {
  if (typeof value === 'string') return goQuote(value);
  if (Array.isArray(value)) return `[]interface {}{${value.map(goValue).join(', ')}}`;
  if (!isObject(value)) return value === null ? '<nil>' : plainText(value);
  const members = Object.keys(value)
    .sort()
    .map((name) => `${goQuote(name)}:${goValue(value[name])}`);
  return `map[string]interface {}{${members.join(', ')}}`;
};

function itemErrors(type: ListType, list: readonly unknown[], path: string): string[] {
  const errors: string[] = [];
  const seen = new Set<string>();
  for (const [index, item] of list.entries()) {
    let at = `${path}[${index}]`;
    if (type.kind !== 'atomic') {
      const why = whyNotItem(type, item);
      if (why !== undefined) return [...errors, `${path}: element ${index}: ${why}`];
      const element = itemElement(type, item);
      if (seen.has(element)) errors.push(`${path}: duplicate entries for key ${elementText(element)}`);
      seen.add(element);
      at = path + elementText(element);
    }
    append(errors, typeErrors(type.items, item, at));
  }
  return errors;
}

function whyNotItem(type: ListType, item: unknown): string | undefined {
  if (type.kind === 'set') {
    if (isObject(item)) return "associative list without keys has an element that's a map type";
    if (Array.isArray(item)) return 'not supported: associative list with lists as elements';
    return item === null ? "associative list without keys has an element that's an explicit null" : undefined;
  }
  if (item === null) return 'associative list with keys may not have a null element';
  if (!isObject(item)) return 'associative list with keys may not have non-map elements';
  if (type.keys.some((key) => item[key] !== undefined || type.keyDefaults[key] !== undefined))
    return undefined;
  const keys = type.keys.map(goQuote).join(' ');
  return `associative list with keys has an element that omits all key fields [${keys}] (and doesn't have default values for any key fields)`;
}
