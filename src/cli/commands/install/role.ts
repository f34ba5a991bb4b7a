/**
 * The rights of the installed service accounts in the host cluster, with reasons. Target clusters are accessed with
 * the credentials of the targets. Pure: a table, and the roles that are generated from it.
 */
import { GROUP } from '../../../api/labels.ts';
import { CERTIFICATES_SECRET } from '../../../webhooks/secret.ts';
import { CONFIGURATION_NAME } from '../../../webhooks/configuration.ts';
import type { DeployerName } from '../../names.ts';

/** One right, with its reason. */
export interface Need {
  readonly group: string;
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  /** Only for objects with these names. */
  readonly names?: readonly string[];
  readonly why: string;
  /** Only needed if one of these deployers runs. */
  readonly deployers?: readonly DeployerName[];
}

const RBAC = 'rbac.authorization.k8s.io';
const connecting: readonly DeployerName[] = ['helm', 'manifest'];

/** In all namespaces, since installations may be in any of them. */
export const clusterRights: readonly Need[] = [
  {
    group: GROUP,
    resources: ['installations', 'deployitems'],
    verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
    why: 'create, change and delete the installations and deploy items of a landscape; `update` stores a field with the value null, which a merge patch would delete',
  },
  {
    group: GROUP,
    resources: ['executions'],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
    why: 'create, change and delete the executions of a landscape',
  },
  {
    group: GROUP,
    resources: ['installations/status', 'executions/status', 'deployitems/status', 'targetsyncs/status'],
    verbs: ['patch'],
    why: 'write their status',
  },
  {
    group: GROUP,
    resources: ['installations/finalizers', 'executions/finalizers'],
    verbs: ['update'],
    why: 'set installations and executions as owners with `blockOwnerDeletion`; needed if the admission plugin OwnerReferencesPermissionEnforcement is enabled',
  },
  {
    group: GROUP,
    resources: ['dataobjects', 'targets'],
    verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
    why: 'imports and exports; targets created by TargetSyncs',
  },
  {
    group: GROUP,
    resources: ['contexts'],
    verbs: ['get', 'list', 'watch', 'create', 'patch'],
    why: 'read Contexts; create the Context `default` in each namespace',
  },
  {
    group: GROUP,
    resources: ['componentversionoverwrites'],
    verbs: ['get'],
    why: 'component versions that a Context replaces',
  },
  {
    group: GROUP,
    resources: ['targetsyncs'],
    verbs: ['get', 'list', 'watch', 'patch'],
    why: 'targets to copy from other clusters, and the finalizer of the TargetSync',
  },
  {
    group: GROUP,
    resources: ['syncobjects'],
    verbs: ['list', 'watch', 'delete'],
    why: 'locks held by replicas of Landscaper; stale ones are deleted',
  },
  {
    group: '',
    resources: ['secrets'],
    verbs: ['get', 'list', 'create', 'patch', 'delete'],
    why: 'credentials of targets, registries and signers; exports of deploy items; state of templates; secrets of TargetSyncs',
  },
  {
    group: '',
    resources: ['configmaps'],
    verbs: ['get'],
    why: 'imports, and settings that a Context refers to',
  },
  {
    group: '',
    resources: ['namespaces'],
    verbs: ['list', 'watch'],
    why: 'create a Context in each namespace',
  },
  {
    group: '',
    resources: ['events'],
    verbs: ['create', 'patch'],
    why: 'events, shown by kubectl describe',
  },
  {
    group: '',
    resources: ['serviceaccounts/token'],
    verbs: ['create'],
    why: 'tokens for targets that use a service account of this cluster',
    deployers: connecting,
  },
];

/** In the namespace of the product. */
export const productNamespaceRights: readonly Need[] = [
  {
    group: 'coordination.k8s.io',
    resources: ['leases'],
    verbs: ['get', 'list', 'watch', 'create', 'update', 'delete'],
    why: 'replicas share the work',
  },
  {
    group: '',
    resources: ['pods'],
    verbs: ['get'],
    why: 'check whether a replica of Landscaper that holds a lock still exists',
  },
  {
    group: GROUP,
    resources: ['criticalproblems'],
    verbs: ['get', 'create', 'patch'],
    why: 'records of unexpected errors (bugs)',
  },
];

/**
 * In the namespace where pods of container items run. Rights for secrets are already granted for all namespaces.
 * The deployer must have all rights that it grants to the service accounts of pods, hence `watch`.
 */
export const podNamespaceRights: readonly Need[] = [
  {
    group: '',
    resources: ['pods'],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
    why: 'images of container items run as pods',
  },
  {
    group: '',
    resources: ['configmaps', 'serviceaccounts'],
    verbs: ['get', 'list', 'create', 'patch', 'delete'],
    why: 'files that such a pod reads, and the service accounts of its helper containers',
  },
  {
    group: RBAC,
    resources: ['roles', 'rolebindings'],
    verbs: ['get', 'list', 'create', 'patch', 'delete'],
    why: 'permissions of these accounts: always a subset of this table',
  },
  {
    group: '',
    resources: ['serviceaccounts/token'],
    verbs: ['create'],
    why: 'tokens of these accounts, valid for one job',
  },
];

/** In the namespace of `lsDeployments`. */
export const healthCheckRights: readonly Need[] = [
  {
    group: 'apps',
    resources: ['deployments'],
    verbs: ['get'],
    why: 'check whether the deployments are available',
  },
  {
    group: GROUP,
    resources: ['lshealthchecks'],
    verbs: ['get', 'list', 'create', 'patch', 'delete'],
    why: 'write the result of the health check',
  },
];

/** The webhook server has its own service account. */
export const webhookClusterRights: readonly Need[] = [
  {
    group: 'admissionregistration.k8s.io',
    resources: ['validatingwebhookconfigurations'],
    verbs: ['create'],
    why: 'register the webhooks at the API server',
  },
  {
    group: 'admissionregistration.k8s.io',
    resources: ['validatingwebhookconfigurations'],
    verbs: ['get', 'patch', 'delete'],
    names: [CONFIGURATION_NAME],
    why: 'keep the webhook configuration up to date',
  },
];

/** In the namespace of the product. */
export const webhookNamespaceRights: readonly Need[] = [
  { group: '', resources: ['secrets'], verbs: ['create'], why: 'the certificates' },
  {
    group: '',
    resources: ['secrets'],
    verbs: ['get', 'patch'],
    names: [CERTIFICATES_SECRET],
    why: 'the certificates',
  },
];

/** A rule of a Role or ClusterRole. */
export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** The rules for the controllers and these deployers. */
export const rulesFor = (
  needs: readonly Need[],
  running: readonly DeployerName[] = [],
): readonly PolicyRule[] =>
  needs
    .filter(({ deployers }) => deployers?.some((name) => running.includes(name)) ?? true)
    .map(({ group, resources, verbs, names }) => ({
      apiGroups: [group],
      resources,
      verbs,
      ...(names && { resourceNames: names }),
    }));
