/**
 * Paths, variables and labels that pods, their programs and users' images rely on. Same as upstream's, except where
 * noted.
 */
import { ESPALIER_PREFIX, GROUP } from '../../src/api/labels.ts';

export const CONTAINER_GROUP = `container.deployer.${GROUP}`;
export const CONTAINER_API_VERSION = `${CONTAINER_GROUP}/v1alpha1`;

/** Keeps a pod until its result is recorded. */
export const POD_FINALIZER = `${CONTAINER_GROUP}/finalizer`;
/** On a deploy item: clean up without running the image; any value counts. */
export const FORCE_CLEANUP = `${CONTAINER_GROUP}/force-cleanup`;

export const labels = {
  deployerId: `${CONTAINER_GROUP}/deployer-id`,
  name: `${CONTAINER_GROUP}/name`,
  /** Purpose of a secret. */
  type: `${CONTAINER_GROUP}/type`,
  itemName: `deployitem.${CONTAINER_GROUP}/name`,
  itemNamespace: `deployitem.${CONTAINER_GROUP}/namespace`,
  itemGeneration: `deployitem.${CONTAINER_GROUP}/generation`,
} as const;

export const secretTypes = {
  configuration: 'configuration',
  target: 'target',
  pullSecret: 'registry-pull-secret',
  state: 'state',
} as const;

export const annotations = {
  /** One per snapshot of the state. */
  stateUuid: `${CONTAINER_GROUP}/uuid`,
  /** Position of a part in its snapshot, from 0. */
  stateNum: `${CONTAINER_GROUP}/num`,
  /** Number of parts of the snapshot, to recognise incomplete snapshots. An addition of ours. */
  statePieces: `${ESPALIER_PREFIX}/state-pieces`,
  /** Time of the snapshot with milliseconds, since creation timestamps have only seconds. An addition of ours. */
  stateTime: `${ESPALIER_PREFIX}/state-time`,
  /** `namespace/name` of the item, because labels are too short for long names. An addition of ours. */
  item: `${ESPALIER_PREFIX}/deployitem`,
  /** The job of a pod. An addition of ours. */
  job: `${ESPALIER_PREFIX}/job-id`,
} as const;

export type Operation = 'RECONCILE' | 'DELETE';

export const containers = { init: 'init', main: 'main', wait: 'wait' } as const;

const BASE = '/data/ls';
const SHARED = `${BASE}/shared`;

export const paths = {
  shared: SHARED,
  imports: `${SHARED}/imports/import.json`,
  exports: `${SHARED}/exports/values`,
  state: `${SHARED}/state`,
  content: `${SHARED}/content`,
  componentDescriptor: `${SHARED}/component_descriptor.json`,
  target: `${SHARED}/targets/target.json`,
  configuration: `${BASE}/internal/configuration.json`,
  /** The mounted target file that the init container copies. */
  targetSource: `${BASE}/internal-target/target.json`,
  registrySecrets: `${BASE}/registry_secrets`,
  ocmConfiguration: `${BASE}/ocm_configuration/.ocmconfig`,
  serviceAccount: '/var/run/secrets/kubernetes.io/serviceaccount',
} as const;

/** Names of environment variables. */
export const variables = {
  operation: 'OPERATION',
  imports: 'IMPORTS_PATH',
  exports: 'EXPORTS_PATH',
  state: 'STATE_PATH',
  content: 'CONTENT_PATH',
  componentDescriptor: 'COMPONENT_DESCRIPTOR_PATH',
  target: 'TARGET_PATH',
  podName: 'POD_NAME',
  podNamespace: 'POD_NAMESPACE',
  configuration: 'CONFIGURATION_PATH',
  itemName: 'DEPLOY_ITEM_NAME',
  itemNamespace: 'DEPLOY_ITEM_NAMESPACE',
  registrySecrets: 'REGISTRY_SECRETS_DIR',
  ocmConfiguration: 'OCM_CONFIGURATION_PATH',
  /** An addition of ours: the mounted file that is copied to `TARGET_PATH`. */
  targetSource: 'TARGET_SOURCE_PATH',
  /** An addition of ours: names of the snapshot's secrets, in order; without it, they are found by label. */
  stateSecrets: 'STATE_SECRETS',
  /** An addition of ours: `true` for a wait container that is a native sidecar. */
  sidecar: 'WAIT_AS_SIDECAR',
  /** An addition of ours: W3C trace context, only if traces are switched on. */
  traceparent: 'TRACEPARENT',
} as const;

/** Keys in the mounted secrets and config maps. */
export const keys = {
  configuration: 'configuration.json',
  target: 'target.json',
  ocmConfiguration: '.ocmconfig',
  docker: '.dockerconfigjson',
  /** Key of exports and of parts of the state. */
  data: 'config',
} as const;
