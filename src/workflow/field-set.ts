/**
 * Field sets, as `managedFields` contains them, and the part of an object that one selects. Pure.
 *
 *     {"f:spec": {"f:replicas": {}, "f:containers": {"k:{\"name\":\"a\"}": {".": {}, "f:image": {}}}}}
 *
 * `f:` names a field, `k:` an element of a list by its keys, `v:` an element of a set by its value, `i:` an element
 * by its index; `.` is the value itself; an empty set selects the whole value.
 * @see https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.34/#fieldsv1-v1-meta
 */
import { parseExactJson } from '../lib/exact-json.ts';
import { equal } from '../lib/json.ts';
import { isObject, type Fields } from '../lib/objects.ts';

/**
 * Fields as `managedFields` names them: `f:name`, `k:{…}` for elements with keys, `v:value` in sets, `i:0`; an empty
 * set means the whole value.
 */
export interface FieldSet {
  readonly [path: string]: FieldSet;
}

/** The part of an object that a set selects. */
export interface Selected {
  /** Fields that the set names and the object does not have are undefined. */
  readonly part: Fields;
  /** The objects and lists in `part` that are selected as a whole. */
  readonly wholes: ReadonlySet<unknown>;
}

/** The part of `object` that `fields` selects. */
export function select(object: Readonly<Fields>, fields: FieldSet): Selected {
  const wholes = new Set<unknown>();
  const pruned = pruneValue(object, fields, wholes);
  return { part: isObject(pruned) ? pruned : {}, wholes };
}

const ABSENT = Symbol('absent');

/** The path `.` says that the value itself exists; it selects nothing inside. */
function pruneValue(value: unknown, set: FieldSet, wholes: Set<unknown>): unknown {
  const paths = Object.keys(set);
  if (paths.length === 0) {
    if (typeof value === 'object') wholes.add(value);
    return value;
  }
  if (Array.isArray(value)) return pruneList(value, set, paths, wholes);
  if (!isObject(value)) return value;
  const result: Fields = {};
  for (const path of paths) {
    const key = path.slice(2);
    const inner = set[path] ?? {};
    if (!path.startsWith('f:')) continue;
    if (Object.hasOwn(value, key)) result[key] = pruneValue(value[key], inner, wholes);
    // A field whose inner fields are owned does not exist if all of them were dropped.
    else result[key] = undefined;
  }
  return result;
}

interface ElementName {
  readonly test: ElementTest;
  readonly inner: FieldSet;
}

/** Names of elements are parsed once: a set is used for as long as its object does not change. */
const elementNames = new WeakMap<FieldSet, readonly ElementName[]>();

function namesIn(set: FieldSet, paths: readonly string[]): readonly ElementName[] {
  let names = elementNames.get(set);
  if (!names) {
    names = paths.map((path) => ({ test: elementTest(path), inner: set[path] ?? {} }));
    elementNames.set(set, names);
  }
  return names;
}

/** Elements stay in the order of the list: the server keeps ours in the order in which we sent them. */
function pruneList(
  list: readonly unknown[],
  set: FieldSet,
  paths: readonly string[],
  wholes: Set<unknown>,
): unknown[] {
  const names = namesIn(set, paths);
  return list
    .map((element, i) => {
      // Names are usually in the order of the list.
      const name = names[i]?.test(element, i) ? names[i] : names.find(({ test }) => test(element, i));
      return name ? pruneValue(element, name.inner, wholes) : ABSENT;
    })
    .filter((element) => element !== ABSENT);
}

type ElementTest = (element: unknown, index: number) => boolean;

function elementTest(path: string): ElementTest {
  const rest = path.slice(2);
  switch (path.slice(0, 2)) {
    case 'k:': {
      const keys = parsed(rest);
      if (!isObject(keys)) return () => false;
      const wanted = Object.entries(keys);
      return (element) => isObject(element) && wanted.every(([key, value]) => equal(element[key], value));
    }
    case 'v:': {
      const value = parsed(rest);
      return (element) => equal(element, value);
    }
    case 'i:':
      return (_, index) => index === Number(rest);
    default:
      return () => false;
  }
}

function parsed(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    return undefined;
  }
}
