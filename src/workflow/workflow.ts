/**
 * Workflows: a graph of dependents, which are created, updated and deleted in the order of the planner. No state is
 * kept between reconciles; each evaluates the whole graph.
 *
 * A cleanup is a reconcile in which all nodes are doomed from the start, as are nodes with a false condition. The
 * order of deletion follows from that.
 */
import { isObject } from '../lib/objects.ts';
import { isPositive, shown } from '../lib/positive.ts';
import type { Context, Obj, View } from '../runtime/types.ts';
import { DefinitionError } from '../runtime/errors.ts';
import { deleteBulk, reconcileBulk } from './bulk.ts';
import { buildDag, type Dag } from './dag.ts';
import {
  deleteDependent,
  hasDeleter,
  isBulk,
  reconcileDependent,
  type AnyDependent,
  type Done,
} from './dependent.ts';
import { doom, runGraph } from './run-graph.ts';
import { dependenciesOf, nodeView, type ConditionName, type NodeSpec } from './node.ts';
import type { NodeMeter } from './node-metrics.ts';
import type { NodeState, Policy } from './plan.ts';
import { Report, type WorkflowResult } from './result.ts';

/** How the nodes of a workflow are reconciled. */
export interface WorkflowOptions {
  /** Default: as many nodes as possible, each after those it depends on are ready. */
  readonly policy?: Policy;
  /** Maximum number of nodes that are reconciled at the same time. Default 16. */
  readonly concurrency?: number;
}

/** With a function that receives the duration of the work on each node. */
export interface MeteredOptions extends WorkflowOptions {
  readonly meter?: NodeMeter;
}

/** Attaches and detaches the sources of nodes with an activation condition. */
export interface SourceSwitch<P extends Obj> {
  /** Resolves when the source of the node is synced. */
  on(use: AnyDependent<P>, p: View<P>): Promise<void>;
  off(use: AnyDependent<P>, p: View<P>): void;
}

/** A graph of dependents that can be reconciled and cleaned up. */
export interface Workflow<P extends Obj> {
  readonly dag: Dag;
  readonly nodes: readonly NodeSpec<P>[];
  /** Whether there is anything to delete in a cleanup. */
  readonly isDeletable: boolean;
  /** Reconciles all nodes. Failures are in the result. @throws the reason of the reconcile's signal */
  reconcile(p: View<P>, ctx: Context<P>, sources?: SourceSwitch<P>): Promise<WorkflowResult>;
  /** Deletes all nodes, dependents first. @throws the reason of the reconcile's signal */
  cleanup(p: View<P>, ctx: Context<P>, sources?: SourceSwitch<P>): Promise<WorkflowResult>;
}

const AS_COMPLETE_AS_POSSIBLE: Policy = { gate: 'ready', failFast: false };
const DEFAULT_CONCURRENCY = 16;

/**
 * Creates a workflow; `addWorkflowController` does it for controllers.
 * @throws DefinitionError for duplicate or unknown names, a cycle, or an invalid concurrency
 */
export function buildWorkflow<P extends Obj>(
  nodes: readonly NodeSpec<P>[],
  options: MeteredOptions = {},
): Workflow<P> {
  const { policy = AS_COMPLETE_AS_POSSIBLE, concurrency = DEFAULT_CONCURRENCY, meter } = options;
  if (!(concurrency >= 1))
    throw new DefinitionError({
      message: `the concurrency of a workflow has to be at least 1, not ${String(concurrency)}`,
    });
  const dag = buildDag(nodes.map((node) => ({ name: node.use.name, dependsOn: dependenciesOf(node) })));
  const byName = new Map(nodes.map((node) => [node.use.name, node]));

  const reconcileNodes = async (
    states: Map<string, NodeState>,
    p: View<P>,
    ctx: Context<P>,
    sources: SourceSwitch<P> | undefined,
    isCleanup: boolean,
  ): Promise<WorkflowResult> => {
    const report = new Report();
    const reconcile = new WorkflowReconcile(byName, p, ctx, { report, sources, isCleanup, meter });
    const driveOn = async (): Promise<void> => {
      await runGraph({
        dag,
        policy,
        states,
        limit: concurrency,
        signal: ctx.signal,
        start: (node) => reconcile.start(node),
        remove: (node) => reconcile.remove(node),
      });
    };
    await driveOn();
    // A node with early conditions is deleted although its dependencies are not ready.
    const unwanted = await reconcile.unwanted(states);
    for (const [node, state] of unwanted) {
      states.set(node, state);
      doom(dag, node, states);
    }
    if (unwanted.length > 0) await driveOn();
    return report.close(dag.nodes, states);
  };
  return {
    dag,
    nodes,
    isDeletable: nodes.some(({ use }) => hasDeleter(use) && !use.gc),
    reconcile: (p, ctx, sources) => reconcileNodes(new Map(), p, ctx, sources, false),
    cleanup: (p, ctx, sources) =>
      reconcileNodes(new Map(dag.nodes.map((node) => [node, 'doomed'])), p, ctx, sources, true),
  };
}

interface ReconcilePorts<P extends Obj> {
  readonly report: Report;
  readonly sources: SourceSwitch<P> | undefined;
  readonly isCleanup: boolean;
  readonly meter: NodeMeter | undefined;
}

/** One reconcile: the operations on each node. Failures are in the report and are not thrown. */
class WorkflowReconcile<P extends Obj> {
  readonly #nodes: ReadonlyMap<string, NodeSpec<P>>;
  readonly #p: View<P>;
  readonly #ctx: Context<P>;
  readonly #ports: ReconcilePorts<P>;
  readonly #asked = new Map<string, Promise<boolean>>();

  constructor(
    nodes: ReadonlyMap<string, NodeSpec<P>>,
    p: View<P>,
    ctx: Context<P>,
    ports: ReconcilePorts<P>,
  ) {
    this.#nodes = nodes;
    this.#p = p;
    this.#ctx = ctx;
    this.#ports = ports;
  }

  start(name: string): Promise<NodeState> {
    return this.#guarded(name, 'reconcile', async (node) => {
      const { report } = this.#ports;
      if (!(await this.#isActive(node))) return 'removed';
      if (!(await this.#holds(node, 'when'))) return 'doomed';
      const done = await this.#reconcile(node.use);
      report.reconciled.push(name);
      report.done.set(name, done);
      if (await this.#holds(node, 'ready')) return 'ready';
      report.notReady.push(name);
      return 'unready';
    });
  }

  /**
   * Of the nodes that could not start because a dependency is not ready, those whose early conditions say that they are
   * not wanted, with the states that follow. An early condition that fails says nothing.
   */
  async unwanted(states: ReadonlyMap<string, NodeState>): Promise<[string, NodeState][]> {
    const found: [string, NodeState][] = [];
    for (const node of this.#nodes.values()) {
      const { name } = node.use;
      if (!node.early || (states.get(name) ?? 'idle') !== 'idle') continue;
      try {
        if (!(await this.#isActive(node))) found.push([name, 'removed']);
        else if (!(await this.#holds(node, 'when'))) found.push([name, 'doomed']);
      } catch (err) {
        if (this.#ctx.signal.aborted) throw err;
        this.#ctx.log.debug({ node: name, err }, 'condition of a waiting node failed');
      }
    }
    return found;
  }

  remove(name: string): Promise<NodeState> {
    this.#ports.report.unwanted.add(name);
    return this.#guarded(name, 'delete', async (node) => {
      const { report, isCleanup } = this.#ports;
      const { use } = node;
      if (!(await this.#isActive(node))) return 'removed';
      const isCalled = hasDeleter(use) && !(isCleanup && use.gc);
      if (isCalled) await (isBulk(use) ? deleteBulk : deleteDependent)(use as never, this.#p, this.#ctx);
      if (!(await this.#holds(node, 'deleted'))) return 'removing';
      if (isCalled) report.deleted.push(name);
      return 'removed';
    });
  }

  #reconcile(use: AnyDependent<P>): Promise<Done> {
    return isBulk(use) ? reconcileBulk(use, this.#p, this.#ctx) : reconcileDependent(use, this.#p, this.#ctx);
  }

  async #guarded(
    name: string,
    op: 'reconcile' | 'delete',
    work: (node: NodeSpec<P>) => Promise<NodeState>,
  ): Promise<NodeState> {
    const { log, clock, signal } = this.#ctx;
    const startedAt = clock.now();
    let outcome: NodeState = 'failed';
    try {
      outcome = await work(this.#nodes.get(name) as NodeSpec<P>);
    } catch (error) {
      // An error that was caused by the abort is not an error of the node.
      if (signal.aborted) throw error;
      this.#ports.report.errored.set(name, error);
    }
    const ms = clock.now() - startedAt;
    this.#ports.meter?.({ node: name, op, outcome, seconds: ms / 1_000 });
    log.debug({ node: name, op, outcome, ms: Math.round(ms) }, 'workflow node reconciled');
    return outcome;
  }

  async #isActive(node: NodeSpec<P>): Promise<boolean> {
    if (!node.active) return true;
    const isActive = await this.#holds(node, 'active');
    if (isActive) await this.#ports.sources?.on(node.use, this.#p);
    else this.#ports.sources?.off(node.use, this.#p);
    return isActive;
  }

  /** Whether a condition of a node is true; an absent one is. Evaluated once. */
  #holds(node: NodeSpec<P>, which: ConditionName): Promise<boolean> {
    const id = `${node.use.name} ${which}`;
    let answer = this.#asked.get(id);
    if (!answer) this.#asked.set(id, (answer = this.#ask(node, which, id)));
    return answer;
  }

  async #ask(node: NodeSpec<P>, which: ConditionName, id: string): Promise<boolean> {
    const condition = node[which];
    if (!condition) return true;
    const answer = await condition(nodeView(node.use, this.#p, this.#ctx), this.#p, this.#ctx);
    if (typeof answer === 'boolean') return answer;
    const { report } = this.#ports;
    const { met, requeueAfterMs } = checked(answer, node.use.name, which);
    report.data.set(id, answer.data);
    if (!met) report.requeueAfter(requeueAfterMs);
    return met;
  }
}

/** @throws TypeError that names the condition */
function checked<A extends { readonly met: boolean; readonly requeueAfterMs?: number | undefined }>(
  answer: A,
  node: string,
  which: ConditionName,
): A {
  const { met, requeueAfterMs }: Record<string, unknown> = isObject(answer) ? answer : {};
  if (typeof met !== 'boolean')
    throw new TypeError(`condition "${which}" of "${node}" must return true, false, or an object with "met"`);
  if (requeueAfterMs !== undefined && !isPositive(requeueAfterMs))
    throw new TypeError(
      `condition "${which}" of "${node}" returned requeueAfterMs ${shown(requeueAfterMs)}; it must be a positive number of milliseconds`,
    );
  return answer;
}
