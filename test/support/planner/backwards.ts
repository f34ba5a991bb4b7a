/** A planner that reads every graph the wrong way round: what depends on nothing comes last, and goes first. */
import { plan as forwards, type Dag } from '../../../src/lib/plan.ts';

export * from '../../../src/lib/plan.ts';

const turned = (dag: Dag): Dag => ({
  nodes: dag.nodes,
  dependencies: (node) => dag.dependents(node),
  dependents: (node) => dag.dependencies(node),
});

export const plan: typeof forwards = (dag, state, policy) => forwards(turned(dag), state, policy);
