/** Removes orphans first, then starts items as their dependencies finish, and waits for all of them. */
import type { ErrorCode } from '../../../src/api/error-codes.ts';
import { hasFinishedJob, isBeingDeleted, isTriggeredFor } from '../../../src/api/job.ts';
import { deployItemKind } from '../../../src/api/kinds/deployitem.ts';
import { causeOf, causesText, listed } from '../../../src/machine/causes.ts';
import {
  advance,
  fail,
  named,
  remove,
  removeFinalizer,
  wait,
  type Effect,
  type Problem,
} from '../../../src/machine/decision.ts';
import { interruptionOf } from '../../../src/landscape/item-end.ts';
import { wasNeverPickedUp } from '../../../src/landscape/pickup.ts';
import { awaiting } from '../awaiting.ts';
import {
  assign,
  isUninstallSkipped,
  isUnusedDuplicate,
  itemsNamed,
  jobOf,
  planRemoval,
  planStart,
  templateName,
  type Item,
} from '../classify.ts';
import { handDownJob } from '../items.ts';
import { step, steps, type Snapshot } from '../snapshot.ts';

const problem = (message: string, codes: readonly ErrorCode[]): Problem => ({
  operation: 'handleReconcilePhase',
  reason: 'handlePhaseProgressing',
  message,
  codes,
});
const stillRunning = problem('some running items', ['ERR_UNFINISHED', 'ERR_FOR_INFO_ONLY', 'ERR_NO_RETRY']);

/**
 * Removes all orphans at the same time; unused duplicates are removed without an uninstall. No other item starts
 * until they are gone, but running items continue.
 */
const orphansLeft = step(['templates', 'items', 'itemsWithoutCluster', 'missingDeployer'], (snapshot) => {
  const { self, templates, items } = snapshot;
  const { active, orphans } = assign(self, templates, items);
  const unmarked = orphans.filter((o) => !isBeingDeleted(o.metadata));
  if (unmarked.length > 0) {
    return wait(stillRunning, {
      awaited: { reason: 'DeletionPending', objects: orphans.map(named) },
      effects: unmarked.map((o) => remove(deployItemKind, o)),
    });
  }
  const inRemoval = orphans.filter((o) => !hasSucceeded(o, jobOf(self)));
  if (inRemoval.length === 0) return undefined;
  const { remove: startable, running, failed } = planRemoval(self, [], inRemoval);
  const isBusy = running.length > 0 || planStart(self, templates, active).running.length > 0;
  if (!isBusy && failed.length > 0) return fail(failedItems(failed));
  const starting = itemsNamed(inRemoval, startable);
  return wait(stillRunning, {
    ...awaiting(snapshot, 'DeletionPending', inRemoval, starting),
    effects: starting.map((o) =>
      isUnusedDuplicate(o, active) ? removeFinalizer(deployItemKind, o) : startRemoval(snapshot)(o),
    ),
  });
});

/**
 * A duplicate that a deployer processed before it was recognised as a duplicate. It finishes this job; the next job
 * removes it.
 */
const hasSucceeded = (item: Item, jobID: string): boolean =>
  isTriggeredFor(item, jobID) && hasFinishedJob(item, jobID) && item.status?.phase === 'Succeeded';

const itemsUnfinished = step(['templates', 'items', 'missingDeployer', 'ancestors'], (snapshot) => {
  const { self, templates, items } = snapshot;
  const { active } = assign(self, templates, items);
  const { running, blocked, failed, ...planned } = planStart(self, templates, active);
  const interruption = interruptionOf(self, snapshot.ancestors);
  const start = interruption ? [] : planned.start;
  if (running.length === 0 && failed.length > 0) {
    return fail(failedItems(items, failed));
  }
  if (running.length === 0 && interruption && planned.start.length > 0) return fail(interruption);
  if (running.length === 0 && start.length === 0 && blocked.length > 0) {
    const message = `items could not be started: ${listed(blocked)} wait for each other or for items that do not exist`;
    return fail(problem(message, []));
  }
  if (running.length === 0 && start.length === 0) return advance('Completing');
  const starting = start.flatMap((name) => active.get(name) ?? []);
  const atWork = [...running.flatMap((name) => active.get(name) ?? []), ...starting];
  return wait(stillRunning, {
    ...awaiting(snapshot, 'JobsUnfinished', atWork, starting),
    effects: starting.map((item) => handDownJob(snapshot, item)),
  });
});

export const progressing = steps(['Completing'], orphansLeft, itemsUnfinished);

const nameOf = (item: Item): string => templateName(item) || item.metadata.name;

/** The write that starts the removal of an item under deletion. */
export const startRemoval =
  (snapshot: Pick<Snapshot, 'self' | 'now' | 'itemsWithoutCluster'>) =>
  (item: Item): Effect =>
    isUninstallSkipped(item) ||
    wasNeverPickedUp(item, snapshot.self.metadata.uid) ||
    snapshot.itemsWithoutCluster.has(item.metadata.name)
      ? removeFinalizer(deployItemKind, item)
      : handDownJob(snapshot, item);

/** Upstream's sentence, followed by the message of each item. */
function failedItems(items: readonly Item[], names: readonly string[] = items.map(nameOf)): Problem {
  // The first item of a name wins.
  const byName = new Map(items.toReversed().map((item) => [nameOf(item), item]));
  const causes = names.map((name) => {
    const item = byName.get(name);
    if (!item) return { text: `${name} is missing` };
    return causeOf(name, item.status?.lastError, `phase ${item.status?.phase ?? 'unknown'}`);
  });
  return problem(`has failed or missing deploy items: ${causesText(causes)}`, ['ERR_FOR_INFO_ONLY']);
}
