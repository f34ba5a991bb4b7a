/** Dependencies between siblings, by their imports and exports, and their cycles. */
import { exportedNames, importedNames, type ImportsAndExports } from '../api/data-names.ts';
import { shortestCycle, type Dependencies } from '../lib/graph.ts';

/** An installation among its siblings, or a template of one. */
export interface Sibling extends ImportsAndExports {
  readonly name: string;
}

/**
 * A shortest cycle as names, first = last; undefined if there is none. A sibling that imports its own export is a
 * cycle.
 */
export const findCycle = (siblings: readonly Sibling[]): readonly string[] | undefined =>
  shortestCycle(dependenciesOf(siblings));

/** `a -{depends_on}-> b -{depends_on}-> a` */
export const cycleText = (cycle: readonly string[]): string => cycle.join(' -{depends_on}-> ');

/** For each sibling, the names of the siblings it needs, including itself if it imports its own export. */
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
