/** A validated directed acyclic graph of names. */
import { shortestCycle } from '../lib/graph.ts';
import { DefinitionError } from '../runtime/errors.ts';

export interface Dag {
  readonly nodes: readonly string[];
  /** Names a node waits for. */
  dependencies(node: string): readonly string[];
  /** Names that wait for a node. */
  dependents(node: string): readonly string[];
}

export interface DagNode {
  readonly name: string;
  readonly dependsOn?: readonly string[] | undefined;
}

/** The graph as it is: edges to unknown names are kept as dependencies, circles are not looked for. */
export function looseDag(nodes: readonly DagNode[]): Dag {
  const forward = new Map(nodes.map((n) => [n.name, n.dependsOn ?? []]));
  const backward = new Map<string, string[]>(nodes.map((n) => [n.name, []]));
  for (const [name, dependsOn] of forward) for (const other of dependsOn) backward.get(other)?.push(name);
  return {
    nodes: [...forward.keys()],
    dependencies: (node) => forward.get(node) ?? [],
    dependents: (node) => backward.get(node) ?? [],
  };
}

/** @throws DefinitionError naming the duplicate, the unknown name or the circle */
export function buildDag(nodes: readonly DagNode[]): Dag {
  const edges = new Map<string, readonly string[]>();
  for (const { name, dependsOn = [] } of nodes) {
    if (edges.has(name)) throw new DefinitionError(`"${name}" is declared twice`);
    edges.set(name, dependsOn);
  }
  for (const [name, dependsOn] of edges) {
    for (const other of dependsOn) {
      if (!edges.has(other))
        throw new DefinitionError(`"${name}" depends on "${other}", which does not exist`);
    }
  }
  const circle = shortestCycle(edges);
  if (circle) throw new DefinitionError(`dependencies form a circle: ${circle.join(' -> ')}`);
  return looseDag(nodes);
}
