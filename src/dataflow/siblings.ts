/** Dependencies between siblings: an edge connects an export and an import of the same name. */
import type { Installation } from '../api/kinds/installation.ts';
import { exportedNames, importedNames } from '../api/data-names.ts';
import {
  cycleText,
  dependencyGraph,
  exportersByName,
  findCycle,
  nodeOf,
  siblingsAmong,
  type Sibling,
} from '../blueprint/dependencies.ts';
import { dependenciesBelow, dependencyOrder } from '../lib/graph.ts';
import type { View } from '../lib/objects.ts';

export { cycleText, cycleThrough, findCycle, type Sibling } from '../blueprint/dependencies.ts';

interface DuplicateExport {
  readonly kind: 'data' | 'target';
  readonly ref: string;
  /** names of installations, in the given order */
  readonly exporters: readonly string[];
}

/** The fields of an installation that dependencies are computed from. */
export const siblingOf = ({ metadata, spec }: View<Installation>): Sibling => ({
  name: metadata.name,
  imports: spec.imports,
  exports: spec.exports,
});

/** Siblings that export an import of `self`, without `self`, in the given order. */
export function predecessorsOf<T extends Sibling>(self: Sibling, siblings: readonly T[]): readonly T[] {
  const wanted = importedNames(self);
  if (wanted.size === 0) return [];
  return siblings.filter((other) => other.name !== self.name && intersects(exportedNames(other), wanted));
}

/** Siblings that import an export of `self`, without `self`, in the given order. */
export function successorsOf<T extends Sibling>(self: Sibling, siblings: readonly T[]): readonly T[] {
  const given = exportedNames(self);
  if (given.size === 0) return [];
  return siblings.filter((other) => other.name !== self.name && intersects(given, importedNames(other)));
}

/** Names that several siblings export, in the order of their first export. */
export function duplicateExports(siblings: readonly Sibling[]): readonly DuplicateExport[] {
  return [...exportersByName(siblings)]
    .filter(([, names]) => names.length > 1)
    .map(([id, names]) => {
      const [kind = '', ...ref] = id.split('/');
      return { kind: kind as DuplicateExport['kind'], ref: ref.join('/'), exporters: names };
    });
}

/** Duplicate exports among the imports of `self`, which make its predecessors ambiguous. */
export function ambiguousImports(self: Sibling, siblings: readonly Sibling[]): readonly DuplicateExport[] {
  const wanted = importedNames(self);
  if (wanted.size === 0) return [];
  const others = siblings.filter(({ name }) => name !== self.name);
  return duplicateExports(others).filter(({ kind, ref }) => wanted.has(`${kind}/${ref}`));
}

/** Upstream's text: a heading, and a line for each name. */
export const duplicatesText = (duplicates: readonly DuplicateExport[]): string =>
  [
    'the following exports are exported by multiple nested installations:',
    ...duplicates.map(({ ref, exporters }) => `'${ref}' is exported by [${exporters.join(', ')}]`),
  ].join('\n');

/**
 * Siblings that import an export of `self`, except for those that `self` depends on: waiting for them would be a
 * deadlock.
 */
export function successorsOutsideCycles<T extends Sibling>(
  self: Sibling,
  siblings: readonly T[],
): readonly T[] {
  const successors = successorsOf(self, siblings);
  if (successors.length === 0) return [];
  const needed = dependenciesBelow(dependencyGraph([self, ...siblings]), nodeOf(self));
  return successors.filter((successor) => !needed.has(nodeOf(successor)));
}

/** Predecessors first, otherwise in the given order. @throws RangeError on a cycle */
export function ordered<T extends Sibling>(siblings: readonly T[]): readonly T[] {
  const { order, blocked } = dependencyOrder(dependencyGraph(siblings));
  if (blocked.length > 0)
    throw new RangeError(`no order: ${cycleText(findCycle(siblings) ?? siblingsAmong(blocked))}`);
  const byName = new Map(siblings.map((sibling) => [sibling.name, sibling]));
  return siblingsAmong(order).flatMap((name) => byName.get(name) ?? []);
}

function intersects(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  for (const id of a) if (b.has(id)) return true;
  return false;
}
