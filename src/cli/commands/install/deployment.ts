/** The Deployments of the product, and the Service for the webhooks. Pure. */
import { ESPALIER_PREFIX } from '../../../api/labels.ts';
import type { Obj } from '../../../runtime/types.ts';
import { CONFIGURATION_FILE, CONFIGURATION_FOLDER, fingerprint } from './configuration.ts';
import { apiVersionOf, deploymentKind, serviceKind } from './kinds.ts';
import { labelsOf, NAME, selectorOf, WEBHOOKS_NAME, type Component } from './names.ts';
import type { InstallSettings } from './settings.ts';

export const METRICS_PORT = 8080;
export const WEBHOOK_PORT = 9443;
/** While one replica is being replaced, the other one serves; without a webhook server, no object can be written. */
export const WEBHOOK_REPLICAS = 2;
/** Running work ends within 30 s; then the process releases shards and closes sockets. */
const GRACE_SECONDS = 60;
/** The user of the image; any other non-root user works as well. */
const USER = 1000;

/** Controllers and deployers in one process, with the configured number of replicas. */
export function controllerDeployment(settings: InstallSettings): Obj {
  const { namespace, replicas, deployers, configuration } = settings;
  const args = [
    'start',
    '--no-crds', // the service account may not write them; `install` does
    `--deployers=${deployers.join(',')}`,
    `--lease=${namespace}/${NAME}`,
    `--metrics-address=0.0.0.0:${String(METRICS_PORT)}`,
    ...(configuration ? [`--config=${CONFIGURATION_FILE}`] : []),
  ];
  return deploymentOf('controllers', settings, {
    name: NAME,
    replicas,
    args,
    ports: [{ name: 'metrics', containerPort: METRICS_PORT }],
    startupProbe: { ...probe('/healthz', 'metrics'), periodSeconds: 2, failureThreshold: 60 },
    livenessProbe: { ...probe('/healthz', 'metrics'), periodSeconds: 10, failureThreshold: 6 },
    readinessProbe: { ...probe('/readyz', 'metrics'), periodSeconds: 5 },
    resources: { requests: { cpu: '100m', memory: '256Mi' }, limits: { memory: '1Gi' } },
    ...configured(configuration),
  });
}

/** Mounts the configuration file, and adds an annotation with its hash so that pods are replaced when it changes. */
const configured = (
  configuration: InstallSettings['configuration'],
): Pick<Process, 'annotations' | 'mounts' | 'volumes'> =>
  configuration
    ? {
        annotations: { [`${ESPALIER_PREFIX}/configuration`]: fingerprint(configuration) },
        mounts: [{ name: 'configuration', mountPath: CONFIGURATION_FOLDER, readOnly: true }],
        volumes: [{ name: 'configuration', configMap: { name: NAME } }],
      }
    : {};

export function webhookDeployment(settings: InstallSettings): Obj {
  const { namespace, configuration } = settings;
  const args = [
    'webhooks',
    `--webhook-service=${namespace}/${WEBHOOKS_NAME}`,
    ...(configuration ? [`--config=${CONFIGURATION_FILE}`] : []),
  ];
  return deploymentOf('webhooks', settings, {
    name: WEBHOOKS_NAME,
    replicas: WEBHOOK_REPLICAS,
    args,
    ports: [{ name: 'webhooks', containerPort: WEBHOOK_PORT }],
    readinessProbe: { ...probe('/healthz', 'webhooks', 'HTTPS'), periodSeconds: 5 },
    livenessProbe: { ...probe('/healthz', 'webhooks', 'HTTPS'), periodSeconds: 10, failureThreshold: 6 },
    resources: { requests: { cpu: '50m', memory: '128Mi' }, limits: { memory: '512Mi' } },
    ...configured(configuration),
  });
}

/** The name of the Service is in the certificate. */
export const webhookService = ({ namespace }: InstallSettings): Obj & { readonly spec: object } => ({
  apiVersion: apiVersionOf(serviceKind),
  kind: serviceKind.kind,
  metadata: { name: WEBHOOKS_NAME, namespace, labels: labelsOf('webhooks') },
  spec: {
    selector: selectorOf('webhooks'),
    ports: [{ name: 'webhooks', port: WEBHOOK_PORT, targetPort: 'webhooks' }],
  },
});

interface Process {
  readonly name: string;
  readonly replicas: number;
  readonly args: readonly string[];
  readonly ports: readonly object[];
  readonly startupProbe?: object;
  readonly livenessProbe: object;
  readonly readinessProbe: object;
  readonly resources: object;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly mounts?: readonly object[];
  readonly volumes?: readonly object[];
}

function deploymentOf(
  component: Component,
  { image, namespace, pullSecret }: InstallSettings,
  { name, replicas, annotations, mounts = [], volumes = [], ...container }: Process,
): Obj & { readonly spec: object } {
  return {
    apiVersion: apiVersionOf(deploymentKind),
    kind: deploymentKind.kind,
    metadata: { name, namespace, labels: labelsOf(component) },
    spec: {
      replicas,
      selector: { matchLabels: selectorOf(component) },
      template: {
        metadata: { labels: labelsOf(component), ...(annotations && { annotations }) },
        spec: {
          serviceAccountName: name,
          ...(pullSecret !== undefined && { imagePullSecrets: [{ name: pullSecret }] }),
          terminationGracePeriodSeconds: GRACE_SECONDS,
          securityContext: {
            runAsNonRoot: true,
            runAsUser: USER,
            runAsGroup: USER,
            seccompProfile: { type: 'RuntimeDefault' },
          },
          topologySpreadConstraints: [
            {
              maxSkew: 1,
              topologyKey: 'kubernetes.io/hostname',
              whenUnsatisfiable: 'ScheduleAnyway',
              labelSelector: { matchLabels: selectorOf(component) },
            },
          ],
          containers: [
            {
              name,
              image,
              ...container,
              env: [
                fromField('MY_POD_NAME', 'metadata.name'),
                fromField('MY_POD_NAMESPACE', 'metadata.namespace'),
                { name: 'HOME', value: '/tmp' },
              ],
              securityContext: {
                allowPrivilegeEscalation: false,
                readOnlyRootFilesystem: true,
                capabilities: { drop: ['ALL'] },
              },
              volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }, ...mounts],
            },
          ],
          volumes: [{ name: 'tmp', emptyDir: {} }, ...volumes],
        },
      },
    },
  };
}

const probe = (path: string, port: string, scheme?: string): object => ({
  httpGet: { path, port, ...(scheme !== undefined && { scheme }) },
});

const fromField = (name: string, fieldPath: string): object => ({
  name,
  valueFrom: { fieldRef: { fieldPath } },
});
