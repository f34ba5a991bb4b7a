/**
 * Order and cycles in a graph of names, by the rules of the planner: a node comes after its dependencies. Tenants
 * choose the graphs, so the work is linear in the edges, or limited.
 * @see docs/adr/0064-work-is-linear-in-what-tenants-write.md
 */
import { looseDag, plan, type Policy } from './plan.ts';

/** The dependencies of each node; names that are not nodes are ignored. */
export type Dependencies = ReadonlyMap<string, readonly string[]>;

const ANY_ORDER: Policy = { gate: 'ready', failFast: false };
/** Edges that are followed for a shorter cycle than the first one. */
const MAX_STEPS = 100_000;

/**
 * Nodes in the order of their dependencies, otherwise in the order of the map.
 * @returns `blocked`: nodes in a cycle, or behind one, in the order of the map; empty if there is none
 */
export function dependencyOrder(graph: Dependencies): {
  readonly order: readonly string[];
  readonly blocked: readonly string[];
} {
  const names = [...graph.keys()];
  const places = new Map(names.map((name, i) => [name, i]));
  const order = new Set<string>();
  const whole = looseDag([...graph].map(([name, dependsOn]) => ({ name, dependsOn })));
  const isOpen = (name: string): boolean => graph.has(name) && !order.has(name);
  const dependencies = firstOf((node) => whole.dependencies(node), isOpen);
  const dependents = firstOf((node) => whole.dependents(node), isOpen);
  /** Nodes by the first of their neighbours that has no place yet: they are considered again when it has one. */
  const behind = new Map<string, string[]>();
  for (let candidates = names; candidates.length > 0;) {
    const dag = { nodes: candidates, dependencies, dependents };
    const { start, blocked } = plan(dag, (node) => (order.has(node) ? 'ready' : 'idle'), ANY_ORDER);
    for (const node of blocked)
      for (const neighbour of [...dependencies(node), ...dependents(node)]) {
        const others = behind.get(neighbour);
        if (others) others.push(node);
        else behind.set(neighbour, [node]);
      }
    for (const node of start) order.add(node);
    candidates = [...new Set(start.flatMap((node) => behind.get(node) ?? []))]
      .filter((node) => !order.has(node))
      .sort((a, b) => (places.get(a) ?? 0) - (places.get(b) ?? 0));
  }
  return { order: [...order], blocked: names.filter((name) => !order.has(name)) };
}

/**
 * The first neighbour of a node that `isOpen` accepts, if any. All calls for a node read its neighbours once, so none
 * may become open again.
 */
function firstOf(
  neighbours: (node: string) => readonly string[],
  isOpen: (node: string) => boolean,
): (node: string) => readonly string[] {
  const positions = new Map<string, number>();
  return (node) => {
    const all = neighbours(node);
    let at = positions.get(node) ?? 0;
    while (at < all.length && !isOpen(all[at] ?? '')) at++;
    positions.set(node, at);
    return all.slice(at, at + 1);
  };
}

/**
 * A cycle, first node = last node; undefined if there is none. It is a shortest one unless the graph is too large to
 * compare all. Ties: the first in the order of the map.
 */
export function shortestCycle(graph: Dependencies): readonly string[] | undefined {
  const { blocked } = dependencyOrder(graph);
  const [first] = blocked;
  if (first === undefined) return undefined;
  const inside = new Set(blocked);
  const budget = { steps: MAX_STEPS };
  let best: readonly string[] | undefined;
  for (const start of blocked) {
    const cycle = cycleThrough(graph, start, inside, budget);
    if (cycle && (!best || cycle.length < best.length)) best = cycle;
    if (budget.steps <= 0) break;
  }
  return best ?? anyCycle(graph, first, inside);
}

/** A shortest cycle through `node`, first node = last node; undefined if there is none. */
export const shortestCycleThrough = (graph: Dependencies, node: string): readonly string[] | undefined =>
  cycleThrough(graph, node, new Set(graph.keys()), { steps: Infinity });

/** All nodes that `from` depends on, directly or indirectly. */
export function dependenciesBelow(graph: Dependencies, from: string): ReadonlySet<string> {
  const seen = new Set<string>();
  const open = [from];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    for (const need of graph.get(node) ?? []) {
      if (!seen.has(need)) open.push(need);
      seen.add(need);
    }
  }
  return seen;
}

/** @param budget is reduced by the edges that are followed; without steps, the answer is undefined */
function cycleThrough(
  graph: Dependencies,
  start: string,
  inside: ReadonlySet<string>,
  budget: { steps: number },
): readonly string[] | undefined {
  const cameFrom = new Map<string, string>();
  let frontier = [start];
  while (frontier.length > 0) {
    const next: string[] = [];
    for (const node of frontier) {
      for (const need of graph.get(node) ?? []) {
        if (--budget.steps < 0) return undefined;
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
  for (let at = node; at !== start; path.push(at)) at = cameFrom.get(at) ?? start;
  return path.reverse();
}

/** Follows dependencies from `start` until a node repeats. Each node inside depends on another one inside. */
function anyCycle(graph: Dependencies, start: string, inside: ReadonlySet<string>): readonly string[] {
  const path = new Set<string>();
  let at = start;
  while (!path.has(at)) {
    path.add(at);
    at = graph.get(at)?.find((need) => inside.has(need)) ?? at;
  }
  const nodes = [...path];
  return [...nodes.slice(nodes.indexOf(at)), at];
}
