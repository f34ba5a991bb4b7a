/** The kinds of objects that are installed and removed. */
import {
  ConfigMap as configMapKind,
  CustomResourceDefinition as crdKind,
  Namespace as namespaceKind,
  Secret as secretKind,
} from '../../../runtime/core-kinds.ts';
import { leaseKind } from '../../../runtime/manager/lease.ts';
import type { Kind, Obj } from '../../../runtime/types.ts';
import { configurationKind } from '../../../webhooks/configuration.ts';

const kind = <T extends Obj = Obj>(
  group: string,
  name: string,
  plural: string,
  namespaced = true,
): Kind<T> => ({
  group,
  version: 'v1',
  kind: name,
  plural,
  namespaced,
});

const RBAC = 'rbac.authorization.k8s.io';

/** A RoleBinding or ClusterRoleBinding. */
interface Binding extends Obj {
  subjects?: readonly { readonly kind: string; readonly name: string; readonly namespace?: string }[];
}

export const serviceAccountKind = kind('', 'ServiceAccount', 'serviceaccounts');
export const serviceKind = kind('', 'Service', 'services');
export const podKind = kind('', 'Pod', 'pods');
export const deploymentKind = kind('apps', 'Deployment', 'deployments');
export const networkPolicyKind = kind('networking.k8s.io', 'NetworkPolicy', 'networkpolicies');
export const disruptionBudgetKind = kind('policy', 'PodDisruptionBudget', 'poddisruptionbudgets');
/** Kinds of the Prometheus Operator; the cluster may not serve them. */
export const serviceMonitorKind = kind('monitoring.coreos.com', 'ServiceMonitor', 'servicemonitors');
export const prometheusRuleKind = kind('monitoring.coreos.com', 'PrometheusRule', 'prometheusrules');
/** Kinds of cert-manager; the cluster may not serve them. */
export const issuerKind = kind('cert-manager.io', 'Issuer', 'issuers');
export const certificateKind = kind('cert-manager.io', 'Certificate', 'certificates');
export const roleKind = kind(RBAC, 'Role', 'roles');
export const roleBindingKind = kind<Binding>(RBAC, 'RoleBinding', 'rolebindings');
export const clusterRoleKind = kind(RBAC, 'ClusterRole', 'clusterroles', false);
export const clusterRoleBindingKind = kind<Binding>(RBAC, 'ClusterRoleBinding', 'clusterrolebindings', false);
export { configMapKind, configurationKind, crdKind, leaseKind, namespaceKind, secretKind };

const all: readonly Kind[] = [
  namespaceKind,
  serviceAccountKind,
  configMapKind,
  serviceKind,
  deploymentKind,
  clusterRoleKind,
  clusterRoleBindingKind,
  roleKind,
  roleBindingKind,
  networkPolicyKind,
  disruptionBudgetKind,
  serviceMonitorKind,
  prometheusRuleKind,
  issuerKind,
  certificateKind,
  configurationKind,
];

export function kindOf(object: Obj): Kind {
  const found = all.find((each) => each.kind === object.kind);
  if (!found) throw new TypeError(`objects of kind ${object.kind} are not installed`);
  return found;
}
