/** The public API of dependent resources and workflows. */
export {
  deleteDependent,
  reconcileDependent,
  type AnyDependent,
  type Bulk,
  type Common,
  type Dependent,
  type Done,
  type CreatedSource,
  type Match,
  type Matcher,
  type Setup,
} from './dependent.ts';
export { deleteBulk, reconcileBulk } from './bulk.ts';
export { AggregateNodeError, DependentError } from './errors.ts';
export {
  kubernetes,
  readOnly,
  type KubernetesCommon,
  type KubernetesDependent,
  type KubernetesSpec,
  type Trait,
  type Desired,
  type Wanted,
} from './kubernetes.ts';
export { kubernetesBulk, type KubernetesBulkSpec } from './kubernetes-bulk.ts';
export type { KubernetesDefaults, MatchChoice } from './matching.ts';
export type { BoundedReader } from './bounded-reader.ts';
export type { SourceChoice } from './source.ts';
export { hasLabel, nameEndsWith, type Discriminator, type ObjectId } from './target.ts';
export {
  external,
  externalBulk,
  fetched,
  polled,
  polledPerPrimary,
  type ExternalBulkSpec,
  type ExternalCommon,
  type ExternalSpec,
  type Identified,
  type ActualValues,
  type Polled,
  type PolledPerPrimary,
} from './external.ts';
export {
  bulkWithState,
  withState,
  type StatefulBulkSpec,
  type StatefulCommon,
  type StatefulSpec,
} from './stateful.ts';
export type { State, StateChoice } from './state.ts';
export { equalMatcher, genericMatcher, neverMatcher, type GenericMatch } from './match-generic.ts';
export { ssaMatcher, type SsaMatcher } from './match-ssa.ts';
export type { Condition, ConditionName, Conditions, ConditionResult, NodeSpec, NodeView } from './node.ts';
export { nodeMeter, type NodeMeter, type NodeWork } from './node-metrics.ts';
export { crdPresent, hasStatusCondition, isGone } from './conditions.ts';
export type { WorkflowResult } from './result.ts';
export { buildDag, chainDag, looseDag, type Dag, type DagNode } from './dag.ts';
export { runGraph, type GraphRun } from './run-graph.ts';
export { plan, type NodeState, type Plan, type Policy } from './plan.ts';
export {
  buildWorkflow,
  type MeteredOptions,
  type SourceSwitch,
  type Workflow,
  type WorkflowOptions,
} from './workflow.ts';
export {
  addWorkflowController,
  setupOf,
  sourcesOf,
  type WorkflowControllerSpec,
  type WorkflowContext,
  type WorkflowHandle,
  type WorkflowReconciler,
  type WorkflowSpec,
} from './workflow-controller.ts';
