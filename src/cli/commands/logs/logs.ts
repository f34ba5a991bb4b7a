/** `espalier logs`: the log lines of one landscape, from all pods of the product or from a file. */
import { located } from '../../named-objects.ts';
import { systemClock } from '../../../lib/clock.ts';
import { isDuration, parseDuration } from '../../../lib/duration.ts';
import { textOf } from '../../../observability/log-text.ts';
import type { Level } from '../../../observability/log.ts';
import { onInterrupt } from '../../../runtime/manager/signals.ts';
import { withCluster, type Cluster, type NamespacedOptions } from '../../cluster.ts';
import { exitCodes, UsageError } from '../../errors.ts';
import { fileParts, nameOf } from '../../files.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { LogFilter, type Entry, type Wanted } from './filter.ts';
import { linesOf } from './lines.ts';
import { PodLogs } from './pod-logs.ts';
import { sourcesIn } from './pods.ts';
import { selfCommand } from '../../self-command.ts';

export interface LogsOptions extends NamespacedOptions {
  readonly systemNamespace: string;
  readonly selector: string;
  readonly file?: string;
  readonly follow?: true;
  readonly since?: string;
  readonly level: Level;
  readonly job?: string;
  readonly output: string;
}

/** @param name root installation; undefined: all @returns 1 if a log cannot be read */
export async function logs(
  name: string | undefined,
  options: LogsOptions,
  terminal: Terminal,
): Promise<number> {
  const { file, namespace, follow, since, level, job } = options;
  const periodMs = since === undefined ? undefined : durationOf(since);
  const sinceMs = periodMs === undefined ? undefined : systemClock.wall() - periodMs;
  const wanted = { name, namespace, level, job, sinceMs };
  if (file !== undefined) {
    if (!follow) return fromFile(file, wanted, options, terminal);
    throw new UsageError(
      `--follow is for pods; to follow a file, use: tail -n +1 -f FILE | ${selfCommand()} logs --file -`,
    );
  }
  return withCluster(options, terminal, async (cluster) => {
    const ofContext = name === undefined ? wanted : { ...wanted, ...(await located(name, cluster)) };
    return fromPods(cluster, ofContext, periodMs, options, terminal);
  });
}

/** Milliseconds. @throws UsageError */
function durationOf(since: string): number {
  const ms = isDuration(since) ? parseDuration(since) : 0;
  if (ms > 0) return ms;
  throw new UsageError(`--since: "${since}" is not a duration; use a value like 10m or 2h`);
}

async function fromFile(
  file: string,
  wanted: Wanted,
  options: LogsOptions,
  terminal: Terminal,
): Promise<number> {
  const filter = new LogFilter(wanted);
  const print = printer(wanted, options, terminal);
  for await (const line of linesOf(fileParts(file))) {
    const entry = filter.select(line);
    if (entry) print(entry);
  }
  explain(filter, nameOf(file), terminal);
  return exitCodes.ok;
}

async function fromPods(
  cluster: Cluster,
  wanted: Wanted,
  periodMs: number | undefined,
  options: LogsOptions,
  terminal: Terminal,
): Promise<number> {
  const { systemNamespace: namespace, selector: labels } = options;
  const sources = await sourcesIn(cluster, { namespace, labels });
  const filter = new LogFilter(wanted);
  const print = printer(wanted, options, terminal);
  const pods = new PodLogs({
    cluster,
    sources,
    filter,
    sinceSeconds: periodMs === undefined ? undefined : Math.ceil(periodMs / 1000),
    warn: (message) => {
      terminal.warn(message);
    },
  });
  for (const entry of await pods.history()) print(entry);
  if (options.follow) await untilInterrupted((signal) => pods.follow(print, signal));
  else if (!pods.hasFailed) explain(filter, 'the logs of the pods', terminal);
  return pods.hasFailed ? exitCodes.failed : exitCodes.ok;
}

async function untilInterrupted(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const interruption = onInterrupt();
  try {
    await work(interruption.signal);
  } finally {
    interruption.release();
  }
}

function printer(
  { name, namespace }: Wanted,
  { output }: LogsOptions,
  terminal: Terminal,
): (entry: Entry) => void {
  const tree = name === undefined || namespace === undefined ? undefined : `${namespace}/${name}`;
  const style = { hasDate: true, tree };
  return ({ raw, line }) => {
    terminal.print(output === 'json' ? raw : textOf(line, style));
  };
}

function explain(filter: LogFilter, source: string, terminal: Terminal): void {
  const why = filter.explanation(source);
  if (why !== undefined) terminal.warn(why);
}
