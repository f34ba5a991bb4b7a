/** Checks before a job creates objects: tree limits, ancestors under deletion, interrupts. */
import { isBeingDeleted } from '../../../src/api/job.ts';
import { fail, type Effect, type Problem } from '../../../src/machine/decision.ts';
import { interruptionOf } from '../../../src/landscape/item-end.ts';
import { recursionOf } from '../../../src/landscape/recursion.ts';
import { treeTooLarge } from '../../../src/landscape/tree-limit.ts';
import { step, type Snapshot } from '../snapshot.ts';

/** Checked before the blueprint is loaded, so an installation that is too deep uses no resources. */
export const tooDeep = step(['ancestors', 'treeDepth'], ({ self, ancestors, treeDepth }) => {
  const depth = ancestors.length + 1;
  if (depth <= treeDepth) return undefined;
  const top = ancestors.at(-1)?.metadata.name ?? self.metadata.name;
  const found = `is at level ${depth} of the tree below "${top}", and at most ${treeDepth} levels are allowed`;
  return beyondLimit(self, found, 'limits.treeDepth');
});

/** Stops a blueprint that renders itself more than once before the tree has many installations. */
export const rendersItself = step(['ancestors', 'treeRecursion'], ({ self, ancestors, treeRecursion }) => {
  const recursion = recursionOf(self, ancestors);
  if (recursion <= treeRecursion) return undefined;
  const found = `has the same blueprint as ${recursion} installations above it, and at most ${treeRecursion} are allowed`;
  return beyondLimit(self, found, 'limits.treeRecursion');
});

const beyondLimit = ({ metadata: { namespace = '', name } }: Snapshot['self'], found: string, key: string) =>
  fail({
    operation: 'InitPrerequisites',
    reason: 'TreeTooDeep',
    message:
      `installation "${namespace}/${name}" ${found}; ` +
      `check whether a blueprint renders itself as its own sub-installation, or raise ${key} in the configuration`,
    codes: ['ERR_CONFIGURATION_PROBLEM'],
  });

/**
 * An interrupt may reach the tree above an installation before the job reaches the installation. The job then ends
 * here.
 */
export const interrupted = step(['ancestors'], ({ self, ancestors }) => {
  const why = interruptionOf(self, ancestors);
  return why && fail(why);
});

/** Why the planned objects are not created: the tree would exceed its limit. */
export const createdBeyondLimit = ({
  self,
  reservation,
}: Pick<Snapshot, 'self' | 'reservation'>): Problem | undefined =>
  reservation.isGranted ? undefined : treeTooLarge(self, reservation, 'InitPrerequisites');

/**
 * Why the planned sub-installations are not created: an ancestor is being deleted. Waiting would be a deadlock: the
 * deletion of a root starts when its job has ended, and the job waits for everything below.
 */
export function createdBelowDeleted(
  { self, ancestors }: Pick<Snapshot, 'self' | 'ancestors'>,
  effects: readonly Effect[],
): Problem | undefined {
  const deleted = ancestors.find(({ metadata }) => isBeingDeleted(metadata));
  const created = effects.filter((effect) => effect.do === 'create').length;
  if (!deleted || created === 0) return undefined;
  const { namespace = '', name } = self.metadata;
  return {
    operation: 'handlePhaseInit',
    reason: 'AncestorBeingDeleted',
    message:
      `installation "${namespace}/${name}" does not create its sub-installations (${created} new): ` +
      `installation "${deleted.metadata.name}" above it is being deleted; its deletion continues when this job has ended`,
    codes: ['ERR_FOR_INFO_ONLY'],
  };
}
