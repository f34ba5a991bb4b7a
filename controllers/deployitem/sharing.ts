/** Reports cluster objects that more than one deploy item manages. Pure. */
import { conditionReasons, conditionTypes } from '../../src/api/conditions.ts';
import { isBeingDeleted, isFinished } from '../../src/api/job.ts';
import type { DeployItem } from '../../src/api/kinds/deployitem.ts';
import {
  first,
  isKeptByOthers,
  itemKey,
  managedObjects,
  othersKeeping,
  type ManagedObject,
} from '../../src/api/managed-objects.ts';
import type { Condition } from '../../src/api/shared.ts';
import { mergeConditions } from '../../src/machine/status.ts';
import type { View } from '../../src/runtime/types.ts';

/** Returns the items whose status lists the object with this uid. */
export type ManagersOf = (uid: string) => Iterable<View<DeployItem>>;

export interface SharingChange {
  /** The complete list of conditions to write. */
  readonly conditions: readonly View<Condition>[];
  readonly reason: string;
  readonly message: string;
}

/** Maximum number of objects that a message lists, and of items per object. */
const MAX_LISTED = 5;

/** The condition and the event to write; undefined if the condition is up to date or the item's job is unfinished. */
export function sharingChange(
  self: View<DeployItem>,
  managersOf: ManagersOf,
  now: string,
): SharingChange | undefined {
  if (!isFinished(self) || isBeingDeleted(self.metadata)) return undefined;
  const before = self.status?.conditions ?? [];
  const type = conditionTypes.SharedObjects;
  const known = before.find((condition) => condition.type === type);
  const message = sharedText(self, managersOf);
  if (message === known?.message) return undefined;
  const reason = conditionReasons.ManagedByOthers;
  if (message !== undefined) {
    const change = { type, status: 'True', reason, message } as const;
    return { conditions: mergeConditions(before, [change], now), reason, message };
  }
  return {
    conditions: before.filter((condition) => condition.type !== type),
    reason: 'NoSharedObjects',
    message: 'no other deploy item manages the objects of this item',
  };
}

function sharedText(self: View<DeployItem>, managersOf: ManagersOf): string | undefined {
  const shared = managedObjects(self).filter(({ uid }) => isKeptByOthers(self, managersOf(uid)));
  if (shared.length === 0) return undefined;
  const describe = (object: ManagedObject): string =>
    `${nameOf(object)} (${listed(othersKeeping(self, managersOf(object.uid)), itemKey)})`;
  return (
    `other deploy items also manage objects of this item: ${listed(shared, describe)}; the last job overwrites their content, ` +
    'and an object is deleted only with the last of these items'
  );
}

const nameOf = ({ kind, namespace, name }: ManagedObject): string =>
  `${kind} ${namespace === '' ? '' : `${namespace}/`}${name}`;

function listed<T>(all: readonly T[], textOf: (one: T) => string): string {
  const more = all.length - MAX_LISTED;
  return all.slice(0, MAX_LISTED).map(textOf).join(', ') + (more > 0 ? ` and ${String(more)} more` : '');
}

/** Whether the item manages shared objects, or still has the condition that says so. */
export const isSharing = (self: View<DeployItem>, managersOf: ManagersOf): boolean =>
  (self.status?.conditions ?? []).some(({ type }) => type === conditionTypes.SharedObjects) ||
  managedObjects(self).some(({ uid }) => first(managersOf(uid), 2).length > 1);
