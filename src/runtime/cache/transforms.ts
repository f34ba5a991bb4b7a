/**
 * What caches may leave out of the objects they store, for `CacheOptions.transform`. A transform gets an object of its
 * own, may change it, and is asked once for each event.
 */
import { isObject, type Fields } from '../../lib/objects.ts';
import type { Obj } from '../types.ts';

/** Changes an object before it is stored; it gets an object of its own, and is asked once for each event. */
export type Transform = <T extends Obj>(obj: T) => T;

/** Hundreds of kilobytes of a status nobody reads; the default transform. */
export function dropManagedFields<T extends Obj>(obj: T): T {
  delete obj.metadata.managedFields;
  return obj;
}

const keepers = new Map<string, <T extends Obj>(obj: T) => T>();

/**
 * A transform that leaves of the managed fields what `manager` has applied: what comparing with an applied intent takes.
 * Asking twice gives the same function, so that caches with it are shared.
 */
export function keepAppliedBy(manager: string): <T extends Obj>(obj: T) => T {
  let keep = keepers.get(manager);
  if (!keep) {
    keep = (obj) => {
      const entries = (obj.metadata.managedFields ?? []) as { manager?: string; operation?: string }[];
      obj.metadata.managedFields = entries.filter((e) => e.manager === manager && e.operation === 'Apply');
      return obj;
    };
    keepers.set(manager, keep);
  }
  return keep;
}

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** Drops what kubectl keeps for itself: a second copy of the whole object. */
export const dropLastApplied: Transform = (obj) => {
  const { annotations } = obj.metadata;
  if (annotations) delete annotations[LAST_APPLIED];
  return obj;
};

/**
 * Keeps the named fields, besides identity and metadata without managed fields.
 * @param paths names joined by dots, such as `status.phase`; lists are kept whole
 */
export const keepFields = (...paths: readonly string[]): Transform => {
  const wanted = paths.map((path) => path.split('.'));
  return <T extends Obj>(obj: T): T => {
    const { apiVersion, kind, metadata } = dropManagedFields(obj);
    const result: Fields = { apiVersion, kind, metadata };
    for (const path of wanted) project(obj as unknown as Fields, result, path);
    return result as unknown as T;
  };
};

/** Several transforms, one after the other. */
export const pipe =
  (...transforms: readonly Transform[]): Transform =>
  (obj) =>
    transforms.reduce((each, transform) => transform(each), obj);

function project(from: Fields, to: Fields, [name = '', ...rest]: readonly string[]): void {
  const value = from[name];
  // What is there whole already needs no part of it.
  if (value === undefined || to[name] === value) return;
  if (rest.length === 0 || !isObject(value)) {
    to[name] = value;
    return;
  }
  const inner = isObject(to[name]) ? to[name] : {};
  to[name] = inner;
  project(value, inner, rest);
}
