/** `espalier installations events`: the events of all objects of a tree, in order. */
import { withNamed } from '../../named-objects.ts';
import { append } from '../../../lib/lists.ts';
import type { NamespacedOptions } from '../../cluster.ts';
import { exitCodes } from '../../errors.ts';
import { nameLine, printValue } from '../../terminal/documents.ts';
import type { ListFormat } from '../../terminal/output-option.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { eventKind, eventLines, eventsOfTree, type TreeEvent } from '../../tree/events.ts';
import { treeNamed } from '../../tree/named.ts';

export interface EventsOptions extends NamespacedOptions {
  readonly output: ListFormat;
}

export async function events(printed: string, options: EventsOptions, terminal: Terminal): Promise<number> {
  return withNamed(printed, options, terminal, async (cluster, name) => {
    const root = await treeNamed(cluster, name);
    const all: TreeEvent[] = [];
    for await (const page of cluster.client.list(eventKind, { namespace: cluster.namespace }))
      append(all, page.items);
    const found = eventsOfTree(root, all);
    const { output } = options;
    if (output === 'json' || output === 'yaml') terminal.print(printValue(found, output));
    else if (output === 'name')
      for (const { metadata } of found)
        terminal.print(nameLine({ apiVersion: 'v1', kind: 'Event', metadata }));
    else if (found.length === 0) terminal.print('no events; API servers keep them for an hour by default');
    else for (const line of eventLines(found, output === 'wide')) terminal.print(line);
    return exitCodes.ok;
  });
}
