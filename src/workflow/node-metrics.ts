/** How long the work at nodes takes, for Prometheus. */
import type { Metrics } from '../observability/metrics.ts';
import type { NodeState } from './plan.ts';

/** One piece of work at a node that has ended. */
export interface NodeWork {
  readonly node: string;
  readonly op: 'reconcile' | 'delete';
  /** Where the node is now. */
  readonly outcome: NodeState;
  readonly seconds: number;
}

/** Hears of the work at the nodes of a workflow. */
export type NodeMeter = (work: NodeWork) => void;

/** Where work can leave a node. */
const OUTCOMES: Readonly<Record<NodeWork['op'], readonly NodeState[]>> = {
  reconcile: ['ready', 'unready', 'failed', 'doomed', 'removed'],
  delete: ['removed', 'removing', 'failed'],
};

/**
 * A meter that counts into `espalier_workflow_node_seconds`, by controller, node, op and outcome; all series are there
 * from the start, at 0. Controllers made by `addWorkflowController` have one; it is for workflows that are called by hand.
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
