/** Order and cycles in a graph of names. */

/** What each node depends on; names that are no nodes are ignored. */
export type Dependencies = ReadonlyMap<string, readonly string[]>;

/**
 * Nodes such that each comes after all it depends on; among those that may come next, the order of the map.
 * @returns `blocked`: nodes in a cycle or behind one, in the order of the map; empty when all is well
 */
export function dependencyOrder(graph: Dependencies): {
  readonly order: readonly string[];
  readonly blocked: readonly string[];
} {
  const waitsFor = new Map<string, number>();
  const waiters = new Map<string, string[]>();
  for (const [node, needs] of graph) {
    const known = [...new Set(needs)].filter((n) => graph.has(n));
    waitsFor.set(node, known.length);
    for (const need of known) waiters.set(need, [...(waiters.get(need) ?? []), node]);
  }
  const rank = new Map([...graph.keys()].map((node, i) => [node, i]));
  const position = (node: string): number => rank.get(node) ?? 0;
  let ready = [...graph.keys()].filter((node) => waitsFor.get(node) === 0);
  const order: string[] = [];
  while (ready.length > 0) {
    order.push(...ready);
    const freed: string[] = [];
    for (const node of ready) {
      for (const waiter of waiters.get(node) ?? []) {
        const left = (waitsFor.get(waiter) ?? 0) - 1;
        waitsFor.set(waiter, left);
        if (left === 0) freed.push(waiter);
      }
    }
    ready = freed.sort((a, b) => position(a) - position(b));
  }
  const done = new Set(order);
  return { order, blocked: [...graph.keys()].filter((node) => !done.has(node)) };
}

/** A shortest cycle, first node = last node; undefined when there is none. Ties: the first in the map's order. */
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

/** A shortest cycle through `node`, first node = last node; undefined when there is none. */
export const shortestCycleThrough = (graph: Dependencies, node: string): readonly string[] | undefined =>
  cycleThrough(graph, node, new Set(graph.keys()));

/** Whether `from` depends on `to`, directly or by way of others. */
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
