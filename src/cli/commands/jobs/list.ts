/** `espalier jobs list`: the recorded and the running jobs. */
import { columns } from '../../terminal/columns.ts';
import { printValue } from '../../terminal/documents.ts';
import { withCluster } from '../../cluster.ts';
import { exitCodes } from '../../errors.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { recordsOf, runningJobs, type Job, type JobsOptions } from './read.ts';
import { changesWords, requestWords, timeWords, tookWords } from './words.ts';

export async function list(
  root: string | undefined,
  options: JobsOptions,
  terminal: Terminal,
): Promise<number> {
  const { output } = options;
  return withCluster(options, terminal, async ({ client, namespace, clock }) => {
    const within = options.allNamespaces ? undefined : namespace;
    const records = await recordsOf(client, within, root);
    if (output !== 'text') {
      terminal.print(printValue(records, output));
      return exitCodes.ok;
    }
    const recorded = records.map(({ metadata, spec }) => ({ namespace: metadata.namespace ?? '', spec }));
    const jobs = [...(await runningJobs(client, within, root, records)), ...recorded];
    if (jobs.length === 0) terminal.print('no jobs are recorded');
    else for (const line of linesOf(jobs, clock.wall(), within === undefined)) terminal.print(line);
    return exitCodes.ok;
  });
}

function linesOf(jobs: readonly Job[], now: number, hasNamespaces: boolean): readonly string[] {
  const head = ['ROOT', 'JOB', 'RESULT', 'REQUESTED BY', 'STARTED (UTC)', 'TOOK', 'CHANGED'];
  const rows = jobs.map(({ namespace, spec }) => [
    hasNamespaces ? `${namespace}/${spec.root.name}` : spec.root.name,
    String(spec.number),
    spec.result,
    spec.result === 'Running' ? '' : requestWords(spec.request),
    timeWords(spec.triggeredAt),
    tookWords(spec.triggeredAt, spec.endedAt, now),
    changesWords(spec),
  ]);
  return columns([head, ...rows]);
}
