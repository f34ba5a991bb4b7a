/**
 * Kinds of Kubernetes itself. Each name is a type and a constant: `kubernetes<Deployment, WebPage>({ kind:
 * Deployment, … })`. The fields are those of the models of @kubernetes/client-node, with times as strings.
 */
import type {
  V1ClusterRole,
  V1ClusterRoleBinding,
  V1ConfigMap,
  V1CronJob,
  V1CustomResourceDefinition,
  V1DaemonSet,
  V1Deployment,
  V1Ingress,
  V1Job,
  V1Namespace,
  V1NetworkPolicyPeer,
  V1NetworkPolicyPort,
  V1NetworkPolicySpec,
  V1Node,
  V1PersistentVolume,
  V1PersistentVolumeClaim,
  V1Pod,
  V1PodDisruptionBudget,
  V1ReplicaSet,
  V1Role,
  V1RoleBinding,
  V1Secret,
  V1Service,
  V1ServiceAccount,
  V1StatefulSet,
  V2HorizontalPodAutoscaler,
} from '@kubernetes/client-node';
import type { Kind, Obj } from './types.ts';

/**
 * A model of @kubernetes/client-node in its JSON form: times are RFC 3339 strings. Fields that the models rename, such as
 * `_from`, keep the name of the model.
 */
export type Plain<T> = T extends Date
  ? string
  : T extends (infer E)[]
    ? Plain<E>[]
    : T extends object
      ? { [K in keyof T]: Plain<T[K]> }
      : T;

/**
 * An object of the cluster with the fields of a model of @kubernetes/client-node, such as
 * `ObjectOf<V1PriorityClass>`. Use it for kinds that are not listed here.
 */
export type ObjectOf<T> = Obj & Omit<Plain<T>, 'apiVersion' | 'kind' | 'metadata'>;

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
export type ConfigMap = ObjectOf<V1ConfigMap>;
export const ConfigMap: Kind<ConfigMap> = core('ConfigMap', 'configmaps');

/** Secret of v1; values of `data` are in base64. */
export type Secret = ObjectOf<V1Secret>;
export const Secret: Kind<Secret> = core('Secret', 'secrets');

/** Service of v1. */
export type Service = ObjectOf<V1Service>;
export const Service: Kind<Service> = core('Service', 'services');

/** ServiceAccount of v1. */
export type ServiceAccount = ObjectOf<V1ServiceAccount>;
export const ServiceAccount: Kind<ServiceAccount> = core('ServiceAccount', 'serviceaccounts');

/** Pod of v1. */
export type Pod = ObjectOf<V1Pod>;
export const Pod: Kind<Pod> = core('Pod', 'pods');

/** PersistentVolumeClaim of v1. */
export type PersistentVolumeClaim = ObjectOf<V1PersistentVolumeClaim>;
export const PersistentVolumeClaim: Kind<PersistentVolumeClaim> = core(
  'PersistentVolumeClaim',
  'persistentvolumeclaims',
);

/** PersistentVolume of v1, cluster-scoped. */
export type PersistentVolume = ObjectOf<V1PersistentVolume>;
export const PersistentVolume: Kind<PersistentVolume> = coreOfCluster(
  'PersistentVolume',
  'persistentvolumes',
);

/** Namespace of v1, cluster-scoped. */
export type Namespace = ObjectOf<V1Namespace>;
export const Namespace: Kind<Namespace> = coreOfCluster('Namespace', 'namespaces');

/** Node of v1, cluster-scoped. */
export type Node = ObjectOf<V1Node>;
export const Node: Kind<Node> = coreOfCluster('Node', 'nodes');

// ---------------------------------------------------------------- workloads

/** Deployment of apps/v1. */
export type Deployment = ObjectOf<V1Deployment>;
export const Deployment: Kind<Deployment> = apps('Deployment', 'deployments');

/** StatefulSet of apps/v1. */
export type StatefulSet = ObjectOf<V1StatefulSet>;
export const StatefulSet: Kind<StatefulSet> = apps('StatefulSet', 'statefulsets');

/** DaemonSet of apps/v1. */
export type DaemonSet = ObjectOf<V1DaemonSet>;
export const DaemonSet: Kind<DaemonSet> = apps('DaemonSet', 'daemonsets');

/** ReplicaSet of apps/v1. */
export type ReplicaSet = ObjectOf<V1ReplicaSet>;
export const ReplicaSet: Kind<ReplicaSet> = apps('ReplicaSet', 'replicasets');

/** Job of batch/v1. */
export type Job = ObjectOf<V1Job>;
export const Job: Kind<Job> = batch('Job', 'jobs');

/** CronJob of batch/v1. */
export type CronJob = ObjectOf<V1CronJob>;
export const CronJob: Kind<CronJob> = batch('CronJob', 'cronjobs');

/** HorizontalPodAutoscaler of autoscaling/v2. */
export type HorizontalPodAutoscaler = ObjectOf<V2HorizontalPodAutoscaler>;
export const HorizontalPodAutoscaler: Kind<HorizontalPodAutoscaler> = kindIn(
  'autoscaling',
  'v2',
  true,
)('HorizontalPodAutoscaler', 'horizontalpodautoscalers');

/** PodDisruptionBudget of policy/v1. */
export type PodDisruptionBudget = ObjectOf<V1PodDisruptionBudget>;
export const PodDisruptionBudget: Kind<PodDisruptionBudget> = kindIn(
  'policy',
  'v1',
  true,
)('PodDisruptionBudget', 'poddisruptionbudgets');

// ---------------------------------------------------------------- network

/** Ingress of networking.k8s.io/v1. */
export type Ingress = ObjectOf<V1Ingress>;
export const Ingress: Kind<Ingress> = networking('Ingress', 'ingresses');

/** NetworkPolicy of networking.k8s.io/v1. */
export type NetworkPolicy = Obj & { spec?: NetworkPolicySpec };
/** Spec of a NetworkPolicy; the model renames `from`. */
export type NetworkPolicySpec = Omit<Plain<V1NetworkPolicySpec>, 'ingress'> & {
  ingress?: { from?: Plain<V1NetworkPolicyPeer>[]; ports?: Plain<V1NetworkPolicyPort>[] }[];
};
export const NetworkPolicy: Kind<NetworkPolicy> = networking('NetworkPolicy', 'networkpolicies');

// ---------------------------------------------------------------- access

/** Role of rbac.authorization.k8s.io/v1. */
export type Role = ObjectOf<V1Role>;
export const Role: Kind<Role> = rbac('Role', 'roles');

/** RoleBinding of rbac.authorization.k8s.io/v1. */
export type RoleBinding = ObjectOf<V1RoleBinding>;
export const RoleBinding: Kind<RoleBinding> = rbac('RoleBinding', 'rolebindings');

/** ClusterRole of rbac.authorization.k8s.io/v1, cluster-scoped. */
export type ClusterRole = ObjectOf<V1ClusterRole>;
export const ClusterRole: Kind<ClusterRole> = rbacOfCluster('ClusterRole', 'clusterroles');

/** ClusterRoleBinding of rbac.authorization.k8s.io/v1, cluster-scoped. */
export type ClusterRoleBinding = ObjectOf<V1ClusterRoleBinding>;
export const ClusterRoleBinding: Kind<ClusterRoleBinding> = rbacOfCluster(
  'ClusterRoleBinding',
  'clusterrolebindings',
);

// ---------------------------------------------------------------- API

/** CustomResourceDefinition of apiextensions.k8s.io/v1, cluster-scoped. */
export type CustomResourceDefinition = ObjectOf<V1CustomResourceDefinition>;
export const CustomResourceDefinition: Kind<CustomResourceDefinition> = kindIn(
  'apiextensions.k8s.io',
  'v1',
  false,
)('CustomResourceDefinition', 'customresourcedefinitions');
