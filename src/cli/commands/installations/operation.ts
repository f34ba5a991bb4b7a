/** `espalier installations reconcile` and `interrupt`: request a job, or its end, by annotation. */
import { selfCommand } from '../../self-command.ts';
import { withNamed } from '../../named-objects.ts';
import { hasOperation, isFinished, isRoot, isSuspended, type JobView } from '../../../api/job.ts';
import type { Installation } from '../../../api/kinds/installation.ts';
import { annotations, operations } from '../../../api/labels.ts';
import { installationKind } from '../../../api/landscaper-kinds.ts';
import { isDuration, parseDuration } from '../../../lib/duration.ts';
import { Conflict, NotFound } from '../../../runtime/errors.ts';
import { withCluster, type Cluster, type NamespacedOptions } from '../../cluster.ts';
import { CommandError, exitCodes, UsageError } from '../../errors.ts';
import { isKindUnknown } from '../../report-error.ts';
import { showProgress } from '../../tree/progress.ts';
import { onInterrupt } from '../../../runtime/manager/signals.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { rootCauses, type Node } from '../../tree/tree.ts';
import type { PlanningOptions } from '../plan/options.ts';

export interface OperationOptions extends NamespacedOptions {
  readonly wait?: true;
  readonly timeout?: string;
}

export interface ReconcileOptions extends OperationOptions, PlanningOptions {
  /** File with a saved plan. */
  readonly plan?: string;
  /** All roots instead of one. */
  readonly all?: true;
  readonly allNamespaces?: true;
}

const ALONE = ['wait', 'plan', 'config', 'deployer'] as const;

/** Starts a job of every root of the namespace, or of all namespaces. */
async function reconcileAll(options: ReconcileOptions, terminal: Terminal): Promise<number> {
  const [alone] = ALONE.filter((option) => options[option] !== undefined);
  if (alone !== undefined) throw new UsageError(`--${alone} is for one installation; leave out --all`);
  return withCluster(options, terminal, async ({ client, namespace }) => {
    const where = options.allNamespaces ? {} : { namespace };
    let started = 0;
    for await (const { items } of client.list(installationKind, { ...where, metadataOnly: true })) {
      for (const { metadata } of items.filter((item) => isRoot(item.metadata))) {
        const { name, namespace: its = namespace } = metadata;
        try {
          await annotate({ client, namespace: its }, name, operations.reconcile);
        } catch (error) {
          if (error instanceof NotFound) continue; // It was deleted meanwhile.
          throw error;
        }
        started++;
        const held = isSuspended(metadata) ? `; it is suspended, so the job waits` : '';
        terminal.print(`${its}/${name}: a job was requested${held}`);
      }
    }
    if (started === 0) terminal.print('there are no root installations');
    return exitCodes.ok;
  });
}

export async function reconcile(
  printed: string | undefined,
  options: ReconcileOptions,
  terminal: Terminal,
): Promise<number> {
  if (options.allNamespaces && !options.all) throw new UsageError('-A starts jobs of all roots; add --all');
  if ((printed === undefined) !== (options.all === true))
    throw new UsageError('name one root installation, or add --all for all roots of the namespace');
  if (printed === undefined) return reconcileAll(options, terminal);
  const timeoutMs = timeoutOf(options.timeout ?? '30m');
  const check = await planCheck(options);
  return withNamed(printed, options, terminal, async (cluster, name) => {
    const installation = await find(cluster, name);
    if (!isRoot(installation.metadata))
      throw new CommandError(
        'the command is only supported for root installations; ' +
          `${name} belongs to ${installation.metadata.ownerReferences?.[0]?.name ?? 'another one'}`,
      );
    const version = await check?.(installation, cluster, terminal);
    const { metadata } = await annotate(cluster, name, operations.reconcile, version);
    terminal.print('The reconcile annotation was added to the installation');
    if (isSuspended(metadata)) {
      const message = `${name} is suspended; the job starts when the annotation ${annotations.suspended} is removed`;
      if (options.wait) throw new CommandError(message);
      terminal.warn(message);
    }
    if (!options.wait) return exitCodes.ok;
    return waitForJob(cluster, terminal, { name, before: installation, timeoutMs });
  });
}

export async function interrupt(
  printed: string,
  options: OperationOptions,
  terminal: Terminal,
): Promise<number> {
  return withNamed(printed, options, terminal, async (cluster, name) => {
    await find(cluster, name);
    await annotate(cluster, name, operations.interrupt);
    terminal.print('The interrupt annotation was added to the installation');
    return exitCodes.ok;
  });
}

export async function find({ client, namespace }: Cluster, name: string): Promise<Installation> {
  try {
    return await client.get(installationKind, `${namespace}/${name}`);
  } catch (error) {
    if (!(error instanceof NotFound) || isKindUnknown(error)) throw error;
    throw new CommandError(
      `there is no installation ${name} in namespace ${namespace}; choose another with -n, ` +
        `or list all with: ${selfCommand()} installations inspect -A`,
      { cause: error },
    );
  }
}

/** @param version undefined: whatever the current one is @throws CommandError if the version is not current */
async function annotate(
  { client, namespace }: Pick<Cluster, 'client' | 'namespace'>,
  name: string,
  operation: string,
  version?: string,
): Promise<Installation> {
  const metadata = {
    ...(version !== undefined && { resourceVersion: version }),
    annotations: { [annotations.operation]: operation },
  };
  try {
    return await client.send<Installation>({
      verb: 'merge',
      kind: installationKind,
      key: `${namespace}/${name}`,
      body: { metadata },
    });
  } catch (error) {
    if (version === undefined || !(error instanceof Conflict)) throw error;
    throw new CommandError(
      `installation ${name} has changed while its plan was compared; no job was started; run the command again`,
      { cause: error },
    );
  }
}

type PlanCheck = (installation: Installation, cluster: Cluster, terminal: Terminal) => Promise<string>;

/** Loads the code for plans only if it is needed. @throws UsageError */
async function planCheck({ plan, config, deployer }: ReconcileOptions): Promise<PlanCheck | undefined> {
  if (plan === undefined) {
    if (config !== undefined || deployer !== undefined)
      throw new UsageError(
        '--config and --deployer are for the comparison with a saved plan; add --plan FILE',
      );
    return undefined;
  }
  const [{ readPlan }, { planSettings }, { checkAgainstPlan }] = await Promise.all([
    import('../plan/saved-plan.ts'),
    import('../plan/make-plan.ts'),
    import('../plan/start-as-planned.ts'),
  ]);
  const saved = readPlan(plan);
  const settings = await planSettings({
    ...(config !== undefined && { config }),
    ...(deployer && { deployer }),
  });
  return (installation, cluster, terminal) =>
    checkAgainstPlan(installation, saved, settings, cluster, terminal);
}

interface Wait {
  readonly name: string;
  /** The installation before the request. */
  readonly before: Installation;
  readonly timeoutMs: number;
}

export async function waitForJob(cluster: Cluster, terminal: Terminal, wait: Wait): Promise<number> {
  const { clock } = cluster;
  const ending = new AbortController();
  const interruption = onInterrupt(() => {
    ending.abort();
  });
  const cancel = clock.at(clock.now() + wait.timeoutMs, () => {
    ending.abort();
  });
  try {
    const [root] = await showProgress({
      terminal,
      ...cluster,
      name: wait.name,
      signal: ending.signal,
      isOver: ([now]) => now !== undefined && hasRequestedJobEnded(now, wait.before),
    });
    if (!root || !hasRequestedJobEnded(root, wait.before)) {
      const why = interruption.signal.aborted ? 'interrupted' : 'timed out';
      const watch = `${selfCommand()} installations inspect ${wait.name} -n ${cluster.namespace} --watch`;
      throw new CommandError(`${why}; ${stateOf(root)}: ${watch}`);
    }
    return report(root, terminal);
  } finally {
    cancel();
    interruption.release();
  }
}

/** What is known about a job that has not ended, before the command that shows more. */
function stateOf(root: Node | undefined): string {
  if (!root)
    return 'the cluster has not shown the installation: it did not answer, or the installation was deleted; look with';
  if (!isFinished(root.object)) return 'the job continues, watch it with';
  return hasOperation(root.object.metadata, operations.reconcile)
    ? 'the job was requested, but no controller has started it; check whether the controllers run, and watch it with'
    : 'no job is running, check the installation with';
}

/** Whether the job has ended. */
export const hasEnded = ({ object, condition }: Node): boolean =>
  Boolean(object.status?.jobID) && (condition === 'succeeded' || condition === 'failed');

/**
 * Whether the requested job has ended. It is either a later job than before, or the running one if it had just
 * started and took the request as its own. If the annotation still exists, a job will follow.
 */
export const hasRequestedJobEnded = (root: Node, before: Pick<JobView, 'status'>): boolean =>
  hasEnded(root) &&
  !hasOperation(root.object.metadata, operations.reconcile) &&
  (root.object.status?.jobID !== before.status?.jobID || !isFinished(before));

/** Prints the complete errors and returns the exit code. */
export function report(root: Node, terminal: Terminal): number {
  if (root.condition === 'succeeded') return exitCodes.ok;
  for (const fault of rootCauses(root)) {
    terminal.warn(
      `${terminal.paintError.red(`${fault.kind} ${fault.name} ${fault.phase}:`)} ${fault.message ?? 'no reason given'}`,
    );
  }
  return exitCodes.failed;
}

/** Milliseconds of an option `--timeout`. @throws UsageError */
export function timeoutOf(text: string): number {
  const ms = isDuration(text) ? parseDuration(text) : 0;
  if (ms > 0) return ms;
  throw new UsageError(`--timeout: "${text}" is not a duration; use a value like 90s or 10m`);
}
