/** Publishes what the items export, for the installation to read. */
import { dataObjectKind } from '../../../src/api/kinds/dataobject.ts';
import { executionExportObject, overlay } from '../../../src/dataflow/objects.ts';
import { mergeDiff } from '../../../src/lib/merge.ts';
import { advance, create, patch, type Effect } from '../../../src/machine/decision.ts';
import { phase } from '../snapshot.ts';

export const completing = phase({
  needs: ['exports', 'exportObject'],
  next: ['Succeeded'],
  decide({ self, exports, exportObject }) {
    const wanted = executionExportObject(self, exports);
    const effects: Effect[] = [];
    if (!exportObject) effects.push(create(dataObjectKind, wanted));
    else {
      const next = overlay(exportObject, wanted);
      const diff = next && mergeDiff(exportObject, next);
      if (diff) effects.push(patch(dataObjectKind, exportObject, diff));
    }
    const { name, namespace } = wanted.metadata;
    const set = { exportRef: { name, namespace }, deployItemCache: { orphanedDIs: null } };
    return advance('Succeeded', { effects, status: { set } });
  },
});
