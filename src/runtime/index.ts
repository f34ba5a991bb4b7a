/** The public surface of the controller runtime: requests, watches, caches, controllers, and what drives them. */
export type * from './types.ts';
export * from './core-kinds.ts';
export type { Fields } from '../lib/objects.ts';
export * from './errors.ts';
export { systemClock, type Clock } from '../lib/clock.ts';
export { systemRng, type Rng } from '../lib/rng.ts';
export { createLogger, silentLogger, type Level, type Logger } from '../observability/log.ts';
export {
  createMetrics,
  type CounterOf,
  type GaugeOf,
  type HistogramOf,
  type Labels,
  type Metrics,
  type Series,
} from '../observability/metrics.ts';
export {
  HealthPortError,
  startHealthServer,
  type Check,
  type HealthServer,
} from '../observability/health.ts';
export {
  connect,
  type Connection,
  type ConnectOptions,
  type HttpRequest,
  type ServerAddress,
} from './transport/http.ts';
export {
  createResponses,
  type ResponseLimits,
  type Responses,
  type ResponseSettings,
} from './transport/responses.ts';
export type { ByteBudget, ByteShare, DownloadLimits } from '../lib/byte-budget.ts';
export type { StructureLimits } from '../lib/json-scan.ts';
export type { PacedTurns } from '../lib/paced-turns.ts';
export type { Lane } from './transport/lanes.ts';
export { findKubeconfig, type KubeconfigSource } from './transport/kubeconfig.ts';
export { createClient } from './transport/client.ts';
export { createDiscovery, type Discovery } from './transport/discovery.ts';
export {
  createCache,
  createCaches,
  dropManagedFields,
  keepAppliedBy,
  type CacheDeps,
  type CachesDeps,
  type StartableCaches,
} from './cache/cache.ts';
export type { CacheMetrics } from './cache/metrics.ts';
export type { WatchCache } from './cache/watch-cache.ts';
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
  or,
  resourceVersionChanged,
  type GenerationMode,
  type Predicate,
} from './sources/filters.ts';
export type { Controller } from './controller/controller.ts';
export type { ControllerSpec, Reconciler } from './controller/spec.ts';
export type { Admission, Concerns, WorkPermit, Share } from './controller/share.ts';
export type { Fence } from './controller/writer.ts';
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
  type InboundSource,
} from './sources/inbound.ts';
export {
  exponential,
  retryPolicyOf,
  type Exponential,
  type RetryPolicy,
  type RetryPreset,
} from './queue/retry.ts';
export type { RateLimit } from './queue/rate-limit.ts';
export type { EventFacts, Recorder } from './controller/recorder.ts';
export {
  annotations as externalAnnotations,
  assigned,
  byObjectName,
  byUid,
  decideRequeue,
  externalController,
  externalResource,
  externalSpecProperties,
  externalStatusProperties,
  HandledFailure,
  isActive,
  OutcomeUnknown,
  SecretRefused,
  shortened,
  specSecret,
  type Condition as ExternalCondition,
  type ConditionType as ExternalConditionType,
  type Connector,
  type Created,
  type ConnectionDetails as Details,
  type ExternalHandler,
  type ExternalObject,
  type ExternalPorts,
  type ExternalResource,
  type ExternalSpec,
  type ExternalState,
  type ExternalStatus,
  type NameStrategy,
  type Observation,
  type Outcome as ExternalOutcome,
  type Reclaim,
  type Requeue,
  type Result,
  type SecretPlace,
  type Updated,
} from './external/index.ts';
export { dropLastApplied, pipe, keepFields, type Transform } from './cache/transforms.ts';
