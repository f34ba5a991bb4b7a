/** Effects that write the state of executions to their secrets if it has changed. Pure. */
import { stateData, stateSecret } from '../../src/blueprint/state.ts';
import { conditionReasons, conditionTypes } from '../../src/api/conditions.ts';
import { equal } from '../../src/lib/json.ts';
import { create, patch, type Effect } from '../../src/machine/decision.ts';
import { secretKind } from '../../src/landscape/world.ts';
import type { Purpose } from './objects.ts';
import type { Snapshot, StateUpsert } from './snapshot.ts';

export function storeState(
  self: Snapshot['self'],
  { update, existing }: StateUpsert,
  { condition, operation, reason }: Purpose,
): Effect[] {
  const message = `unable to store the state of executions in secret ${update.secretName}`;
  const ifRefused = {
    operation,
    reason,
    message,
    condition: {
      type: conditionTypes[condition],
      status: 'False',
      reason: conditionReasons.CreateDataObjects,
      message,
    } as const,
  };
  if (!existing) return [{ ...create(secretKind, stateSecret(self, update)), ifRefused }];
  const data = stateData(update);
  if (equal(existing.data, { ...existing.data, ...data })) return [];
  return [{ ...patch(secretKind, existing, { data }), ifRefused }];
}
