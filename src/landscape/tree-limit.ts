/** The limits for a tree, and the error for one that would exceed that of objects. Pure. */
import type { Obj, View } from '../runtime/types.ts';
import type { Problem } from '../machine/decision.ts';
import { DEFAULT_TREE_RECURSION } from './recursion.ts';
import { DEFAULT_TREE_DEPTH } from './tree.ts';
import { DEFAULT_TREE_OBJECTS, type Reservation } from './tree-size.ts';

export interface TreeLimits {
  /** Maximum number of levels of installations in a tree. */
  readonly treeDepth: number;
  /** How often the blueprint of an installation may occur above it. */
  readonly treeRecursion: number;
  /** Maximum number of installations, executions and deploy items in a tree. */
  readonly treeObjects: number;
}

export const defaultTreeLimits: TreeLimits = {
  treeDepth: DEFAULT_TREE_DEPTH,
  treeRecursion: DEFAULT_TREE_RECURSION,
  treeObjects: DEFAULT_TREE_OBJECTS,
};

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
