/**
 * Describes what an execution waits for. Items that are not picked up within seconds are reported with their
 * missing deployer, long before the pickup timeout. Pure.
 */
import { smallest } from '../../src/lib/lists.ts';
import { isFinished } from '../../src/api/job.ts';
import { named, type Awaited, type WaitReason } from '../../src/machine/decision.ts';
import { obstacleAmong } from '../../src/machine/obstacles.ts';
import { isPickedUp } from '../../src/landscape/pickup.ts';
import type { Item } from './classify.ts';
import type { Snapshot } from './snapshot.ts';

/** A running deployer picks up an item within seconds. */
const PICKED_UP_WITHIN_MS = 10_000;

interface Wait {
  readonly awaited: Awaited;
  readonly requeueAfterMs?: number;
}

/** @param starting the items that receive the job in this reconcile */
export function awaiting(
  { self, now, missingDeployer }: Pick<Snapshot, 'self' | 'now' | 'missingDeployer'>,
  reason: WaitReason,
  items: readonly Item[],
  starting: readonly Item[],
): Wait {
  const started = new Set(starting);
  const left = (item: Item): number => {
    if (started.has(item)) return PICKED_UP_WITHIN_MS;
    if (isFinished(item) || isPickedUp(item)) return Infinity;
    const since = item.status?.jobIDGenerationTime;
    return since === undefined ? Infinity : PICKED_UP_WITHIN_MS - (Date.parse(now) - Date.parse(since));
  };
  const pickUpMs = smallest(items.map(left).filter((ms) => ms > 0));
  const overdue = items.filter((item) => left(item) <= 0);
  const message = firstMissingDeployer(overdue, missingDeployer);
  const { obstacle, requeueAfterMs: obstacleMs = Infinity } = obstacleAmong(items, self.status ?? {}, now);
  const requeueAfterMs = Math.min(pickUpMs, obstacleMs);
  return {
    awaited:
      message === undefined
        ? (obstacle ?? { reason, objects: items.map(named) })
        : { reason: 'NotTakenUp', message },
    ...(requeueAfterMs !== Infinity && { requeueAfterMs }),
  };
}

/** The message for the first item without a deployer. */
function firstMissingDeployer(
  overdue: readonly Item[],
  missingDeployer: Snapshot['missingDeployer'],
): string | undefined {
  const handled = new Set<string>();
  for (const item of overdue) {
    const { type } = item.spec;
    const missing = handled.has(type) ? undefined : missingDeployer(type);
    if (missing !== undefined) return `${named(item)} is not picked up: ${missing}`;
    handled.add(type);
  }
  return undefined;
}

/**
 * Why no deployer picks up items of this type. Deployers in other processes do not register; the only trace of them
 * is their name in the status of items that they picked up.
 * @param handled types that the deployers of this process handle
 * @param former name of a deployer that has picked up an item of this type
 * @returns undefined if a deployer of this process handles the type
 */
export function missingDeployerText(
  type: string,
  handled: ReadonlySet<string>,
  former: string | undefined,
): string | undefined {
  if (handled.has(type)) return undefined;
  const here = `no deployer in this process handles type ${type}${handled.size > 0 ? ` (only ${[...handled].join(', ')})` : ''}`;
  if (former !== undefined)
    return `${here}, and deployer ${former}, which handled the type before, has not picked it up yet`;
  return `${here}, and no deployer has ever picked up an item of this type`;
}
