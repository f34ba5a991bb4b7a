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

/**
 * Includes the objects that stay on other clusters. Entries without a uid are skipped: their cluster is unknown, and the
 * object may never have been created.
 */
export const managedObjects = ({ status }: View<DeployItem>): readonly ManagedObject[] => [
  ...managedIn(status?.providerStatus),
  ...(status?.leftBehind ?? []).flatMap(({ providerStatus }) => managedIn(providerStatus)),
];

/** The entries of the inventory in a provider status. */
export function entriesIn(providerStatus: unknown): readonly unknown[] {
  const list = ownField(providerStatus, 'managedResources');
  return Array.isArray(list) ? (list as readonly unknown[]) : [];
}

/** The object of an entry. Entries of version v1alpha1 contain it directly, without policies. */
export function resourceOf(entry: unknown): unknown {
  const inner = ownField(entry, 'resource');
  return isObject(inner) ? inner : entry;
}

/** A field of an object of an entry; empty if it is not a string. */
export function textIn(value: unknown, field: string): string {
  const text = ownField(value, field);
  return typeof text === 'string' ? text : '';
}

const managedIn = (providerStatus: unknown): readonly ManagedObject[] =>
  entriesIn(providerStatus).flatMap((entry) => {
    const resource = resourceOf(entry);
    const text = (field: keyof ManagedObject): string => textIn(resource, field);
    const uid = text('uid');
    return uid === '' ? [] : [{ uid, kind: text('kind'), name: text('name'), namespace: text('namespace') }];
  });

export const managedUids = (item: View<DeployItem>): readonly string[] => [
  ...new Set(managedObjects(item).map(({ uid }) => uid)),
];

/** Whether the item's objects stay: it is not under deletion, or its deletion skips the uninstall. */
export const keepsObjects = ({ metadata }: View<DeployItem>): boolean =>
  !isBeingDeleted(metadata) || hasAnnotation(metadata, annotations.deleteWithoutUninstall);

/** `namespace/name` */
export const itemKey = ({ metadata: { namespace = '', name } }: View<DeployItem>): string =>
  `${namespace}/${name}`;

/** A cache of deploy items with the index. */
interface IndexedItems {
  keysByIndex(index: string, value: string): Iterable<string>;
  get(key: string): View<DeployItem> | undefined;
}

/** The items whose status lists the object with this uid; read one by one, since a tenant chooses their number. */
export function* managersIn(items: IndexedItems, uid: string): Generator<View<DeployItem>> {
  for (const key of items.keysByIndex(MANAGED_UID, uid)) {
    const item = items.get(key);
    if (item) yield item;
  }
}

function* keepers(self: View<DeployItem>, managers: Iterable<View<DeployItem>>): Generator<View<DeployItem>> {
  const own = itemKey(self);
  for (const other of managers) if (itemKey(other) !== own && keepsObjects(other)) yield other;
}

/** Maximum number of other items that are looked up for one object. */
export const MAX_OTHERS = 20;

/**
 * The items of `managers` that keep an object which `self` manages as well, sorted by namespace and name; if there are
 * very many, some of them.
 * @param managers the items whose status lists the object
 */
export const othersKeeping = (
  self: View<DeployItem>,
  managers: Iterable<View<DeployItem>>,
): readonly View<DeployItem>[] =>
  first(keepers(self, managers), MAX_OTHERS).sort((a, b) => (itemKey(a) < itemKey(b) ? -1 : 1));

/** Whether there are such items. */
export const isKeptByOthers = (self: View<DeployItem>, managers: Iterable<View<DeployItem>>): boolean =>
  first(keepers(self, managers), 1).length > 0;

/** The first elements. */
export function first<T>(all: Iterable<T>, count: number): T[] {
  const found: T[] = [];
  for (const one of all) if (found.push(one) >= count) break;
  return found;
}
