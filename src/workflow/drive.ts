/**
 * Carries out plans: asks the planner, begins what may begin, and asks again whenever something has ended, until
 * nothing more can be done.
 */
import { append } from '../lib/lists.ts';
import type { Dag } from './dag.ts';
import { plan, type NodeState, type Policy } from './plan.ts';

/** A graph to be worked through, and the work. */
export interface Drive {
  readonly dag: Dag;
  readonly policy: Policy;
  /** How many nodes may be worked on at a time. */
  readonly limit: number;
  /** Where the nodes are at the beginning; those missing are idle. Holds where they are at the end. */
  readonly states: Map<string, NodeState>;
  /** Once it aborts, nothing further begins. */
  readonly signal?: AbortSignal;
  /** @returns where the node is afterwards; `doomed` and `removed` doom what depends on it. Default: `ready` */
  start?(node: string): Promise<NodeState>;
  /** @returns `removed`, `removing` when it is not gone yet, or `failed`. Default: `removed` */
  remove?(node: string): Promise<NodeState>;
}

/**
 * Resolves when all that was begun has ended and nothing more may begin.
 * @throws what `start` or `remove` threw first, or the reason of the signal; nothing begins after that
 */
export async function drive(the: Drive): Promise<void> {
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
 * Everything that depends on a node has to go with it. None of it can have started: the node was not done. A node that has
 * been deleted has nothing left that depends on it.
 */
function doom(dag: Dag, node: string, states: Map<string, NodeState>): void {
  const open = [...dag.dependents(node)];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if ((states.get(next) ?? 'idle') !== 'idle') continue;
    states.set(next, 'doomed');
    append(open, dag.dependents(next));
  }
}
