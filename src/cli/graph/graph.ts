/** Graphs of landscapes: the objects of one tree, or the data flow between roots. Pure. */
import { append } from '../../lib/lists.ts';
import { exportedNames, importedNames, type ImportsAndExports } from '../../api/data-names.ts';
import type { Installation } from '../../api/kinds/installation.ts';
import type { View } from '../../lib/objects.ts';
import type { Condition, Node } from '../tree/tree.ts';

export interface GraphNode {
  /** Kind, namespace and name. */
  readonly id: string;
  readonly label: string;
  readonly phase: string;
  readonly condition: Condition;
}

interface GraphEdge {
  readonly from: string;
  readonly to: string;
  readonly kind: 'contains' | 'data';
  /** What flows: names of data and targets; empty if the edge only contains. */
  readonly names: readonly string[];
}

export interface Graph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  /** Nodes that are left out because the graph would be too large to draw. */
  readonly omitted: number;
}

/** Beyond this, no layout program draws a readable picture. */
const MAX_NODES = 500;

/** All objects of the trees, with edges from parents to children and along the data flow between siblings and between roots. */
export function treeGraph(roots: readonly Node[], maxNodes = MAX_NODES): Graph {
  const nodes: GraphNode[] = [];
  const edges: GraphEdge[] = [];
  const visit = (node: Node): void => {
    nodes.push(graphNode(node, `${node.kind} ${node.title}`));
    for (const child of node.children)
      edges.push({ from: idOf(node), to: idOf(child), kind: 'contains', names: [] });
    append(edges, dataEdges(node.children));
    node.children.forEach(visit);
  };
  roots.forEach(visit);
  return bounded([...nodes], [...dataEdges(roots), ...edges], maxNodes);
}

/** The data flow between roots. */
export const rootGraph = (roots: readonly Node[], maxNodes = MAX_NODES): Graph =>
  bounded(
    roots.map((root) => graphNode(root, `${root.namespace}/${root.name}`)),
    dataEdges(roots),
    maxNodes,
  );

const graphNode = (node: Node, label: string): GraphNode => ({
  id: idOf(node),
  label,
  phase: node.phase,
  condition: node.condition,
});

const idOf = ({ kind, namespace, name }: Node): string => `${kind}/${namespace}/${name}`;

/** An edge for each pair of installations in the same namespace of which the second imports what the first exports. */
function dataEdges(siblings: readonly Node[]): readonly GraphEdge[] {
  const installations = siblings.filter(({ kind }) => kind === 'Installation');
  const exporters = new Map<string, Node[]>();
  for (const node of installations)
    for (const name of exportedNames(flowOf(node))) {
      const key = `${node.namespace} ${name}`;
      exporters.set(key, [...(exporters.get(key) ?? []), node]);
    }
  return installations.flatMap((importer) => {
    const names = new Map<string, string[]>();
    for (const name of importedNames(flowOf(importer)))
      for (const exporter of exporters.get(`${importer.namespace} ${name}`) ?? [])
        if (exporter !== importer) names.set(idOf(exporter), [...(names.get(idOf(exporter)) ?? []), name]);
    return [...names].map(([from, flowing]) => ({
      from,
      to: idOf(importer),
      kind: 'data' as const,
      names: flowing.sort(),
    }));
  });
}

const flowOf = ({ object }: Node): ImportsAndExports => (object as View<Installation>).spec;

function bounded(all: readonly GraphNode[], edges: readonly GraphEdge[], maxNodes: number): Graph {
  const nodes = all.slice(0, maxNodes);
  const shown = new Set(nodes.map(({ id }) => id));
  return {
    nodes,
    edges: edges.filter(({ from, to }) => shown.has(from) && shown.has(to)),
    omitted: all.length - nodes.length,
  };
}
