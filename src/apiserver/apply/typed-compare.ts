/** The differences between two values of a type, and the fields of a value, as field sets. */
import { equal } from '../../lib/json.ts';
import { LEAF, nodeOf, type FieldNode, type FieldSet } from './field-set.ts';
import { deduceFrom, type FieldType, type ListType, type MapType } from './field-types.ts';
import { isObject, type JsonObject } from '../types.ts';

/** Fields that are in only one of the values, or differ. Absent parts are empty. */
interface Comparison {
  readonly added: FieldNode | undefined;
  readonly removed: FieldNode | undefined;
  readonly modified: FieldNode | undefined;
}

const ADDED: Comparison = { added: LEAF, removed: undefined, modified: undefined };
const REMOVED: Comparison = { added: undefined, removed: LEAF, modified: undefined };
const MODIFIED: Comparison = { added: undefined, removed: undefined, modified: LEAF };

type Below = Record<string, FieldNode>;

/** Collects the comparisons of the parts of a value. */
class Collector {
  readonly #added: Below = {};
  readonly #removed: Below = {};
  readonly #modified: Below = {};

  add(element: string, found: Comparison | undefined): void {
    if (!found) return;
    if (found.added) this.#added[element] = found.added;
    if (found.removed) this.#removed[element] = found.removed;
    if (found.modified) this.#modified[element] = found.modified;
  }

  result(isAdded: boolean, isRemoved: boolean, isModified = false): Comparison | undefined {
    const added = nodeOf(this.#added, isAdded);
    const removed = nodeOf(this.#removed, isRemoved);
    const modified = nodeOf(this.#modified, isModified);
    return added || removed || modified ? { added, removed, modified } : undefined;
  }
}

/**
 * Compares two values of a type; undefined means absent, and the result undefined means equal.
 * A new container counts as a field itself, with everything in it; an atomic value counts only itself.
 */
export function compareValues(type: FieldType, before: unknown, after: unknown): Comparison | undefined {
  if (before === after) return undefined;
  if (type.shape === 'deduced') return compareDeduced(before, after);
  const isFlat =
    type.shape === 'scalar' ||
    (type.shape === 'list' && type.kind === 'atomic') ||
    (type.shape === 'map' && type.isAtomic);
  if (isFlat || (isEmpty(before) && isEmpty(after))) return compareLeaf(before, after);
  const collector = new Collector();
  if (type.shape === 'list') compareItems(type, asList(before), asList(after), collector);
  else compareMembers(type, asMap(before), asMap(after), collector);
  return collector.result(before === undefined, after === undefined);
}

function compareLeaf(before: unknown, after: unknown): Comparison | undefined {
  if (before === undefined) return ADDED;
  if (after === undefined) return REMOVED;
  return equal(before, after) ? undefined : MODIFIED;
}

/**
 * A value whose type has changed counts as modified; the fields of the old value are removed, those of the new one
 * added.
 */
function compareDeduced(before: unknown, after: unknown): Comparison | undefined {
  const from = deduceFrom(before ?? after);
  const to = deduceFrom(after ?? before);
  if (from.shape === to.shape) return compareValues(to, before, after);
  const collector = new Collector();
  if (from.shape === 'map') compareMembers(from, asMap(before), {}, collector);
  if (to.shape === 'map') compareMembers(to, {}, asMap(after), collector);
  return collector.result(false, false, true);
}

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  (Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0);

const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const asMap = (value: unknown): JsonObject => (isObject(value) ? value : {});

function compareMembers(type: MapType, before: JsonObject, after: JsonObject, collector: Collector): void {
  for (const name of Object.keys(after)) {
    const member = memberType(type, name);
    collector.add(`f:${name}`, compareValues(member, before[name], after[name]));
  }
  for (const name of Object.keys(before)) {
    if (after[name] === undefined) {
      collector.add(`f:${name}`, compareValues(memberType(type, name), before[name], undefined));
    }
  }
}

const DEDUCED: FieldType = { shape: 'deduced' };

/** The type of a member; that of an undeclared member is deduced from its value. */
export const memberType = (type: MapType, name: string): FieldType =>
  type.field(name) ?? type.values ?? DEDUCED;

function compareItems(
  type: ListType,
  before: readonly unknown[],
  after: readonly unknown[],
  collector: Collector,
): void {
  const old = indexItems(type, before);
  const next = indexItems(type, after);
  for (const [element, values] of next)
    collector.add(element, compareTwins(type, old.get(element) ?? [], values));
  for (const [element, values] of old)
    if (!next.has(element)) collector.add(element, compareTwins(type, values, []));
}

/** Items with the same key; if a key occurs more than once, they are compared as one value. */
function compareTwins(
  type: ListType,
  before: readonly unknown[],
  after: readonly unknown[],
): Comparison | undefined {
  if (before.length <= 1 && after.length <= 1) return compareValues(type.items, before[0], after[0]);
  if (before.length === 0) return ADDED;
  if (after.length === 0) return REMOVED;
  return equal(before, after) ? undefined : MODIFIED;
}

function indexItems(type: ListType, list: readonly unknown[]): Map<string, unknown[]> {
  const index = new Map<string, unknown[]>();
  for (const item of list) {
    const element = itemElement(type, item);
    const known = index.get(element);
    if (known) known.push(item);
    else index.set(element, [item]);
  }
  return index;
}

/** The path element of an item of a set or map. */
export function itemElement(type: ListType, item: unknown): string {
  if (type.kind === 'set') return `v:${JSON.stringify(item)}`;
  const keys: JsonObject = {};
  for (const key of [...type.keys].sort()) {
    const value = (isObject(item) ? item[key] : undefined) ?? type.keyDefaults[key];
    if (value !== undefined) keys[key] = value;
  }
  return `k:${JSON.stringify(keys)}`;
}

/** The fields that an applied configuration sets: its leaves, empty maps, and items of lists themselves. */
export function fieldsOf(type: FieldType, value: unknown): FieldNode | undefined {
  const known = type.shape === 'deduced' ? deduceFrom(value) : type;
  if (known.shape === 'scalar') return LEAF;
  if (known.shape === 'list') {
    if (known.kind === 'atomic') return LEAF;
    return nodeOf(fieldsOfItems(known, asList(value)), false);
  }
  return known.isAtomic ? LEAF : nodeOf(fieldsOfMembers(known, asMap(value)), false);
}

function fieldsOfItems(type: ListType, list: readonly unknown[]): Below {
  const below: Below = {};
  for (const [element, items] of indexItems(type, list)) {
    below[element] = items.length > 1 ? LEAF : withSelf(fieldsOf(type.items, items[0]));
  }
  return below;
}

function fieldsOfMembers(type: MapType, map: JsonObject): Below {
  const below: Below = {};
  for (const name of Object.keys(map)) {
    const value = map[name];
    if (value === undefined) continue;
    const node = fieldsOf(memberType(type, name), value);
    const isSelf =
      value === null ||
      (isObject(value) && Object.keys(value).length === 0) ||
      type.field(name) === undefined;
    const kept = isSelf ? withSelf(node) : node;
    if (kept) below[`f:${name}`] = kept;
  }
  return below;
}

const withSelf = (node: FieldNode | undefined): FieldNode =>
  node === undefined
    ? LEAF
    : (nodeOf(Object.fromEntries(Object.entries(node).filter(([key]) => key !== '.')), true) ?? LEAF);

/** Adds to a set the members that have a type of their own and fields below them, but are not in the set themselves. */
export function withNamedParents(type: FieldType, set: FieldSet): FieldSet {
  const result: Below = {};
  for (const [element, node] of Object.entries(set)) {
    if (element === '.') {
      result[element] = node;
      continue;
    }
    const isNamed =
      element.startsWith('f:') && type.shape === 'map' && type.field(element.slice(2)) !== undefined;
    const below = withNamedParents(elementType(type, element), node);
    result[element] = isNamed ? withSelf(below) : below;
  }
  return result;
}

function elementType(type: FieldType, element: string): FieldType {
  if (type.shape === 'map' && element.startsWith('f:')) return memberType(type, element.slice(2));
  return type.shape === 'list' ? type.items : DEDUCED;
}
