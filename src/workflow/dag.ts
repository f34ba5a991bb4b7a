/** A validated directed acyclic graph of names. */
import { shortestCycle } from '../lib/graph.ts';
import { looseDag, type Dag, type DagNode } from '../lib/plan.ts';
import { DefinitionError } from '../runtime/errors.ts';

export { chainDag, looseDag, type Dag, type DagNode } from '../lib/plan.ts';

/**
 * A graph in which every name is known and unique, without cycles.
 * @throws DefinitionError naming the duplicate, the unknown name or the cycle
 */
export function buildDag(nodes: readonly DagNode[]): Dag {
  const edges = new Map<string, readonly string[]>();
  for (const { name, dependsOn = [] } of nodes) {
    if (edges.has(name)) throw new DefinitionError({ message: `"${name}" is declared twice` });
    edges.set(name, dependsOn);
  }
  for (const [name, dependsOn] of edges) {
    for (const other of dependsOn) {
      if (!edges.has(other))
        throw new DefinitionError({
          message: `"${name}" depends on "${other}", which does not exist; there are ${[...edges.keys()].join(', ')}`,
        });
    }
  }
  const circle = shortestCycle(edges);
  if (circle) throw new DefinitionError({ message: `dependencies form a cycle: ${circle.join(' -> ')}` });
  return looseDag(nodes);
}
