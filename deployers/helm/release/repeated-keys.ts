/**
 * Lists with two elements of one merge key, such as port 53 for TCP and UDP. A strategic merge patch identifies elements by
 * one key only, so the server would merge both into one and lose a port; Helm's patches do. Such a list is merged here, by
 * the keys that really identify its elements, and sent as a whole. Pure.
 */
import { copy, define, equal } from '../../../src/lib/json.ts';
import { isObject, ownField, type Fields, table } from '../../../src/lib/objects.ts';

/** The states of a list: in the last revision, on the cluster, and in the new revision. */
interface Lists {
  readonly before: readonly unknown[];
  readonly live: readonly unknown[];
  readonly wanted: readonly unknown[];
}

interface Identity {
  readonly mergeKey: string;
  /** All keys that identify an element; default: the merge key. */
  readonly keys?: readonly string[];
}

/** Values that servers set if an element has none. */
const DEFAULTS: Readonly<Record<string, string>> = table({ protocol: 'TCP' });

/** Whether several elements of a list have the same merge key. */
export const hasRepeatedKeys = ({ before, live, wanted }: Lists, mergeKey: string): boolean =>
  [before, live, wanted].some((list) => {
    const keys = list.filter(isObject).map((element) => JSON.stringify(element[mergeKey] ?? null));
    return new Set(keys).size < keys.length;
  });

/** The list that replaces the one on the cluster; undefined if nothing changes. */
export function mergedList(
  { before, live, wanted }: Lists,
  identity: Identity,
): readonly unknown[] | undefined {
  const [old, current, next] = [before, live, wanted].map((list) => byIdentity(list, identity)) as [
    ReadonlyMap<string, Fields>,
    ReadonlyMap<string, Fields>,
    ReadonlyMap<string, Fields>,
  ];
  const own = [...next].map(([id, element]) => {
    const known = current.get(id);
    return known ? mergedMap(old.get(id) ?? {}, known, element) : element;
  });
  const others = [...current].filter(([id]) => !next.has(id) && !old.has(id)).map(([, element]) => element);
  const kept = [...current.keys()].filter((id) => next.has(id));
  const isSame =
    current.size === own.length + others.length &&
    equal(kept, [...next.keys()]) &&
    [...next.keys()].every((id, i) => equal(current.get(id), own[i]));
  return isSame ? undefined : [...own, ...others];
}

/** Elements with the same identity, which only some lists may have, are distinguished by their position. */
function byIdentity(
  list: readonly unknown[],
  { mergeKey, keys = [mergeKey] }: Identity,
): ReadonlyMap<string, Fields> {
  const found = new Map<string, Fields>();
  for (const element of list) {
    if (!isObject(element)) continue;
    const values = keys.map((key) => ownField(element, key) ?? DEFAULTS[key] ?? null);
    const id = JSON.stringify(values);
    let n = 0;
    while (found.has(`${id}#${String(n)}`)) n++;
    found.set(`${id}#${String(n)}`, element);
  }
  return found;
}

/** What the chart changed is changed, and what others added stays. */
function mergedMap(before: Fields, live: Fields, wanted: Fields): Fields {
  const result = copy(live);
  for (const key of Object.keys(before)) Reflect.deleteProperty(result, key);
  for (const [key, value] of Object.entries(wanted)) {
    const [old, known] = [ownField(before, key), ownField(live, key)];
    const isMap = isObject(value) && isObject(known);
    if (value === null) Reflect.deleteProperty(result, key);
    else define(result, key, isMap ? mergedMap(isObject(old) ? old : {}, known, value) : value);
  }
  return result;
}
