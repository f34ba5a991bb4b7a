/** Marks everything below for deletion, once nobody needs the exports any more. */
import { annotations } from '../../../src/api/labels.ts';
import { hasAnnotation, hasFinishedJob, isBeingDeleted } from '../../../src/api/job.ts';
import { siblingOf, successorsOutsideCircles } from '../../../src/dataflow/siblings.ts';
import { advance, fail, wait } from '../../../src/machine/decision.ts';
import { deleteAll } from '../job.ts';
import { ownExecution } from '../relatives.ts';
import { step, steps } from '../snapshot.ts';

const siblingStillImports = step(['siblings'], ({ self, siblings }) => {
  if (hasAnnotation(self.metadata, annotations.deleteIgnoreSuccessors)) return undefined;
  if (self.spec.optimization?.hasNoSiblingExports) return undefined;
  const [successor] = successorsOutsideCircles(siblingOf(self), siblings.map(siblingOf));
  const sibling = siblings.find((s) => s.metadata.name === successor?.name);
  if (!sibling) return undefined;

  const codes = ['ERR_FOR_INFO_ONLY'];
  const { name } = sibling.metadata;
  const failed = (message: string) =>
    fail({ operation: 'CheckSuccessorSibling', reason: 'SiblingDeleteError', message, codes });
  if (hasFinishedJob(sibling, self.status?.jobID ?? '')) {
    if (sibling.status?.phase === 'DeleteFailed') return failed(`deletion of a sibling failed: ${name}`);
    // The job is over for the sibling, and it stays: within this job nobody will delete it any more.
    if (!isBeingDeleted(sibling.metadata)) return failed(`a sibling that stays imports the exports: ${name}`);
  }
  const message = `a sibling still imports some of the exports: ${name}; delete it too, or annotate this installation with ${annotations.deleteIgnoreSuccessors}=true`;
  return wait({ operation: 'CheckSuccessorSibling', reason: 'SiblingImport', message, codes });
});

const deleteSubobjects = step(['children', 'execution'], (snapshot) => {
  const below = [...ownExecution(snapshot), ...snapshot.children];
  return advance('TriggerDelete', { effects: deleteAll(snapshot, below) });
});

export const initDelete = steps(['TriggerDelete'], siblingStillImports, deleteSubobjects);
