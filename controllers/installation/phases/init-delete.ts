/** Deletes everything below, as soon as no sibling imports the exports. */
import { annotations } from '../../../src/api/labels.ts';
import { hasAnnotation, hasFinishedJob, isBeingDeleted, isFinished } from '../../../src/api/job.ts';
import { siblingOf, successorsOutsideCycles } from '../../../src/dataflow/siblings.ts';
import { causesText } from '../../../src/machine/causes.ts';
import { advance, fail, named, wait } from '../../../src/machine/decision.ts';
import { deleteAll } from '../job.ts';
import { ownExecution, type Inst } from '../related-objects.ts';
import { step, steps } from '../snapshot.ts';

/** Siblings in a message. */
const MAX_NAMED = 5;

/** The siblings that have to be deleted before `self`. `espalier plan` uses this as well. */
export function importersToAwait(
  self: Inst,
  siblings: readonly Inst[],
): readonly { readonly name: string }[] {
  if (hasAnnotation(self.metadata, annotations.deleteIgnoreSuccessors)) return [];
  if (self.spec.optimization?.hasNoSiblingExports) return [];
  return successorsOutsideCycles(siblingOf(self), siblings.map(siblingOf));
}

const siblingStillImports = step(['siblings'], ({ self, siblings }) => {
  const successors = importersToAwait(self, siblings);
  const sibling = siblings.find((s) => s.metadata.name === successors[0]?.name);
  if (!sibling) return undefined;

  const codes = ['ERR_FOR_INFO_ONLY'] as const;
  const { name } = sibling.metadata;
  const failed = (message: string) =>
    fail({ operation: 'CheckSuccessorSibling', reason: 'SiblingDeleteError', message, codes });
  if (hasFinishedJob(sibling, self.status?.jobID ?? '')) {
    if (sibling.status?.phase === 'DeleteFailed') return failed(`deletion of a sibling failed: ${name}`);
    // The sibling has finished the job and is not under deletion, so it will not be deleted in this job.
    if (!isBeingDeleted(sibling.metadata))
      return failed(`a sibling that is not being deleted imports the exports: ${name}`);
  }
  const importing = new Set(successors.map((successor) => successor.name));
  const blocking = siblings.filter((s) => importing.has(s.metadata.name));
  const annotate = `or annotate this installation with ${annotations.deleteIgnoreSuccessors}=true`;
  const message = `a sibling still imports some of the exports: ${describeBlocking(blocking)}, ${annotate}`;
  const objects = blocking.map(named);
  return wait(
    { operation: 'CheckSuccessorSibling', reason: 'SiblingImport', message, codes },
    { awaited: { reason: 'SuccessorsExist', objects } },
  );
});

/** The names, and what to do about each. */
function describeBlocking(blocking: readonly Inst[]): string {
  const [only, another] = blocking;
  if (only && !another) return `${only.metadata.name}; ${remedyFor(only)}`;
  const remedies = blocking.slice(0, MAX_NAMED).map((s) => `${s.metadata.name} (${remedyFor(s)})`);
  const more = blocking.length - remedies.length;
  return [...remedies, ...(more > 0 ? [`and ${String(more)} more`] : [])].join(', ');
}

/** What a user can do about a sibling that still imports exports. A failed deletion includes its error. */
function remedyFor(sibling: Inst): string {
  if (!isBeingDeleted(sibling.metadata)) return 'delete it too';
  if (!isFinished(sibling) || sibling.status?.phase !== 'DeleteFailed') return 'it is being deleted';
  const why = sibling.status.lastError?.message ?? '';
  return `its deletion failed (${causesText([{ text: why }])}); repeat the deletion`;
}

const deleteSubObjects = step(['children', 'execution'], (snapshot) => {
  const below = [...ownExecution(snapshot), ...snapshot.children];
  return advance('TriggerDelete', { effects: deleteAll(snapshot, below) });
});

export const initDelete = steps(['TriggerDelete'], siblingStillImports, deleteSubObjects);
