/**
 * JSON merge patch: the smallest patch between two values, and its application.
 * @see RFC 7396
 */
import { copy, define, equal } from './json.ts';
import { isObject, ownField, type Fields, type View } from './objects.ts';

/**
 * A merge patch for a `T`: omitted fields stay unchanged, null removes an optional field, arrays are replaced
 * completely.
 */
export type MergePatch<T> = T extends readonly unknown[]
  ? View<T>
  : T extends object
    ? { readonly [K in keyof T]?: MergePatch<T[K]> | (undefined extends T[K] ? null : never) | undefined }
    : T;

/**
 * The merge patch that turns `base` into `next`, or undefined if they are equal.
 *
 * A merge patch cannot set a field to null; a null in `next` where `base` has a value removes the field, as in
 * Kubernetes. Arrays are replaced completely. The patch shares nothing with `next`.
 */
export function mergeDiff(base: object, next: object): object | undefined {
  const patch: Fields = {};
  let isEmpty = true;
  const put = (key: string, value: unknown): void => {
    define(patch, key, value);
    isEmpty = false;
  };
  const before = base as Fields;
  const after = next as Fields;
  for (const key of Object.keys(before)) {
    if (before[key] !== undefined && before[key] !== null && ownField(after, key) === undefined)
      put(key, null);
  }
  for (const key of Object.keys(after)) {
    const to = after[key];
    const from = ownField(before, key);
    if (to === undefined || equal(from ?? null, to)) continue;
    if (isObject(from) && isObject(to)) {
      const inner = mergeDiff(from, to);
      if (inner) put(key, inner);
    } else if (isObject(to)) {
      put(key, withoutNulls(to));
    } else {
      put(key, copy(to));
    }
  }
  return isEmpty ? undefined : patch;
}

/** `patch` applied to `target`: a new value, which shares unchanged parts with `target`. */
export function mergePatch<T>(target: T, patch: unknown): T {
  return applied(target, patch) as T;
}

function applied(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return copy(patch);
  const result: Fields = isObject(target) ? { ...target } : {};
  for (const key of Object.keys(patch)) {
    const value = patch[key];
    if (value === undefined) continue;
    if (value === null) delete result[key];
    else define(result, key, applied(ownField(result, key), value));
  }
  return result;
}

/** Nulls in a new object mean nothing, but a patch would treat them as removals. */
function withoutNulls(value: Fields): Fields {
  const result: Fields = {};
  for (const key of Object.keys(value)) {
    const field = value[key];
    if (field === undefined || field === null) continue;
    define(result, key, isObject(field) ? withoutNulls(field) : copy(field));
  }
  return result;
}
