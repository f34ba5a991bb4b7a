/** From a secondary to the primaries it concerns; an empty answer means that it concerns none. */
import { groupOf, joinKey } from '../keys.ts';
import type { Gvk, Key, Obj, OwnerReference, View } from '../types.ts';

/** Says which primaries an object concerns; none makes its events irrelevant. */
export type Mapper<R extends Obj = Obj> = (obj: View<R>) => readonly Key[];

/** A kind of owners, as far as owner references tell. */
export type OwnerKind = Gvk & { readonly namespaced: boolean };

/** The owner of this kind that controls the object; versions of the kind's group do not matter. */
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

/** Where to find the primary's name among labels or annotations. */
export interface NamedBy {
  readonly name: string;
  /** Holds the namespace; without it the secondary's own namespace counts. */
  readonly namespace?: string;
  /** The primary has no namespace. */
  readonly isClusterScoped?: boolean;
}

/** The primaries that labels of the object name. */
export const byLabel =
  (keys: NamedBy): Mapper =>
  (obj) =>
    namedBy(obj.metadata.labels, keys, obj);

/** The primaries that annotations of the object name. */
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

/** Every primary that one of the mappers names. */
export const anyOf =
  <R extends Obj>(...mappers: readonly Mapper<R>[]): Mapper<R> =>
  (obj) => [...new Set(mappers.flatMap((mapper) => mapper(obj)))];
