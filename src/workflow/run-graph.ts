/**
 * Executes plans: asks the planner, starts what it allows, and asks again whenever something has ended, until nothing
 * more can be started.
 */
import { append } from '../lib/lists.ts';
import type { Dag } from './dag.ts';
import { plan, type NodeState, type Policy } from './plan.ts';

/** A graph, and the functions that start and remove its nodes. */
export interface GraphRun {
  readonly dag: Dag;
  readonly policy: Policy;
  /** Maximum number of nodes in progress. */
  readonly limit: number;
  /** Initial states of nodes; missing ones are idle. Contains the final states at the end. */
  readonly states: Map<string, NodeState>;
  /** After it aborts, nothing more is started. */
  readonly signal?: AbortSignal;
  /** @returns the state of the node afterwards; `doomed` and `removed` also doom its dependents. Default: `ready` */
  start?(node: string): Promise<NodeState>;
  /** @returns `removed`, `removing` if it still exists, or `failed`. Default: `removed` */
  remove?(node: string): Promise<NodeState>;
}

/**
 * Resolves when everything that was started has ended and nothing more may start.
 * @throws the first error of `start` or `remove`, or the reason of the signal; nothing is started after that
 */
export async function runGraph(the: GraphRun): Promise<void> {
  const { dag, policy, limit, states, signal } = the;
  const underWay = new Map<string, Promise<void>>();
  const failures: unknown[] = [];
  const stateOf = (node: string): NodeState => states.get(node) ?? 'idle';

  const begin = (node: string, during: NodeState, work: () => Promise<NodeState>): void => {
    states.set(node, during);
    const ended = work().then(
      (after) => {
        states.set(node, after);
        if (after === 'doomed' || after === 'removed') doom(dag, node, states);
      },
      (error: unknown) => void failures.push(error),
    );
    underWay.set(
      node,
      ended.finally(() => underWay.delete(node)),
    );
  };

  for (;;) {
    if (failures.length === 0 && !signal?.aborted) {
      const next = plan(dag, stateOf, policy);
      const free = limit - underWay.size;
      const starting = next.start.slice(0, free);
      for (const node of starting) begin(node, 'running', async () => (await the.start?.(node)) ?? 'ready');
      for (const node of next.remove.slice(0, free - starting.length))
        begin(node, 'removing', async () => (await the.remove?.(node)) ?? 'removed');
    }
    if (underWay.size === 0) break;
    await Promise.race(underWay.values());
  }
  if (failures.length > 0) throw failures[0];
  signal?.throwIfAborted();
}

/**
 * All dependents of a doomed node are removed with it. None of them can have been started, because the node was not
 * done. A node that has been deleted has no dependents left.
 */
export function doom(dag: Dag, node: string, states: Map<string, NodeState>): void {
  const open = [...dag.dependents(node)];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if ((states.get(next) ?? 'idle') !== 'idle') continue;
    states.set(next, 'doomed');
    append(open, dag.dependents(next));
  }
}
