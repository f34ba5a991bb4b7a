/** External resources: Kubernetes objects that represent resources in other services. */
export { annotations } from './annotations.ts';
export type { ChangeLog, ChangeRecord } from './change-log.ts';
export type { Schema } from './check-schema.ts';
export type { Condition } from '../controller/status-condition.ts';
export { isActive, type ConditionType } from './conditions.ts';
export { externalController, externalResource, type ExternalPorts, type ExternalSpec } from './controller.ts';
export { HandledFailure, OutcomeUnknown, SecretRefused } from './errors.ts';
export { kubernetesTags, nameAsExternalName, type Initializer } from './initializers.ts';
export { assigned, byObjectName, byUid, shortened, type NameStrategy } from './names.ts';
export { crossplanePolicySets, type ManagementPolicy, type Reclaim } from './policies.ts';
export type { Reference } from './references.ts';
export { decideRequeue, type Requeue, type Result } from './requeue.ts';
export type { Outcome } from './outcome.ts';
export type { ExternalResource } from './resource.ts';
export {
  externalSpecProperties,
  externalStatusProperties,
  referenceListProperties,
  referenceProperties,
  withExternalFields,
} from './schema.ts';
export { CONNECTION_LABEL, CONNECTION_TYPE, specSecret, type SecretPlace } from './secret.ts';
export type {
  Connector,
  Created,
  ConnectionDetails,
  ExternalHandler,
  ExternalObject,
  ExternalState,
  ExternalStatus,
  Observation,
  Recovered,
  Updated,
} from './types.ts';
