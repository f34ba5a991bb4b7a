/** Creates, updates and deletes deploy items to match the templates. No item starts yet. */
import { isBeingDeleted } from '../../../src/api/job.ts';
import { deployItemKind } from '../../../src/api/kinds/deployitem.ts';
import { advance, fail, remove, type Effect } from '../../../src/machine/decision.ts';
import { treeTooLarge } from '../../../src/landscape/tree-limit.ts';
import { interruptionOf } from '../../../src/landscape/item-end.ts';
import { assign } from '../classify.ts';
import { createItem, itemPrefix, updateItem } from '../items.ts';
import { step, steps, type Snapshot } from '../snapshot.ts';

/**
 * Refuses what the validating webhook refuses, in case the webhook is not installed. This is the first check of the
 * templates.
 */
const invalid = step(['refusal'], ({ refusal: message }) => {
  if (message === undefined) return undefined;
  const codes = ['ERR_CONFIGURATION_PROBLEM'] as const;
  return fail({ operation: 'handleReconcilePhase', reason: 'ValidateExecution', message, codes });
});

const interrupted = step(['ancestors'], ({ self, ancestors }) => {
  const why = interruptionOf(self, ancestors);
  return why && fail(why);
});

const tooLarge = step(['reservation'], ({ self, reservation }) =>
  reservation.isGranted ? undefined : fail(treeTooLarge(self, reservation, 'handleReconcilePhase')),
);

const ensureItems = step(['templates', 'items', 'clusterNames', 'freshName', 'traceparentOf'], (snapshot) => {
  const { self, templates, items, now } = snapshot;
  const { active, orphans } = assign(self, templates, items);
  const effects: Effect[] = orphans
    .filter((o) => !isBeingDeleted(o.metadata))
    .map((o) => remove(deployItemKind, o));
  for (const template of templates) {
    const item = active.get(template.name);
    const effect = item
      ? updateItem(snapshot, template, item)
      : createItem(snapshot, template, snapshot.freshName);
    if (effect) effects.push(effect);
  }
  const set = { deployItemCache: cacheOf(snapshot), transitionTimes: { waitTime: now } };
  return advance('Progressing', { effects, status: { set } });
});

export const init = steps(['Progressing'], interrupted, invalid, tooLarge, ensureItems);

/** `status.deployItemCache`: which object belongs to which template. */
function cacheOf({
  self,
  templates,
  items,
  freshName,
}: Pick<Snapshot, 'self' | 'templates' | 'items' | 'freshName'>) {
  const { active, orphans } = assign(self, templates, items);
  return {
    activeDIs: templates.map(({ name }) => ({
      specName: name,
      objectName: active.get(name)?.metadata.name ?? freshName(itemPrefix(self, name)),
    })),
    orphanedDIs: orphans.length > 0 ? orphans.map((o) => o.metadata.name) : null,
  };
}
