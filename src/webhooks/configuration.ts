/** The ValidatingWebhookConfiguration: names, paths, and how API servers reach the server. Pure. */
import { GROUP, VERSION, labels, TRUE } from '../api/labels.ts';
import type { ValidatedResource } from '../api/validation/index.ts';
import type { Kind, Obj, OwnerReference } from '../runtime/types.ts';

export const CONFIGURATION_NAME = 'landscaper-validation-webhook';

/** Seconds that the API server waits for a response. */
const TIMEOUT_SECONDS = 15;

export interface WebhookConfiguration extends Obj {
  webhooks?: readonly object[];
}

export const configurationKind: Kind<WebhookConfiguration> = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'ValidatingWebhookConfiguration',
  plural: 'validatingwebhookconfigurations',
  namespaced: false,
};

/** The address for API servers: a Service of the cluster, or a URL. */
export type Endpoint =
  | { readonly service: { readonly namespace: string; readonly name: string; readonly port: number } }
  | { readonly url: URL };

const webhookName = (resource: ValidatedResource): string => `${resource}.validation.${GROUP}`;

export const webhookPath = (resource: ValidatedResource): string => `/webhook/validate/${resource}`;

/** Names and addresses that the certificate must contain. */
export function hostsOf(endpoint: Endpoint): readonly string[] {
  if ('url' in endpoint) return [endpoint.url.hostname.replace(/^\[(.*)\]$/, '$1')];
  const { namespace, name } = endpoint.service;
  return [name, `${name}.${namespace}`, `${name}.${namespace}.svc`];
}

/** Owns the configuration, if one is given. */
export const clusterRoleKind: Kind = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'ClusterRole',
  plural: 'clusterroles',
  namespaced: false,
};

/**
 * @param caBundle PEM
 * @param owner an object of the cluster; Kubernetes deletes the configuration after it
 */
export const webhookConfiguration = (
  endpoint: Endpoint,
  resources: readonly ValidatedResource[],
  caBundle: string,
  owner?: OwnerReference,
): WebhookConfiguration => ({
  apiVersion: `${configurationKind.group}/${configurationKind.version}`,
  kind: configurationKind.kind,
  metadata: { name: CONFIGURATION_NAME, ...(owner && { ownerReferences: [owner] }) },
  webhooks: resources.map((resource) => ({
    name: webhookName(resource),
    clientConfig: {
      caBundle: Buffer.from(caBundle).toString('base64'),
      ...addressOf(endpoint, webhookPath(resource)),
    },
    rules: [
      {
        apiGroups: [GROUP],
        apiVersions: [VERSION],
        resources: [resource],
        operations: ['CREATE', 'UPDATE'],
      },
    ],
    objectSelector: {
      matchExpressions: [{ key: labels.skipValidation, operator: 'NotIn', values: [TRUE] }],
    },
    failurePolicy: 'Fail',
    sideEffects: 'None',
    timeoutSeconds: TIMEOUT_SECONDS,
    admissionReviewVersions: ['v1'],
  })),
});

function addressOf(endpoint: Endpoint, path: string): object {
  if ('service' in endpoint) return { service: { ...endpoint.service, path } };
  const url = new URL(endpoint.url);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}${path}`;
  return { url: url.href };
}
