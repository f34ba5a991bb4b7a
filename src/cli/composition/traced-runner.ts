/** Adds a span to each piece of work of templates; it runs in worker processes and is measured here, with its wait for a worker. */
import type { Runner, RunnerOf } from '../../blueprint/work.ts';
import { inSpan } from '../../observability/tracing/scope.ts';

/** Fields by which users recognise the work. */
interface Job {
  readonly execution?: { readonly name?: string | undefined; readonly type?: string };
  readonly what?: unknown;
}

type Work = (job: Job) => Promise<unknown>;

export const tracedRunners =
  (runnerOf: RunnerOf): RunnerOf =>
  (namespace) => {
    const works = Object.entries(runnerOf(namespace)).map(([kind, work]) => [
      kind,
      traced(kind, work as Work),
    ]);
    return Object.fromEntries(works) as Runner;
  };

const traced =
  (kind: string, work: Work): Work =>
  (job) =>
    inSpan(
      () => ({
        name: `template ${kind}`,
        attributes: {
          'espalier.template.execution': job.execution?.name,
          'espalier.template.engine': job.execution?.type,
          'espalier.template.what': typeof job.what === 'string' ? job.what : undefined,
        },
      }),
      () => work(job),
    );
