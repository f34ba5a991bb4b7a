/** Expands lists to objects, and sorts objects into three stages that are applied one after the other. Pure. */
import { byCodePoint } from '../../../src/lib/gojson.ts';
import { isObject, ownField } from '../../../src/lib/objects.ts';
import { apiVersionOf } from '../../../src/runtime/keys.ts';
import type { Kind, Obj } from '../../../src/runtime/types.ts';
import {
  CRD_KIND,
  idOf,
  isKubeObject,
  refOf,
  type KubeObject,
  type Manifest,
  type ManagedResource,
} from './model.ts';

/** An element of a list is not an object. */
export class NotAnObject extends Error {
  override readonly name = 'NoObject';
}

/**
 * Replaces every list by its elements, recursively; they inherit policy and hooks. Elements of a typed list, for
 * example a ConfigMapList, may omit apiVersion and kind.
 * @throws NoObject
 */
export function expandLists(manifests: readonly Manifest[]): readonly Manifest[] {
  return manifests.flatMap((manifest) => {
    const items = itemsOf(manifest.object);
    if (!items) return [manifest];
    const elements = items.map((item, i) => {
      const origin = `${manifest.origin ?? manifest.object.kind}.items[${String(i)}]`;
      const object = isObject(item) ? { metadata: {}, ...typeWithin(manifest.object), ...item } : item;
      if (isKubeObject(object) && (object.metadata.name || hasItems(object)))
        return { ...manifest, object, origin };
      throw new NotAnObject(`${origin}: expected an object with apiVersion, kind and metadata.name`);
    });
    return expandLists(elements);
  });
}

/** The elements of a list; undefined for any other object. Go marshals an empty list as null. */
function itemsOf(object: KubeObject): readonly unknown[] | undefined {
  const items = object['items'];
  if (Array.isArray(items)) return items as unknown[];
  return isList(object) && (items === null || items === undefined) ? [] : undefined;
}

/** Whether the object is a list, and so needs no name. */
export const hasItems = (object: KubeObject): boolean => itemsOf(object) !== undefined;

/** Whether the kind is a list kind. The name alone does not decide: a custom kind may be called BlackList. */
const isList = ({ apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>): boolean =>
  apiVersion === 'v1' && kind === 'List';

const typeWithin = ({ apiVersion, kind }: KubeObject): Partial<KubeObject> =>
  !isList({ apiVersion, kind }) && kind.endsWith('List')
    ? { apiVersion, kind: kind.slice(0, -'List'.length) }
    : {};

/** The manifests without those that a later manifest for the same object replaces. */
export function withoutDuplicates<M extends Manifest>(
  manifests: readonly M[],
): { readonly manifests: readonly M[]; readonly duplicates: readonly M[] } {
  const last = new Map(manifests.map((manifest) => [idOf(refOf(manifest.object)), manifest]));
  const isLast = (manifest: M): boolean => last.get(idOf(refOf(manifest.object))) === manifest;
  return {
    manifests: manifests.filter(isLast),
    duplicates: manifests.filter((manifest) => !isLast(manifest)),
  };
}

/** A manifest with its resolved kind. */
export interface ResolvedManifest extends Manifest {
  readonly kind: Kind<Obj>;
  /** Only a CustomResourceDefinition among the manifests has the kind; the cluster does not serve it yet. */
  readonly isNewKind?: true;
}

export const stages = ['crds', 'cluster', 'namespaced'] as const;
type Stage = (typeof stages)[number];

export const stageOf = ({ object, kind }: ResolvedManifest): Stage => {
  if (object.kind === CRD_KIND) return 'crds';
  return kind.namespaced ? 'namespaced' : 'cluster';
};

/**
 * Kinds without which the API server refuses others: it checks a binding against its role, and a pod needs its namespace,
 * account, class and priority.
 */
const NEEDED: ReadonlySet<string> = new Set([
  '/Namespace',
  '/ServiceAccount',
  'node.k8s.io/RuntimeClass',
  'rbac.authorization.k8s.io/ClusterRole',
  'rbac.authorization.k8s.io/Role',
  'scheduling.k8s.io/PriorityClass',
]);

/** Objects that are written in parallel: first those that others need, then the others. */
export function inSteps<T>(
  objects: readonly T[],
  kindOf: (object: T) => Pick<Kind, 'group' | 'kind'>,
): readonly (readonly T[])[] {
  const isNeeded = (object: T): boolean => {
    const { group, kind } = kindOf(object);
    return NEEDED.has(`${group}/${kind}`);
  };
  return [objects.filter(isNeeded), objects.filter((object) => !isNeeded(object))];
}

/** The kind that a CustomResourceDefinition among the manifests defines. */
export const kindFromCrds = (
  crds: readonly KubeObject[],
  apiVersion: string,
  kind: string,
): Kind<Obj> | undefined =>
  crds.flatMap(kindsOfCrd).find((one) => apiVersionOf(one) === apiVersion && one.kind === kind);

/** The kind that a CustomResourceDefinition defines, in each version that is served. */
export function kindsOfCrd(crd: KubeObject): readonly Kind<Obj>[] {
  const spec = ownField(crd, 'spec');
  const names = ownField(spec, 'names');
  const [group, kind, plural] = [ownField(spec, 'group'), ownField(names, 'kind'), ownField(names, 'plural')];
  const versions = ownField(spec, 'versions');
  if (typeof group !== 'string' || typeof kind !== 'string' || typeof plural !== 'string') return [];
  const namespaced = ownField(spec, 'scope') !== 'Cluster';
  return (Array.isArray(versions) ? versions : []).flatMap((one: unknown) => {
    const [version, served] = [ownField(one, 'name'), ownField(one, 'served')];
    return typeof version === 'string' && served !== false
      ? [{ group, version, kind, plural, namespaced }]
      : [];
  });
}

/** In the order of the inventory: by kind, namespace, name. */
export const sorted = (entries: readonly ManagedResource[]): ManagedResource[] =>
  [...entries].sort(
    (a, b) =>
      byCodePoint(a.resource.kind, b.resource.kind) ||
      byCodePoint(a.resource.namespace ?? '', b.resource.namespace ?? '') ||
      byCodePoint(a.resource.name, b.resource.name),
  );
