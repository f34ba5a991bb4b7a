/** From a secondary to its primaries; an empty list means that it has none. */
import { groupOf, joinKey } from '../keys.ts';
import type { Gvk, Key, Obj, OwnerReference, View } from '../types.ts';

/** The primaries of an object; events of an object without primaries are ignored. */
export type Mapper<R extends Obj = Obj> = (obj: View<R>) => readonly Key[];

/** A kind of owners, as owner references identify it. */
export type OwnerKind = Gvk & { readonly namespaced: boolean };

/** The owner of this kind that is the controller of the object; the version in the reference is ignored. */
export const byController =
  (kind: OwnerKind): Mapper =>
  (obj) =>
    ownersOf(obj, kind, (ref) => ref.controller === true);

/** All owners of this kind. */
export const byOwner =
  (kind: OwnerKind): Mapper =>
  (obj) =>
    ownersOf(obj, kind, () => true);

function ownersOf(obj: View<Obj>, kind: OwnerKind, fits: (ref: View<OwnerReference>) => boolean): Key[] {
  const { ownerReferences, namespace } = obj.metadata;
  return (ownerReferences ?? [])
    .filter((ref) => ref.kind === kind.kind && groupOf(ref.apiVersion) === kind.group && fits(ref))
    .map((ref) => joinKey(kind.namespaced ? namespace : undefined, ref.name));
}

/** Which labels or annotations contain the primary's name. */
export interface NamedBy {
  readonly name: string;
  /** Contains the namespace; default: the secondary's own namespace. */
  readonly namespace?: string;
  /** The primary has no namespace. */
  readonly isClusterScoped?: boolean;
}

/** The primary that labels of the object name. */
export const byLabel =
  (keys: NamedBy): Mapper =>
  (obj) =>
    namedBy(obj.metadata.labels, keys, obj);

/** The primary that annotations of the object name. */
export const byAnnotation =
  (keys: NamedBy): Mapper =>
  (obj) =>
    namedBy(obj.metadata.annotations, keys, obj);

function namedBy(values: Readonly<Record<string, string>> = {}, keys: NamedBy, obj: View<Obj>): Key[] {
  const name = values[keys.name];
  if (!name) return [];
  if (keys.isClusterScoped) return [name];
  return [joinKey((keys.namespace && values[keys.namespace]) || obj.metadata.namespace, name)];
}

/** The primary has the name and namespace of the secondary. */
export const bySameName: Mapper = (obj) => [joinKey(obj.metadata.namespace, obj.metadata.name)];

/** The primaries of all mappers. */
export const anyOf =
  <R extends Obj>(...mappers: readonly Mapper<R>[]): Mapper<R> =>
  (obj) => [...new Set(mappers.flatMap((mapper) => mapper(obj)))];
