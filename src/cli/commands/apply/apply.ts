/** `espalier apply`: applies files and folders to a cluster, with the blueprints in local folders. */
import { annotations, operations } from '../../../api/labels.ts';

import { isLabelValue } from '../../../lib/names.ts';
import { withCluster, type NamespacedOptions } from '../../cluster.ts';
import { exitCodes, UsageError } from '../../errors.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import type { RegistryOptions } from '../components/sources.ts';
import { timeoutOf } from '../installations/operation.ts';
import { prepare } from './prepare.ts';
import { refuse } from './problems.ts';
import { confirmDeletion, deleteObsolete, obsoleteObjects } from './prune.ts';
import { titleOf } from './read.ts';
import { pushComponents } from './repository.ts';
import { resolve } from './resolve.ts';
import { appliedRoots, waitForJobs } from './wait.ts';
import { applyAll, check, type Applied } from './write.ts';

export interface ApplyOptions extends NamespacedOptions, RegistryOptions {
  readonly wait?: true;
  readonly timeout: string;
  readonly reconcile?: true;
  readonly dryRun?: true;
  readonly forceConflicts?: true;
  readonly set?: string;
  readonly prune?: true;
  readonly yes?: true;
  readonly repository?: string;
  readonly lint: boolean;
}

const NOTHING_CHANGED = 'nothing was changed';

/** Nothing is changed unless all files are valid. @returns 1 if a job that was waited for has failed */
export async function apply(
  paths: readonly string[],
  options: ApplyOptions,
  terminal: Terminal,
): Promise<number> {
  refuseOptions(options);
  const timeoutMs = timeoutOf(options.timeout);
  const { set } = options;
  const prepared = await prepare(paths, options);
  for (const warning of prepared.warnings)
    terminal.warn(`${terminal.paintError.yellow('warning:')} ${warning}`);
  refuse(prepared.problems, terminal, NOTHING_CHANGED);
  return withCluster(options, terminal, async (cluster) => {
    const { client, clock } = cluster;
    const { planned, problems } = await resolve(prepared.documents, cluster, options);
    refuse(problems, terminal, NOTHING_CHANGED);
    const ports = { client, clock, force: options.forceConflicts === true };
    const checked = await check(planned, ports);
    refuse(checked.problems, terminal, NOTHING_CHANGED);
    const namespaces = new Set([
      cluster.namespace,
      ...planned.flatMap(({ object }) => object.metadata.namespace ?? []),
    ]);
    const obsolete =
      options.prune && set !== undefined ? await obsoleteObjects(client, planned, set, [...namespaces]) : [];
    if (options.dryRun) {
      for (const one of checked.applied) terminal.print(lineOf(one));
      for (const { title } of obsolete) terminal.print(`${title} deleted`);
      terminal.warn(terminal.paintError.dim('dry run; nothing was changed'));
      return exitCodes.ok;
    }
    if (obsolete.length > 0 && !options.yes) await confirmDeletion(obsolete, set ?? '', terminal);
    await pushComponents(prepared.documents, options, terminal);
    const applied = await applyAll(planned, ports, (one) => {
      terminal.print(lineOf(one));
    });
    const roots = appliedRoots(applied);
    for (const { title, hasJob } of roots) if (!hasJob) terminal.warn(terminal.paintError.dim(idle(title)));
    const code = options.wait ? await waitForJobs(roots, cluster, terminal, timeoutMs) : exitCodes.ok;
    if (code !== exitCodes.ok) {
      if (obsolete.length > 0) terminal.warn('a job has failed, so nothing was deleted');
      return code;
    }
    await deleteObsolete(obsolete, {
      client,
      clock,
      timeoutMs,
      report: (title) => {
        terminal.print(`${title} deleted`);
      },
    });
    return code;
  });
}

/** @throws UsageError */
function refuseOptions({ set, prune, dryRun, wait }: ApplyOptions): void {
  if (prune && set === undefined)
    throw new UsageError('--prune needs the name of a set, whose other objects are deleted; add --set NAME');
  const [problem] = set === undefined ? [] : isLabelValue(set);
  if (set === '' || problem !== undefined)
    throw new UsageError(
      `--set: "${set ?? ''}" is not a valid name of a set${problem ? `: ${problem}` : ''}`,
    );
  if (dryRun && wait) throw new UsageError('--dry-run starts no job, so it cannot be combined with --wait');
}

const lineOf = ({ planned, outcome }: Applied): string => `${titleOf(planned.object)} ${outcome}`;

const idle = (title: string): string =>
  `${title}: no job was started; start one with --reconcile, or add the annotation ${annotations.operation}: ${operations.reconcile}`;
