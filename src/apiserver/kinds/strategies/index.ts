/** The strategies of all kinds, by `apiVersion/kind`. */
import type { Strategy } from '../kinds.ts';
import {
  event,
  groupEvent,
  lease,
  node,
  role,
  roleBinding,
  serviceAccount,
  signingRequest,
  webhooks,
} from './cluster.ts';
import { configMap } from './config-map.ts';
import { customResourceDefinition } from '../../crd/strategy.ts';
import { cronJob, job } from './jobs.ts';
import { namespace } from './namespace.ts';
import { endpoints, endpointSlice, ingress, ingressClass, networkPolicy } from './network.ts';
import { pod } from './pod.ts';
import { admissionPolicy, admissionPolicyBinding, autoscaler, limitRange, priorityClass } from './policy.ts';
import { secret } from './secret.ts';
import { service } from './service.ts';
import { claim, csiDriver, storageClass, volume } from './storage.ts';
import {
  daemonSet,
  deployment,
  podTemplate,
  replicaSet,
  replicationController,
  statefulSet,
} from './workloads.ts';

const RBAC = 'rbac.authorization.k8s.io/v1';

export const strategies: ReadonlyMap<string, Strategy> = new Map<string, Strategy>([
  ['v1/ConfigMap', configMap],
  ['v1/Endpoints', endpoints],
  ['v1/Event', event],
  ['v1/LimitRange', limitRange],
  ['v1/Namespace', namespace],
  ['v1/Node', node],
  ['v1/PersistentVolume', volume],
  ['v1/PersistentVolumeClaim', claim],
  ['v1/Pod', pod],
  ['v1/PodTemplate', podTemplate],
  ['v1/ReplicationController', replicationController],
  ['v1/Secret', secret],
  ['v1/Service', service],
  ['v1/ServiceAccount', serviceAccount],
  ['apps/v1/DaemonSet', daemonSet],
  ['apps/v1/Deployment', deployment],
  ['apps/v1/ReplicaSet', replicaSet],
  ['apps/v1/StatefulSet', statefulSet],
  ['autoscaling/v1/HorizontalPodAutoscaler', autoscaler],
  ['autoscaling/v2/HorizontalPodAutoscaler', autoscaler],
  ['batch/v1/CronJob', cronJob],
  ['batch/v1/Job', job],
  [`${RBAC}/ClusterRole`, role],
  [`${RBAC}/ClusterRoleBinding`, roleBinding],
  [`${RBAC}/Role`, role],
  [`${RBAC}/RoleBinding`, roleBinding],
  ['certificates.k8s.io/v1/CertificateSigningRequest', signingRequest],
  ['coordination.k8s.io/v1/Lease', lease],
  ['discovery.k8s.io/v1/EndpointSlice', endpointSlice],
  ['events.k8s.io/v1/Event', groupEvent],
  ['networking.k8s.io/v1/Ingress', ingress],
  ['networking.k8s.io/v1/IngressClass', ingressClass],
  ['networking.k8s.io/v1/NetworkPolicy', networkPolicy],
  ['scheduling.k8s.io/v1/PriorityClass', priorityClass],
  ['storage.k8s.io/v1/CSIDriver', csiDriver],
  ['storage.k8s.io/v1/StorageClass', storageClass],
  ['admissionregistration.k8s.io/v1/MutatingWebhookConfiguration', webhooks],
  ['admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy', admissionPolicy],
  ['admissionregistration.k8s.io/v1/ValidatingAdmissionPolicyBinding', admissionPolicyBinding],
  ['admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration', webhooks],
  ['apiextensions.k8s.io/v1/CustomResourceDefinition', customResourceDefinition],
]);
