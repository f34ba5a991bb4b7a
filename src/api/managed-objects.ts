/**
 * Which objects of clusters a deploy item manages, as its provider status says: the inventory of the manifest and the
 * helm deployer, whoever wrote it. The uid of an object is unique across clusters, so it tells whether two items mean
 * the same one, whatever their targets are called. Pure.
 */
import { isObject, ownField, type View } from '../lib/objects.ts';
import { hasAnnotation, isBeingDeleted } from './job.ts';
import type { DeployItem } from './kinds/deployitem.ts';
import { annotations } from './labels.ts';

export interface ManagedObject {
  readonly uid: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
}

/** Index over deploy items: the uids of the objects that each manages. */
export const MANAGED_UID = 'managed-uid';

/** Entries without a uid are left out: their cluster is unknown, and they may never have been created. */
export function managedObjects({ status }: View<DeployItem>): readonly ManagedObject[] {
  const list = ownField(status?.providerStatus, 'managedResources');
  if (!Array.isArray(list)) return [];
  return list.flatMap((entry: unknown) => {
    const inner = ownField(entry, 'resource');
    const resource = isObject(inner) ? inner : entry; // version v1alpha1 has no policies around them
    const text = (field: string): string => {
      const value = ownField(resource, field);
      return typeof value === 'string' ? value : '';
    };
    const uid = text('uid');
    return uid === '' ? [] : [{ uid, kind: text('kind'), name: text('name'), namespace: text('namespace') }];
  });
}

export const managedUids = (item: View<DeployItem>): readonly string[] => [
  ...new Set(managedObjects(item).map(({ uid }) => uid)),
];

/** Whether what the item manages is going to stay: it stays, or it is deleted without being uninstalled. */
export const isKeeping = ({ metadata }: View<DeployItem>): boolean =>
  !isBeingDeleted(metadata) || hasAnnotation(metadata, annotations.deleteWithoutUninstall);

/** `namespace/name` */
export const itemKey = ({ metadata: { namespace = '', name } }: View<DeployItem>): string =>
  `${namespace}/${name}`;

/**
 * Those of `managers` that keep an object which `self` manages as well, by namespace and name.
 * @param managers items whose status names the object
 */
export const othersKeeping = (
  self: View<DeployItem>,
  managers: readonly View<DeployItem>[],
): readonly View<DeployItem>[] =>
  managers
    .filter((other) => itemKey(other) !== itemKey(self) && isKeeping(other))
    .sort((a, b) => (itemKey(a) < itemKey(b) ? -1 : 1));
