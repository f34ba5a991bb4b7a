/** `espalier jobs list`: the recorded and the running jobs. */
import { jobRecordKind } from '../../../api/landscaper-kinds.ts';
import { columns } from '../../terminal/columns.ts';
import { nameLine, printValue } from '../../terminal/documents.ts';
import { withCluster } from '../../cluster.ts';
import { located } from '../../named-objects.ts';
import { exitCodes } from '../../errors.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import type { ListFormat } from '../../terminal/output-option.ts';
import { recordsOf, runningJobs, type Job, type JobsOptions } from './read.ts';
import { blueprintWords, changesWords, requestWords, timeWords, tookWords } from './words.ts';

export interface JobListOptions extends Omit<JobsOptions, 'output'> {
  readonly output: ListFormat;
}

/** Running jobs have no object yet, so JSON, YAML and names do not contain them. */
export async function list(
  printed: string | undefined,
  options: JobListOptions,
  terminal: Terminal,
): Promise<number> {
  const { output } = options;
  return withCluster(options, terminal, async (cluster) => {
    const { client, clock } = cluster;
    const at = printed === undefined ? undefined : await located(printed, cluster);
    const root = at?.name;
    const within = options.allNamespaces ? undefined : (at?.namespace ?? cluster.namespace);
    const records = await recordsOf(client, within, root);
    if (output === 'json' || output === 'yaml') {
      terminal.print(printValue(records, output));
      return exitCodes.ok;
    }
    if (output === 'name') {
      for (const record of records) terminal.print(nameLine({ ...HEAD, metadata: record.metadata }));
      return exitCodes.ok;
    }
    const recorded = records.map(({ metadata, spec }) => ({ namespace: metadata.namespace ?? '', spec }));
    const jobs = [...(await runningJobs(client, within, root, records)), ...recorded];
    if (jobs.length === 0) terminal.print('no jobs are recorded');
    else {
      const style = { now: clock.wall(), hasNamespaces: within === undefined, isWide: output === 'wide' };
      for (const line of linesOf(jobs, style)) terminal.print(line);
    }
    return exitCodes.ok;
  });
}

/** Objects in lists have no apiVersion and kind. */
const HEAD = { apiVersion: `${jobRecordKind.group}/${jobRecordKind.version}`, kind: jobRecordKind.kind };

interface Style {
  readonly now: number;
  readonly hasNamespaces: boolean;
  readonly isWide: boolean;
}

function linesOf(jobs: readonly Job[], { now, hasNamespaces, isWide }: Style): readonly string[] {
  const head = ['ROOT', 'JOB', 'RESULT', 'REQUESTED BY', 'STARTED (UTC)', 'TOOK', 'CHANGED'];
  const wideHead = ['ID', 'BLUEPRINT', 'PARTS', 'ERROR'];
  const rows = jobs.map(({ namespace, spec }) => [
    hasNamespaces ? `${namespace}/${spec.root.name}` : spec.root.name,
    String(spec.number),
    spec.result,
    spec.result === 'Running' ? '' : requestWords(spec.request),
    timeWords(spec.triggeredAt),
    tookWords(spec.triggeredAt, spec.endedAt, now),
    changesWords(spec),
    ...(isWide ? wideWords(spec) : []),
  ]);
  return columns([isWide ? [...head, ...wideHead] : head, ...rows]);
}

const wideWords = (spec: Job['spec']): readonly string[] => [
  spec.jobID,
  blueprintWords(spec),
  String((spec.parts ?? []).length + (spec.partsOmitted ?? 0)),
  (spec.error?.message ?? '').replaceAll(/\s+/g, ' '),
];
