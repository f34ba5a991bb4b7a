/** Decides which of several objects for the same template is in use. */
import { isTriggeredFor, type JobView } from './job.ts';

/** An object that may have duplicates. */
interface Duplicate extends Pick<JobView, 'status'> {
  readonly metadata: { readonly creationTimestamp?: string };
}

/** Whether the object ever had a job. */
export const everHadJob = ({ status }: Pick<JobView, 'status'>): boolean =>
  [status?.jobID, status?.jobIDFinished, status?.phase].some(Boolean);

/**
 * Sorts objects in use before unused ones, then by age. An object with the parent's job comes first, then one that
 * succeeded, then one that did any work.
 */
export const inUseFirst =
  <T extends Duplicate>(jobID: string, isUsed: (object: T) => boolean = everHadJob) =>
  (a: T, b: T): number => {
    const criteria: readonly ((object: T) => boolean)[] = [
      (object) => jobID !== '' && isTriggeredFor(object, jobID),
      ({ status }) => status?.phase === 'Succeeded',
      isUsed,
    ];
    const decisive = criteria.find((criterion) => criterion(a) !== criterion(b));
    if (decisive) return decisive(a) ? -1 : 1;
    const [first = '', second = ''] = [a, b].map(({ metadata }) => metadata.creationTimestamp);
    return first === second ? 0 : first < second ? -1 : 1;
  };
