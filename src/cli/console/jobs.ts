/** Jobs of a landscape for the browser: the recorded ones and the running one, without specs and values. */
import type { JobRecordSpec } from '../../api/kinds/jobrecord.ts';
import type { Client, View } from '../../runtime/types.ts';
import { isNamed, recordsOf, runningJob, type Job } from '../commands/jobs/read.ts';
import { changesWords, requestWords } from '../commands/jobs/words.ts';
import { CommandError } from '../errors.ts';
import { plainMessage } from '../tree/print.ts';
import type { Node } from '../tree/tree.ts';
import type { JobList, JobSummary, Timeline, TimelineRow } from './wire.ts';

/** The latest first. @param root undefined if it was deleted; its records may remain */
export async function jobsOf(
  client: Client,
  namespace: string,
  name: string,
  root: Node | undefined,
): Promise<JobList> {
  const { jobs, problem } = await read(client, namespace, name, root);
  return { jobs: jobs.map(({ spec }) => summaryOf(spec)), problem };
}

/** Undefined if there is no record of the job. */
export async function timelineOf(
  client: Client,
  namespace: string,
  name: string,
  root: Node | undefined,
  job: string,
): Promise<Timeline | undefined> {
  const { jobs } = await read(client, namespace, name, root);
  const found = jobs.find(({ spec }) => isNamed(spec, job));
  return found && { ...summaryOf(found.spec), rows: rowsOf(found.spec) };
}

async function read(
  client: Client,
  namespace: string,
  name: string,
  root: Node | undefined,
): Promise<{ readonly jobs: readonly Job[]; readonly problem: string }> {
  try {
    const records = await recordsOf(client, namespace, name);
    const running = root && runningJob(root, records);
    return {
      jobs: [...(running ? [running] : []), ...records.map(({ spec }) => ({ namespace, spec }))],
      problem: '',
    };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    const running = root && runningJob(root, []);
    return { jobs: running ? [running] : [], problem: error.message };
  }
}

const summaryOf = (spec: View<JobRecordSpec>): JobSummary => ({
  number: spec.number,
  jobID: spec.jobID,
  reason: requestWords(spec.request),
  result: spec.result,
  changes: changesWords(spec),
  ...timesOf(spec),
});

type Times = Pick<View<JobRecordSpec>, 'triggeredAt' | 'waitedAt' | 'endedAt'>;

function timesOf(times: Times): Pick<TimelineRow, 'triggeredAt' | 'waitedAt' | 'endedAt'> {
  const [triggeredAt, waitedAt, endedAt] = [times.triggeredAt, times.waitedAt, times.endedAt].map((time) =>
    time === undefined ? undefined : Date.parse(time),
  );
  return {
    ...(triggeredAt !== undefined && { triggeredAt }),
    ...(waitedAt !== undefined && { waitedAt }),
    ...(endedAt !== undefined && { endedAt }),
  };
}

function rowsOf(spec: View<JobRecordSpec>): readonly TimelineRow[] {
  const root = { ...spec, kind: 'Installation', title: spec.root.name, depth: 0, phase: spec.result };
  return [root, ...(spec.parts ?? [])].map((part) => ({
    kind: part.kind,
    title: part.title,
    depth: part.depth,
    phase: part.phase ?? '',
    ...timesOf(part),
    waitedFor: 'waitedFor' in part ? (part.waitedFor ?? []) : [],
    error: plainMessage(part.error?.message ?? ''),
  }));
}
