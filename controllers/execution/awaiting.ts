/**
 * What an execution waits for. After a short while it says who is missing: a deployer that serves an item's type may never
 * have been started, and the time in which items must be taken up is long. Pure.
 */
import { smallest } from '../../src/lib/lists.ts';
import { isFinished } from '../../src/api/job.ts';
import type { ConditionReason } from '../../src/api/conditions.ts';
import { named, type Awaited } from '../../src/machine/decision.ts';
import { isPickedUp } from '../../src/landscape/pickup.ts';
import type { Item } from './classify.ts';
import type { Snapshot } from './snapshot.ts';

/** Deployers that are there take items up within seconds. */
const SHORT_WHILE_MS = 10_000;

interface Wait {
  readonly awaited: Awaited;
  readonly requeueAfterMs?: number;
}

/** @param starting those of the items that are only now given the job */
export function awaiting(
  { now, missingDeployer }: Pick<Snapshot, 'now' | 'missingDeployer'>,
  reason: ConditionReason,
  items: readonly Item[],
  starting: readonly Item[],
): Wait {
  const left = (item: Item): number => {
    if (starting.includes(item)) return SHORT_WHILE_MS;
    if (isFinished(item) || isPickedUp(item)) return Infinity;
    const since = item.status?.jobIDGenerationTime;
    return since === undefined ? Infinity : SHORT_WHILE_MS - (Date.parse(now) - Date.parse(since));
  };
  const objects = items.map(named);
  const requeueAfterMs = smallest(items.map(left).filter((ms) => ms > 0));
  const overdue = items.filter((item) => left(item) <= 0);
  const note = firstNote(overdue, missingDeployer);
  return {
    awaited: note === undefined ? { reason, objects } : { reason: 'NotTakenUp', objects, note },
    ...(requeueAfterMs !== Infinity && { requeueAfterMs }),
  };
}

/** Of the first item whose deployer is missing. To find that out may mean to look at every item there is. */
function firstNote(
  overdue: readonly Item[],
  missingDeployer: Snapshot['missingDeployer'],
): string | undefined {
  const served = new Set<string>();
  for (const item of overdue) {
    const { type } = item.spec;
    const missing = served.has(type) ? undefined : missingDeployer(type);
    if (missing !== undefined) return `${named(item)} is not picked up: ${missing}`;
    served.add(type);
  }
  return undefined;
}

/**
 * Why nobody takes up items of a type, as far as it can be told: deployers of other processes do not announce
 * themselves, but leave their name on what they took up.
 * @param served types that the deployers of this process serve
 * @param all every deploy item there is
 * @returns undefined when a deployer of this process serves it
 */
export function whoIsMissing(
  type: string,
  served: ReadonlySet<string>,
  all: Iterable<Item>,
): string | undefined {
  if (served.has(type)) return undefined;
  const here = [...served].join(', ') || 'nothing';
  for (const { spec, status } of all) {
    const name = status?.deployer?.name;
    if (spec.type === type && name)
      return `no deployer in this process handles type ${type} (but ${here}), and ${name}, which handled the type before, has not responded yet`;
  }
  return `no deployer in this process handles type ${type} (but ${here}), and no deployer has ever picked up an item of this type`;
}
