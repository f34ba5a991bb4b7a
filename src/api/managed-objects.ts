/**
 * Reads which cluster objects a deploy item manages from its provider status: the inventory of the manifest and
 * helm deployers, also of upstream's. The uid of an object is unique across clusters. So two items with the same
 * uid manage the same object, whatever the names of their targets. Pure.
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

/** Index of deploy items by the uids of the objects that they manage. */
export const MANAGED_UID = 'managed-uid';

/** Entries without a uid are skipped: their cluster is unknown, and the object may never have been created. */
export function managedObjects({ status }: View<DeployItem>): readonly ManagedObject[] {
  const list = ownField(status?.providerStatus, 'managedResources');
  if (!Array.isArray(list)) return [];
  return list.flatMap((entry: unknown) => {
    const inner = ownField(entry, 'resource');
    const resource = isObject(inner) ? inner : entry; // entries of version v1alpha1 contain the resource directly, without policies
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

/** Whether the item's objects stay: it is not under deletion, or its deletion skips the uninstall. */
export const keepsObjects = ({ metadata }: View<DeployItem>): boolean =>
  !isBeingDeleted(metadata) || hasAnnotation(metadata, annotations.deleteWithoutUninstall);

/** `namespace/name` */
export const itemKey = ({ metadata: { namespace = '', name } }: View<DeployItem>): string =>
  `${namespace}/${name}`;

/**
 * The items of `managers` that keep an object which `self` manages as well, sorted by namespace and name.
 * @param managers returns the items whose status lists the object
 */
export const othersKeeping = (
  self: View<DeployItem>,
  managers: readonly View<DeployItem>[],
): readonly View<DeployItem>[] =>
  managers
    .filter((other) => itemKey(other) !== itemKey(self) && keepsObjects(other))
    .sort((a, b) => (itemKey(a) < itemKey(b) ? -1 : 1));
