/**
 * Kinds of Kubernetes itself. Each name is a type and a constant: `kubernetes<Deployment, WebPage>({ kind:
 * Deployment, … })`. The fields have the names and types of JSON: times are strings. Each type contains the name of its
 * kind, so the compiler does not accept a Secret where a ConfigMap belongs, although their other fields agree.
 */
import type * as models from './core-models.ts';
import type { Kind, Obj } from './types.ts';

/** A model in its JSON form: times are RFC 3339 strings instead of a `Date`. */
export type Plain<T> = T extends Date
  ? string
  : T extends (infer E)[]
    ? Plain<E>[]
    : T extends object
      ? { [K in keyof T]: Plain<T[K]> }
      : T;

/**
 * An object of the cluster with the fields of a model. Use it for kinds that are not listed here, with your own
 * interface or with a model of `@kubernetes/client-node`, such as `ObjectOf<V1PriorityClass>`. Fields that such a model
 * renames, like `_from`, keep the name of the model. `K` is the name of the kind, which tells apart types with the same fields.
 */
export type ObjectOf<T, K extends string = string> = Obj &
  Omit<Plain<T>, 'apiVersion' | 'kind' | 'metadata'> & { kind: K };

const kindIn =
  (group: string, version: string, namespaced: boolean) =>
  (kind: string, plural: string): Kind<never> => ({ group, version, kind, plural, namespaced });

const core = kindIn('', 'v1', true);
const coreOfCluster = kindIn('', 'v1', false);
const apps = kindIn('apps', 'v1', true);
const batch = kindIn('batch', 'v1', true);
const networking = kindIn('networking.k8s.io', 'v1', true);
const rbac = kindIn('rbac.authorization.k8s.io', 'v1', true);
const rbacOfCluster = kindIn('rbac.authorization.k8s.io', 'v1', false);

// ---------------------------------------------------------------- core

/** ConfigMap of v1. */
export type ConfigMap = ObjectOf<models.ConfigMap, 'ConfigMap'>;
export const ConfigMap: Kind<ConfigMap> = core('ConfigMap', 'configmaps');

/** Secret of v1; values of `data` are in base64. */
export type Secret = ObjectOf<models.Secret, 'Secret'>;
export const Secret: Kind<Secret> = core('Secret', 'secrets');

/** Service of v1. */
export type Service = ObjectOf<models.Service, 'Service'>;
export const Service: Kind<Service> = core('Service', 'services');

/** ServiceAccount of v1. */
export type ServiceAccount = ObjectOf<models.ServiceAccount, 'ServiceAccount'>;
export const ServiceAccount: Kind<ServiceAccount> = core('ServiceAccount', 'serviceaccounts');

/** Pod of v1. */
export type Pod = ObjectOf<models.Pod, 'Pod'>;
export const Pod: Kind<Pod> = core('Pod', 'pods');

/** PersistentVolumeClaim of v1. */
export type PersistentVolumeClaim = ObjectOf<models.PersistentVolumeClaim, 'PersistentVolumeClaim'>;
export const PersistentVolumeClaim: Kind<PersistentVolumeClaim> = core(
  'PersistentVolumeClaim',
  'persistentvolumeclaims',
);

/** PersistentVolume of v1, cluster-scoped. */
export type PersistentVolume = ObjectOf<models.PersistentVolume, 'PersistentVolume'>;
export const PersistentVolume: Kind<PersistentVolume> = coreOfCluster(
  'PersistentVolume',
  'persistentvolumes',
);

/** Namespace of v1, cluster-scoped. */
export type Namespace = ObjectOf<models.Namespace, 'Namespace'>;
export const Namespace: Kind<Namespace> = coreOfCluster('Namespace', 'namespaces');

/** Node of v1, cluster-scoped. */
export type Node = ObjectOf<models.Node, 'Node'>;
export const Node: Kind<Node> = coreOfCluster('Node', 'nodes');

// ---------------------------------------------------------------- workloads

/** Deployment of apps/v1. */
export type Deployment = ObjectOf<models.Deployment, 'Deployment'>;
export const Deployment: Kind<Deployment> = apps('Deployment', 'deployments');

/** StatefulSet of apps/v1. */
export type StatefulSet = ObjectOf<models.StatefulSet, 'StatefulSet'>;
export const StatefulSet: Kind<StatefulSet> = apps('StatefulSet', 'statefulsets');

/** DaemonSet of apps/v1. */
export type DaemonSet = ObjectOf<models.DaemonSet, 'DaemonSet'>;
export const DaemonSet: Kind<DaemonSet> = apps('DaemonSet', 'daemonsets');

/** ReplicaSet of apps/v1. */
export type ReplicaSet = ObjectOf<models.ReplicaSet, 'ReplicaSet'>;
export const ReplicaSet: Kind<ReplicaSet> = apps('ReplicaSet', 'replicasets');

/** Job of batch/v1. */
export type Job = ObjectOf<models.Job, 'Job'>;
export const Job: Kind<Job> = batch('Job', 'jobs');

/** CronJob of batch/v1. */
export type CronJob = ObjectOf<models.CronJob, 'CronJob'>;
export const CronJob: Kind<CronJob> = batch('CronJob', 'cronjobs');

/** HorizontalPodAutoscaler of autoscaling/v2. */
export type HorizontalPodAutoscaler = ObjectOf<models.HorizontalPodAutoscaler, 'HorizontalPodAutoscaler'>;
export const HorizontalPodAutoscaler: Kind<HorizontalPodAutoscaler> = kindIn(
  'autoscaling',
  'v2',
  true,
)('HorizontalPodAutoscaler', 'horizontalpodautoscalers');

/** PodDisruptionBudget of policy/v1. */
export type PodDisruptionBudget = ObjectOf<models.PodDisruptionBudget, 'PodDisruptionBudget'>;
export const PodDisruptionBudget: Kind<PodDisruptionBudget> = kindIn(
  'policy',
  'v1',
  true,
)('PodDisruptionBudget', 'poddisruptionbudgets');

// ---------------------------------------------------------------- network

/** Ingress of networking.k8s.io/v1. */
export type Ingress = ObjectOf<models.Ingress, 'Ingress'>;
export const Ingress: Kind<Ingress> = networking('Ingress', 'ingresses');

/** NetworkPolicy of networking.k8s.io/v1. */
export type NetworkPolicy = ObjectOf<models.NetworkPolicy, 'NetworkPolicy'>;
/** Spec of a NetworkPolicy. */
export type NetworkPolicySpec = models.NetworkPolicySpec;
export const NetworkPolicy: Kind<NetworkPolicy> = networking('NetworkPolicy', 'networkpolicies');

// ---------------------------------------------------------------- access

/** Role of rbac.authorization.k8s.io/v1. */
export type Role = ObjectOf<models.Role, 'Role'>;
export const Role: Kind<Role> = rbac('Role', 'roles');

/** RoleBinding of rbac.authorization.k8s.io/v1. */
export type RoleBinding = ObjectOf<models.RoleBinding, 'RoleBinding'>;
export const RoleBinding: Kind<RoleBinding> = rbac('RoleBinding', 'rolebindings');

/** ClusterRole of rbac.authorization.k8s.io/v1, cluster-scoped. */
export type ClusterRole = ObjectOf<models.ClusterRole, 'ClusterRole'>;
export const ClusterRole: Kind<ClusterRole> = rbacOfCluster('ClusterRole', 'clusterroles');

/** ClusterRoleBinding of rbac.authorization.k8s.io/v1, cluster-scoped. */
export type ClusterRoleBinding = ObjectOf<models.ClusterRoleBinding, 'ClusterRoleBinding'>;
export const ClusterRoleBinding: Kind<ClusterRoleBinding> = rbacOfCluster(
  'ClusterRoleBinding',
  'clusterrolebindings',
);

// ---------------------------------------------------------------- API

/** CustomResourceDefinition of apiextensions.k8s.io/v1, cluster-scoped. */
export type CustomResourceDefinition = ObjectOf<models.CustomResourceDefinition, 'CustomResourceDefinition'>;
export const CustomResourceDefinition: Kind<CustomResourceDefinition> = kindIn(
  'apiextensions.k8s.io',
  'v1',
  false,
)('CustomResourceDefinition', 'customresourcedefinitions');
