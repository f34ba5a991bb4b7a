/** Shows the trees of the applied root installations until the jobs of this apply have ended. */
import { hasAnnotation, hasOperation, isFinished, isRoot, isSuspended } from '../../../api/job.ts';
import type { Installation } from '../../../api/kinds/installation.ts';
import { annotations, operations } from '../../../api/labels.ts';
import { installationKind } from '../../../api/landscaper-kinds.ts';
import { keyOf } from '../../../runtime/keys.ts';
import { onInterrupt } from '../../../runtime/manager/signals.ts';
import type { Cluster } from '../../cluster.ts';
import { CommandError, exitCodes } from '../../errors.ts';
import { selfCommand } from '../../self-command.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { showProgress } from '../../tree/progress.ts';
import { treesOf, type Node } from '../../tree/tree.ts';
import { hasRequestedJobEnded, report } from '../installations/operation.ts';
import { isInstallation } from './prepare.ts';
import { titleOf } from './read.ts';
import type { Applied } from './write.ts';

/** A root installation that this apply has written. */
interface AppliedRoot {
  readonly key: string;
  readonly title: string;
  /** Before the apply; without a status if it did not exist. */
  readonly before: Pick<Installation, 'status'>;
  /** Whether a job of it has started, will start, or was already running. */
  readonly hasJob: boolean;
  readonly isSuspended: boolean;
  /** Whether an earlier job was still running. */
  readonly isBusy: boolean;
}

/** Pure. */
export const appliedRoots = (applied: readonly Applied[]): readonly AppliedRoot[] =>
  applied.flatMap(({ before, after }) => {
    if (!isInstallation(after) || !isRoot(after.metadata)) return [];
    const earlier = before as Installation | undefined;
    return [
      {
        key: keyOf(after),
        title: titleOf(after),
        before: earlier ?? {},
        hasJob: hasJob(earlier, after),
        isSuspended: isSuspended(after.metadata),
        isBusy: earlier !== undefined && !isFinished(earlier),
      },
    ];
  });

function hasJob(before: Installation | undefined, { metadata }: Installation): boolean {
  const isChanged = before?.metadata.generation !== metadata.generation;
  return (
    hasOperation(metadata, operations.reconcile) ||
    (isChanged && hasAnnotation(metadata, annotations.reconcileIfChanged)) ||
    (before !== undefined && !isFinished(before))
  );
}

/**
 * @returns exit code 1 if one of the jobs has failed
 * @throws CommandError after the timeout, when interrupted, and if a root is suspended
 */
export async function waitForJobs(
  roots: readonly AppliedRoot[],
  cluster: Cluster,
  terminal: Terminal,
  timeoutMs: number,
): Promise<number> {
  const awaited = new Map(roots.filter(({ hasJob: has }) => has).map((root) => [root.key, root]));
  if (awaited.size === 0) return exitCodes.ok;
  const suspended = [...awaited.values()].find((root) => root.isSuspended);
  if (suspended)
    throw new CommandError(
      `${suspended.title} is suspended; its job starts when the annotation ${annotations.suspended} is removed`,
    );
  for (const { title, key } of [...awaited.values()].filter(({ isBusy }) => isBusy)) {
    const [namespace = '', name = ''] = key.split('/');
    terminal.warn(
      `${title}: an earlier job is still running, and the next one starts when it has ended; end it with: ${selfCommand()} installations interrupt ${name} -n ${namespace}`,
    );
  }
  const keys = new Set(roots.map(({ key }) => key));
  const isOver = (nodes: readonly Node[]): boolean =>
    nodes.length >= awaited.size && nodes.every((node) => hasEnded(node, awaited));
  const { nodes, isInterrupted } = await show(keys, isOver, { cluster, terminal, timeoutMs });
  if (!isOver(nodes)) {
    const left = leftOf(nodes, awaited);
    const why = isInterrupted ? 'interrupted' : 'timed out';
    throw new CommandError(
      `${why}; jobs of ${left.join(', ')} have not ended, watch them with: ${watchCommand(left)}`,
    );
  }
  const codes = nodes
    .filter((node) => awaited.has(`${node.namespace}/${node.name}`))
    .map((node) => report(node, terminal));
  return codes.some((code) => code !== exitCodes.ok) ? exitCodes.failed : exitCodes.ok;
}

/** The keys of the roots whose jobs have not ended; all that the cluster has not shown count as such. */
export function leftOf(
  nodes: readonly Node[],
  awaited: ReadonlyMap<string, Pick<AppliedRoot, 'before'>>,
): readonly string[] {
  const shown = new Set(nodes.map(({ namespace, name }) => `${namespace}/${name}`));
  return [
    ...nodes.filter((node) => !hasEnded(node, awaited)).map(({ namespace, name }) => `${namespace}/${name}`),
    ...[...awaited.keys()].filter((key) => !shown.has(key)),
  ];
}

/** The command that shows these roots, and as few others as possible. */
export function watchCommand(keys: readonly string[]): string {
  const inspect = `${selfCommand()} installations inspect`;
  const [first = '', ...others] = keys;
  const [namespace = '', name = ''] = first.split('/');
  if (others.length === 0) return `${inspect} ${name} -n ${namespace} --watch`;
  const isOne = others.every((key) => key.startsWith(`${namespace}/`));
  return `${inspect} ${isOne ? `-n ${namespace}` : '-A'} --watch`;
}

/** Whether nothing is left to wait for: the job of this apply has ended, and has started those of other roots. Pure. */
export function hasEnded(node: Node, awaited: ReadonlyMap<string, Pick<AppliedRoot, 'before'>>): boolean {
  const root = awaited.get(`${node.namespace}/${node.name}`);
  return !root || (hasRequestedJobEnded(node, root.before) && !startsOthers(node));
}

/** Whether the controller still has to start the roots that import from this one. */
const startsOthers = ({ object }: Node): boolean =>
  ((object as Installation).status?.dependentsToTrigger ?? []).length > 0;

interface Stage {
  readonly cluster: Cluster;
  readonly terminal: Terminal;
  readonly timeoutMs: number;
}

async function show(
  keys: ReadonlySet<string>,
  isOver: (nodes: readonly Node[]) => boolean,
  { cluster, terminal, timeoutMs }: Stage,
): Promise<{ readonly nodes: readonly Node[]; readonly isInterrupted: boolean }> {
  const { clock } = cluster;
  const namespaces = new Set([...keys].map((key) => key.slice(0, key.indexOf('/'))));
  const [only] = namespaces;
  const namespace = namespaces.size === 1 ? only : undefined;
  // A watch that is forbidden would be retried forever.
  for await (const _ of cluster.client.list(installationKind, {
    limit: 1,
    ...(namespace !== undefined && { namespace }),
  }))
    break;
  const ending = new AbortController();
  const interruption = onInterrupt(() => {
    ending.abort();
  });
  const cancel = clock.at(clock.now() + timeoutMs, () => {
    ending.abort();
  });
  try {
    const nodes = await showProgress({
      terminal,
      ...cluster,
      namespace,
      rootsIn: (collected) =>
        treesOf(collected).filter(({ namespace: ns, name }) => keys.has(`${ns}/${name}`)),
      signal: ending.signal,
      isOver,
    });
    return { nodes, isInterrupted: interruption.signal.aborted };
  } finally {
    cancel();
    interruption.release();
  }
}
