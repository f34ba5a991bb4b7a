/** The data flow between roots, or between the installations of one landscape: names only, never values. Pure. */
import { rootGraph, treeGraph, type Graph } from '../graph/graph.ts';
import type { Node } from '../tree/tree.ts';
import { idOf } from './why.ts';
import type { Flow } from './wire.ts';

/** With more nodes, the layout takes too long in a browser. */
const MAX_NODES = 200;

export const flowBetween = (roots: readonly Node[]): Flow =>
  flowOf(rootGraph(roots, Infinity), new Map(roots.map((root) => [idOf(root), landscapeOf(root)])));

export function flowWithin(root: Node): Flow {
  const installations = new Map<string, string>();
  const visit = (node: Node): void => {
    if (node !== root && node.kind === 'Installation') installations.set(idOf(node), landscapeOf(root));
    node.children.forEach(visit);
  };
  visit(root);
  return flowOf(treeGraph([root], Infinity), installations);
}

const landscapeOf = ({ namespace, name }: Node): string => `${namespace}/${name}`;

/** @param landscapes the landscape of each installation that may be shown, by its id in the graph */
function flowOf(graph: Graph, landscapes: ReadonlyMap<string, string>): Flow {
  const edges = graph.edges.filter(({ kind }) => kind === 'data');
  const connected = new Set(edges.flatMap(({ from, to }) => [from, to]));
  const all = graph.nodes.filter(({ id }) => landscapes.has(id));
  const candidates = all.filter(({ id }) => connected.has(id));
  const nodes = candidates.slice(0, MAX_NODES);
  const shown = new Set(nodes.map(({ id }) => id));
  return {
    nodes: nodes.map(({ id, label, phase, condition }) => ({
      id,
      label: label.replace(/^Installation /, ''),
      phase,
      condition,
      landscape: landscapes.get(id) ?? '',
    })),
    edges: edges
      .filter(({ from, to }) => shown.has(from) && shown.has(to))
      .map(({ from, to, names }) => ({ from, to, names })),
    omitted: candidates.length - nodes.length,
    unconnected: all.length - candidates.length,
  };
}
