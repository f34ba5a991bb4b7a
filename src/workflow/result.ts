/** The result of one reconcile of a workflow. */
import { DefinitionError } from '../runtime/errors.ts';
import { closest } from '../lib/closest.ts';
import type { Done } from './dependent.ts';
import { AggregateNodeError } from './errors.ts';
import type { ConditionName } from './node.ts';
import type { NodeState } from './plan.ts';

/** The result of one reconcile of a workflow. Names are those of nodes. */
export interface WorkflowResult {
  /** Nodes that were reconciled, in this order. */
  readonly reconciled: readonly string[];
  /** Reconciled nodes whose ready condition is false. */
  readonly notReady: readonly string[];
  /** Nodes that were deleted and are gone, in this order. */
  readonly deleted: readonly string[];
  /** Nodes that have to be deleted and are not gone yet: they wait for a dependent or a finalizer, or failed. */
  readonly remaining: readonly string[];
  readonly errored: ReadonlyMap<string, unknown>;
  /** The result of each reconciled node. */
  readonly done: ReadonlyMap<string, Done>;
  /** Every node is ready or gone. */
  readonly allReady: boolean;
  /** Every node is gone, or not managed any more. */
  readonly allRemoved: boolean;
  /** Milliseconds until conditions must be evaluated again: the minimum of all nodes. */
  readonly requeueAfterMs: number | undefined;
  /**
   * The data of a condition; undefined if it has none, or was not evaluated.
   * @throws DefinitionError for an unknown node, and when `is` does not accept the data
   */
  data<T>(node: string, which: ConditionName, is: (value: unknown) => value is T): T | undefined;
  /** @throws AggregateNodeError when a node failed */
  throwIfErrored(): void;
}

/** Collects the results of a reconcile. */
export class Report {
  readonly reconciled: string[] = [];
  readonly notReady: string[] = [];
  readonly deleted: string[] = [];
  /** Nodes whose deletion has begun. */
  readonly unwanted = new Set<string>();
  readonly errored = new Map<string, unknown>();
  readonly done = new Map<string, Done>();
  readonly data = new Map<string, unknown>();
  requeueAfterMs: number | undefined;

  requeueAfter(ms: number | undefined): void {
    if (ms !== undefined) this.requeueAfterMs = Math.min(ms, this.requeueAfterMs ?? Infinity);
  }

  close(nodes: readonly string[], states: ReadonlyMap<string, NodeState>): WorkflowResult {
    const { reconciled, notReady, deleted, unwanted, errored, done, data, requeueAfterMs } = this;
    const all = (...wanted: readonly NodeState[]): boolean =>
      nodes.every((node) => wanted.some((state) => states.get(node) === state));
    return {
      reconciled,
      notReady,
      deleted,
      remaining: nodes.filter((node) => {
        const state = states.get(node);
        return state === 'doomed' || (unwanted.has(node) && state !== 'removed');
      }),
      errored,
      done,
      requeueAfterMs,
      allReady: all('ready', 'removed'),
      allRemoved: all('removed'),
      data(node, which, is) {
        if (!nodes.includes(node)) throw unknownNode(node, nodes);
        const value = data.get(`${node} ${which}`);
        if (value === undefined || is(value)) return value;
        throw new DefinitionError({
          message: `the data of condition "${which}" of node "${node}" does not have the expected type`,
        });
      },
      throwIfErrored() {
        if (errored.size > 0) throw new AggregateNodeError({ errors: errored });
      },
    };
  }
}

function unknownNode(node: string, nodes: readonly string[]): DefinitionError {
  const meant = closest(node, nodes);
  const hint = meant ? `; is "${meant}" meant?` : `; there are ${nodes.join(', ')}`;
  return new DefinitionError({ message: `the workflow has no node "${node}"${hint}` });
}
