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
  const { namespace = '', name } = self.metadata;
  const top = ancestors.at(-1)?.metadata.name ?? name;
  const message =
    `installation "${namespace}/${name}" is at level ${depth} of the tree below "${top}", and at most ${treeDepth} levels are allowed; ` +
    `check whether a blueprint renders itself as its own sub-installation, or raise limits.treeDepth in the configuration`;
  return fail({
    operation: 'InitPrerequisites',
    reason: 'TreeTooDeep',
    message,
    codes: ['ERR_CONFIGURATION_PROBLEM'],
  });
});

/** Stops a blueprint that renders itself more than once before the tree has many installations. */
export const rendersItself = step(['ancestors', 'treeRecursion'], ({ self, ancestors, treeRecursion }) => {
  const recursion = recursionOf(self, ancestors);
  if (recursion <= treeRecursion) return undefined;
  const { namespace = '', name } = self.metadata;
  const message =
    `installation "${namespace}/${name}" has the same blueprint as ${recursion} installations above it, and at most ${treeRecursion} are allowed; ` +
    `check whether the blueprint renders itself as its own sub-installation, or raise limits.treeRecursion in the configuration`;
  return fail({
    operation: 'InitPrerequisites',
    reason: 'TreeTooDeep',
    message,
    codes: ['ERR_CONFIGURATION_PROBLEM'],
  });
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
