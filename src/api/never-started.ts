/**
 * The record that no deployer has started any job of a deploy item, so that nothing is installed. The controller that ends a
 * job before it starts writes it, and it names this job: each later job that ends otherwise makes it obsolete. Pure.
 */
import { isFinalPhase, type JobView } from './job.ts';

type Status = (NonNullable<JobView['status']> & { readonly neverStarted?: string | undefined }) | undefined;

/** Whether the last job that ended, and all before it, ended before a deployer started. */
export const lastJobNeverStarted = (status: Status): boolean =>
  !!status?.neverStarted && status.neverStarted === status.jobIDFinished && status.phase !== 'Succeeded';

/**
 * The record for a job that ends before it starts; empty if an earlier job may have started.
 * @param status before the end
 */
export function neverStarted(status: Status): { readonly neverStarted?: string } {
  const { jobID, jobIDFinished, phase } = status ?? {};
  if (!jobID) return {};
  const isFirst = !jobIDFinished && !phase;
  // A deployer has begun if the phase is neither empty nor the end of the job before.
  const isStillUnstarted = !phase || isFinalPhase(phase);
  return isFirst || (isStillUnstarted && lastJobNeverStarted(status)) ? { neverStarted: jobID } : {};
}
