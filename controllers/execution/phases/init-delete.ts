/** Deletes every item; the phase Deleting decides in which order they are uninstalled. */
import { annotations } from '../../../src/api/labels.ts';
import { hasAnnotation, isBeingDeleted } from '../../../src/api/job.ts';
import { deployItemKind } from '../../../src/api/kinds/deployitem.ts';
import { advance, remove, type Effect } from '../../../src/machine/decision.ts';
import { isUninstallSkipped } from '../classify.ts';
import { markWithoutUninstall } from '../items.ts';
import { phase } from '../snapshot.ts';

export const initDelete = phase({
  needs: ['items'],
  next: ['Deleting'],
  decide({ self, items }) {
    const skipsUninstall = hasAnnotation(self.metadata, annotations.deleteWithoutUninstall);
    const effects = items.flatMap((item): Effect[] => [
      ...(skipsUninstall && !isUninstallSkipped(item) ? [markWithoutUninstall(item)] : []),
      ...(isBeingDeleted(item.metadata) ? [] : [remove(deployItemKind, item)]),
    ]);
    return advance('Deleting', { effects });
  },
});
