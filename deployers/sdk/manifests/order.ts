/** Lists become objects, and objects become three groups that are applied one after the other. Pure. */
import { byCodePoint } from '../../../src/lib/gojson.ts';
import { isObject, ownField } from '../../../src/lib/objects.ts';
import type { Kind, Obj } from '../../../src/runtime/types.ts';
import {
  CRD_KIND,
  groupOf,
  isKubeObject,
  type KubeObject,
  type Manifest,
  type ManagedResource,
} from './model.ts';

/** An element of a list is no object. */
export class NoObject extends Error {
  override readonly name = 'NoObject';
}

/** Every object with `items` replaced by its elements, which inherit policy and hooks. @throws NoObject */
export function expanded(manifests: readonly Manifest[]): readonly Manifest[] {
  return manifests.flatMap((manifest) => {
    const items = manifest.object['items'];
    if (!Array.isArray(items)) return [manifest];
    return items.map((item: unknown, i) => {
      if (isKubeObject(item)) return { ...manifest, object: item };
      throw new NoObject(
        `element ${String(i)} of the ${manifest.object.kind} is no object with apiVersion, kind and metadata`,
      );
    });
  });
}

/** A manifest whose kind has been found. */
export interface Placed extends Manifest {
  readonly kind: Kind<Obj>;
}

export const stages = ['crds', 'cluster', 'namespaced'] as const;
export type Stage = (typeof stages)[number];

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
