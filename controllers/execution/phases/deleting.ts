/** Uninstalls the items in reverse dependency order, then releases the execution. */
import { executionKind } from '../../../src/api/kinds/execution.ts';
import { causeOf, causesText, listed } from '../../../src/machine/causes.ts';
import { fail, release, removeFinalizer, wait, type Problem } from '../../../src/machine/decision.ts';
import { awaiting } from '../awaiting.ts';
import { itemsNamed, planRemoval } from '../classify.ts';
import { phase } from '../snapshot.ts';
import { startRemoval } from './progressing.ts';

const problem = (message: string): Problem => ({
  operation: 'handleReconcilePhase',
  reason: 'handlePhaseDeleting',
  message,
  codes: ['ERR_FOR_INFO_ONLY'],
});

export const deleting = phase({
  needs: ['templates', 'items', 'itemsWithoutCluster', 'missingDeployer'],
  next: ['DeleteFailed'],
  decide(snapshot) {
    const { self, templates, items } = snapshot;
    if (items.length === 0) return release([removeFinalizer(executionKind, self)]);
    const { remove, running, blocked, failed } = planRemoval(self, templates, items);
    if (running.length === 0 && failed.length > 0) {
      const causes = failed.map((i) => causeOf(i.metadata.name, i.status?.lastError, i.status?.phase));
      return fail(problem(`has failed items: ${causesText(causes)}`));
    }
    if (running.length === 0 && remove.length === 0 && blocked.length > 0) {
      return fail(problem(`has pending items: ${listed(blocked)}`));
    }
    const inRemoval = itemsNamed(items, [...running, ...remove]);
    const starting = itemsNamed(inRemoval, remove);
    return wait(undefined, {
      ...awaiting(snapshot, 'DeletionPending', inRemoval, starting),
      effects: starting.map(startRemoval(snapshot)),
    });
  },
});
