/** The edges between siblings: who exports what another imports, and whether that goes round in a circle. */
import type { InstallationExports, InstallationImports } from '../api/kinds/installation.ts';
import { shortestCycle, type Dependencies } from '../lib/graph.ts';
import type { View } from '../lib/objects.ts';

/** Anything with imports and exports: an installation, or a template of one. */
export interface Sibling {
  readonly name: string;
  readonly imports?: View<InstallationImports> | undefined;
  readonly exports?: View<InstallationExports> | undefined;
}

/** A shortest cycle as names, first = last; undefined when there is none. An import of one's own export is one. */
export const findCycle = (siblings: readonly Sibling[]): readonly string[] | undefined =>
  shortestCycle(dependenciesOf(siblings));

/** `a -{depends_on}-> b -{depends_on}-> a` */
export const cycleText = (cycle: readonly string[]): string => cycle.join(' -{depends_on}-> ');

/** For each sibling the names of those it needs, itself included if it imports its own export. */
export function dependenciesOf(siblings: readonly Sibling[]): Dependencies {
  const exporters = new Map<string, string[]>();
  for (const sibling of siblings) {
    for (const id of exportedNames(sibling)) exporters.set(id, [...(exporters.get(id) ?? []), sibling.name]);
  }
  return new Map(
    siblings.map((sibling) => [
      sibling.name,
      [...new Set([...importedNames(sibling)].flatMap((id) => exporters.get(id) ?? []))],
    ]),
  );
}

/** `data/<name>` and `target/<name>`; references to lists and maps of the parent make no edge. */
export function importedNames({ imports }: Sibling): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { dataRef } of imports?.data ?? []) if (dataRef) names.add(`data/${dataRef}`);
  for (const { target, targets, targetMap } of imports?.targets ?? []) {
    for (const ref of [target, ...(targets ?? []), ...Object.values(targetMap ?? {})]) {
      if (ref) names.add(`target/${ref}`);
    }
  }
  return names;
}

export function exportedNames({ exports }: Sibling): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { dataRef } of exports?.data ?? []) if (dataRef) names.add(`data/${dataRef}`);
  for (const { target } of exports?.targets ?? []) if (target) names.add(`target/${target}`);
  return names;
}
