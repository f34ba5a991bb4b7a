/** Keys: the names of objects in queues and caches. */
import type { Gvk, Key, View, Obj } from './types.ts';

/** `namespace/name`, or `name` for a cluster-scoped object. */
export const keyOf = (obj: View<Obj>): Key => joinKey(obj.metadata.namespace, obj.metadata.name);

/** The key of a name in a namespace, or of a name without one. */
export const joinKey = (namespace: string | undefined, name: string): Key =>
  namespace ? `${namespace}/${name}` : name;

/** The parts of a key; no namespace for a cluster-scoped object. */
export function splitKey(key: Key): { readonly namespace?: string; readonly name: string } {
  const slash = key.indexOf('/');
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** The namespace of a key; empty for a cluster-scoped object. */
export const namespaceOf = (key: Key): string => splitKey(key).namespace ?? '';

/** `group/version`, or `version` for the core group. */
export const apiVersionOf = (gvk: Gvk): string => (gvk.group ? `${gvk.group}/${gvk.version}` : gvk.version);

/** The group in an `apiVersion`; empty for the core group. */
export const groupOf = (apiVersion: string): string =>
  apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';

/** Whether group, version and kind are equal. */
export const isSameKind = (a: Gvk, b: Gvk): boolean =>
  a.kind === b.kind && a.group === b.group && a.version === b.version;
