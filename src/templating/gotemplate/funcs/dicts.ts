/** sprig's functions on dictionaries. `set`, `unset` and `merge` modify their argument, as in upstream. */
import type { FunctionTable } from '../env.ts';
import { FunctionError } from '../errors.ts';
import { fn } from '../signature.ts';
import { elemType, GoMap, isList, isTrue, typedList, typeName, type Value } from '../values.ts';
import { toText } from './cast.ts';

function dict(...pairs: Value[]): GoMap {
  const entries = new Map<string, Value>();
  for (let i = 0; i < pairs.length; i += 2) {
    entries.set(toText(pairs[i]), i + 1 < pairs.length ? (pairs[i + 1] ?? null) : '');
  }
  return new GoMap(entries);
}

const only = (map: GoMap, keep: (key: string) => boolean): GoMap =>
  new GoMap(new Map([...map.entries].filter(([key]) => keep(key))));

/**
 * Merges the other maps into the first one. Without `overwrite`, a value is only used if the first map has none or
 * an empty one; with it, all values are used.
 */
function mergeInto(target: GoMap, source: GoMap, overwrite: boolean): void {
  for (const [key, value] of source.entries) {
    const present = target.get(key);
    if (value === null || value === undefined) {
      if (overwrite) target.entries.set(key, null);
    } else if (present instanceof GoMap && value instanceof GoMap) mergeInto(present, value, overwrite);
    else if (overwrite || !isTrue(present)) target.entries.set(key, value);
  }
}

const merger = (overwrite: boolean) =>
  fn('map ...map', (target: GoMap, ...sources: GoMap[]) => {
    for (const source of sources) mergeInto(target, source, overwrite);
    return target;
  });

function copy(value: Value): Value {
  if (value instanceof GoMap) {
    return new GoMap(new Map([...value.entries].map(([k, v]) => [k, copy(v)])), value.elem);
  }
  return isList(value) ? typedList(elemType(value), value.map(copy)) : value;
}

function deepCopy(value: Value): Value {
  if (value === null) throw new FunctionError('reflect: call of reflect.Value.Type on zero Value');
  return copy(value);
}

/** The value as a dictionary. @throws FunctionError for all other values */
function asDict(value: Value): GoMap {
  if (value instanceof GoMap && value.elem === 'interface {}') return value;
  throw conversion(value, 'map[string]interface {}');
}

function dig(...args: Value[]): Value {
  if (args.length < 3) throw new FunctionError('dig needs at least three arguments');
  const root = args.at(-1);
  // Go asserts the plain type here; elsewhere, a named map such as `.Values` is converted.
  if (root instanceof GoMap && root.named) throw conversion(root, 'map[string]interface {}');
  let at = asDict(root);
  const fallback = args.at(-2);
  const keys = args.slice(0, -2).map((key) => {
    if (typeof key !== 'string') throw conversion(key, 'string');
    return key;
  });
  const last = keys.pop() as string;
  for (const key of keys) {
    if (!at.entries.has(key)) return fallback;
    at = asDict(at.get(key));
  }
  return at.entries.has(last) ? at.get(last) : fallback;
}

const conversion = (value: Value, wanted: string): FunctionError => {
  return new FunctionError(
    `interface conversion: interface {} is ${value === null ? 'nil' : typeName(value)}, not ${wanted}`,
  );
};

export const dictFunctions: FunctionTable = {
  dict: fn('...any', dict),
  get: fn('map string', (map: GoMap, key: string) => (map.entries.has(key) ? map.get(key) : '')),
  set: fn('map string any', (map: GoMap, key: string, value: Value) => {
    map.entries.set(key, value ?? null);
    return map;
  }),
  unset: fn('map string', (map: GoMap, key: string) => {
    map.entries.delete(key);
    return map;
  }),
  hasKey: fn('map string', (map: GoMap, key: string) => map.entries.has(key)),
  pluck: fn('string ...map', (key: string, ...maps: GoMap[]) =>
    maps.filter((map) => map.entries.has(key)).map((map) => map.get(key)),
  ),
  keys: fn('...map', (...maps: GoMap[]) =>
    typedList(
      'string',
      maps.flatMap((map) => map.sortedKeys()),
    ),
  ),
  values: fn('map', (map: GoMap) => map.sortedKeys().map((key) => map.get(key))),
  pick: fn('map ...string', (map: GoMap, ...keys: string[]) => only(map, (key) => keys.includes(key))),
  omit: fn('map ...string', (map: GoMap, ...keys: string[]) => only(map, (key) => !keys.includes(key))),
  merge: merger(false),
  mustMerge: merger(false),
  mergeOverwrite: merger(true),
  mustMergeOverwrite: merger(true),
  deepCopy: fn('any', deepCopy),
  mustDeepCopy: fn('any', deepCopy),
  dig: fn('...any', dig),
};
