/** Reads records of jobs, and builds the record of a running job from the live objects. */
import { withNamed } from '../../named-objects.ts';
import { gunzipSync } from 'node:zlib';
import { isFinished, isRoot } from '../../../api/job.ts';
import type { Installation, InstallationSpec } from '../../../api/kinds/installation.ts';
import type { JobPart, JobRecord, JobRecordSpec } from '../../../api/kinds/jobrecord.ts';
import { installationKind, jobRecordKind } from '../../../api/landscaper-kinds.ts';
import { append } from '../../../lib/lists.ts';
import { NotFound } from '../../../runtime/errors.ts';
import type { Client, View } from '../../../runtime/types.ts';
import { type Cluster, type NamespacedOptions } from '../../cluster.ts';
import { CommandError, exitCodes } from '../../errors.ts';
import { isKindUnknown } from '../../report-error.ts';
import { printValue } from '../../terminal/documents.ts';
import type { ReportFormat } from '../../terminal/output-option.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { collect } from '../../tree/collect.ts';
import { treesOf, type Node } from '../../tree/tree.ts';
import { selfCommand } from '../../self-command.ts';

export interface JobsOptions extends NamespacedOptions {
  readonly allNamespaces?: true;
  readonly output: ReportFormat;
}

/** A job, recorded or running. */
export interface Job {
  readonly namespace: string;
  readonly spec: View<JobRecordSpec>;
}

/** The latest first. @param root undefined: all roots @throws CommandError if no jobs are recorded */
export async function recordsOf(
  client: Client,
  namespace: string | undefined,
  root: string | undefined,
): Promise<readonly JobRecord[]> {
  const records: JobRecord[] = [];
  try {
    for await (const page of client.list<JobRecord>(
      jobRecordKind,
      namespace === undefined ? {} : { namespace },
    ))
      append(records, page.items);
  } catch (error) {
    if (!(error instanceof NotFound) || !isKindUnknown(error)) throw error;
    throw new CommandError(
      'the API server does not know JobRecords: jobs are not recorded here; set journal.enabled: true in the configuration of the controllers',
      { cause: error },
    );
  }
  return records
    .filter(({ spec }) => root === undefined || spec.root.name === root)
    .sort(
      (a, b) =>
        (b.spec.triggeredAt ?? '').localeCompare(a.spec.triggeredAt ?? '') || b.spec.number - a.spec.number,
    );
}

/** The jobs that are running, from the live objects. */
export async function runningJobs(
  client: Client,
  namespace: string | undefined,
  root: string | undefined,
  records: readonly View<JobRecord>[],
): Promise<readonly Job[]> {
  const trees = treesOf(await collect(client, namespace));
  return trees
    .filter(({ name }) => (root ?? name) === name)
    .flatMap((tree) => runningJob(tree, records) ?? []);
}

/** The job of a tree, with the number after the last record; undefined if it is not the tree of a root, or no job is running. */
export function runningJob(tree: Node, records: readonly View<JobRecord>[]): Job | undefined {
  if (!isRoot(tree.object.metadata) || isFinished(tree.object)) return undefined;
  const before = records.find(({ spec }) => spec.root.uid === tree.object.metadata.uid);
  return { namespace: tree.namespace, spec: runningRecord(tree, (before?.spec.number ?? 0) + 1) };
}

function runningRecord(tree: Node, number: number): JobRecordSpec {
  const { status, metadata } = tree.object as View<Installation>;
  const { triggerTime, waitTime } = status?.transitionTimes ?? {};
  return {
    root: { name: tree.name, uid: metadata.uid ?? '' },
    number,
    jobID: status?.jobID ?? '',
    request: { reason: 'Unknown' },
    result: 'Running',
    ...(triggerTime && { triggeredAt: triggerTime }),
    ...(waitTime && { waitedAt: waitTime }),
    parts: tree.children.flatMap((child) => runningParts(child, 1, status?.jobID ?? '')),
  };
}

function runningParts(node: Node, depth: number, jobID: string): JobPart[] {
  const { status } = node.object;
  const { triggerTime, initTime, waitTime, finishedTime } = status?.transitionTimes ?? {};
  const isInJob = status?.jobID === jobID;
  const part: JobPart = {
    kind: node.kind,
    name: node.name,
    title: node.title,
    depth,
    phase: isInJob ? node.phase : 'Waiting',
    ...(isInJob && triggerTime && { triggeredAt: triggerTime }),
    ...(isInJob && initTime && { startedAt: initTime }),
    ...(isInJob && waitTime && { waitedAt: waitTime }),
    ...(isInJob && finishedTime && { endedAt: finishedTime }),
    ...(node.blockedBy.length > 0 && { waitedFor: [...node.blockedBy] }),
  };
  return [part, ...node.children.flatMap((child) => runningParts(child, depth + 1, jobID))];
}

/** One job of a root. @param job number or beginning of the id; undefined: the running or the last one */
export async function jobOf(
  { client, namespace }: Pick<Cluster, 'client' | 'namespace'>,
  root: string,
  job: string | undefined,
): Promise<Job> {
  const records = await recordsOf(client, namespace, root);
  const recorded = records.map(({ spec }) => ({ namespace, spec }));
  const jobs = [...(await runningJobs(client, namespace, root, records)), ...recorded];
  const found = job === undefined ? jobs[0] : jobs.find(({ spec }) => isNamed(spec, job));
  if (found) return found;
  throw new CommandError(await whyNone({ client, namespace }, root, job, records));
}

/** How a command shows one job. */
interface JobView {
  readonly value: (spec: View<JobRecordSpec>) => unknown;
  readonly lines: (spec: View<JobRecordSpec>, now: number) => readonly string[];
}

/** Prints one job. @param job see `jobOf` */
export async function printJob(
  printed: string,
  job: string | undefined,
  options: JobsOptions,
  terminal: Terminal,
  { value, lines }: JobView,
): Promise<number> {
  return withNamed(printed, options, terminal, async (cluster, root) => {
    const { output } = options;
    const { spec } = await jobOf(cluster, root, job);
    const shown = output === 'text' ? lines(spec, cluster.clock.wall()) : [printValue(value(spec), output)];
    for (const line of shown) terminal.print(line);
    return exitCodes.ok;
  });
}

/** A number matches exactly; anything else is the beginning of an id. */
export const isNamed = ({ number, jobID }: View<JobRecordSpec>, job: string): boolean =>
  String(number) === job || (job.length >= 4 && jobID.startsWith(job));

async function whyNone(
  { client, namespace }: Pick<Cluster, 'client' | 'namespace'>,
  root: string,
  job: string | undefined,
  records: readonly View<JobRecord>[],
): Promise<string> {
  const numbers = records.map(({ spec }) => spec.number);
  if (job !== undefined && numbers.length > 0)
    return `there is no record of job ${job} of ${root}; recorded are ${String(numbers.at(-1))} to ${String(numbers[0])}, list them with: ${selfCommand()} jobs list ${root} -n ${namespace}`;
  const isThere = await client.get(installationKind, `${namespace}/${root}`).then(
    () => true,
    () => false,
  );
  return isThere
    ? `no job of ${root} in namespace ${namespace} is recorded: only roots have records, and only since the journal was enabled`
    : `there is no installation ${root} in namespace ${namespace}, and no record of its jobs; choose another with -n, or list all with: ${selfCommand()} jobs list -A`;
}

/** The spec of the root that the job worked on. @throws CommandError if the record does not contain it */
export function specIn({
  number,
  installation,
  installationGzip,
  specOmitted,
}: View<JobRecordSpec>): InstallationSpec {
  if (installation) return installation as unknown as InstallationSpec;
  if (installationGzip !== undefined) {
    const text = gunzipSync(Buffer.from(installationGzip, 'base64'), { maxOutputLength: 64 * 1024 * 1024 });
    return JSON.parse(text.toString('utf8')) as InstallationSpec;
  }
  throw new CommandError(
    `the record of job ${String(number)} does not contain the spec: ${specOmitted ?? 'it was not recorded'}`,
  );
}
