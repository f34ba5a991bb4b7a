/** Duration of the work on nodes, for Prometheus. */
import type { Metrics } from '../observability/metrics.ts';
import type { NodeState } from './plan.ts';

/** One operation on a node that has ended. */
export interface NodeWork {
  readonly node: string;
  readonly op: 'reconcile' | 'delete';
  /** State of the node after it. */
  readonly outcome: NodeState;
  readonly seconds: number;
}

/** Called after each operation on a node. */
export type NodeMeter = (work: NodeWork) => void;

/** Possible states after each operation. */
const OUTCOMES: Readonly<Record<NodeWork['op'], readonly NodeState[]>> = {
  reconcile: ['ready', 'unready', 'failed', 'doomed', 'removed'],
  delete: ['removed', 'removing', 'failed'],
};

/**
 * Counts in `espalier_workflow_node_seconds`, by controller, node, op and outcome; all series exist from the start,
 * with value 0.
 * @param nodes names of the nodes
 */
export function nodeMeter(metrics: Metrics, controller: string, nodes: readonly string[]): NodeMeter {
  const seconds = metrics.histogram({
    name: 'espalier_workflow_node_seconds',
    help: 'Duration of workflow nodes.',
    labels: ['controller', 'node', 'op', 'outcome'],
    buckets: [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60],
    zero: nodes.flatMap((node) =>
      Object.entries(OUTCOMES).flatMap(([op, outcomes]) =>
        outcomes.map((outcome) => ({ controller, node, op, outcome })),
      ),
    ),
  });
  return ({ seconds: duration, ...labels }) => {
    seconds.observe({ controller, ...labels }, duration);
  };
}
