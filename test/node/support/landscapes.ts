/** Landscapes of the tests, and their ends. */
import type { Client, Obj } from '../../../src/runtime/types.ts';
import { until } from './cluster.ts';

const API_VERSION = 'landscaper.gardener.cloud/v1alpha1';
const OPERATION = 'landscaper.gardener.cloud/operation';

export interface Problem {
  readonly operation?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly codes?: readonly string[];
}

export interface Job extends Obj {
  readonly status?: {
    readonly phase?: string;
    readonly jobID?: string;
    readonly jobIDFinished?: string;
    readonly lastError?: Problem;
    readonly lastErrors?: readonly Problem[];
    readonly providerStatus?: unknown;
  };
}

const pathOf = (plural: string, namespace: string): string =>
  `/apis/${API_VERSION}/namespaces/${namespace}/${plural}`;

export const jobsIn = async (client: Client, plural: string, namespace: string): Promise<readonly Job[]> =>
  ((await client.raw('GET', pathOf(plural, namespace))) as { items: Job[] }).items;

export const jobOf = (client: Client, namespace: string, name: string): Promise<Job> =>
  client.raw('GET', `${pathOf('installations', namespace)}/${name}`) as Promise<Job>;

export const isFinished = ({ metadata, status }: Job): boolean =>
  metadata.annotations?.[OPERATION] === undefined &&
  status?.jobID !== undefined &&
  status.jobID === status.jobIDFinished;

/** Sets an operation annotation on an installation. */
export const operate = (
  client: Client,
  namespace: string,
  name: string,
  operation: string,
): Promise<unknown> =>
  client.send({
    verb: 'merge',
    kind: {
      group: 'landscaper.gardener.cloud',
      version: 'v1alpha1',
      kind: 'Installation',
      plural: 'installations',
      namespaced: true,
    },
    key: `${namespace}/${name}`,
    body: { metadata: { annotations: { [OPERATION]: operation } } },
  });

/** Waits for the end of the job of an installation. @returns the installation */
export const finished = (
  client: Client,
  namespace: string,
  name: string,
  { seconds = 90, after = '' } = {},
): Promise<Job> =>
  until(`the job of ${namespace}/${name} ends`, seconds, async () => {
    const job = await jobOf(client, namespace, name);
    return isFinished(job) && job.status?.jobID !== after && job;
  });

/** Requests a job and waits for its end. */
export async function reconciled(
  client: Client,
  namespace: string,
  name: string,
  seconds = 90,
): Promise<Job> {
  const after = (await jobOf(client, namespace, name)).status?.jobID ?? '';
  await operate(client, namespace, name, 'reconcile');
  return finished(client, namespace, name, { seconds, after });
}

/** A GoTemplate without actions. */
export const literally = (value: object): string => JSON.stringify(value).replaceAll('{{', '{ {');

export const installation = (
  namespace: string,
  name: string,
  spec: object,
  annotations: Readonly<Record<string, string>> = { [OPERATION]: 'reconcile' },
): Obj & { spec: object } => ({
  apiVersion: API_VERSION,
  kind: 'Installation',
  metadata: { namespace, name, annotations: { ...annotations } },
  spec,
});

export const inlineBlueprint = (blueprint: object): object => ({
  inline: {
    filesystem: {
      'blueprint.yaml': JSON.stringify({ apiVersion: API_VERSION, kind: 'Blueprint', ...blueprint }),
    },
  },
});

export const CLUSTER_TARGET = 'landscaper.gardener.cloud/kubernetes-cluster';

/** A target for the cluster itself, with a service account of the namespace that may write there. */
export const ownCluster = (namespace: string): readonly object[] => [
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'deployer', namespace } },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: 'deployer', namespace },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'admin' },
    subjects: [{ kind: 'ServiceAccount', name: 'deployer', namespace }],
  },
  {
    apiVersion: API_VERSION,
    kind: 'Target',
    metadata: { name: 'here', namespace },
    spec: {
      type: CLUSTER_TARGET,
      config: { selfConfig: { serviceAccount: { name: 'deployer' }, expirationSeconds: 3600 } },
    },
  },
];

/**
 * An installation with a sub-installation of three items: a mock, a ConfigMap with `value`, and a Deployment of one
 * pod if `hasPod`. It exports what the mock exports.
 */
export function tree(namespace: string, name: string, { value = 1, hasPod = false } = {}): Obj {
  const manifest = (item: string, object: object): object => ({
    name: item,
    type: 'landscaper.gardener.cloud/kubernetes-manifest',
    target: { import: 'cluster' },
    config: {
      apiVersion: 'manifest.deployer.landscaper.gardener.cloud/v1alpha2',
      kind: 'ProviderConfiguration',
      manifests: [{ policy: 'manage', manifest: object }],
    },
  });
  const mock = {
    name: 'mock',
    type: 'landscaper.gardener.cloud/mock',
    config: {
      apiVersion: 'mock.deployer.landscaper.gardener.cloud/v1alpha1',
      kind: 'ProviderConfiguration',
      export: { value },
    },
  };
  const metadata = { name, namespace };
  const settings = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { value: String(value) } };
  const items = [mock, manifest('settings', settings)];
  if (hasPod) items.push({ ...manifest('server', deployment(metadata)), dependsOn: ['settings'] });
  return installation(namespace, name, {
    imports: { targets: [{ name: 'cluster', target: 'here' }] },
    exports: { data: [{ name: 'value', dataRef: `${name}-value` }] },
    blueprint: inlineBlueprint({
      imports: [{ name: 'cluster', targetType: CLUSTER_TARGET }],
      exports: [{ name: 'value', schema: {} }],
      exportExecutions: [
        {
          name: 'value',
          type: 'GoTemplate',
          template: 'exports: {value: {{ toJson .values.dataobjects.inner }} }',
        },
      ],
      subinstallations: [
        {
          apiVersion: API_VERSION,
          kind: 'InstallationTemplate',
          name: 'inner',
          imports: { targets: [{ name: 'cluster', target: 'cluster' }] },
          exports: { data: [{ name: 'inner', dataRef: 'inner' }] },
          blueprint: {
            filesystem: {
              'blueprint.yaml': JSON.stringify({
                apiVersion: API_VERSION,
                kind: 'Blueprint',
                imports: [{ name: 'cluster', targetType: CLUSTER_TARGET }],
                exports: [{ name: 'inner', schema: {} }],
                exportExecutions: [
                  {
                    name: 'inner',
                    type: 'GoTemplate',
                    template: 'exports: {inner: {{ .values.deployitems.mock.value }} }',
                  },
                ],
                deployExecutions: [
                  { name: 'items', type: 'GoTemplate', template: literally({ deployItems: items }) },
                ],
              }),
            },
          },
        },
      ],
    }),
  });
}

const deployment = (metadata: { readonly name: string; readonly namespace: string }): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata,
  spec: {
    replicas: 1,
    selector: { matchLabels: { tree: metadata.name } },
    template: {
      metadata: { labels: { tree: metadata.name } },
      spec: {
        terminationGracePeriodSeconds: 1,
        containers: [{ name: 'server', image: 'docker.io/library/nginx:1.27' }],
      },
    },
  },
});
