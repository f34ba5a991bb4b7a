/** What came of one pass over a workflow. */
import { DefinitionError } from '../runtime/errors.ts';
import { closest } from '../lib/closest.ts';
import type { Done } from './dependent.ts';
import { AggregateNodeError } from './errors.ts';
import type { ConditionName } from './node.ts';
import type { NodeState } from './plan.ts';

/** What came of one pass over a workflow. Names are those of nodes. */
export interface WorkflowResult {
  /** Nodes that were brought in line, in the order in which they were. */
  readonly reconciled: readonly string[];
  /** Of those, the ones whose ready condition does not hold. */
  readonly notReady: readonly string[];
  /** Nodes that were deleted and are gone, in the order in which they went. */
  readonly deleted: readonly string[];
  readonly errored: ReadonlyMap<string, unknown>;
  /** What was done to each reconciled node. */
  readonly done: ReadonlyMap<string, Done>;
  /** Every node is ready or not there any more. */
  readonly allReady: boolean;
  /** Every node is gone, or none of our business any more. */
  readonly allRemoved: boolean;
  /** Milliseconds after which a condition wants to be asked requeueAfterMs, the least of all. */
  readonly requeueAfterMs: number | undefined;
  /**
   * The data of a condition; undefined when it had none, or was not asked.
   * @throws DefinitionError for an unknown node, and when `is` does not accept the data
   */
  data<T>(node: string, which: ConditionName, is: (value: unknown) => value is T): T | undefined;
  /** @throws AggregateNodeError when a node failed */
  throwIfErrored(): void;
}

/** Gathers what happens in a pass. */
export class Report {
  readonly reconciled: string[] = [];
  readonly notReady: string[] = [];
  readonly deleted: string[] = [];
  readonly errored = new Map<string, unknown>();
  readonly done = new Map<string, Done>();
  readonly data = new Map<string, unknown>();
  requeueAfterMs: number | undefined;

  requeueAfter(ms: number | undefined): void {
    if (ms !== undefined) this.requeueAfterMs = Math.min(ms, this.requeueAfterMs ?? Infinity);
  }

  close(nodes: readonly string[], states: ReadonlyMap<string, NodeState>): WorkflowResult {
    const { reconciled, notReady, deleted, errored, done, data, requeueAfterMs } = this;
    const all = (...wanted: readonly NodeState[]): boolean =>
      nodes.every((node) => wanted.some((state) => states.get(node) === state));
    return {
      reconciled,
      notReady,
      deleted,
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
