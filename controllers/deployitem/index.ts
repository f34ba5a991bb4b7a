/**
 * The deploy item controller. It ends the jobs of items that no deployer picks up, that are invalid, or that a user
 * interrupts, and releases items that were created after their execution was gone. It also reports which objects of an
 * item are managed by other items as well.
 */
import { conditionTypes } from '../../src/api/conditions.ts';
import { hasOperation, isFinished } from '../../src/api/job.ts';
import { operations } from '../../src/api/labels.ts';
import { deployItemKind, type DeployItem } from '../../src/api/kinds/deployitem.ts';
import { timestamp, type Clock } from '../../src/lib/clock.ts';
import {
  MANAGED_UID,
  MAX_OTHERS,
  first,
  keepsObjects,
  managedUids,
  managersIn,
} from '../../src/api/managed-objects.ts';
import { equal } from '../../src/lib/json.ts';
import { removeFinalizer } from '../../src/machine/decision.ts';
import { Applier, lockedPatch, type PatchPorts } from '../../src/machine/apply.ts';
import type { AddReadiness } from '../../src/machine/readiness.ts';
import { missedExecution } from '../../src/landscape/abandoned.ts';
import { isPickedUp } from '../../src/landscape/pickup.ts';
import { index, type World } from '../../src/landscape/world.ts';
import type { ControllerSpec } from '../../src/runtime/controller/controller.ts';
import { joinKey, keyOf } from '../../src/runtime/keys.ts';
import { watchSource } from '../../src/runtime/sources/sources.ts';
import type { Client, Context, Key, View } from '../../src/runtime/types.ts';
import { interruptRequested, decidePickup } from './decide.ts';
import { isLate, lacksExecution } from './late.ts';
import { isSharing, sharingChange, type ManagersOf, type SharingChange } from './sharing.ts';

interface DeployItemPorts {
  readonly world: Pick<World, 'deployItems' | 'executions' | 'targets'>;
  readonly client: Client;
  readonly clock: Clock;
  /** 0 disables the check. */
  readonly pickupTimeoutMs: number;
  readonly workers?: number;
  /** Completes the status of every write. */
  readonly readiness?: AddReadiness;
}

export function deployItemController(ports: DeployItemPorts): ControllerSpec<DeployItem> {
  const { world, client, clock, pickupTimeoutMs, readiness } = ports;
  world.deployItems.index(MANAGED_UID, managedUids);
  const managersOf: ManagersOf = (uid) => managersIn(world.deployItems, uid);
  // Without readiness, nothing here could renew the conditions.
  const isOutdated = (self: View<DeployItem>): boolean =>
    readiness !== undefined && isReadinessOutdated(self);
  const isOurs = (self: View<DeployItem>): boolean =>
    hasWork(self) || isOutdated(self) || isSharing(self, managersOf) || lacksExecution(world, self);
  // While the initial list is processed, other managers of the same objects may not be in the index yet. The
  // reconcile finds them all.
  const mayShare = (self: View<DeployItem>): boolean => managedUids(self).length > 0;
  return {
    name: 'deployitem',
    kind: deployItemKind,
    finalizer: { handledBy: 'reconciler' },
    generation: 'off',
    retry: 'growing',
    ...(ports.workers && { maxConcurrent: ports.workers }),
    filter: {
      add: (item, initial) => isOurs(item) || (initial && mayShare(item)),
      update: (_old, item) => isOurs(item),
    },
    sources: sourcesIn(world),
    reconciler: {
      async reconcile(self, ctx) {
        const now = timestamp(clock);
        const patchPorts = { write: ctx.write, signal: ctx.signal, ...(readiness && { readiness }) };
        const read = (...[kind, key]: Parameters<Client['get']>) => client.get(kind, key, ctx.signal);
        const applier = new Applier({ ...patchPorts, read });
        const interrupt = interruptRequested({ self, now });
        if (interrupt) {
          for (const effect of interrupt) await applier.carryOut(effect);
          return { write: 'none' };
        }
        if (await isLate(ports, self, ctx.signal)) {
          await applier.carryOut(removeFinalizer(deployItemKind, self));
          return { write: 'none' };
        }
        const decision = decidePickup({
          self,
          now,
          pickupTimeoutMs,
          missingTarget: missingTarget(world, self),
        });
        if (decision.do === 'requeue') return { write: 'none', requeueAfterMs: decision.requeueAfterMs };
        if (decision.do === 'fail') {
          await applier.carryOut(decision.effect);
          ctx.event('Warning', decision.problem.reason, decision.problem.message);
          return { write: 'none' };
        }
        if (isOutdated(self)) await lockedPatch(deployItemKind, self, { status: {} }, patchPorts, 'status');
        else await reportSharing(self, sharingChange(self, managersOf, now), patchPorts, ctx);
        return { write: 'none' };
      },
    },
  };
}

/** What concerns an item besides its own changes. */
const sourcesIn = (world: DeployItemPorts['world']): NonNullable<ControllerSpec<DeployItem>['sources']> => [
  watchSource({
    name: 'managers-of-the-same-objects',
    cache: world.deployItems,
    filter: { update: changesOwnership },
    // This mapping looks up the affected items in the index when the event arrives; it needs no index of its
    // own.
    toPrimary: (item) => managersOfAny(managedUids(item), world.deployItems),
    toSecondary: () => [],
    ownEvents: 'deliver',
  }),
  watchSource({
    name: 'executions-that-are-gone',
    cache: world.executions,
    filter: { add: () => false, update: () => false },
    toPrimary: (execution) =>
      world.deployItems
        .byIndex(index.managedBy, keyOf(execution))
        .filter((item) => missedExecution(item) !== undefined)
        .map(keyOf),
  }),
];

/** Of each object, only some of the items that manage it: thousands of them would be as many reconciles each. */
const managersOfAny = (
  uids: readonly string[],
  items: Pick<World['deployItems'], 'keysByIndex'>,
): readonly Key[] => [
  ...new Set(uids.flatMap((uid) => first(items.keysByIndex(MANAGED_UID, uid), MAX_OTHERS))),
];

async function reportSharing(
  self: View<DeployItem>,
  sharing: SharingChange | undefined,
  ports: PatchPorts,
  ctx: Context<DeployItem>,
): Promise<void> {
  if (!sharing) return;
  const { conditions, reason, message } = sharing;
  const body = { status: { conditions: conditions.length > 0 ? conditions : null } };
  await lockedPatch(deployItemKind, self, body, ports, 'status');
  ctx.event('Normal', reason, message);
}

/** Name of the item's target if the target does not exist. */
function missingTarget(
  { targets }: Pick<World, 'targets'>,
  { metadata, spec }: View<DeployItem>,
): string | undefined {
  const name = spec.target?.name;
  return name !== undefined && !targets.get(joinKey(metadata.namespace, name)) ? name : undefined;
}

/**
 * Whether the change affects other managers of the same objects: the set of managed objects has changed, or whether
 * the item keeps them.
 */
const changesOwnership = (old: View<DeployItem>, item: View<DeployItem>): boolean =>
  keepsObjects(old) !== keepsObjects(item) || !equal(managedUids(old), managedUids(item));

/** A deployer that does not know the conditions has ended the job. */
const isReadinessOutdated = (self: View<DeployItem>): boolean =>
  isFinished(self) && (self.status?.conditions ?? []).some(({ type }) => type === conditionTypes.Reconciling);

const hasWork = (self: View<DeployItem>): boolean =>
  (!isFinished(self) && !isPickedUp(self)) || hasOperation(self.metadata, operations.interrupt);
