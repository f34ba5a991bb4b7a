/** The trees of all landscapes, from one watch per kind that all viewers share. */
import type { DeployItem } from '../../api/kinds/deployitem.ts';
import type { Execution } from '../../api/kinds/execution.ts';
import type { Installation } from '../../api/kinds/installation.ts';
import { deployItemKind, executionKind, installationKind } from '../../api/landscaper-kinds.ts';
import { keyOf } from '../../runtime/keys.ts';
import type { Cache, Caches, Obj, View } from '../../runtime/types.ts';
import type { Collected } from '../tree/collect.ts';
import type { Node } from '../tree/tree.ts';
import { createTreeBuilder } from '../tree/reused-trees.ts';
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
  const build = createTreeBuilder();
  let trees: ReadonlyMap<string, Node> | undefined;
  const current = (): ReadonlyMap<string, Node> =>
    (trees ??= new Map(build(collected()).map((root) => [`${root.namespace}/${root.name}`, root])));
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

/** The objects of all watches. */
export interface Source {
  collected(): Collected;
  /** The namespaces that contain installations. */
  namespaces(): readonly string[];
  problem(): string;
  onChange(listener: () => void): () => void;
}

/**
 * Starts the watches, until the signal aborts; resolves when all objects have been listed.
 * @param namespaces undefined: all
 */
export async function watchSource(
  caches: Caches,
  namespaces: readonly string[] | undefined,
  signal: AbortSignal,
): Promise<Source> {
  const options = namespaces === undefined ? {} : { namespaces };
  const listeners = new Set<() => void>();
  const changed = (): void => {
    for (const listener of listeners) listener();
  };
  const installations = caches.of<Installation>(installationKind, {
    ...options,
    transform: slimInstallation,
  });
  const executions = caches.of<Execution>(executionKind, { ...options, transform: slimExecution });
  const deployItems = caches.of<DeployItem>(deployItemKind, { ...options, transform: slimDeployItem });
  const objects = {
    installations: followed(installations, changed),
    executions: followed(executions, changed),
    deployItems: followed(deployItems, changed),
  };
  const all = [installations, executions, deployItems] as unknown as Cache<Obj>[];
  await Promise.all(all.map((cache) => cache.start(signal)));
  return {
    collected: () => ({
      installations: [...objects.installations.values()],
      executions: [...objects.executions.values()],
      deployItems: [...objects.deployItems.values()],
    }),
    namespaces: () => [
      ...new Set([...objects.installations.values()].map(({ metadata }) => metadata.namespace ?? '')),
    ],
    problem: () => all.flatMap(({ problem }) => problem ?? [])[0] ?? '',
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/**
 * The objects of a cache by key. The cache would compress those that do not change, and return new ones for each read;
 * here an unchanged object is always the same, so that its tree can be reused.
 */
function followed<T extends Obj>(cache: Cache<T>, changed: () => void): ReadonlyMap<string, View<T>> {
  const objects = new Map<string, View<T>>();
  cache.subscribe({
    name: 'console',
    ownEvents: 'deliver',
    on(change) {
      if (change.type === 'delete') objects.delete(keyOf(change.obj));
      else objects.set(keyOf(change.obj), change.obj);
      changed();
    },
  });
  return objects;
}

/** The model of all objects of a source. */
export function modelOfSource(source: Source): WatchedModel {
  const model = modelOf(
    () => source.collected(),
    () => source.problem(),
  );
  source.onChange(() => {
    model.changed();
  });
  return model;
}
