/**
 * Controllers with a workflow: the sources of its nodes are attached to the controller, and it runs before the
 * author's reconciler, whose context contains the result.
 */
import { closest } from '../lib/closest.ts';
import { DefinitionError, NotWatchedError } from '../runtime/errors.ts';
import { keyOf } from '../runtime/keys.ts';
import type { Controller } from '../runtime/controller/controller.ts';
import type { Manager } from '../runtime/manager/manager.ts';
import type { ControllerSpec, Reconciler } from '../runtime/controller/spec.ts';
import type { Source } from '../runtime/sources/sources.ts';
import type {
  Caches,
  Context,
  DeleteControl,
  ErrorControl,
  Kind,
  Obj,
  UpdateControl,
  View,
} from '../runtime/types.ts';
import { ActivationSources } from './activation.ts';
import { isBulk, type AnyDependent, type Setup } from './dependent.ts';
import type { NodeSpec } from './node.ts';
import { nodeMeter } from './node-metrics.ts';
import type { WorkflowResult } from './result.ts';
import { buildWorkflow, type Workflow, type WorkflowOptions } from './workflow.ts';

/** The nodes of a workflow, and how they are reconciled. */
export interface WorkflowSpec<P extends Obj> extends WorkflowOptions {
  readonly nodes: readonly NodeSpec<P>[];
  /**
   * The workflow runs only when the reconciler calls it. The same applies to the cleanup, if the reconciler has a
   * `cleanup`.
   */
  readonly explicit?: boolean;
  /**
   * `false`: errors of nodes are only in the result, and the reconciler decides: its `cleanup` may remove the finalizer
   * although nodes failed. Default `true`.
   */
  readonly throwErrors?: boolean;
}

/**
 * The workflow in the context of a reconciler. Both calls throw an AggregateNodeError if nodes failed, unless
 * `throwErrors` is false.
 */
export interface WorkflowHandle {
  /** Of the last call in this reconcile. */
  readonly result: WorkflowResult | undefined;
  reconcile(): Promise<WorkflowResult>;
  cleanup(): Promise<WorkflowResult>;
}

/** The context of a reconciler with a workflow. */
export interface WorkflowContext<P extends Obj> extends Context<P> {
  readonly workflow: WorkflowHandle;
}

/** Like Reconciler, with the workflow in the context. */
export interface WorkflowReconciler<P extends Obj> {
  reconcile(primary: View<P>, ctx: WorkflowContext<P>): Promise<UpdateControl<P>>;
  cleanup?(primary: View<P>, ctx: WorkflowContext<P>): Promise<DeleteControl>;
  onError?(primary: View<P>, ctx: WorkflowContext<P>, error: unknown): Promise<ErrorControl<P>>;
  /** See `Reconciler.forget`. */
  forget?(primary: View<P>): void | Promise<void>;
}

/** A controller with a workflow that runs before its reconciler. */
export interface WorkflowControllerSpec<P extends Obj> extends Omit<ControllerSpec<P>, 'reconciler'> {
  readonly reconciler: WorkflowReconciler<P>;
  readonly workflow: WorkflowSpec<P>;
}

/** What a dependent needs to know about its controller. */
export const setupOf = <P extends Obj>(
  spec: Pick<ControllerSpec<P>, 'name' | 'kind' | 'fieldManager'>,
  caches: Caches,
): Setup<P> => ({
  controller: { name: spec.name, kind: spec.kind, fieldManager: spec.fieldManager ?? spec.name },
  caches,
  isSeparate: false,
});

/**
 * The sources of dependents, to attach to the controller.
 * @param present existing sources; dependents may name one of them
 * @throws DefinitionError when a dependent and its source do not match
 */
export function sourcesOf<P extends Obj>(
  dependents: readonly NodeSpec<P>['use'][],
  setup: Setup<P>,
  present: readonly Source<P>[] = [],
): Source<P>[] {
  refuseToShare(dependents);
  const all = new Map(present.map((source) => [source.name, source]));
  for (const use of dependents) {
    if (use.source !== undefined && !all.has(use.source) && use.createSource)
      all.set(use.source, use.createSource(setup).source);
  }
  for (const use of dependents) {
    const source = use.source === undefined ? undefined : all.get(use.source);
    if (use.source !== undefined && !source) throw unresolved(use.name, use.source, [...all.keys()]);
    use.check?.(setup, source);
  }
  return [...all.values()];
}

const readsOf = <P extends Obj>({ reads, source }: AnyDependent<P>): string | undefined => reads ?? source;

/** @throws DefinitionError when one dependent would delete what another one creates */
function refuseToShare<P extends Obj>(dependents: readonly AnyDependent<P>[]): void {
  for (const taker of dependents) {
    if (!isBulk(taker) || !taker.takesAll || taker.source === undefined) continue;
    const reads = readsOf(taker);
    const other = dependents.find(
      (use) => use !== taker && readsOf(use) === reads && use.create !== undefined,
    );
    if (!other) continue;
    throw new DefinitionError({
      message:
        `dependent "${taker.name}" would delete the objects that dependent "${other.name}" creates, since both read source ${taker.source}; ` +
        `give "${taker.name}" an idOf that returns undefined for objects of others, or a selector`,
    });
  }
}

/**
 * Checks that sources of nodes with an activation condition can be created later.
 * @param lasting sources that always exist
 */
function checkActivated<P extends Obj>(
  dependents: readonly NodeSpec<P>['use'][],
  setup: Setup<P>,
  lasting: readonly Source<P>[],
): void {
  const created = dependents.flatMap((use) =>
    use.source !== undefined && use.createSource ? [use.source] : [],
  );
  for (const use of dependents) {
    if (use.source === undefined) continue;
    const source = lasting.find(({ name }) => name === use.source);
    if (source) use.check?.(setup, source);
    else if (!created.includes(use.source))
      throw unresolved(use.name, use.source, [...lasting.map(({ name }) => name), ...created]);
  }
}

function unresolved(dependent: string, source: string, known: readonly string[]): DefinitionError {
  const meant = closest(source, known);
  const all = known.length === 0 ? 'it has none' : `it has ${known.join(', ')}`;
  const hint = meant ? `is ${meant} meant?` : all;
  return new DefinitionError({
    message: `dependent "${dependent}" reads source ${source}, which the controller does not have; ${hint}`,
  });
}

/**
 * Adds a controller with a workflow to a manager. It has a finalizer if the controller must delete a node.
 * @throws DefinitionError when the spec is inconsistent
 */
export function addWorkflowController<P extends Obj>(
  manager: Manager,
  spec: WorkflowControllerSpec<P>,
): Controller<P> {
  const { workflow: description, reconciler, ...rest } = spec;
  const { nodes } = description;
  const names = nodes.map(({ use }) => use.name);
  const meter = nodeMeter(manager.metrics, spec.name, names);
  const workflow = buildWorkflow(nodes, { ...description, meter });
  const setup = setupOf(spec, manager.caches);
  refuseToShare(nodes.map(({ use }) => use));
  const usedWhen = (isActivated: boolean) =>
    nodes.filter(({ active }) => (active !== undefined) === isActivated).map(({ use }) => use);
  const activated = usedWhen(true);
  const sources = sourcesOf(usedWhen(false), setup, spec.sources);
  checkActivated(activated, setup, sources);
  const activation = new ActivationSources(setup, activated, () => controller);
  const controller: Controller<P> = manager.add<P>({
    ...rest,
    sources,
    reconciler: managed(workflow, description, reconciler, activation),
  });
  return controller;
}

/** Maximum time until a cleanup that waits for a condition is repeated, if no event comes. */
const CLEANUP_RECHECK_MS = 60_000;

/** Reads of the context, without values for kinds and sources that only inactive nodes read. */
function withInactive<P extends Obj>(
  ctx: Context<P>,
  sources: ActivationSources<P>,
): Pick<Context<P>, 'secondaries' | 'secondary' | 'valuesOf'> {
  const orNone = <T>(read: () => readonly T[], isInactive: () => boolean): readonly T[] => {
    try {
      return read();
    } catch (error) {
      if (error instanceof NotWatchedError && isInactive()) return [];
      throw error;
    }
  };
  const secondaries = <R extends Obj>(kind: Kind<R>, source?: string): readonly View<R>[] =>
    orNone(
      () => ctx.secondaries(kind, source),
      () => sources.isInactive(kind, source),
    );
  return {
    secondaries,
    secondary: (kind, source) => secondaries(kind, source)[0],
    valuesOf: (source) =>
      orNone(
        () => ctx.valuesOf(source),
        () => sources.isInactiveSource(source),
      ),
  };
}

/** The context of an author's reconciler: that of the controller, and the workflow. One for each reconcile. */
function contexts<P extends Obj>(
  workflow: Workflow<P>,
  throwErrors: boolean,
  sources: ActivationSources<P>,
): (p: View<P>, ctx: Context<P>) => WorkflowContext<P> {
  const known = new WeakMap<Context<P>, WorkflowContext<P>>();
  return (p, ctx) => {
    let extended = known.get(ctx);
    if (!extended) {
      let result: WorkflowResult | undefined;
      const call = async (run: () => Promise<WorkflowResult>): Promise<WorkflowResult> => {
        result = await run();
        if (throwErrors) result.throwIfErrored();
        return result;
      };
      extended = Object.freeze({
        ...ctx,
        ...withInactive(ctx, sources),
        workflow: {
          get result() {
            return result;
          },
          reconcile: () => call(() => workflow.reconcile(p, extended as WorkflowContext<P>, sources)),
          cleanup: () => call(() => workflow.cleanup(p, extended as WorkflowContext<P>, sources)),
        },
      });
      known.set(ctx, extended);
    }
    return extended;
  };
}

/** The author's reconciler, with the workflow before it. */
function managed<P extends Obj>(
  workflow: Workflow<P>,
  { explicit = false, throwErrors = true }: WorkflowSpec<P>,
  author: WorkflowReconciler<P>,
  sources: ActivationSources<P>,
): Reconciler<P> {
  const onError = author.onError?.bind(author);
  const contextOf = contexts(workflow, throwErrors, sources);

  const cleanup = async (p: View<P>, ctx: Context<P>): Promise<DeleteControl> => {
    const extended = contextOf(p, ctx);
    const isImplicit = !explicit || !author.cleanup;
    const result = isImplicit ? await extended.workflow.cleanup() : undefined;
    const control = (await author.cleanup?.(p, extended)) ?? { finalizer: 'remove' };
    // Without a decision of the author, nothing would retry the failed nodes.
    const isAuthorsDecision = !throwErrors && author.cleanup !== undefined && result?.errored.size;
    if (!isAuthorsDecision) result?.throwIfErrored();
    if (control.finalizer === 'keep') return withRequeue(control, result?.requeueAfterMs);
    if (result && !result.allRemoved && !isAuthorsDecision)
      return { finalizer: 'keep', requeueAfterMs: result.requeueAfterMs ?? CLEANUP_RECHECK_MS };
    sources.forget(ctx.key);
    return control;
  };
  return {
    async reconcile(p, ctx) {
      const extended = contextOf(p, ctx);
      if (!explicit) await extended.workflow.reconcile();
      const control = await author.reconcile(p, extended);
      return withRequeue(control, extended.workflow.result?.requeueAfterMs);
    },
    ...((author.cleanup || workflow.isDeletable) && { cleanup }),
    async forget(p) {
      sources.forget(keyOf(p));
      for (const { use } of workflow.nodes) use.forget?.(p);
      await author.forget?.(p);
    },
    ...(onError && { onError: (p, ctx, error) => onError(p, contextOf(p, ctx), error) }),
  };
}

const withRequeue = <C extends { readonly requeueAfterMs?: number }>(
  control: C,
  requeueAfterMs: number | undefined,
): C =>
  requeueAfterMs === undefined
    ? control
    : { ...control, requeueAfterMs: Math.min(requeueAfterMs, control.requeueAfterMs ?? Infinity) };
