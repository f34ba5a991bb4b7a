/** Reads the objects of trees: once, or continuously with watches. */
import { append } from '../../lib/lists.ts';
import type { DeployItem } from '../../api/kinds/deployitem.ts';
import type { Execution } from '../../api/kinds/execution.ts';
import type { Installation } from '../../api/kinds/installation.ts';
import { deployItemKind, executionKind, installationKind } from '../../api/landscaper-kinds.ts';
import type { View } from '../../lib/objects.ts';
import type { Cache, Caches, Client, Kind, Obj } from '../../runtime/types.ts';

/** The objects, in any order. */
export interface Collected {
  readonly installations: readonly View<Installation>[];
  readonly executions: readonly View<Execution>[];
  readonly deployItems: readonly View<DeployItem>[];
}

/** @param namespace undefined: all namespaces */
export async function collect(client: Client, namespace: string | undefined): Promise<Collected> {
  const query = namespace === undefined ? {} : { namespace };
  const all = async <T extends Obj>(kind: Kind<T>): Promise<T[]> => {
    const objects: T[] = [];
    for await (const page of client.list(kind, query)) append(objects, page.items);
    return objects;
  };
  const [installations, executions, deployItems] = await Promise.all([
    all<Installation>(installationKind),
    all<Execution>(executionKind),
    all<DeployItem>(deployItemKind),
  ]);
  return { installations, executions, deployItems };
}

interface Following {
  current(): Collected;
}

/**
 * Watches the objects until the signal aborts; resolves when all objects have been listed.
 * @param onChange called after each change
 */
export async function watchObjects(
  caches: Caches,
  namespace: string | undefined,
  signal: AbortSignal,
  onChange: () => void,
): Promise<Following> {
  const options = namespace === undefined ? {} : { namespaces: [namespace] };
  const installations = caches.of<Installation>(installationKind, options);
  const executions = caches.of<Execution>(executionKind, options);
  const deployItems = caches.of<DeployItem>(deployItemKind, options);
  const all = [installations, executions, deployItems] as unknown as Cache<Obj>[];
  for (const cache of all) cache.subscribe({ name: 'cli', ownEvents: 'deliver', on: onChange });
  await Promise.all(all.map((cache) => cache.start(signal)));
  return {
    current: () => ({
      installations: [...installations.list()],
      executions: [...executions.list()],
      deployItems: [...deployItems.list()],
    }),
  };
}
