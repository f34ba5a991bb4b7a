/** The error for a tree that would exceed the limit of objects. Pure. */
import type { Obj, View } from '../runtime/types.ts';
import type { Problem } from '../machine/decision.ts';
import type { Reservation } from './tree-size.ts';

/** @param reservation the refused reservation */
export function treeTooLarge(self: View<Obj>, reservation: Reservation, operation: string): Problem {
  const { namespace = '', name } = self.metadata;
  const { root, present, reserved, added, limit } = reservation;
  const others = reserved > 0 ? ` and ${reserved} that other installations are creating` : '';
  return {
    operation,
    reason: 'TreeTooLarge',
    message:
      `${self.kind.toLowerCase()} "${namespace}/${name}" would create ${added} objects (installations, executions, deploy items), ` +
      `the tree below "${root}" has ${present}${others}, and at most ${limit} are allowed; ` +
      `check whether a blueprint renders itself as its own sub-installation, or raise limits.treeObjects in the configuration`,
    codes: ['ERR_CONFIGURATION_PROBLEM'],
  };
}
