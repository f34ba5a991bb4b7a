/** The built-in kinds: names and traits, a line each. Rules that need code are in `strategies/`. */
import { table } from '../../lib/objects.ts';
import { autoscalerConversion } from './autoscalers.ts';
import { eventConversion } from './events.ts';
import type { Kind, NameRule, Strategy } from './kinds.ts';

/** Words after the names. `C` cluster scope, `status`…: subresources; the rest are traits named below. */
type Row = readonly [apiVersion: string, kind: string, plural: string, shortNames: string, traits?: string];

const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

/**
 * gen: has metadata.generation · rv: an update must name a resource version · upsert: PUT creates ·
 * returns: DELETE answers with the object · orphan: dependents are orphaned by default · all, api: category ·
 * virtual: only create, nothing stored · path, label, label1035: rule for names
 */
const ROWS: readonly Row[] = [
  ['v1', 'Binding', 'bindings', '', 'virtual'],
  ['v1', 'ConfigMap', 'configmaps', 'cm'],
  ['v1', 'Endpoints', 'endpoints', 'ep', 'upsert'],
  ['v1', 'Event', 'events', 'ev', 'upsert nopolicy'],
  ['v1', 'LimitRange', 'limitranges', 'limits', 'upsert'],
  ['v1', 'Namespace', 'namespaces', 'ns', 'C status finalize returns label nocollection'],
  ['v1', 'Node', 'nodes', 'no', 'C status'],
  ['v1', 'PersistentVolumeClaim', 'persistentvolumeclaims', 'pvc', 'status returns'],
  ['v1', 'PersistentVolume', 'persistentvolumes', 'pv', 'C status returns'],
  [
    'v1',
    'Pod',
    'pods',
    'po',
    'status binding eviction log exec attach portforward ephemeralcontainers gen returns all',
  ],
  ['v1', 'PodTemplate', 'podtemplates', '', 'gen returns'],
  ['v1', 'ReplicationController', 'replicationcontrollers', 'rc', 'status scale gen orphan all'],
  ['v1', 'ResourceQuota', 'resourcequotas', 'quota', 'status returns'],
  ['v1', 'Secret', 'secrets', ''],
  ['v1', 'ServiceAccount', 'serviceaccounts', 'sa', 'token returns'],
  ['v1', 'Service', 'services', 'svc', 'status upsert returns label1035 all'],
  [
    'admissionregistration.k8s.io/v1',
    'MutatingWebhookConfiguration',
    'mutatingwebhookconfigurations',
    '',
    'C gen rv api',
  ],
  [
    'admissionregistration.k8s.io/v1',
    'ValidatingAdmissionPolicy',
    'validatingadmissionpolicies',
    '',
    'C status gen rv api',
  ],
  [
    'admissionregistration.k8s.io/v1',
    'ValidatingAdmissionPolicyBinding',
    'validatingadmissionpolicybindings',
    '',
    'C gen rv api',
  ],
  [
    'admissionregistration.k8s.io/v1',
    'ValidatingWebhookConfiguration',
    'validatingwebhookconfigurations',
    '',
    'C gen rv api',
  ],
  [
    'apiextensions.k8s.io/v1',
    'CustomResourceDefinition',
    'customresourcedefinitions',
    'crd,crds',
    'C status gen rv api returns',
  ],
  ['apps/v1', 'ControllerRevision', 'controllerrevisions', ''],
  ['apps/v1', 'DaemonSet', 'daemonsets', 'ds', 'status gen all'],
  ['apps/v1', 'Deployment', 'deployments', 'deploy', 'status scale gen all'],
  ['apps/v1', 'ReplicaSet', 'replicasets', 'rs', 'status scale gen all'],
  ['apps/v1', 'StatefulSet', 'statefulsets', 'sts', 'status scale gen all'],
  ['authentication.k8s.io/v1', 'SelfSubjectReview', 'selfsubjectreviews', '', 'C virtual'],
  ['authentication.k8s.io/v1', 'TokenReview', 'tokenreviews', '', 'C virtual'],
  ['authorization.k8s.io/v1', 'LocalSubjectAccessReview', 'localsubjectaccessreviews', '', 'virtual'],
  ['authorization.k8s.io/v1', 'SelfSubjectAccessReview', 'selfsubjectaccessreviews', '', 'C virtual'],
  ['authorization.k8s.io/v1', 'SelfSubjectRulesReview', 'selfsubjectrulesreviews', '', 'C virtual'],
  ['authorization.k8s.io/v1', 'SubjectAccessReview', 'subjectaccessreviews', '', 'C virtual'],
  ['autoscaling/v1', 'HorizontalPodAutoscaler', 'horizontalpodautoscalers', 'hpa', 'status all'],
  ['autoscaling/v2', 'HorizontalPodAutoscaler', 'horizontalpodautoscalers', 'hpa', 'status all'],
  ['batch/v1', 'CronJob', 'cronjobs', 'cj', 'status gen orphan all'],
  ['batch/v1', 'Job', 'jobs', '', 'status gen orphan all'],
  [
    'certificates.k8s.io/v1',
    'CertificateSigningRequest',
    'certificatesigningrequests',
    'csr',
    'C status approval',
  ],
  ['coordination.k8s.io/v1', 'Lease', 'leases', '', 'rv upsert'],
  ['discovery.k8s.io/v1', 'EndpointSlice', 'endpointslices', '', 'gen'],
  ['events.k8s.io/v1', 'Event', 'events', 'ev', 'upsert nopolicy'],
  ['networking.k8s.io/v1', 'IngressClass', 'ingressclasses', '', 'C gen'],
  ['networking.k8s.io/v1', 'Ingress', 'ingresses', 'ing', 'status gen'],
  ['networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies', 'netpol', 'gen'],
  ['node.k8s.io/v1', 'RuntimeClass', 'runtimeclasses', '', 'C rv upsert'],
  ['policy/v1', 'PodDisruptionBudget', 'poddisruptionbudgets', 'pdb', 'status gen rv'],
  ['rbac.authorization.k8s.io/v1', 'ClusterRoleBinding', 'clusterrolebindings', '', 'C upsert path'],
  ['rbac.authorization.k8s.io/v1', 'ClusterRole', 'clusterroles', '', 'C upsert path'],
  ['rbac.authorization.k8s.io/v1', 'RoleBinding', 'rolebindings', '', 'upsert path'],
  ['rbac.authorization.k8s.io/v1', 'Role', 'roles', '', 'upsert path'],
  ['scheduling.k8s.io/v1', 'PriorityClass', 'priorityclasses', 'pc', 'C gen'],
  ['storage.k8s.io/v1', 'CSIDriver', 'csidrivers', '', 'C rv returns'],
  ['storage.k8s.io/v1', 'CSINode', 'csinodes', '', 'C rv returns'],
  ['storage.k8s.io/v1', 'StorageClass', 'storageclasses', 'sc', 'C returns'],
  ['storage.k8s.io/v1', 'VolumeAttachment', 'volumeattachments', '', 'C status rv returns'],
];

const SUBRESOURCES = [
  'status',
  'scale',
  'finalize',
  'binding',
  'eviction',
  'log',
  'exec',
  'attach',
  'portforward',
  'ephemeralcontainers',
  'token',
  'approval',
];

/** Kinds whose objects are stored as objects of another kind. */
const TWINS: Readonly<
  Record<string, Readonly<Record<string, Required<Pick<Kind, 'resource' | 'storageVersion' | 'convert'>>>>>
> = table({
  'events.k8s.io/v1': { Event: { resource: '/events', storageVersion: 'v1', convert: eventConversion } },
  'autoscaling/v1': {
    HorizontalPodAutoscaler: {
      resource: 'autoscaling/horizontalpodautoscalers',
      storageVersion: 'autoscaling/v2',
      convert: autoscalerConversion,
    },
  },
});

const DEPRECATED: Readonly<Record<string, Readonly<Record<string, string>>>> = table({
  v1: { Endpoints: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice' },
});

/** @param strategies by `apiVersion/kind` */
export function builtInKinds(strategies: ReadonlyMap<string, Strategy>): Kind[] {
  return ROWS.map((row) => kindOf(row, strategies));
}

function kindOf(row: Row, strategies: ReadonlyMap<string, Strategy>): Kind {
  const [apiVersion, kind, plural, shortNames, traitText = ''] = row;
  const traits = new Set(traitText.split(' '));
  const { group, version } = splitApiVersion(apiVersion);
  const strategy = strategies.get(`${apiVersion}/${kind}`);
  const twin = TWINS[apiVersion]?.[kind];
  return {
    group,
    version,
    kind,
    listKind: `${kind}List`,
    plural,
    singular: kind.toLowerCase(),
    shortNames: shortNames === '' ? [] : shortNames.split(','),
    categories: traits.has('all') ? ['all'] : traits.has('api') ? ['api-extensions'] : [],
    namespaced: !traits.has('C'),
    builtIn: true,
    resource: twin?.resource ?? `${group}/${plural}`,
    storageVersion: twin?.storageVersion ?? apiVersion,
    apiVersion,
    virtual: traits.has('virtual'),
    status: traits.has('status'),
    ...(traits.has('scale')
      ? { scale: { spec: '.spec.replicas', status: '.status.replicas', labelSelector: '.spec.selector' } }
      : {}),
    subresources: SUBRESOURCES.filter((s) => traits.has(s)),
    verbs: traits.has('virtual')
      ? ['create']
      : VERBS.filter((v) => v !== 'deletecollection' || !traits.has('nocollection')),
    generation: traits.has('gen'),
    unconditionalUpdate: !traits.has('rv'),
    createOnUpdate: traits.has('upsert'),
    returnsDeleted: traits.has('returns'),
    defaultPolicy: traits.has('orphan') ? 'Orphan' : traits.has('nopolicy') ? 'None' : 'Background',
    nameRule: (['path', 'label', 'label1035'] as NameRule[]).find((rule) => traits.has(rule)) ?? 'subdomain',
    columns: [],
    ...(strategy ? { strategy } : {}),
    ...(twin ? { convert: twin.convert } : {}),
    ...(DEPRECATED[apiVersion]?.[kind] ? { deprecationWarning: DEPRECATED[apiVersion][kind] } : {}),
    selectableFields: [],
  };
}

export function splitApiVersion(apiVersion: string): { group: string; version: string } {
  const slash = apiVersion.indexOf('/');
  return slash < 0
    ? { group: '', version: apiVersion }
    : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) };
}

/** Fixed order of the built-in groups in discovery, the core group first. */
export const GROUP_ORDER: readonly string[] = [
  '',
  'apps',
  'events.k8s.io',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'autoscaling',
  'batch',
  'certificates.k8s.io',
  'networking.k8s.io',
  'policy',
  'rbac.authorization.k8s.io',
  'storage.k8s.io',
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'scheduling.k8s.io',
  'coordination.k8s.io',
  'node.k8s.io',
  'discovery.k8s.io',
];
