/** `espalier graph`: prints the data flow between root installations. */
import { withCluster, type NamespacedOptions } from '../../cluster.ts';
import { exitCodes } from '../../errors.ts';
import { rootGraph } from '../../graph/graph.ts';
import { graphText, type GraphFormat } from '../../graph/print.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { collect } from '../../tree/collect.ts';
import { treesOf } from '../../tree/tree.ts';

export interface GraphOptions extends NamespacedOptions {
  readonly allNamespaces?: true;
  readonly output: GraphFormat;
}

export async function graph(options: GraphOptions, terminal: Terminal): Promise<number> {
  return withCluster(options, terminal, async ({ client, namespace }) => {
    const roots = treesOf(await collect(client, options.allNamespaces ? undefined : namespace));
    terminal.write(graphText(rootGraph(roots), options.output));
    return exitCodes.ok;
  });
}
