/** The trees of all landscapes, from one watch per kind that all viewers share. */
import type { DeployItem } from '../../api/kinds/deployitem.ts';
import type { Execution } from '../../api/kinds/execution.ts';
import type { Installation } from '../../api/kinds/installation.ts';
import { deployItemKind, executionKind, installationKind } from '../../api/landscaper-kinds.ts';
import type { Cache, Caches, Obj } from '../../runtime/types.ts';
import type { Collected } from '../tree/collect.ts';
import { treesOf, type Node } from '../tree/tree.ts';
import { slimDeployItem, slimExecution, slimInstallation } from './slim.ts';

/** The current state of the landscapes. */
export interface Model {
  /** Trees of all roots, by namespace and name. */
  roots(): readonly Node[];
  root(namespace: string, name: string): Node | undefined;
  /** Why the watches are not healthy; empty if they are. */
  problem(): string;
}

export interface WatchedModel extends Model {
  /** Calls back after each change, until the returned function is called. */
  onChange(listener: () => void): () => void;
}

/** A model of fixed objects; `changed` has to be called when `collected` returns other ones. */
export function modelOf(
  collected: () => Collected,
  problem: () => string,
): WatchedModel & { changed(): void } {
  const listeners = new Set<() => void>();
  let trees: ReadonlyMap<string, Node> | undefined;
  const current = (): ReadonlyMap<string, Node> =>
    (trees ??= new Map(treesOf(collected()).map((root) => [`${root.namespace}/${root.name}`, root])));
  return {
    roots: () => [...current().values()],
    root: (namespace, name) => current().get(`${namespace}/${name}`),
    problem,
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    changed() {
      trees = undefined;
      for (const listener of listeners) listener();
    },
  };
}

/**
 * Starts the watches, until the signal aborts; resolves when all objects have been listed.
 * @param namespace undefined: all namespaces
 */
export async function watchModel(
  caches: Caches,
  namespace: string | undefined,
  signal: AbortSignal,
): Promise<WatchedModel> {
  const options = namespace === undefined ? {} : { namespaces: [namespace] };
  const installations = caches.of<Installation>(installationKind, {
    ...options,
    transform: slimInstallation,
  });
  const executions = caches.of<Execution>(executionKind, { ...options, transform: slimExecution });
  const deployItems = caches.of<DeployItem>(deployItemKind, { ...options, transform: slimDeployItem });
  const all = [installations, executions, deployItems] as unknown as Cache<Obj>[];
  const model = modelOf(
    () => ({
      installations: [...installations.list()],
      executions: [...executions.list()],
      deployItems: [...deployItems.list()],
    }),
    () => all.flatMap(({ problem }) => problem ?? [])[0] ?? '',
  );
  for (const cache of all)
    cache.subscribe({
      name: 'console',
      ownEvents: 'deliver',
      on: () => {
        model.changed();
      },
    });
  await Promise.all(all.map((cache) => cache.start(signal)));
  return model;
}
