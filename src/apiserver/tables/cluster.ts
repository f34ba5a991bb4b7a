/** Table cells of kinds without pods: configuration, identity, network, storage, cluster. */
import {
  at,
  count,
  formatLabels,
  formatSelector,
  listAt,
  numberAt,
  orNone,
  textAt,
  type Cells,
  type PrinterRows,
} from './cells.ts';
import { accessModes } from './storage.ts';
import type { KubeObject } from '../types.ts';

const binding: Cells = (object, age) => {
  const names = (kind: string): string =>
    listAt(object, 'subjects')
      .filter((subject) => subject['kind'] === kind)
      .map((subject) =>
        kind === 'ServiceAccount'
          ? `${textAt(subject, 'namespace')}/${textAt(subject, 'name')}`
          : textAt(subject, 'name'),
      )
      .join(', ');
  const role = `${textAt(object, 'roleRef', 'kind')}/${textAt(object, 'roleRef', 'name')}`;
  return [object.metadata.name, role, age(), names('User'), names('Group'), names('ServiceAccount')];
};

const BINDING = ['Name', 'Role', 'Age', 'Users*', 'Groups*', 'ServiceAccounts*'];

const webhooks: Cells = (object, age) => [object.metadata.name, listAt(object, 'webhooks').length, age()];
const WEBHOOKS = ['Name', 'Webhooks#', 'Age'];

function externalIp(service: KubeObject): string {
  const own = (at(service, 'spec', 'externalIPs') ?? []) as string[];
  switch (textAt(service, 'spec', 'type')) {
    case 'ClusterIP':
    case 'NodePort':
      return orNone(own.join(','));
    case 'LoadBalancer': {
      const given = listAt(service, 'status', 'loadBalancer', 'ingress').map(
        (ingress) => textAt(ingress, 'ip') || textAt(ingress, 'hostname'),
      );
      return orNone([...new Set(given.filter((ip) => ip !== '').sort()), ...own].join(','), '<pending>');
    }
    case 'ExternalName':
      return textAt(service, 'spec', 'externalName');
    default:
      return '<unknown>';
  }
}

const ports = (service: KubeObject): string =>
  orNone(
    listAt(service, 'spec', 'ports')
      .map((port) => {
        const node = numberAt(port, 'nodePort');
        return `${numberAt(port, 'port')}${node > 0 ? `:${node}` : ''}/${textAt(port, 'protocol')}`;
      })
      .join(','),
  );

const event: Cells = (object, age) => {
  const isNew = object.apiVersion.startsWith('events.k8s.io/');
  const involved = at(object, isNew ? 'regarding' : 'involvedObject');
  const firstSeen = textAt(object, isNew ? 'deprecatedFirstTimestamp' : 'firstTimestamp');
  const lastSeen = textAt(object, isNew ? 'deprecatedLastTimestamp' : 'lastTimestamp');
  const first = ageOrUnknown(firstSeen === '' ? textAt(object, 'eventTime') : firstSeen, age);
  const series = at(object, 'series');
  const observed = textAt(series, 'lastObservedTime');
  const last = observed === '' ? (lastSeen === '' ? first : age(lastSeen)) : age(observed);
  const times =
    series === undefined ? numberAt(object, isNew ? 'deprecatedCount' : 'count') : numberAt(series, 'count');
  const name = textAt(involved, 'name');
  const kind = textAt(involved, 'kind').toLowerCase();
  const source = at(object, isNew ? 'deprecatedSource' : 'source');
  const component =
    textAt(source, 'component') || textAt(object, isNew ? 'reportingController' : 'reportingComponent');
  const host = textAt(source, 'host') || textAt(object, 'reportingInstance');
  return [
    last,
    textAt(object, 'type'),
    textAt(object, 'reason'),
    name === '' ? kind : `${kind}/${name}`,
    textAt(involved, 'fieldPath'),
    host === '' ? component : `${component}, ${host}`,
    textAt(object, isNew ? 'note' : 'message').trim(),
    first,
    series === undefined && times === 0 ? 1 : times,
    object.metadata.name,
  ];
};

const ageOrUnknown = (timestamp: string, age: (timestamp?: unknown) => string): string =>
  timestamp === '' ? '<unknown>' : age(timestamp);

const EVENT = [
  'Last Seen',
  'Type',
  'Reason',
  'Object',
  'Subobject*',
  'Source*',
  'Message',
  'First Seen*',
  'Count*',
  'Name*',
];

function nodeStatus(node: KubeObject): string {
  const ready = listAt(node, 'status', 'conditions').find((condition) => condition['type'] === 'Ready');
  const status = ready === undefined ? 'Unknown' : ready['status'] === 'True' ? 'Ready' : 'NotReady';
  return at(node, 'spec', 'unschedulable') === true ? `${status},SchedulingDisabled` : status;
}

function nodeRoles(node: KubeObject): string {
  const roles = Object.entries(node.metadata.labels ?? {}).flatMap(([key, value]) => {
    if (key.startsWith('node-role.kubernetes.io/')) return [key.slice('node-role.kubernetes.io/'.length)];
    return key === 'kubernetes.io/role' && value !== '' ? [value] : [];
  });
  return orNone([...new Set(roles.filter((role) => role !== ''))].sort().join(','));
}

const nodeAddress = (node: KubeObject, type: string): string =>
  orNone(
    textAt(
      listAt(node, 'status', 'addresses').find((address) => address['type'] === type),
      'address',
    ),
  );

export const clusterPrinters: PrinterRows = {
  Namespace: [
    ['Name', 'Status', 'Age'],
    (object, age) => [object.metadata.name, textAt(object, 'status', 'phase'), age()],
  ],
  ConfigMap: [
    ['Name', 'Data', 'Age'],
    (object, age) => [object.metadata.name, count(object['data']) + count(object['binaryData']), age()],
  ],
  Secret: [
    ['Name', 'Type', 'Data', 'Age'],
    (object, age) => [object.metadata.name, textAt(object, 'type'), count(object['data']), age()],
  ],
  ServiceAccount: [
    ['Name', 'Secrets', 'Age'],
    (object, age) => [object.metadata.name, listAt(object, 'secrets').length, age()],
  ],
  Service: [
    ['Name', 'Type', 'Cluster-IP', 'External-IP', 'Port(s)', 'Age', 'Selector*'],
    (service, age) => [
      service.metadata.name,
      textAt(service, 'spec', 'type'),
      orNone(textAt(service, 'spec', 'clusterIPs', 0) || textAt(service, 'spec', 'clusterIP')),
      externalIp(service),
      ports(service),
      age(),
      formatLabels(at(service, 'spec', 'selector')),
    ],
  ],
  Node: [
    [
      'Name',
      'Status',
      'Roles',
      'Age',
      'Version',
      'Internal-IP*',
      'External-IP*',
      'OS-Image*',
      'Kernel-Version*',
      'Container-Runtime*',
    ],
    (node, age) => [
      node.metadata.name,
      nodeStatus(node),
      nodeRoles(node),
      age(),
      textAt(node, 'status', 'nodeInfo', 'kubeletVersion'),
      nodeAddress(node, 'InternalIP'),
      nodeAddress(node, 'ExternalIP'),
      ...['osImage', 'kernelVersion', 'containerRuntimeVersion'].map((member) =>
        orNone(textAt(node, 'status', 'nodeInfo', member), '<unknown>'),
      ),
    ],
  ],
  Event: [EVENT, event],
  'events.k8s.io/Event': [EVENT, event],
  'rbac.authorization.k8s.io/RoleBinding': [BINDING, binding],
  'rbac.authorization.k8s.io/ClusterRoleBinding': [BINDING, binding],
  'coordination.k8s.io/Lease': [
    ['Name', 'Holder', 'Age'],
    (lease, age) => [lease.metadata.name, textAt(lease, 'spec', 'holderIdentity'), age()],
  ],
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration': [WEBHOOKS, webhooks],
  'admissionregistration.k8s.io/MutatingWebhookConfiguration': [WEBHOOKS, webhooks],
  'storage.k8s.io/StorageClass': [
    ['Name', 'Provisioner', 'ReclaimPolicy', 'VolumeBindingMode', 'AllowVolumeExpansion', 'Age'],
    (object, age) => [
      `${object.metadata.name}${isDefaultClass(object) ? ' (default)' : ''}`,
      textAt(object, 'provisioner'),
      textAt(object, 'reclaimPolicy') || 'Delete',
      textAt(object, 'volumeBindingMode') || 'Immediate',
      at(object, 'allowVolumeExpansion') === true,
      age(),
    ],
  ],
  'scheduling.k8s.io/PriorityClass': [
    ['Name', 'Value#', 'Global-Default?', 'Age', 'PreemptionPolicy'],
    (object, age) => [
      object.metadata.name,
      numberAt(object, 'value'),
      at(object, 'globalDefault') === true,
      age(),
      textAt(object, 'preemptionPolicy'),
    ],
  ],
  'networking.k8s.io/NetworkPolicy': [
    ['Name', 'Pod-Selector', 'Age'],
    (object, age) => [object.metadata.name, formatSelector(at(object, 'spec', 'podSelector')), age()],
  ],
  PersistentVolumeClaim: [
    [
      'Name',
      'Status',
      'Volume',
      'Capacity',
      'Access Modes',
      'StorageClass',
      'VolumeAttributesClass',
      'Age',
      'VolumeMode*',
    ],
    (claim, age) => {
      const isBound = textAt(claim, 'spec', 'volumeName') !== '';
      return [
        claim.metadata.name,
        claim.metadata.deletionTimestamp === undefined ? textAt(claim, 'status', 'phase') : 'Terminating',
        textAt(claim, 'spec', 'volumeName'),
        isBound ? textAt(claim, 'status', 'capacity', 'storage') : '',
        isBound ? accessModes(at(claim, 'status', 'accessModes')) : '',
        textAt(claim, 'spec', 'storageClassName'),
        orNone(textAt(claim, 'spec', 'volumeAttributesClassName'), '<unset>'),
        age(),
        orNone(textAt(claim, 'spec', 'volumeMode'), '<unset>'),
      ];
    },
  ],
};

const isDefaultClass = (object: KubeObject): boolean =>
  object.metadata.annotations?.['storageclass.kubernetes.io/is-default-class'] === 'true';
