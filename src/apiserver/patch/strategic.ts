/**
 * Strategic merge patch: a merge patch that merges lists by keys, with directives for operations that a plain merge
 * cannot express.
 *
 * The order of a merged list: items of the patch have the order of the patch (or of `$setElementOrder`), other items
 * keep their position before their previous neighbour, and new items come first.
 */
import { equal } from '../../lib/json.ts';
import { plainText } from '../schema/field-errors.ts';
import { goTypeName, PatchError } from './patch.ts';
import { plainKeys, type PatchKeys } from './keys.ts';
import { isObject, type JsonObject } from '../types.ts';

export { patchKeysOf } from './keys.ts';
export type { PatchKeys } from './keys.ts';

const DIRECTIVE = '$patch';
const RETAIN_KEYS = '$retainKeys';
const DELETE_FROM = '$deleteFromPrimitiveList/';
const SET_ORDER = '$setElementOrder/';

/**
 * `target` with the patch applied; unchanged parts are shared.
 * @param keys how the kind's members are merged, from `patchKeysOf`
 * @throws PatchError 400 for malformed directives; 500 without reason, as upstream, for an unknown directive or
 *   an item without merge key
 */
export function applyStrategicMerge<T extends object>(
  target: T,
  patch: unknown,
  keys: PatchKeys = plainKeys,
): T {
  if (!isObject(patch))
    throw malformed(
      `json: cannot unmarshal ${goTypeName(patch)} into Go value of type map[string]interface {}`,
    );
  return mergeMaps(target as unknown as JsonObject, patch, keys) as unknown as T;
}

const failure = (message: string): PatchError => new PatchError(500, undefined, message);
const malformed = (message: string): PatchError => new PatchError(400, 'BadRequest', message);

function mergeMaps(target: JsonObject, patch: JsonObject, keys: PatchKeys): JsonObject {
  const directive = patch[DIRECTIVE];
  if (directive === 'replace') return withoutDirectives(without(patch, DIRECTIVE)) as JsonObject;
  if (directive === 'delete') return {};
  if (directive !== undefined && directive !== 'merge') throw unknownDirective(directive, patch);
  const result = retained(target, patch);
  const orders = Object.keys(patch).filter((name) => name.startsWith(SET_ORDER));
  for (const name of Object.keys(patch)) {
    if (name.startsWith(DELETE_FROM)) deleteFromList(result, name.slice(DELETE_FROM.length), patch[name]);
    else if (name !== DIRECTIVE && name !== RETAIN_KEYS && !name.startsWith(SET_ORDER))
      mergeMember(result, name, patch[name], keys.member(name), patch[SET_ORDER + name]);
  }
  for (const order of orders) {
    const name = order.slice(SET_ORDER.length);
    if (patch[name] === undefined) reorder(result, target, name, patch[order], keys.member(name));
  }
  return result;
}

const without = (map: JsonObject, name: string): JsonObject => {
  const { [name]: _, ...rest } = map;
  return rest;
};

const unknownDirective = (directive: unknown, map: JsonObject): PatchError =>
  failure(`unknown patch type: ${String(directive)} in map: ${goMap(map)}`);

/** A copy of `target`, reduced to the members that `$retainKeys` names. */
function retained(target: JsonObject, patch: JsonObject): JsonObject {
  const names = patch[RETAIN_KEYS];
  if (names === undefined) return { ...target };
  if (!Array.isArray(names)) throw malformed('invalid patch format of retainKeys');
  const isAlien = Object.keys(patch).some(
    (name) => patch[name] !== null && !name.startsWith('$') && !names.includes(name),
  );
  if (isAlien) throw malformed('invalid patch format of retainKeys');
  return Object.fromEntries(Object.entries(target).filter(([name]) => names.includes(name)));
}

function deleteFromList(result: JsonObject, name: string, values: unknown): void {
  const list = result[name];
  if (!Array.isArray(values)) throw malformed('invalid patch format of primitive list');
  if (!Array.isArray(list)) return;
  result[name] = list.filter((item) => !values.some((value) => equal(value, item)));
}

function mergeMember(
  result: JsonObject,
  name: string,
  value: unknown,
  keys: PatchKeys,
  order: unknown,
): void {
  const current = result[name];
  if (value === null) delete result[name];
  else if (isObject(value)) {
    const base = isObject(current) && !keys.isReplaced ? current : {};
    result[name] = mergeMaps(base, value, keys);
  } else if (Array.isArray(value) && keys.isMerged) {
    const old: readonly unknown[] = Array.isArray(current) ? current : [];
    const merged = mergeLists(old, value, keys);
    const leading = orderOf(order) ?? withoutSpecial(value);
    result[name] = isSpecialReplace(value) ? merged : inOrder(merged, leading, old, keys);
  } else result[name] = withoutDirectives(value);
}

/** `$setElementOrder` for a list that the patch itself does not touch. */
function reorder(
  result: JsonObject,
  target: JsonObject,
  name: string,
  order: unknown,
  keys: PatchKeys,
): void {
  const [list, old] = [result[name], target[name]];
  if (!Array.isArray(list) || !Array.isArray(old)) return;
  result[name] = inOrder(list, orderOf(order) ?? [], old, keys);
}

function orderOf(order: unknown): readonly unknown[] | undefined {
  if (order === undefined) return undefined;
  if (!Array.isArray(order)) throw malformed('invalid patch format of setElementOrder list');
  return order as readonly unknown[];
}

const isDirective = (item: unknown, directive: string): boolean =>
  isObject(item) && item[DIRECTIVE] === directive;

/** An extra item `$patch: replace` makes the patch's items the whole list. */
const isSpecialReplace = (list: readonly unknown[]): boolean =>
  list.some((item) => isDirective(item, 'replace'));

const withoutSpecial = (list: readonly unknown[]): unknown[] =>
  list.filter((item) => !isDirective(item, 'delete') && !isDirective(item, 'replace'));

function mergeLists(old: readonly unknown[], patch: readonly unknown[], keys: PatchKeys): unknown[] {
  if (!patch.some(isObject)) {
    const added = patch.filter(
      (value, i) => !old.some((item) => equal(item, value)) && patch.indexOf(value) === i,
    );
    return [...old, ...added];
  }
  const key = keys.mergeKey;
  if (key === undefined) throw malformed('cannot merge a list of maps without a merge key');
  if (isSpecialReplace(patch)) return withoutSpecial(patch).map(withoutDirectives);
  let result = [...old];
  for (const item of patch) {
    if (!isObject(item)) throw malformed('invalid patch format of primitive list');
    const directive = item[DIRECTIVE];
    if (directive !== undefined && directive !== 'delete' && directive !== 'merge')
      throw unknownDirective(directive, item);
    const value = item[key];
    if (value === undefined) throw failure(`map: ${goMap(item)} does not contain declared merge key: ${key}`);
    const isTwin = (other: unknown): boolean => isObject(other) && equal(other[key], value);
    if (directive === 'delete') {
      result = result.filter((other) => !isTwin(other));
      continue;
    }
    const index = result.findIndex(isTwin);
    const merged = mergeMaps(index < 0 ? {} : (result[index] as JsonObject), item, keys.items);
    if (index < 0) result.push(merged);
    else result[index] = merged;
  }
  return result;
}

/**
 * `list` with the items that `leading` names in that order. The others keep their order, and precede a leading item
 * only if they preceded it in `old`.
 */
function inOrder(
  list: readonly unknown[],
  leading: readonly unknown[],
  old: readonly unknown[],
  keys: PatchKeys,
): unknown[] {
  const keyOf = (item: unknown): string =>
    JSON.stringify(isObject(item) && keys.mergeKey !== undefined ? (item[keys.mergeKey] ?? null) : item);
  const rank = new Map(leading.map((item, index) => [keyOf(item), index]));
  const first = list
    .filter((item) => rank.has(keyOf(item)))
    .sort((a, b) => (rank.get(keyOf(a)) ?? 0) - (rank.get(keyOf(b)) ?? 0));
  const place = new Map(old.map((item, index) => [keyOf(item), index]));
  const rest = list.filter((item) => !rank.has(keyOf(item)));
  const result: unknown[] = [];
  for (let i = 0, j = 0; i < rest.length || j < first.length;) {
    const [ours, theirs] = [place.get(keyOf(rest[i])), place.get(keyOf(first[j]))];
    const isOursNext = ours !== undefined && theirs !== undefined && ours < theirs;
    if (j >= first.length || (i < rest.length && isOursNext)) result.push(rest[i++]);
    else result.push(first[j++]);
  }
  return result;
}

/** A completely new value: its directives and nulls have nothing to apply to. */
function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.filter((item) => !isDirective(item, 'delete')).map(withoutDirectives);
  }
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(
    ([name, member]) =>
      member !== null &&
      name !== DIRECTIVE &&
      name !== RETAIN_KEYS &&
      !name.startsWith(SET_ORDER) &&
      !name.startsWith(DELETE_FROM),
  );
  return Object.fromEntries(kept.map(([name, member]) => [name, withoutDirectives(member)]));
}

/** A map in the format of Go's `%v`: `map[image:x name:c]`. */
export function goMap(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(goMap).join(' ')}]`;
  if (!isObject(value)) return value === null ? '<nil>' : plainText(value);
  const members = Object.keys(value)
    .sort()
    .map((name) => `${name}:${goMap(value[name])}`);
  return `map[${members.join(' ')}]`;
}
