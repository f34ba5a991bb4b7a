/** A planner that reverses every graph: independent nodes are created last, and deleted first. */
import { plan as forwards, type Dag } from '../../../src/lib/plan.ts';

export * from '../../../src/lib/plan.ts';

const turned = (dag: Dag): Dag => ({
  nodes: dag.nodes,
  dependencies: (node) => dag.dependents(node),
  dependents: (node) => dag.dependencies(node),
});

export const plan: typeof forwards = (dag, state, policy) => forwards(turned(dag), state, policy);
