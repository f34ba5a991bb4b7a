/** The public API of the controller runtime: requests, watches, caches, controllers and operators. */
export type * from './types.ts';
export * from './core-kinds.ts';
export type * as models from './core-models.ts';
export type { Fields } from '../lib/objects.ts';
export {
  AlreadyExists,
  ApiError,
  Conflict,
  DefinitionError,
  EspalierError,
  Forbidden,
  Gone,
  Invalid,
  InvalidObjectName,
  isFinal,
  isNamespaceTerminating,
  KubeconfigError,
  LeadershipLostError,
  NoRetryError,
  NoSuchKind,
  NotFound,
  NotWatchedError,
  ResponseTooLarge,
  ServerFailure,
  ShareLostError,
  ShutdownError,
  SourceError,
  TooManyRequests,
  TransportError,
  Unauthorized,
  type ApiErrorFacts,
  type Cause,
  type ErrorFacts,
  type RequestRef,
} from './errors.ts';
export type { Outlook } from '../lib/outlook.ts';
export { timestamp, type Clock } from '../lib/clock.ts';
export type { Rng } from '../lib/rng.ts';
export { createLogger, silentLogger, type Level, type Logger } from '../observability/log.ts';
export type { CounterOf, GaugeOf, HistogramOf, Labels, Metrics, Series } from '../observability/metrics.ts';
export { HealthPortError, type Check } from '../observability/health.ts';
export { requireKinds } from './transport/require-kinds.ts';
export type { KubeconfigSource } from './transport/kubeconfig.ts';
export { apiVersionOf, isSameKind, joinKey, keyOf, splitKey } from './keys.ts';
export {
  anyOf,
  byAnnotation,
  byController,
  byLabel,
  byOwner,
  bySameName,
  type Mapper,
  type NamedBy,
  type OwnerKind,
} from './sources/mappers.ts';
export {
  and,
  annotationsChanged,
  deletionStarted,
  generationChanged,
  labelsChanged,
  not,
  objectsThat,
  or,
  resourceVersionChanged,
  type GenerationMode,
  type Predicate,
} from './sources/filters.ts';
export type { Controller } from './controller/controller.ts';
export type { ControllerSpec, Reconciler } from './controller/spec.ts';
export { setStatusCondition, type StatusCondition } from './controller/status-condition.ts';
export type { Manager } from './manager/manager.ts';
export { runOperator } from './operator/run-operator.ts';
export {
  startOperator,
  type Cluster,
  type Operator,
  type OperatorOptions,
  type OperatorProcess,
} from './operator/start-operator.ts';
export {
  watchSource,
  type AttachedSource,
  type EventCause,
  type Source,
  type SourceHost,
  type WatchSource,
} from './sources/sources.ts';
export {
  perResourceSource,
  pollSource,
  type Correctable,
  type PerResourceHandle,
  type PerResourceSource,
  type PollSource,
  type Readable,
} from './sources/polling.ts';
export type { ValueShape } from './sources/values.ts';
export {
  cachingInboundSource,
  inboundSource,
  type CachingInbound,
  type CachingInboundSource,
  type InboundOptions,
  type InboundSource,
} from './sources/inbound.ts';
export {
  conversionOf,
  ConversionError,
  withAnnotation,
  type Conversion,
  type Converted,
  type SpokeFunctions,
} from './conversion/conversion.ts';
export type { ConversionOptions } from './conversion/serve.ts';
export { namespaceScope, type NamespaceScope, type Namespaces } from './cache/namespace-scope.ts';
export type { Sharing } from './fleet/sharing.ts';
export { exponential, type Exponential, type RetryPolicy, type RetryPreset } from './queue/retry.ts';
export type { RateLimit } from './queue/rate-limit.ts';
export type { TotalLimit } from './queue/throttle.ts';
export type { EventFacts, Recorder } from './controller/recorder.ts';
export {
  dropLastApplied,
  dropManagedFields,
  keepAppliedBy,
  keepFields,
  pipe,
  type Transform,
} from './cache/transforms.ts';
