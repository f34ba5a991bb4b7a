/** The public API of the deployer SDK: the plugin interface, its outcomes and errors, and functions to run a plugin. */
export {
  definePlugin,
  type DeployerPlugin,
  type DeployerSettings,
  type ReadinessRules,
  type DeployContext,
  type Watched,
} from './deployer.ts';
export { CodecError, passthrough, codec, type Codec } from './codec.ts';
export { anything, type Shape } from './shape.ts';
export { schemaCodec, type Checked, type Schema, type SchemaIssue } from './schema.ts';
export {
  done,
  fail,
  retry,
  wait,
  type AnswerOf,
  type AnswerParts,
  type ExportOf,
  type Outcome,
} from './outcome.ts';
export type { ConditionChange, Problem } from '../../src/machine/decision.ts';
export type { ErrorCode } from '../../src/api/error-codes.ts';
export type { ContextObject, DeployItem, Target } from './kinds.ts';
export type { KubeObject, ResourceRef } from '../objects/manifests/model.ts';
export {
  ConfigurationError,
  DeployerError,
  type FailureDetails,
  InternalError,
  InterruptedError,
  RetryError,
  TimeoutError,
  UnauthorizedError,
} from './errors.ts';
export type { ContinuousReconcile } from './continuous.ts';
export type { HostApi } from './host.ts';
export type { DeployTrace } from './trace.ts';
export type { TracingConfiguration } from '../../src/observability/tracing/settings.ts';
export type { Attributes } from '../../src/observability/tracing/span.ts';
export type { KubeAccess } from './access.ts';
export type { SeenCluster } from './cluster-identity.ts';
export type { ResolvedTarget, SelfCluster, TargetReader } from './target.ts';
export type { Requirement, TargetSelector } from './responsible.ts';
export type { ResponseSettings } from '../../src/runtime/transport/responses.ts';
export { startDeployer, type DeployerProcess, type DeployerProcessOptions } from './process.ts';
export type { Direction } from './intake.ts';
export {
  nothingPlanned,
  PlanUnknown,
  type ItemPlan,
  type PlannedChange,
  type PlannedObject,
} from './item-plan.ts';
export { serve } from './serve.ts';
