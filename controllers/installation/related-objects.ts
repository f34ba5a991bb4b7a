/** Parent, siblings, children and execution of an installation. Reads only the caches. */
import { isRoot, parentInstallation } from '../../src/api/job.ts';
import { exportedNames, importedNames } from '../../src/api/data-names.ts';
import type { Execution } from '../../src/api/kinds/execution.ts';
import type { Installation, InstallationStatus } from '../../src/api/kinds/installation.ts';
import { keyOf } from '../../src/runtime/keys.ts';
import { index, namesInFamily, type World } from '../../src/landscape/world.ts';
import type { Obj, View } from '../../src/runtime/types.ts';

export type Inst = View<Installation>;
export type InstStatus = View<InstallationStatus>;

export const parentOf = (world: World, self: Inst): Inst | undefined => {
  const name = parentInstallation(self.metadata);
  return name === undefined ? undefined : world.installations.get(`${self.metadata.namespace ?? ''}/${name}`);
};

export const childrenOf = (world: World, self: Inst): readonly Inst[] =>
  world.installations.byIndex(index.owner, self.metadata.uid ?? '');

/**
 * Siblings (other roots of the namespace, other children of the parent) that export what `self` imports. Found by name, so the cost
 * does not depend on the number of other siblings.
 */
export const exportersFor = (world: World, self: Inst): readonly Inst[] =>
  others(world, self, index.exports, namesInFamily(self, importedNames));

/** Siblings that import what `self` exports. */
export const importersFrom = (world: World, self: Inst): readonly Inst[] =>
  others(world, self, index.imports, namesInFamily(self, exportedNames));

function others(world: World, self: Inst, name: string, values: readonly string[]): readonly Inst[] {
  if (values.length === 0 || !(isRoot(self.metadata) || parentOf(world, self))) return [];
  const found = new Set(values.flatMap((value) => world.installations.byIndex(name, value)));
  return [...found].filter(({ metadata }) => metadata.name !== self.metadata.name);
}

/**
 * The siblings that the phases compare `self` with: those that import from it, and those that it imports from, directly or through
 * others. Without imports and exports there are none.
 */
export function connectedSiblings(world: World, self: Inst): readonly Inst[] {
  const found = new Map<string, Inst>();
  const read = new Set<string>();
  const open = [self];
  for (let at = open.pop(); at; at = open.pop()) {
    // Each name once: if all of many siblings import and export the same name, each would find all others.
    const unread = namesInFamily(at, importedNames).filter((name) => !read.has(name));
    for (const name of unread) read.add(name);
    for (const exporter of others(world, at, index.exports, unread)) {
      const { name } = exporter.metadata;
      if (name === self.metadata.name || found.has(name)) continue;
      found.set(name, exporter);
      open.push(exporter);
    }
  }
  for (const importer of importersFrom(world, self)) found.set(importer.metadata.name, importer);
  return [...found.values()];
}

/** The execution with the installation's name, whatever its owner. */
export const executionOf = (world: World, self: Inst): View<Execution> | undefined =>
  world.executions.get(keyOf(self));

export const isOwnedBy = (object: View<Obj>, owner: View<Obj>): boolean =>
  object.metadata.ownerReferences?.some((ref) => ref.uid === owner.metadata.uid) ?? false;

/** The execution if the installation owns it: one with the same name may have another owner. */
export const ownExecution = ({
  self,
  execution,
}: {
  readonly self: Inst;
  readonly execution: View<Execution> | undefined;
}): readonly View<Execution>[] => (execution && isOwnedBy(execution, self) ? [execution] : []);
