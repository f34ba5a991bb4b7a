/** Facts about the ancestors, siblings, children and the execution of an installation. All from the caches. */
import { isBeingDeleted } from '../../../src/api/job.ts';
import { predecessorsOf, siblingOf } from '../../../src/dataflow/siblings.ts';
import { freshNames } from '../../../src/landscape/fresh-names.ts';
import { DEFAULT_TREE_RECURSION } from '../../../src/landscape/recursion.ts';
import { DEFAULT_TREE_DEPTH, ownersOf } from '../../../src/landscape/tree.ts';
import { index, type World } from '../../../src/landscape/world.ts';
import { keyOf } from '../../../src/runtime/keys.ts';
import { PhaseError } from '../../../src/machine/decision.ts';
import { partitionChildren } from '../children.ts';
import { childrenOf, executionOf, isOwnedBy, connectedSiblings, type Inst } from '../related-objects.ts';
import type { Rendered } from '../snapshot.ts';
import type { Facts, GatherContext, Sources } from './gather-context.ts';

export const relatedFacts = (
  { self, namespace, world }: GatherContext,
  { trees, treeDepth = DEFAULT_TREE_DEPTH, treeRecursion = DEFAULT_TREE_RECURSION }: Sources,
): Facts<
  | 'freshName'
  | 'ancestors'
  | 'treeDepth'
  | 'treeRecursion'
  | 'reservation'
  | 'siblings'
  | 'predecessors'
  | 'predecessorJobs'
  | 'children'
  | 'execution'
> => ({
  freshName: () =>
    freshNames(
      self,
      (name) => world.installations.get(`${namespace}/${name}`),
      (other) => isOwnedBy(other, self) && !isBeingDeleted(other.metadata),
    ),
  ancestors: () => ownersOf(world, self),
  treeDepth: () => treeDepth,
  treeRecursion: () => treeRecursion,
  reservation: async (get) =>
    trees.reserve(self, newObjects(world, self, await get('rendered'), await get('children'))),
  siblings: () => connectedSiblings(world, self),
  predecessors: async (get) => pickPredecessors(self, await get('siblings')),
  predecessorJobs: async (get) =>
    Object.fromEntries(
      (await get('predecessors')).map((p) => [p.metadata.name, p.status?.jobIDFinished ?? '']),
    ),
  children: () => childrenOf(world, self),
  execution: () => executionOf(world, self),
});

function pickPredecessors(self: Inst, siblings: readonly Inst[]): readonly Inst[] {
  if (self.spec.optimization?.hasNoSiblingImports) return [];
  const names = new Set(predecessorsOf(siblingOf(self), siblings.map(siblingOf)).map((s) => s.name));
  return siblings.filter((s) => names.has(s.metadata.name));
}

/** Number of objects that the installation and its execution will create. */
function newObjects(
  world: World,
  self: Inst,
  { children: wanted, items }: Rendered,
  children: readonly Inst[],
): number {
  if (wanted instanceof PhaseError) return 0;
  const created = partitionChildren(self, wanted, children).missing.length;
  if (items instanceof PhaseError || items.length === 0) return created;
  const execution = executionOf(world, self);
  const existing = execution ? world.deployItems.byIndex(index.managedBy, keyOf(self)).length : 0;
  return created + (execution ? 0 : 1) + Math.max(items.length - existing, 0);
}
