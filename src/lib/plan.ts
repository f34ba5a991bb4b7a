/**
 * The planner: given the states of all nodes of a graph, which nodes may be started or removed. Executions use it for
 * deploy items, siblings for their order, the manifest deployer for stages and deletion groups, workflows for
 * dependents. Pure.
 */

/** A directed graph of names, read in both directions. */
export interface Dag {
  readonly nodes: readonly string[];
  /** The dependencies of a node. */
  dependencies(node: string): readonly string[];
  /** The dependents of a node. */
  dependents(node: string): readonly string[];
}

/** A node and its dependencies. */
export interface DagNode {
  readonly name: string;
  readonly dependsOn?: readonly string[] | undefined;
}

/** The graph without validation: edges to unknown names stay dependencies, and cycles are not detected. */
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

/** A chain in the given order: each node depends on the previous one. */
export const chainDag = (names: readonly string[]): Dag =>
  looseDag(names.map((name, i) => ({ name, dependsOn: names.slice(Math.max(0, i - 1), i) })));

/**
 * `idle` not started · `running` · `ready` done and ready · `unready` done, not ready yet · `failed` · `doomed` to be
 * removed · `removing` · `removed`
 */
export type NodeState =
  'idle' | 'running' | 'ready' | 'unready' | 'failed' | 'doomed' | 'removing' | 'removed';

/** How the planner handles failures and nodes that are not ready. */
export interface Policy {
  /** When dependents may start: `ready` after success, `finished` after any end. */
  readonly gate: 'ready' | 'finished';
  /** After a failure, no more nodes are started or removed; running ones finish. */
  readonly failFast: boolean;
}

/** What can be done now. Nodes in none of the lists are done. */
export interface Plan {
  readonly start: readonly string[];
  readonly remove: readonly string[];
  readonly running: readonly string[];
  readonly blocked: readonly string[];
  /** Nothing to start, to remove or to wait for. */
  readonly settled: boolean;
}

const FINISHED: ReadonlySet<NodeState> = new Set(['ready', 'unready', 'failed']);

/**
 * Decides for each node whether it may be started or removed, given the states of all. Pure, and linear in the edges:
 * *start* are idle nodes whose dependencies are all done, *remove* doomed ones whose dependents are all removed,
 * *blocked* the rest of both.
 */
export function plan(dag: Dag, state: (node: string) => NodeState, policy: Policy): Plan {
  const nodes = dag.nodes.map((name) => ({ name, state: state(name) }));
  const halted = policy.failFast && nodes.some((n) => n.state === 'failed');
  const opens = (name: string): boolean => {
    const is = state(name);
    return policy.gate === 'ready' ? is === 'ready' : FINISHED.has(is);
  };
  const mayStart = (name: string): boolean => !halted && dag.dependencies(name).every(opens);
  const mayGo = (name: string): boolean =>
    !halted && dag.dependents(name).every((other) => state(other) === 'removed');

  const start: string[] = [];
  const remove: string[] = [];
  const running: string[] = [];
  const blocked: string[] = [];
  for (const { name, state: is } of nodes) {
    if (is === 'idle') (mayStart(name) ? start : blocked).push(name);
    else if (is === 'doomed') (mayGo(name) ? remove : blocked).push(name);
    else if (is === 'running' || is === 'removing') running.push(name);
  }
  return { start, remove, running, blocked, settled: start.length + remove.length + running.length === 0 };
}
