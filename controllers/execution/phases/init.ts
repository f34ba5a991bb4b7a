/** Brings the deploy items in line with the templates. Nothing is started yet. */
import { isBeingDeleted } from '../../../src/api/job.ts';
import { deployItemKind } from '../../../src/api/kinds/deployitem.ts';
import { advance, remove, type Effect } from '../../../src/machine/decision.ts';
import { assign } from '../classify.ts';
import { createItem, updateItem } from '../items.ts';
import { phase, type Snapshot } from '../snapshot.ts';

export const init = phase({
  needs: ['templates', 'items', 'clusterNames', 'suffix'],
  next: ['Progressing'],
  decide(snapshot) {
    const { self, templates, items, now } = snapshot;
    const { active, orphans } = assign(self, templates, items);
    const effects: Effect[] = orphans
      .filter((o) => !isBeingDeleted(o.metadata))
      .map((o) => remove(deployItemKind, o));
    for (const template of templates) {
      const item = active.get(template.name);
      const effect = item
        ? updateItem(snapshot, template, item)
        : createItem(snapshot, template, snapshot.suffix);
      if (effect) effects.push(effect);
    }
    const set = { deployItemCache: cacheOf(snapshot), transitionTimes: { waitTime: now } };
    return advance('Progressing', { effects, status: { set } });
  },
});

/** `status.deployItemCache`: which object stands for which template. */
function cacheOf({
  self,
  templates,
  items,
  suffix,
}: Pick<Snapshot, 'self' | 'templates' | 'items' | 'suffix'>) {
  const { active, orphans } = assign(self, templates, items);
  return {
    activeDIs: templates.map(({ name }) => ({
      specName: name,
      objectName: active.get(name)?.metadata.name ?? `${self.metadata.name}-${name}-${suffix}`,
    })),
    orphanedDIs: orphans.length > 0 ? orphans.map((o) => o.metadata.name) : null,
  };
}
