/** Invariants of every job, whatever happens to it. */
import {
  hasOperation,
  isBeingDeleted,
  isDeletionPhase,
  isFinalPhase,
  isFinished,
  isRoot,
} from '../../../src/api/job.ts';
import { annotations, operations } from '../../../src/api/labels.ts';
import { equal } from '../../../src/lib/json.ts';
import { isJobObject, nameOf, short, type Inst, type JobObject } from '../cluster/objects.ts';
import type { Change } from '../cluster/server.ts';
import { above, below } from './below.ts';
import type { Law } from './law.ts';

interface JobChange {
  readonly before: JobObject | undefined;
  readonly after: JobObject;
  readonly type: Change['type'];
}

/** The change, if its object takes part in jobs. */
function jobChange({ before, object, type }: Change): JobChange | undefined {
  if (!isJobObject(object)) return undefined;
  return { before: isJobObject(before) ? before : undefined, after: object, type };
}

const idOf = (object: JobObject | undefined): string => object?.status?.jobID ?? '';
const finishedOf = (object: JobObject | undefined): string => object?.status?.jobIDFinished ?? '';
const phaseOf = (object: JobObject | undefined): string => object?.status?.phase ?? '';

const law = (
  name: string,
  broken: (change: JobChange, server: Parameters<Law['broken']>[1]) => string | undefined,
): Law => ({
  name,
  broken(change, server) {
    const found = jobChange(change);
    return found && found.type !== 'DELETED' ? broken(found, server) : undefined;
  },
});

const parentsFinishLast = law(
  'a parent finishes a job after everything below it',
  ({ before, after }, server) => {
    const job = idOf(after);
    if (job === '' || finishedOf(after) !== job || finishedOf(before) === job) return undefined;
    for (const object of below(server, after)) {
      if (!isFinished(object))
        return `${nameOf(after)} finished ${short(job)} while ${nameOf(object)} is at work`;
      if (phaseOf(after) !== 'Succeeded') continue;
      if (finishedOf(object) !== job || phaseOf(object) !== 'Succeeded') {
        return `${nameOf(after)} succeeded in ${short(job)}, but ${nameOf(object)} is ${phaseOf(object)} in ${short(finishedOf(object))}`;
      }
    }
    return undefined;
  },
);

const idsStandStill = law('a job id never changes while the job runs', ({ before, after }) =>
  before && !isFinished(before) && idOf(before) !== idOf(after)
    ? `${nameOf(after)} went from ${short(idOf(before))} to ${short(idOf(after))}`
    : undefined,
);

const idsComeFromAbove = law(
  'a job id below a root is that of a running job above it',
  ({ before, after }, server) => {
    const job = idOf(after);
    if (job === idOf(before) || job === '' || finishedOf(after) === job) return undefined;
    if (after.kind === 'Installation' && isRoot(after.metadata)) return undefined;
    const parent = above(server, after);
    if (!parent) return `${nameOf(after)} was given ${short(job)} and has nobody above it`;
    if (idOf(parent) !== job)
      return `${nameOf(after)} was given ${short(job)}, ${nameOf(parent)} has ${short(idOf(parent))}`;
    return isFinished(parent)
      ? `${nameOf(after)} was given ${short(job)}, which ${nameOf(parent)} has finished`
      : undefined;
  },
);

const rootsHaveReasons = law('a root starts a job only on request', ({ before, after }) => {
  if (after.kind !== 'Installation' || !isRoot(after.metadata) || idOf(before) === idOf(after) || !before)
    return undefined;
  const root = before as Inst;
  const hasReason =
    hasOperation(root.metadata, operations.reconcile) ||
    (isBeingDeleted(root.metadata) && !isDeletionPhase(phaseOf(root))) ||
    root.metadata.annotations?.[annotations.reconcileIfChanged] === 'true' ||
    root.spec.automaticReconcile !== undefined;
  return hasReason ? undefined : `${nameOf(after)} started ${short(idOf(after))}`;
});

const specsStandStill = law('a spec below a root never changes while the job runs', ({ before, after }) => {
  if (!before || isFinished(before) || (after.kind === 'Installation' && isRoot(after.metadata)))
    return undefined;
  return equal(before.spec, after.spec)
    ? undefined
    : `the spec of ${nameOf(after)} changed in job ${short(idOf(after))}`;
});

const order = [
  'Init',
  'CleanupOrphaned',
  'ObjectsCreated',
  'Progressing',
  'Completing',
  'InitDelete',
  'TriggerDelete',
  'Deleting',
];
const rank = (phase: string): number => (isFinalPhase(phase) ? order.length : order.indexOf(phase));

const phasesGoForward = law('the phases of a job never go back', ({ before, after }) => {
  if (!before || idOf(before) !== idOf(after) || phaseOf(before) === phaseOf(after)) return undefined;
  const step = `${nameOf(after)} went from ${phaseOf(before)} to ${phaseOf(after)} in job ${short(idOf(after))}`;
  if (isFinished(before)) return `${step}, which it had finished`;
  // Until a job has begun, the phase is that in which the previous job ended.
  if (isFinalPhase(phaseOf(before))) return undefined;
  return rank(phaseOf(after)) < rank(phaseOf(before)) ? step : undefined;
});

const endsAreWhole = law('a job ends with its final phase in one write', ({ before, after }) => {
  const hasEnded = finishedOf(after) !== finishedOf(before);
  if (hasEnded && finishedOf(after) !== idOf(after))
    return `${nameOf(after)} finished ${short(finishedOf(after))}, not its own job`;
  if (hasEnded && !isFinalPhase(phaseOf(after)))
    return `${nameOf(after)} finished in phase ${phaseOf(after)}`;
  const isFinal = isFinalPhase(phaseOf(after));
  const wasFinal = isFinalPhase(phaseOf(before));
  return isFinal && !wasFinal && !isFinished(after)
    ? `${nameOf(after)} is ${phaseOf(after)} and not finished`
    : undefined;
});

const generationsGoForward = law('the observed generation never decreases', ({ before, after }) => {
  const was = before?.status?.observedGeneration ?? 0;
  const is = after.status?.observedGeneration ?? 0;
  if (is < was) return `${nameOf(after)} went from ${was} to ${is}`;
  return is > (after.metadata.generation ?? 0)
    ? `${nameOf(after)} has observed ${is}, which there is not yet`
    : undefined;
});

const nothingIsLeftBelow: Law = {
  name: 'an object is deleted after everything below it',
  broken({ type, object }, server) {
    if (type !== 'DELETED' || !isJobObject(object)) return undefined;
    const left = below(server, object);
    return left.length > 0
      ? `${nameOf(object)} is gone and leaves ${left.map(nameOf).join(', ')}`
      : undefined;
  },
};

export const jobLaws: readonly Law[] = [
  parentsFinishLast,
  idsStandStill,
  idsComeFromAbove,
  rootsHaveReasons,
  specsStandStill,
  phasesGoForward,
  endsAreWhole,
  generationsGoForward,
  nothingIsLeftBelow,
];
