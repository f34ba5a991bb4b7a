/** What pods, the programs in them and everybody's images rely on: paths, variables, labels. All of it is upstream's. */
import { ESPALIER_PREFIX, GROUP } from '../../src/api/labels.ts';

export const CONTAINER_GROUP = `container.deployer.${GROUP}`;
export const CONTAINER_API_VERSION = `${CONTAINER_GROUP}/v1alpha1`;

/** Keeps a pod until its end has been noted. */
export const POD_FINALIZER = `${CONTAINER_GROUP}/finalizer`;
/** On a deploy item: clean up without running the image, whatever the value. */
export const FORCE_CLEANUP = `${CONTAINER_GROUP}/force-cleanup`;

export const labels = {
  deployerId: `${CONTAINER_GROUP}/deployer-id`,
  name: `${CONTAINER_GROUP}/name`,
  /** What a secret is for. */
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
  /** Place of a piece in its snapshot, from 0. */
  stateNum: `${CONTAINER_GROUP}/num`,
  /** How many pieces the snapshot has, so that half of one is known as such. An addition of ours. */
  statePieces: `${ESPALIER_PREFIX}/state-pieces`,
  /** When the snapshot was taken, with milliseconds; creation times have none. An addition of ours. */
  stateTime: `${ESPALIER_PREFIX}/state-time`,
  /** `namespace/name` of the item: labels hold no long names. An addition of ours. */
  item: `${ESPALIER_PREFIX}/deployitem`,
  /** The job that a pod works for. An addition of ours. */
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
  /** Where the init container finds the target file that it puts in place. */
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
  /** An addition of ours: the mounted file that becomes `TARGET_PATH`. */
  targetSource: 'TARGET_SOURCE_PATH',
  /** An addition of ours: secrets of the snapshot to restore, in order; without it they are looked for by label. */
  stateSecrets: 'STATE_SECRETS',
} as const;

/** Keys in the secrets and config maps that are mounted. */
export const keys = {
  configuration: 'configuration.json',
  target: 'target.json',
  ocmConfiguration: '.ocmconfig',
  docker: '.dockerconfigjson',
  /** Of exports and of pieces of the state. */
  data: 'config',
} as const;
