/** Publishes the exports of the items, for the installation to read. */
import { dataObjectKind } from '../../../src/api/kinds/dataobject.ts';
import { executionExportConflict, executionExportObject, overlay } from '../../../src/dataflow/objects.ts';
import { advance, create, fail } from '../../../src/machine/decision.ts';
import { update } from '../../../src/machine/update.ts';
import { phase } from '../snapshot.ts';

export const completing = phase({
  needs: ['exports', 'exportObject'],
  next: ['Succeeded'],
  decide({ self, exports, exportObject }) {
    const wanted = executionExportObject(self, exports);
    const message = executionExportConflict(self, exportObject);
    if (message !== undefined) {
      const codes = ['ERR_CONFIGURATION_PROBLEM'] as const;
      return fail({ operation: 'handlePhaseCompleting', reason: 'CreateOrUpdateExports', message, codes });
    }
    const next = exportObject && overlay(exportObject, wanted);
    const effect = exportObject
      ? next && update(dataObjectKind, exportObject, next)
      : create(dataObjectKind, wanted);
    const { name, namespace } = wanted.metadata;
    const set = { exportRef: { name, namespace }, deployItemCache: { orphanedDIs: null } };
    return advance('Succeeded', { effects: effect ? [effect] : [], status: { set } });
  },
});
