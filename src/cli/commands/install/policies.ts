/** Policies for the pods: how many may be evicted at the same time, and which ports are reachable. Pure. */
import type { Obj } from '../../../runtime/types.ts';
import { METRICS_PORT, WEBHOOK_PORT, WEBHOOK_REPLICAS } from './deployment.ts';
import { apiVersionOf, disruptionBudgetKind, networkPolicyKind } from './kinds.ts';
import { labelsOf, NAME, selectorOf, WEBHOOKS_NAME, type Component } from './names.ts';
import type { InstallSettings } from './settings.ts';

/** A label that the API server sets on every namespace. */
const NAMESPACE_NAME = 'kubernetes.io/metadata.name';

export function policies(component: Component, settings: InstallSettings): readonly Obj[] {
  const replicas = component === 'controllers' ? settings.replicas : WEBHOOK_REPLICAS;
  return [
    networkPolicy(component, settings),
    // With a single pod, a disruption budget would block node drains.
    ...(replicas > 1 ? [disruptionBudget(component, settings)] : []),
  ];
}

/** Allows access to one port. Probes of the kubelet come from the node, which network policies never block. */
function networkPolicy(component: Component, settings: InstallSettings): Obj & { readonly spec: object } {
  const { namespace, metricsNamespaces = [] } = settings;
  const isControllers = component === 'controllers';
  const from = isControllers ? metricsNamespaces.map(allPodsOf) : [];
  const port = isControllers ? METRICS_PORT : WEBHOOK_PORT;
  return {
    apiVersion: apiVersionOf(networkPolicyKind),
    kind: networkPolicyKind.kind,
    metadata: { name: nameOf(component), namespace, labels: labelsOf(component) },
    spec: {
      podSelector: { matchLabels: selectorOf(component) },
      policyTypes: ['Ingress'],
      ingress: [{ ports: [{ protocol: 'TCP', port }], ...(from.length > 0 && { from }) }],
    },
  };
}

const disruptionBudget = (
  component: Component,
  { namespace }: InstallSettings,
): Obj & { readonly spec: object } => ({
  apiVersion: apiVersionOf(disruptionBudgetKind),
  kind: disruptionBudgetKind.kind,
  metadata: { name: nameOf(component), namespace, labels: labelsOf(component) },
  spec: { maxUnavailable: 1, selector: { matchLabels: selectorOf(component) } },
});

const nameOf = (component: Component): string => (component === 'controllers' ? NAME : WEBHOOKS_NAME);

const allPodsOf = (namespace: string): object => ({
  namespaceSelector: { matchLabels: { [NAMESPACE_NAME]: namespace } },
});
