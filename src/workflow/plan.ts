/**
 * The one graph algorithm: given what every node is doing, who may start and who may go. Executions run it over
 * deploy items, the manifest deployer over groups of manifests, workflows over dependents. Pure.
 */
import type { Dag } from './dag.ts';

/**
 * `idle` not started · `running` · `ready` done and good · `unready` done, not good yet · `failed` ·
 * `doomed` to be removed · `removing` · `removed`
 */
export type NodeState =
  'idle' | 'running' | 'ready' | 'unready' | 'failed' | 'doomed' | 'removing' | 'removed';

export interface Policy {
  /** What lets dependents start: `ready` wants success, `finished` any end. */
  readonly gate: 'ready' | 'finished';
  /** After a failure nothing further starts or goes; what runs finishes. */
  readonly failFast: boolean;
}

export interface Plan {
  readonly start: readonly string[];
  readonly remove: readonly string[];
  readonly running: readonly string[];
  readonly blocked: readonly string[];
  /** Nothing to start, to remove or to wait for. */
  readonly settled: boolean;
}

const FINISHED: ReadonlySet<NodeState> = new Set(['ready', 'unready', 'failed']);

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

  const pick = (wanted: (n: { name: string; state: NodeState }) => boolean): string[] =>
    nodes.filter(wanted).map((n) => n.name);
  const start = pick((n) => n.state === 'idle' && mayStart(n.name));
  const remove = pick((n) => n.state === 'doomed' && mayGo(n.name));
  const running = pick((n) => n.state === 'running' || n.state === 'removing');
  const blocked = pick(
    (n) =>
      (n.state === 'idle' && !start.includes(n.name)) || (n.state === 'doomed' && !remove.includes(n.name)),
  );
  return { start, remove, running, blocked, settled: start.length + remove.length + running.length === 0 };
}
