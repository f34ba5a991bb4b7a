/**
 * Transforms for `CacheOptions.transform`, which remove fields before objects are stored. A transform is called once
 * for each event, with its own copy of the object, which it may change.
 */
import { isObject, type Fields } from '../../lib/objects.ts';
import type { Obj } from '../types.ts';

/** Changes an object before it is stored. Called once for each event, with its own copy. */
export type Transform = <T extends Obj>(obj: T) => T;

/** Removes managed fields, which can have hundreds of kilobytes. The default transform. */
export function dropManagedFields<T extends Obj>(obj: T): T {
  delete obj.metadata.managedFields;
  return obj;
}

const keepers = new Map<string, <T extends Obj>(obj: T) => T>();

/**
 * A transform that keeps only the managed fields of `manager`, which comparisons with an applied intent need. The
 * same argument returns the same function, so that caches with it are shared.
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

/** Whether objects keep the managed fields of `manager`; also true if it cannot be determined. */
export function keepsFieldsOf<T extends Obj>(manager: string, transform: (obj: T) => T): boolean {
  const entry = { manager, operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: {} };
  const probe = { apiVersion: 'v1', kind: 'Probe', metadata: { name: 'probe', managedFields: [entry] } };
  try {
    return (transform(probe as unknown as T).metadata.managedFields ?? []).length > 0;
  } catch {
    return true;
  }
}

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** Removes kubectl's annotation with a second copy of the object. */
export const dropLastApplied: Transform = (obj) => {
  const { annotations } = obj.metadata;
  if (annotations) delete annotations[LAST_APPLIED];
  return obj;
};

/**
 * Keeps only the named fields, identity, and metadata without managed fields.
 * @param paths names joined by dots, such as `status.phase`; lists are kept completely
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

/** Combines several transforms, in this order. */
export const pipe =
  (...transforms: readonly Transform[]): Transform =>
  (obj) =>
    transforms.reduce((each, transform) => transform(each), obj);

function project(from: Fields, to: Fields, [name = '', ...rest]: readonly string[]): void {
  const value = from[name];
  // A field that is already kept completely needs no part of it.
  if (value === undefined || to[name] === value) return;
  if (rest.length === 0 || !isObject(value)) {
    to[name] = value;
    return;
  }
  const inner = isObject(to[name]) ? to[name] : {};
  to[name] = inner;
  project(value, inner, rest);
}
