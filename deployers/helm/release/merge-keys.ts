/**
 * How strategic merge patches merge the lists of built-in kinds: by which key, and which fields of a map they retain.
 * Fields that are not listed are merged if they are maps, and replaced otherwise. The status is left out, because no
 * chart sets it.
 */
import { table } from '../../../src/lib/objects.ts';
import { groupOf } from '../../objects/manifests/model.ts';

/** The rules for one field. */
export interface FieldRules {
  /** The list is merged: by this key, or, if it is empty, as a set of scalars. */
  readonly mergeKey?: string;
  /** All keys that identify an element, if the merge key does not. */
  readonly keys?: readonly string[];
  /** Other fields of the map, or of the elements of the list, are cleared. */
  readonly retainsKeys?: true;
  /** The map is replaced as a whole. */
  readonly isReplaced?: true;
  /** Type of the map, or of the elements of the list. */
  readonly type?: string;
}

type TypeRules = Readonly<Record<string, FieldRules>>;

const by = (mergeKey: string, type?: string): FieldRules => ({
  mergeKey,
  ...(type !== undefined && { type }),
});
const of = (type: string): FieldRules => ({ type });

const CONTAINER: TypeRules = {
  env: by('name'),
  ports: { mergeKey: 'containerPort', keys: ['containerPort', 'protocol'] },
  volumeDevices: by('devicePath'),
  volumeMounts: by('mountPath'),
};

const TYPES: Readonly<Record<string, TypeRules>> = table({
  ObjectMeta: { finalizers: by(''), ownerReferences: by('uid') },
  Container: CONTAINER,
  PodSpec: {
    containers: by('name', 'Container'),
    ephemeralContainers: by('name', 'Container'),
    hostAliases: by('ip'),
    imagePullSecrets: by('name'),
    initContainers: by('name', 'Container'),
    resourceClaims: { mergeKey: 'name', retainsKeys: true },
    schedulingGates: by('name'),
    topologySpreadConstraints: { mergeKey: 'topologyKey', keys: ['topologyKey', 'whenUnsatisfiable'] },
    volumes: { mergeKey: 'name', retainsKeys: true, type: 'Volume' },
  },
  Volume: { ephemeral: of('EphemeralVolume') },
  EphemeralVolume: { volumeClaimTemplate: of('Object') },
  PodTemplate: { metadata: of('ObjectMeta'), spec: of('PodSpec') },
  Workload: { template: of('PodTemplate') },
  DeploymentSpec: { strategy: { retainsKeys: true }, template: of('PodTemplate') },
  JobTemplate: { metadata: of('ObjectMeta'), spec: of('Workload') },
  CronJobSpec: { jobTemplate: of('JobTemplate') },
  ServiceSpec: { ports: { mergeKey: 'port', keys: ['port', 'protocol'] } },
  NodeSpec: { podCIDRs: by('') },
  CsiNodeSpec: { drivers: by('name') },
  DisruptionBudgetSpec: { selector: { isReplaced: true } },
  AdmissionPolicySpec: { matchConditions: by('name'), variables: by('name') },
  ClaimTemplateSpec: { metadata: of('ObjectMeta') },
  Webhook: { matchConditions: by('name') },
  Object: { metadata: of('ObjectMeta') },
});

const withSpec = (type: string): TypeRules => ({ metadata: of('ObjectMeta'), spec: of(type) });
const withWebhooks: TypeRules = { metadata: of('ObjectMeta'), webhooks: by('name', 'Webhook') };

const KINDS: Readonly<Record<string, TypeRules>> = table({
  '/Pod': withSpec('PodSpec'),
  '/PodTemplate': { metadata: of('ObjectMeta'), template: of('PodTemplate') },
  '/ReplicationController': withSpec('Workload'),
  '/Service': withSpec('ServiceSpec'),
  '/ServiceAccount': { metadata: of('ObjectMeta'), secrets: by('name') },
  '/Node': withSpec('NodeSpec'),
  'storage.k8s.io/CSINode': withSpec('CsiNodeSpec'),
  'apps/DaemonSet': withSpec('Workload'),
  'apps/Deployment': withSpec('DeploymentSpec'),
  'apps/ReplicaSet': withSpec('Workload'),
  'apps/StatefulSet': withSpec('Workload'),
  'extensions/DaemonSet': withSpec('Workload'),
  'extensions/Deployment': withSpec('DeploymentSpec'),
  'extensions/ReplicaSet': withSpec('Workload'),
  'batch/Job': withSpec('Workload'),
  'batch/CronJob': withSpec('CronJobSpec'),
  'policy/PodDisruptionBudget': withSpec('DisruptionBudgetSpec'),
  'admissionregistration.k8s.io/MutatingWebhookConfiguration': withWebhooks,
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration': withWebhooks,
  'admissionregistration.k8s.io/ValidatingAdmissionPolicy': withSpec('AdmissionPolicySpec'),
  'resource.k8s.io/ResourceClaimTemplate': withSpec('ClaimTemplateSpec'),
});

const none: TypeRules = {};

/** The rules for the fields of objects of a built-in kind. */
export const rulesOfKind = ({
  apiVersion,
  kind,
}: {
  readonly apiVersion: string;
  readonly kind: string;
}): TypeRules => KINDS[`${groupOf(apiVersion)}/${kind}`] ?? TYPES['Object'] ?? none;

/** The rules for the fields below a field. */
export const rulesBelow = ({ type = '' }: FieldRules): TypeRules => TYPES[type] ?? none;

export type { TypeRules };
