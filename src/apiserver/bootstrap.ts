/** Objects that every cluster has from the start. */
import { table } from '../lib/objects.ts';
import type { World } from './api.ts';
import { collectionUrl } from './internal.ts';
import type { InternalClient } from './internal.ts';
import { isObject } from './types.ts';
import type { JsonObject } from './types.ts';

const RBAC = 'rbac.authorization.k8s.io';
const NAMESPACES = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];
const BOOTSTRAPPING = { 'kubernetes.io/bootstrapping': 'rbac-defaults' };

const aggregate = (name: string): JsonObject => ({
  aggregationRule: {
    clusterRoleSelectors: [{ matchLabels: { [`rbac.authorization.k8s.io/aggregate-to-${name}`]: 'true' } }],
  },
});
const READ = ['get', 'list', 'watch'];
const WRITE = ['create', 'delete', 'deletecollection', 'patch', 'update'];
const urls = (...nonResourceURLs: string[]): JsonObject => ({ verbs: ['get'], nonResourceURLs });

/** The permissions of the aggregated roles, as one rule for the kinds of this server. */
const NAMESPACED: readonly JsonObject[] = [
  {
    apiGroups: [''],
    resources: [
      'configmaps',
      'endpoints',
      'events',
      'limitranges',
      'namespaces',
      'persistentvolumeclaims',
      'pods',
      'pods/log',
      'pods/status',
      'replicationcontrollers',
      'resourcequotas',
      'serviceaccounts',
      'services',
    ],
  },
  { apiGroups: ['apps'], resources: ['*'] },
  { apiGroups: ['autoscaling'], resources: ['horizontalpodautoscalers', 'horizontalpodautoscalers/status'] },
  { apiGroups: ['batch'], resources: ['*'] },
  { apiGroups: ['networking.k8s.io'], resources: ['ingresses', 'ingresses/status', 'networkpolicies'] },
  { apiGroups: ['policy'], resources: ['poddisruptionbudgets', 'poddisruptionbudgets/status'] },
  { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'] },
];
const withVerbs = (verbs: readonly string[]): JsonObject[] => NAMESPACED.map((rule) => ({ ...rule, verbs }));

const ROLES: Readonly<Record<string, JsonObject>> = table({
  'cluster-admin': {
    rules: [
      { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
      { verbs: ['*'], nonResourceURLs: ['*'] },
    ],
  },
  'system:discovery': {
    rules: [
      urls(
        '/api',
        '/api/*',
        '/apis',
        '/apis/*',
        '/healthz',
        '/livez',
        '/openapi',
        '/openapi/*',
        '/readyz',
        '/version',
        '/version/',
      ),
    ],
  },
  'system:basic-user': {
    rules: [
      {
        verbs: ['create'],
        apiGroups: ['authorization.k8s.io'],
        resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
      },
      { verbs: ['create'], apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'] },
    ],
  },
  'system:public-info-viewer': { rules: [urls('/healthz', '/livez', '/readyz', '/version', '/version/')] },
  admin: aggregate('admin'),
  edit: aggregate('edit'),
  view: aggregate('view'),
  'system:aggregate-to-view': { rules: withVerbs(READ) },
  'system:aggregate-to-edit': {
    rules: [
      ...withVerbs(WRITE),
      { apiGroups: [''], resources: ['secrets'], verbs: [...READ, ...WRITE] },
      { apiGroups: [''], resources: ['serviceaccounts/token'], verbs: ['create'] },
      { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: [...READ, ...WRITE] },
    ],
  },
  'system:aggregate-to-admin': {
    rules: [{ apiGroups: [RBAC], resources: ['rolebindings', 'roles'], verbs: [...READ, ...WRITE] }],
  },
});

/** Labels of aggregated roles: `edit` includes `view`, and so on. */
const GATHERED: Readonly<Record<string, readonly string[]>> = table({
  view: ['edit'],
  edit: ['admin'],
  'system:aggregate-to-view': ['view'],
  'system:aggregate-to-edit': ['edit'],
  'system:aggregate-to-admin': ['admin'],
});

const BINDINGS: Readonly<Record<string, readonly string[]>> = table({
  'cluster-admin': ['system:masters'],
  'system:discovery': ['system:authenticated'],
  'system:basic-user': ['system:authenticated'],
  'system:public-info-viewer': ['system:authenticated', 'system:unauthenticated'],
});

const PRIORITIES: Readonly<Record<string, number>> = table({
  'system-node-critical': 2_000_001_000,
  'system-cluster-critical': 2_000_000_000,
});

interface Wanted {
  readonly resource: string;
  readonly namespace?: string;
  readonly object: JsonObject;
}

function wanted(): Wanted[] {
  return [
    ...NAMESPACES.map((name) => ({ resource: '/namespaces', object: { metadata: { name } } })),
    {
      resource: '/services',
      namespace: 'default',
      object: {
        metadata: { name: 'kubernetes', labels: { component: 'apiserver', provider: 'kubernetes' } },
        spec: {
          clusterIP: '10.0.0.1',
          ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: 6443 }],
        },
      },
    },
    ...Object.entries(ROLES).map(([name, role]) => ({
      resource: `${RBAC}/clusterroles`,
      object: {
        metadata: {
          name,
          labels: {
            ...BOOTSTRAPPING,
            ...Object.fromEntries(
              (GATHERED[name] ?? []).map((to) => [`rbac.authorization.k8s.io/aggregate-to-${to}`, 'true']),
            ),
          },
        },
        ...role,
      },
    })),
    ...Object.entries(BINDINGS).map(([name, groups]) => ({
      resource: `${RBAC}/clusterrolebindings`,
      object: {
        metadata: { name, labels: BOOTSTRAPPING },
        roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name },
        subjects: groups.map((group) => ({ apiGroup: RBAC, kind: 'Group', name: group })),
      },
    })),
    ...Object.entries(PRIORITIES).map(([name, value]) => ({
      resource: 'scheduling.k8s.io/priorityclasses',
      object: { metadata: { name }, value },
    })),
  ];
}

/** Creates missing objects; existing ones are not changed. */
export async function bootstrap(world: World, client: InternalClient): Promise<void> {
  for (const { resource, namespace, object } of wanted()) {
    const name = isObject(object['metadata']) ? String(object['metadata']['name']) : '';
    if (world.store.get(resource, namespace === undefined ? name : `${namespace}/${name}`)) continue;
    const kind = world.registry.byResource(resource);
    if (!kind) throw new TypeError(`${resource} is not served`);
    const answer = await client.request('POST', collectionUrl(kind, namespace ?? ''), object);
    if (answer.code !== 201)
      throw new Error(`bootstrap object ${resource} ${name} was refused: ${String(answer.body['message'])}`);
  }
}
