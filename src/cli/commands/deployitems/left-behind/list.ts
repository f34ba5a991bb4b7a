/** `espalier deployitems left-behind list`: objects on clusters to which targets no longer lead. */
import { located } from '../../../named-objects.ts';
import { deployItemKind, type DeployItem } from '../../../../api/kinds/deployitem.ts';
import { countOf, leftBehindIn, objectsToDelete, type LeftBehind } from '../../../../api/left-behind.ts';
import type { View } from '../../../../runtime/types.ts';
import { withCluster, type NamespacedOptions } from '../../../cluster.ts';
import { printValue } from '../../../terminal/documents.ts';
import type { ReportFormat } from '../../../terminal/output-option.ts';
import type { Terminal } from '../../../terminal/terminal.ts';
import { itemNamed, linesOf } from './entries.ts';

export interface ListOptions extends NamespacedOptions {
  readonly allNamespaces?: true;
  readonly output: ReportFormat;
}

export async function listLeftBehind(
  printed: string | undefined,
  options: ListOptions,
  terminal: Terminal,
): Promise<void> {
  await withCluster(options, terminal, async (cluster) => {
    const items: View<DeployItem>[] = [];
    if (printed !== undefined) {
      const { namespace, name } = await located(printed, cluster, 'installations and deploy items');
      items.push(await itemNamed({ ...cluster, namespace }, name));
    } else {
      const query = options.allNamespaces ? {} : { namespace: cluster.namespace };
      for await (const page of cluster.client.list(deployItemKind, query))
        for (const item of page.items) items.push(item);
    }
    const found = items.flatMap((item) => leftBehindIn(item.status).map((entry) => ({ item, entry })));
    if (options.output !== 'text') {
      terminal.print(printValue(found.map(reportOf), options.output));
      return;
    }
    for (const { item, entry } of found) for (const line of textOf(item, entry)) terminal.print(line);
    if (found.length === 0) terminal.print('no deploy item has objects on another cluster');
  });
}

function textOf({ metadata }: View<DeployItem>, entry: LeftBehind): readonly string[] {
  const [first = '', ...objects] = linesOf(entry);
  return [`deploy item ${metadata.namespace ?? ''}/${metadata.name}: ${first}`, ...objects];
}

const reportOf = ({ item, entry }: { readonly item: View<DeployItem>; readonly entry: LeftBehind }) => ({
  namespace: item.metadata.namespace ?? '',
  name: item.metadata.name,
  ...(entry.cluster && { cluster: entry.cluster }),
  count: countOf(entry),
  objects: objectsToDelete(entry.providerStatus).map(({ text }) => text),
});
