/** Order and cycles in a graph of names, by the rules of the planner: a node comes after its dependencies. */
import { looseDag, plan, type Policy } from './plan.ts';

/** The dependencies of each node; names that are not nodes are ignored. */
export type Dependencies = ReadonlyMap<string, readonly string[]>;

const ANY_ORDER: Policy = { gate: 'ready', failFast: false };

/**
 * Nodes in the order of their dependencies, otherwise in the order of the map.
 * @returns `blocked`: nodes in a cycle, or behind one, in the order of the map; empty if there is none
 */
export function dependencyOrder(graph: Dependencies): {
  readonly order: readonly string[];
  readonly blocked: readonly string[];
} {
  const nodes = [...graph].map(([name, needs]) => ({ name, dependsOn: needs.filter((n) => graph.has(n)) }));
  const dag = looseDag(nodes);
  const order = new Set<string>();
  for (;;) {
    const { start, blocked } = plan(dag, (node) => (order.has(node) ? 'ready' : 'idle'), ANY_ORDER);
    if (start.length === 0) return { order: [...order], blocked };
    for (const node of start) order.add(node);
  }
}

/** A shortest cycle, first node = last node; undefined if there is none. Ties: the first in the order of the map. */
export function shortestCycle(graph: Dependencies): readonly string[] | undefined {
  const { blocked } = dependencyOrder(graph);
  const inside = new Set(blocked);
  let best: readonly string[] | undefined;
  for (const start of blocked) {
    const cycle = cycleThrough(graph, start, inside);
    if (cycle && (!best || cycle.length < best.length)) best = cycle;
  }
  return best;
}

/** A shortest cycle through `node`, first node = last node; undefined if there is none. */
export const shortestCycleThrough = (graph: Dependencies, node: string): readonly string[] | undefined =>
  cycleThrough(graph, node, new Set(graph.keys()));

/** Whether `from` depends on `to`, directly or indirectly. */
export function dependsOn(graph: Dependencies, from: string, to: string): boolean {
  const seen = new Set<string>();
  const open = [from];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    for (const need of graph.get(node) ?? []) {
      if (need === to) return true;
      if (!seen.has(need)) open.push(need);
      seen.add(need);
    }
  }
  return false;
}

function cycleThrough(
  graph: Dependencies,
  start: string,
  inside: ReadonlySet<string>,
): readonly string[] | undefined {
  const cameFrom = new Map<string, string>();
  let frontier = [start];
  while (frontier.length > 0) {
    const next: string[] = [];
    for (const node of frontier) {
      for (const need of graph.get(node) ?? []) {
        if (need === start) return [...pathTo(node, start, cameFrom), start];
        if (!inside.has(need) || cameFrom.has(need)) continue;
        cameFrom.set(need, node);
        next.push(need);
      }
    }
    frontier = next;
  }
  return undefined;
}

function pathTo(node: string, start: string, cameFrom: ReadonlyMap<string, string>): string[] {
  const path = [node];
  for (let at = node; at !== start;) {
    at = cameFrom.get(at) ?? start;
    path.unshift(at);
  }
  return path;
}
