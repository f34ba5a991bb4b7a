/** `espalier graph`: prints the data flow between root installations. */
import { API_VERSION } from '../../../api/labels.ts';
import { withCluster, type NamespacedOptions } from '../../cluster.ts';
import { exitCodes } from '../../errors.ts';
import { rootGraph } from '../../graph/graph.ts';
import { graphText, type GraphFormat } from '../../graph/print.ts';
import { rootLines } from '../../graph/table.ts';
import { nameLine } from '../../terminal/documents.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { collect } from '../../tree/collect.ts';
import { treesOf } from '../../tree/tree.ts';

export interface GraphOptions extends NamespacedOptions {
  readonly allNamespaces?: true;
  readonly output: GraphFormat | 'text' | 'wide' | 'name';
}

export async function graph(options: GraphOptions, terminal: Terminal): Promise<number> {
  return withCluster(options, terminal, async ({ client, namespace }) => {
    const roots = treesOf(await collect(client, options.allNamespaces ? undefined : namespace));
    const { output } = options;
    if (output === 'name')
      for (const { kind, name } of roots)
        terminal.print(nameLine({ apiVersion: API_VERSION, kind, metadata: { name } }));
    else if (output === 'text' || output === 'wide')
      for (const line of rootLines(rootGraph(roots, Infinity), output === 'wide')) terminal.print(line);
    else terminal.write(graphText(rootGraph(roots), output));
    return exitCodes.ok;
  });
}
