/** Dependencies between siblings, by their imports and exports, and their cycles. */
import { exportedNames, importedNames, type ImportsAndExports } from '../api/data-names.ts';
import { shortestCycle, shortestCycleThrough, type Dependencies } from '../lib/graph.ts';

/** An installation among its siblings, or a template of one. */
export interface Sibling extends ImportsAndExports {
  readonly name: string;
}

/** Node of a sibling; the nodes of names begin with `data/` or `target/`. */
const PREFIX = 'sibling/';
export const nodeOf = ({ name }: Pick<Sibling, 'name'>): string => PREFIX + name;
/** The siblings among some nodes, in the same order. */
export const siblingsAmong = (nodes: readonly string[]): readonly string[] =>
  nodes.filter((node) => node.startsWith(PREFIX)).map((node) => node.slice(PREFIX.length));

/** The siblings that export each name, in the given order. */
export function exportersByName(siblings: readonly Sibling[]): ReadonlyMap<string, readonly string[]> {
  const exporters = new Map<string, string[]>();
  for (const sibling of siblings) {
    for (const id of exportedNames(sibling)) {
      const others = exporters.get(id);
      if (others) others.push(sibling.name);
      else exporters.set(id, [sibling.name]);
    }
  }
  return exporters;
}

/**
 * Siblings need names, and names need the siblings that export them. So the graph is not larger than the siblings:
 * if 5000 siblings export a name and 5000 import it, it has 10,000 edges and not 25 million.
 */
export const dependencyGraph = (siblings: readonly Sibling[]): Dependencies =>
  new Map<string, readonly string[]>([
    ...siblings.map((sibling) => [nodeOf(sibling), [...importedNames(sibling)]] as const),
    ...[...exportersByName(siblings)].map(
      ([id, names]) => [id, names.map((name) => nodeOf({ name }))] as const,
    ),
  ]);

/**
 * A cycle as names, first = last; undefined if there is none. A sibling that imports its own export is a cycle. It is
 * a shortest one unless there are too many to compare.
 */
export const findCycle = (siblings: readonly Sibling[]): readonly string[] | undefined =>
  closed(shortestCycle(dependencyGraph(siblings)));

/** A shortest cycle of imports and exports through `self`, first = last; undefined if there is none. */
export const cycleThrough = (self: Sibling, siblings: readonly Sibling[]): readonly string[] | undefined =>
  closed(shortestCycleThrough(dependencyGraph([self, ...siblings]), nodeOf(self)));

/** The siblings of a cycle, which may begin with any node. */
function closed(cycle: readonly string[] | undefined): readonly string[] | undefined {
  const names = cycle && siblingsAmong(cycle.slice(0, -1));
  return names && [...names, ...names.slice(0, 1)];
}

/** `a -{depends_on}-> b -{depends_on}-> a` */
export const cycleText = (cycle: readonly string[]): string => cycle.join(' -{depends_on}-> ');
