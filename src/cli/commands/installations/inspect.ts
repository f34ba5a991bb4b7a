/** `espalier installations inspect`: shows the tree below an installation. */
import { located } from '../../named-objects.ts';
import { API_VERSION } from '../../../api/labels.ts';
import { withCluster, type Cluster, type NamespacedOptions } from '../../cluster.ts';
import { collect } from '../../tree/collect.ts';
import { nameLine, printJson, printYaml } from '../../terminal/documents.ts';
import { CommandError, exitCodes } from '../../errors.ts';
import { treeGraph } from '../../graph/graph.ts';
import { graphText } from '../../graph/print.ts';
import { inspectText } from '../../tree/print-inspect.ts';
import { treeLines } from '../../tree/print.ts';
import { showProgress } from '../../tree/progress.ts';
import { modes, type Mode } from './modes.ts';
import { onInterrupt } from '../../../runtime/manager/signals.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { failedOnly, someNode, treesOf, type Node } from '../../tree/tree.ts';

export interface InspectOptions extends NamespacedOptions {
  readonly allNamespaces?: true;
  readonly showFailed?: true;
  readonly showDetails?: true;
  readonly output?: string;
  readonly wide?: true;
  readonly yaml?: true;
  readonly json?: true;
  readonly watch?: true;
  readonly exitCode?: true;
}

export async function inspect(
  printed: string | undefined,
  options: InspectOptions,
  terminal: Terminal,
): Promise<number> {
  if (options.allNamespaces && printed !== undefined)
    throw new CommandError(
      'the --all-namespaces option cannot be used when an installation name is provided',
    );
  const mode = modeOf(options);
  return withCluster(options, terminal, async (connected) => {
    const at = printed === undefined ? undefined : await located(printed, connected);
    const cluster = { ...connected, namespace: at?.namespace ?? connected.namespace };
    const name = at?.name;
    const namespace = options.allNamespaces ? undefined : cluster.namespace;
    const all = treesOf(await collect(cluster.client, namespace), name);
    if (name !== undefined && all.length === 0)
      throw new CommandError(
        `there is no installation ${name} in namespace ${cluster.namespace}; choose another with -n, or list all with -A`,
      );
    const now = cluster.clock.wall();
    if (options.watch) {
      if (!terminal.isLive) terminal.write(columnsText(all, terminal, now));
      await watch(cluster, namespace, name, terminal);
      return exitCodes.ok;
    }
    const roots = options.showFailed ? failedOnly(all) : all;
    terminal.write(textOf(roots, mode, { options, terminal, now, isEmpty: all.length === 0 }));
    const hasFailures = someNode(all, (node) => node.condition === 'failed');
    return options.exitCode && hasFailures ? exitCodes.failed : exitCodes.ok;
  });
}

/** @throws CommandError with the messages of landscaper-cli */
export function modeOf(options: Pick<InspectOptions, 'output' | 'wide' | 'yaml' | 'json'>): Mode {
  const { output, wide, yaml, json } = options;
  const isKnown = (text: string): text is Mode => (modes as readonly string[]).includes(text);
  if (output !== undefined && !isKnown(output))
    throw new CommandError(`invalid option for '--output'/'-o' flag: ${output}; choose ${modes.join(', ')}`);
  const chosen = [
    ...(output ? [output] : []),
    ...(wide ? (['wide'] as const) : []),
    ...(yaml ? (['yaml'] as const) : []),
    ...(json ? (['json'] as const) : []),
  ];
  if (chosen.length > 1)
    throw new CommandError(`no more than one output mode may be set: ${chosen.join(', ')}`);
  return chosen[0] ?? 'text';
}

async function watch(
  cluster: Cluster,
  namespace: string | undefined,
  name: string | undefined,
  terminal: Terminal,
): Promise<void> {
  const interruption = onInterrupt();
  const { signal } = interruption;
  try {
    await showProgress({ terminal, ...cluster, namespace, name, signal, isOver: () => false });
  } finally {
    interruption.release();
  }
}

// ---------------------------------------------------------------- output

interface Circumstances {
  readonly options: InspectOptions;
  readonly terminal: Terminal;
  readonly now: number;
  /** Whether there is no object at all, failed or not. */
  readonly isEmpty: boolean;
}

function textOf(
  roots: readonly Node[],
  mode: Mode,
  { options, terminal, now, isEmpty }: Circumstances,
): string {
  if (mode === 'json') return `${printJson(roots.map(documentOf))}\n`;
  if (mode === 'yaml') return `${printYaml([roots.map(documentOf)])}\n`;
  if (mode === 'dot' || mode === 'mermaid') return graphText(treeGraph(roots), mode);
  if (mode === 'name') return roots.map(namesText).join('');
  if (roots.length === 0) return isEmpty ? 'no installations\n' : 'no failed objects\n';
  if (mode === 'tree') return columnsText(roots, terminal, now);
  const text = inspectText(roots, {
    isWide: mode === 'wide',
    hasDetails: options.showDetails === true,
    hasNamespaces: options.allNamespaces === true,
  });
  return `${text}\n`;
}

/** A line for each object, in the format of `kubectl -o name`. */
const namesText = (node: Node): string =>
  `${nameLine({ apiVersion: API_VERSION, kind: node.kind, metadata: node })}\n${node.children.map(namesText).join('')}`;

function columnsText(roots: readonly Node[], terminal: Terminal, now: number): string {
  const columns = terminal.isLive ? terminal.columns : Infinity;
  return treeLines(roots, { paint: terminal.paint, columns, now })
    .map((line) => `${line}\n`)
    .join('');
}

/** The JSON format of landscaper-cli. */
function documentOf(node: Node): object {
  const of = (kind: Node['kind']): readonly Node[] => node.children.filter((child) => child.kind === kind);
  switch (node.kind) {
    case 'Installation': {
      const [execution] = of('Execution');
      return {
        installation: node.object,
        subInstallations: of('Installation').map(documentOf),
        ...(execution && { execution: documentOf(execution) }),
      };
    }
    case 'Execution':
      return { execution: node.object, deployItems: of('DeployItem').map(documentOf) };
    case 'DeployItem':
      return { deployItem: node.object };
  }
}
