/**
 * Three-way merge patches: what the chart changed since the last revision is changed on the cluster, and what others
 * added to the object stays. Pure.
 */
import { define, equal } from '../../../src/lib/json.ts';
import { mergeDiff } from '../../../src/lib/merge.ts';
import { isObject, ownField, type Fields } from '../../../src/lib/objects.ts';
import { hasRepeatedKeys, mergedList } from './repeated-keys.ts';
import { rulesBelow, type FieldRules, type TypeRules } from './merge-keys.ts';

/** The states of a value: in the last revision, on the cluster, and in the new revision. */
interface States<T> {
  readonly before: T;
  readonly live: T;
  readonly wanted: T;
}

/** A strategic merge patch; empty if nothing changes. @param rules those of the kind */
export function strategicPatch(
  { before, live, wanted }: States<Fields>,
  rules: TypeRules,
  retainsKeys = false,
): Fields {
  const patch: Fields = {};
  for (const [key, value] of Object.entries(wanted)) {
    const states = { before: ownField(before, key), live: ownField(live, key), wanted: value };
    addField(patch, key, states, rules[key] ?? {});
  }
  for (const [key, value] of Object.entries(before)) {
    const isRemoved = value !== undefined && !Object.hasOwn(wanted, key);
    if (isRemoved && Object.hasOwn(live, key)) define(patch, key, null);
  }
  if (retainsKeys) retainKeys(patch, live, wanted);
  return patch;
}

/** Clears all fields that are not wanted, for maps of which only one field may be set. */
function retainKeys(patch: Fields, live: Fields, wanted: Fields): void {
  const names = Object.keys(wanted).filter((key) => (wanted[key] ?? null) !== null);
  const hasMore = Object.keys(live).some((key) => live[key] !== null && !Object.hasOwn(wanted, key));
  if (names.length > 0 && (hasMore || Object.keys(patch).length > 0)) patch['$retainKeys'] = names.sort();
}

function addField(
  patch: Fields,
  key: string,
  { before, live, wanted }: States<unknown>,
  rules: FieldRules,
): void {
  if (isObject(live) && isObject(wanted) && rules.isReplaced !== true) {
    const states = { before: isObject(before) ? before : {}, live, wanted };
    const inner = strategicPatch(states, rulesBelow(rules), rules.retainsKeys);
    if (Object.keys(inner).length > 0) define(patch, key, inner);
  } else if (Array.isArray(live) && Array.isArray(wanted) && rules.mergeKey !== undefined) {
    const lists = { before: Array.isArray(before) ? before : [], live, wanted };
    if (rules.mergeKey === '') addSet(patch, key, lists);
    else addList(patch, key, lists, { ...rules, mergeKey: rules.mergeKey });
  } else if (!equal(live ?? null, wanted)) define(patch, key, wanted);
}

const DELETE_FROM = '$deleteFromPrimitiveList/';
const SET_ORDER = '$setElementOrder/';

/** A list of scalars. If it is sorted in the chart, another order on the cluster is not a change, as in Helm. */
function addSet(patch: Fields, key: string, { before, live, wanted }: States<readonly unknown[]>): void {
  const isIn = (list: readonly unknown[], value: unknown): boolean => list.some((each) => equal(each, value));
  const added = wanted.filter((value) => !isIn(live, value));
  const removed = before.filter((value) => !isIn(wanted, value));
  if (added.length > 0) patch[key] = added;
  if (removed.length > 0) patch[DELETE_FROM + key] = removed;
  const isChanged = removed.length > 0 || !equal([...live].sort(), wanted);
  if (isChanged && wanted.length > 0) patch[SET_ORDER + key] = wanted;
}

/** A list of maps, whose elements are identified by a key. */
function addList(
  patch: Fields,
  key: string,
  { before, live, wanted }: States<readonly unknown[]>,
  rules: FieldRules & { readonly mergeKey: string },
): void {
  const { mergeKey } = rules;
  if (hasRepeatedKeys({ before, live, wanted }, mergeKey)) {
    const whole = mergedList({ before, live, wanted }, { mergeKey, ...(rules.keys && { keys: rules.keys }) });
    if (whole) patch[key] = [{ $patch: 'replace' }, ...whole];
    return;
  }
  const [old, current] = [elementsOf(before, mergeKey), elementsOf(live, mergeKey)];
  const elements: unknown[] = [];
  const names = elementsOf(wanted, mergeKey);
  for (const [id, element] of names) {
    const known = current.get(id);
    if (!known) elements.push(element);
    else {
      const states = { before: old.get(id) ?? {}, live: known, wanted: element };
      const inner = strategicPatch(states, rulesBelow(rules), rules.retainsKeys);
      if (Object.keys(inner).length > 0) elements.push({ [mergeKey]: element[mergeKey], ...inner });
    }
  }
  const isSameOrder = equal([...current.keys()], [...names.keys()]);
  for (const [id, element] of old) {
    if (!names.has(id) && current.has(id)) elements.push({ $patch: 'delete', [mergeKey]: element[mergeKey] });
  }
  if (elements.length > 0) patch[key] = elements;
  if (names.size > 0 && (elements.length > 0 || !isSameOrder))
    patch[SET_ORDER + key] = [...names.values()].map((element) => ({ [mergeKey]: element[mergeKey] }));
}

/** The elements by key, which is different for each of them. */
const elementsOf = (list: readonly unknown[], mergeKey: string): ReadonlyMap<string, Fields> =>
  new Map(
    list.filter(isObject).map((element) => [JSON.stringify(element[mergeKey] ?? null), element] as const),
  );

// ---------------------------------------------------------------- kinds without a strategic merge

/** A JSON merge patch with the changes of the chart only; empty if there are none. */
export const changedFields = (before: Fields, wanted: Fields): Fields =>
  (mergeDiff(before, wanted) ?? {}) as Fields;

/** A JSON merge patch that also repairs what others changed; empty if nothing changes. */
export function jsonPatch({ before, live, wanted }: States<Fields>): Fields {
  const patch: Fields = {};
  for (const [key, value] of Object.entries(wanted)) {
    const now = ownField(live, key);
    if (value === null || value === undefined || equal(now ?? null, value)) continue;
    if (!isObject(value) || !isObject(now)) define(patch, key, value);
    else {
      const old = ownField(before, key);
      const inner = jsonPatch({ before: isObject(old) ? old : {}, live: now, wanted: value });
      if (Object.keys(inner).length > 0) define(patch, key, inner);
    }
  }
  for (const [key, value] of Object.entries(before)) {
    const isRemoved = (value ?? null) !== null && (ownField(wanted, key) ?? null) === null;
    if (isRemoved && Object.hasOwn(live, key)) define(patch, key, null);
  }
  return patch;
}
