/** The ValidatingWebhookConfiguration: names, paths, and how API servers reach the server. Pure. */
import { GROUP, VERSION, labels, TRUE } from '../api/labels.ts';
import type { ValidatedResource } from '../api/validation/index.ts';
import type { Kind, Obj, OwnerReference } from '../runtime/types.ts';
import { clientConfig, type Endpoint } from '../runtime/webhooks/endpoint.ts';

export const CONFIGURATION_NAME = 'landscaper-validation-webhook';
export const CERTIFICATES_SECRET = 'landscaper-webhook-certs';
export const SERVER_NAME = 'landscaper-webhook';

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

const webhookName = (resource: ValidatedResource): string => `${resource}.validation.${GROUP}`;

export const webhookPath = (resource: ValidatedResource): string => `/webhook/validate/${resource}`;

/** Owns the configuration, if one is given. */
export const clusterRoleKind: Kind = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'ClusterRole',
  plural: 'clusterroles',
  namespaced: false,
};

/**
 * Who may skip validation with the label: `admins`, who have permission for the verb, or `all`, as upstream.
 */
export type Skipping = 'admins' | 'all';

/** With `all`, API servers do not send objects with the label. */
const objectSelector = (skipping: Skipping): object =>
  skipping === 'all'
    ? { matchExpressions: [{ key: labels.skipValidation, operator: 'NotIn', values: [TRUE] }] }
    : {};

/**
 * @param caBundle PEM
 * @param more.owner an object of the cluster; Kubernetes deletes the configuration after it
 */
export const webhookConfiguration = (
  endpoint: Endpoint,
  resources: readonly ValidatedResource[],
  caBundle: string,
  {
    owner,
    skipping = 'admins',
  }: { readonly owner?: OwnerReference | undefined; readonly skipping?: Skipping | undefined } = {},
): WebhookConfiguration => ({
  apiVersion: `${configurationKind.group}/${configurationKind.version}`,
  kind: configurationKind.kind,
  metadata: { name: CONFIGURATION_NAME, ...(owner && { ownerReferences: [owner] }) },
  webhooks: resources.map((resource) => ({
    name: webhookName(resource),
    clientConfig: clientConfig(endpoint, webhookPath(resource), caBundle),
    rules: [
      {
        apiGroups: [GROUP],
        apiVersions: [VERSION],
        resources: [resource],
        operations: ['CREATE', 'UPDATE'],
      },
    ],
    objectSelector: objectSelector(skipping),
    failurePolicy: 'Fail',
    sideEffects: 'None',
    timeoutSeconds: TIMEOUT_SECONDS,
    admissionReviewVersions: ['v1'],
  })),
});
