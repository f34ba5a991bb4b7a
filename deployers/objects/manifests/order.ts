/** Lists become objects, and objects become three groups that are applied one after the other. Pure. */
import { byCodePoint } from '../../../src/lib/gojson.ts';
import { isObject, ownField } from '../../../src/lib/objects.ts';
import type { Kind, Obj } from '../../../src/runtime/types.ts';
import {
  CRD_KIND,
  groupOf,
  idOf,
  isKubeObject,
  refOf,
  type KubeObject,
  type Manifest,
  type ManagedResource,
} from './model.ts';

/** An element of a list is no object. */
export class NoObject extends Error {
  override readonly name = 'NoObject';
}

/**
 * Every list replaced by its elements, which inherit policy and hooks; lists within lists, too. Elements of a typed list,
 * such as a ConfigMapList, may leave version and kind to it.
 * @throws NoObject
 */
export function expanded(manifests: readonly Manifest[]): readonly Manifest[] {
  return manifests.flatMap((manifest) => {
    const items = itemsOf(manifest.object);
    if (!items) return [manifest];
    const elements = items.map((item, i) => {
      const origin = `${manifest.origin ?? manifest.object.kind}.items[${String(i)}]`;
      const object = isObject(item) ? { metadata: {}, ...typeWithin(manifest.object), ...item } : item;
      if (isKubeObject(object) && (object.metadata.name || hasItems(object)))
        return { ...manifest, object, origin };
      throw new NoObject(`${origin}: expected an object with apiVersion, kind and metadata.name`);
    });
    return expanded(elements);
  });
}

/** The elements of a list; undefined for anything else. Null is how Go writes a list of nothing. */
function itemsOf(object: KubeObject): readonly unknown[] | undefined {
  const items = object['items'];
  if (Array.isArray(items)) return items as unknown[];
  return isList(object) && (items === null || items === undefined) ? [] : undefined;
}

/** Whether the object stands for others, and so needs no name. */
export const hasItems = (object: KubeObject): boolean => itemsOf(object) !== undefined;

/** Whether the kind is that of lists in general. Kinds of others may well be called BlackList. */
const isList = ({ apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>): boolean =>
  apiVersion === 'v1' && kind === 'List';

const typeWithin = ({ apiVersion, kind }: KubeObject): Partial<KubeObject> =>
  !isList({ apiVersion, kind }) && kind.endsWith('List')
    ? { apiVersion, kind: kind.slice(0, -'List'.length) }
    : {};

/** The manifests without those that a later one replaces, because both are about the same object. */
export function withoutDoubles<M extends Manifest>(
  manifests: readonly M[],
): { readonly manifests: readonly M[]; readonly doubles: readonly M[] } {
  const last = new Map(manifests.map((manifest) => [idOf(refOf(manifest.object)), manifest]));
  const isLast = (manifest: M): boolean => last.get(idOf(refOf(manifest.object))) === manifest;
  return {
    manifests: manifests.filter(isLast),
    doubles: manifests.filter((manifest) => !isLast(manifest)),
  };
}

/** A manifest whose kind has been found. */
export interface Placed extends Manifest {
  readonly kind: Kind<Obj>;
}

export const stages = ['crds', 'cluster', 'namespaced'] as const;
type Stage = (typeof stages)[number];

export const stageOf = ({ object, kind }: Placed): Stage => {
  if (object.kind === CRD_KIND) return 'crds';
  return kind.namespaced ? 'namespaced' : 'cluster';
};

/** The place in the API that a CustomResourceDefinition among the manifests gives to a kind. */
export function kindFromCrds(
  crds: readonly KubeObject[],
  apiVersion: string,
  kind: string,
): Kind<Obj> | undefined {
  const version = apiVersion.slice(apiVersion.indexOf('/') + 1);
  for (const crd of crds) {
    const spec = ownField(crd, 'spec');
    const names = ownField(spec, 'names');
    if (ownField(spec, 'group') !== groupOf(apiVersion) || ownField(names, 'kind') !== kind) continue;
    const versions = ownField(spec, 'versions');
    const isServed = Array.isArray(versions) && versions.some((v) => isObject(v) && v['name'] === version);
    const plural = ownField(names, 'plural');
    if (!isServed || typeof plural !== 'string') continue;
    return {
      group: groupOf(apiVersion),
      version,
      kind,
      plural,
      namespaced: ownField(spec, 'scope') !== 'Cluster',
    };
  }
  return undefined;
}

/** In the order of the inventory: by kind, namespace, name. */
export const sorted = (entries: readonly ManagedResource[]): ManagedResource[] =>
  [...entries].sort(
    (a, b) =>
      byCodePoint(a.resource.kind, b.resource.kind) ||
      byCodePoint(a.resource.namespace ?? '', b.resource.namespace ?? '') ||
      byCodePoint(a.resource.name, b.resource.name),
  );
