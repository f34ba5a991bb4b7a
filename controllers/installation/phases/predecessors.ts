/** Checks of the siblings that export what this installation imports. Init and Completing use them. */
import {
  hasFinishedJob,
  hasOperation,
  isBeingDeleted,
  isDeletionPhase,
  isFinished,
  isJobUnstarted,
  isRoot,
  isSuspended,
} from '../../../src/api/job.ts';
import { operations } from '../../../src/api/labels.ts';
import { predecessorReasons } from '../../../src/api/predecessors.ts';
import {
  ambiguousImports,
  cycleThrough,
  cycleText,
  duplicatesText,
  siblingOf,
} from '../../../src/dataflow/siblings.ts';
import { asText, fail, wait, type Problem } from '../../../src/machine/decision.ts';
import { waitForObjects } from '../awaiting.ts';
import type { Inst } from '../related-objects.ts';
import { step } from '../snapshot.ts';

const problem = (reason: string, predecessor: Inst, what: string): Problem => {
  const { namespace, name } = predecessor.metadata;
  const inner = `depending on installation "${namespace ?? ''}/${name}" which ${what}`;
  return {
    operation: 'init',
    reason,
    message: asText({
      operation: 'NotCompletedDependents',
      reason: 'NotCompletedDependents',
      message: inner,
    }),
    codes: ['ERR_FOR_INFO_ONLY'],
  };
};

/** Two siblings export the same import, so its value is ambiguous. */
export const ambiguousExporters = step(['siblings'], ({ self, siblings }) => {
  if (self.spec.optimization?.hasNoSiblingImports) return undefined;
  const duplicates = ambiguousImports(siblingOf(self), siblings.map(siblingOf));
  if (duplicates.length === 0) return undefined;
  const message = duplicatesText(duplicates);
  return fail({
    operation: 'init',
    reason: 'FetchPredecessors',
    message,
    codes: ['ERR_CONFIGURATION_PROBLEM'],
  });
});

/** Roots that import from each other would wait for each other forever. For children, the parent checks this. */
export const cyclicRoots = step(['siblings'], ({ self, siblings }) => {
  if (!isRoot(self.metadata) || self.spec.optimization?.hasNoSiblingImports) return undefined;
  const cycle = cycleThrough(siblingOf(self), siblings.map(siblingOf));
  if (!cycle) return undefined;
  const message = `installations import from each other in a cycle: ${cycleText(cycle)}; remove one of the imports`;
  return fail({
    operation: 'init',
    reason: 'FetchPredecessors',
    message,
    codes: ['ERR_CYCLIC_DEPENDENCIES'],
  });
});

/** The job has not created anything yet, so a root that is being deleted does not wait for its predecessors. */
export const deletedWhileWaiting = step(['predecessors'], (snapshot) => {
  const { metadata } = snapshot.self;
  if (!isRoot(metadata) || !isBeingDeleted(metadata)) return undefined;
  const decision = predecessorStillRunning.decide(snapshot);
  return decision?.do === 'wait' && decision.why ? fail(decision.why) : undefined;
});

/** Children of one parent share its job; each root has its own. */
export const predecessorStillRunning = step(['predecessors'], (snapshot) => {
  const { self, predecessors } = snapshot;
  const jobID = self.status?.jobID ?? '';
  const unfinished = predecessors.filter((p) =>
    isRoot(self.metadata) ? isUnfinished(p) : !hasFinishedJob(p, jobID),
  );
  const awaited = waitForObjects(snapshot, 'PredecessorsUnfinished', unfinished);
  for (const predecessor of predecessors) {
    if (isBeingUninstalled(predecessor)) {
      return fail(problem(predecessorReasons.succeeded, predecessor, 'is being deleted'));
    }
    if (isRoot(self.metadata)) {
      if (isJobRequested(predecessor)) {
        return wait(problem(predecessorReasons.finished, predecessor, 'has reconcile annotation'), awaited);
      }
      if (isFinished(predecessor)) continue;
    } else if (hasFinishedJob(predecessor, jobID)) continue;
    const what = `not finished current job "${jobID}"`;
    return wait(problem(predecessorReasons.finished, predecessor, what), awaited);
  }
  return undefined;
});

/** The next job is requested, and not suspended. */
const isJobRequested = ({ metadata }: Inst): boolean =>
  hasOperation(metadata, operations.reconcile) && !isSuspended(metadata);

const isUnfinished = (root: Inst): boolean => isJobRequested(root) || !isFinished(root);

/** It will not export again, and its deletion may be waiting for the installation that imports from it. */
const isBeingUninstalled = (predecessor: Inst): boolean =>
  isBeingDeleted(predecessor.metadata) &&
  (isDeletionPhase(predecessor.status?.phase) || isJobUnstarted(predecessor));

export const predecessorFailed = step(['predecessors'], ({ predecessors }) => {
  const failed = predecessors.find((p) => p.status?.phase !== 'Succeeded');
  return failed && fail(problem(predecessorReasons.succeeded, failed, 'is not succeeded'));
});

export const importMissing = step(['imports'], ({ imports }) => {
  const [first, ...others] = imports.missing;
  if (!first) return undefined;
  const names = others.map((other) => `"${other.import}"`).join(', ');
  const also = names === '' ? '' : `; not satisfied either: ${names}`;
  const message = `${first.message} (import "${first.import}")${first.hint ?? ''}${also}`;
  return fail({ operation: 'init', reason: 'ImportsSatisfied', message });
});
