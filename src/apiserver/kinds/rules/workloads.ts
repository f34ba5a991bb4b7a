/** Rules of workloads and of the other kinds with few of them. */
import * as field from '../../schema/field-errors.ts';
import type { FieldError, JsonObject } from '../../types.ts';
import {
  between,
  countOrPercent,
  each,
  isAbsent,
  isEmpty,
  mustBeLabel,
  mustBeQualifiedName,
  mustBeSubdomain,
  notNegative,
  oneOf,
  required,
  requiredOneOf,
  requires,
  structOf,
  structsOf,
  subdomain,
  unlessEmpty,
  type RuleTable,
  type StructRule,
} from './vocabulary.ts';

/** Each member of a status is at most as large as the others; absent numbers are 0. */
const atMost =
  (limits: Readonly<Record<string, readonly (readonly [member: string, shown: string])[]>>): StructRule =>
  (status, path) =>
    Object.entries(limits).flatMap(([member, others]) =>
      others
        .filter(([other]) => Number(status[member] ?? 0) > Number(status[other] ?? 0))
        .map(([, shown]) =>
          field.invalid(`${path}.${member}`, status[member], `cannot be greater than ${shown}`),
        ),
    );

const ALL = ['replicas', 'status.replicas'] as const;
const READY = ['readyReplicas', 'readyReplicas'] as const;

const replicaStatus = {
  together: [
    atMost({
      fullyLabeledReplicas: [ALL],
      readyReplicas: [ALL],
      availableReplicas: [ALL, READY],
    }),
  ],
};

const isZero = (value: unknown): boolean => isEmpty(value) || value === '0%';

const rollingErrors: StructRule = ({ maxUnavailable, maxSurge }, path) => {
  const at = `${path}.maxUnavailable`;
  if (!isZero(maxUnavailable) && !isZero(maxSurge))
    return [field.invalid(`${path}.maxSurge`, maxSurge, 'may not be set when maxUnavailable is non-zero')];
  return isZero(maxUnavailable) && isZero(maxSurge)
    ? [field.required(at, 'cannot be 0 when maxSurge is 0')]
    : [];
};

const deadline: StructRule = ({ progressDeadlineSeconds: seconds, minReadySeconds = 0 }, path) =>
  typeof seconds === 'number' && seconds <= Number(minReadySeconds)
    ? [field.invalid(`${path}.progressDeadlineSeconds`, seconds, 'must be greater than minReadySeconds')]
    : [];

/** Pods of these workloads end only when they are deleted. */
const noDeadline: StructRule = ({ template }, path) =>
  isAbsent(structOf(structOf(template)['spec'])['activeDeadlineSeconds'])
    ? []
    : [
        field.forbidden(
          `${path}.template.spec.activeDeadlineSeconds`,
          'activeDeadlineSeconds in ReplicaSet is not Supported',
        ),
      ];

const budgetErrors: StructRule = (spec, path) => {
  const { minAvailable, maxUnavailable } = spec;
  if (isAbsent(minAvailable) || isAbsent(maxUnavailable)) return [];
  const value = new field.Verbatim({
    MinAvailable: minAvailable,
    Selector: spec['selector'] ?? null,
    MaxUnavailable: maxUnavailable,
    UnhealthyPodEvictionPolicy: spec['unhealthyPodEvictionPolicy'] ?? null,
  });
  return [field.invalid(path, value, 'minAvailable and maxUnavailable cannot be both set')];
};

/** Upstream reports taints as if they were metadata. */
const taintErrors: StructRule = ({ taints }) =>
  structsOf(taints).flatMap((taint, i) => {
    const at = `metadata.taints[${String(i)}]`;
    return [
      ...mustBeQualifiedName(taint['key'], `${at}.key`, taint),
      ...requiredOneOf(['NoSchedule', 'PreferNoSchedule', 'NoExecute'])(
        taint['effect'],
        `${at}.effect`,
        taint,
      ),
    ];
  });

const SCOPES = [
  'Terminating',
  'NotTerminating',
  'BestEffort',
  'NotBestEffort',
  'PriorityClass',
  'CrossNamespacePodAffinity',
  'VolumeAttributesClass',
];

/** Upstream leaves the index out of these paths. */
const scopeErrors: StructRule = ({ matchExpressions }, path) =>
  structsOf(matchExpressions).flatMap(({ scopeName = '', operator = '', values }): FieldError[] => {
    const at = `${path}.matchExpressions`;
    const isKnown = ['In', 'NotIn', 'Exists', 'DoesNotExist'].includes(operator as string);
    return [
      ...(SCOPES.includes(scopeName as string)
        ? []
        : [field.invalid(`${at}.scopeName`, scopeName, 'unsupported scope')]),
      ...((operator as string).endsWith('In') && isEmpty(values)
        ? [
            field.required(
              `${at}.values`,
              "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
            ),
          ]
        : []),
      ...(isKnown ? [] : [field.invalid(`${at}.operator`, operator, 'not a valid selector operator')]),
    ];
  });

const TOKEN_LIFE = between(600, Infinity, 'may not specify a duration less than 10 minutes');

function inlineErrors({ accessModes, capacity, csi }: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (!isAbsent(capacity))
    errors.push(field.forbidden(`${path}.capacity`, 'may not be specified in the context of inline volumes'));
  if (isAbsent(csi))
    errors.push(
      field.required(`${path}.csi`, 'has to be specified in the context of inline volumes'),
      field.required(path, 'must specify a volume type'),
    );
  if (isEmpty(accessModes)) errors.push(field.required(`${path}.accessModes`));
  return errors;
}

const sourceErrors: StructRule = ({ persistentVolumeName: name, inlineVolumeSpec: inline }, path) => {
  const why = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';
  if (isAbsent(name))
    return isAbsent(inline)
      ? [field.required(path, why)]
      : inlineErrors(structOf(inline), `${path}.inlineVolumeSpec`);
  if (!isAbsent(inline)) return [field.forbidden(path, why)];
  return name === ''
    ? [field.required(`${path}.persistentVolumeName`, 'must specify non empty persistentVolumeName')]
    : [];
};

const CSR_LIFE = between(600, Infinity, 'may not specify a duration less than 600 seconds (10 minutes)');

export const workloadRules: RuleTable = {
  'apps.v1.ControllerRevision': { members: { data: [required('data is mandatory')] } },
  'apps.v1.DeploymentSpec': {
    members: { minReadySeconds: [notNegative], revisionHistoryLimit: [notNegative] },
    together: [deadline, noDeadline],
  },
  'apps.v1.RollingUpdateDeployment': {
    members: { maxSurge: [countOrPercent], maxUnavailable: [countOrPercent] },
  },
  'apps.v1.DeploymentStatus': {
    together: [atMost({ updatedReplicas: [ALL], readyReplicas: [ALL], availableReplicas: [ALL, READY] })],
  },
  'apps.v1.ReplicaSetSpec': { members: { minReadySeconds: [notNegative] }, together: [noDeadline] },
  'apps.v1.ReplicaSetStatus': replicaStatus,
  'core.v1.ReplicationControllerSpec': { members: { minReadySeconds: [notNegative] } },
  'core.v1.ReplicationControllerStatus': replicaStatus,
  'apps.v1.StatefulSetSpec': {
    members: { minReadySeconds: [notNegative] },
    together: [
      ({ podManagementPolicy: policy }, path) =>
        isAbsent(policy) || ['OrderedReady', 'Parallel'].includes(policy as string)
          ? []
          : [field.invalid(`${path}.podManagementPolicy`, policy, "must be 'OrderedReady' or 'Parallel'")],
    ],
  },
  'apps.v1.StatefulSetStatus': {
    together: [
      atMost({
        readyReplicas: [ALL],
        currentReplicas: [ALL],
        updatedReplicas: [ALL],
        availableReplicas: [ALL, ['readyReplicas', 'status.readyReplicas']],
      }),
    ],
  },
  'apps.v1.DaemonSetSpec': {
    members: { minReadySeconds: [notNegative], revisionHistoryLimit: [notNegative] },
  },
  'apps.v1.RollingUpdateDaemonSet': {
    members: { maxSurge: [countOrPercent], maxUnavailable: [countOrPercent] },
    together: [rollingErrors],
  },
  'policy.v1.PodDisruptionBudgetSpec': {
    members: {
      minAvailable: [countOrPercent],
      maxUnavailable: [countOrPercent],
      unhealthyPodEvictionPolicy: [oneOf('AlwaysAllow', 'IfHealthyBudget')],
    },
    together: [budgetErrors],
  },
  'node.v1.RuntimeClass': { members: { handler: [mustBeLabel] } },
  'node.v1.Scheduling': { shown: { tolerations: 'tolerations.tolerations' } },
  'core.v1.NodeSpec': { together: [taintErrors] },
  'core.v1.ScopeSelector': { together: [scopeErrors] },
  'scheduling.v1.PriorityClass': {
    members: { preemptionPolicy: [requiredOneOf(['PreemptLowerPriority', 'Never'])] },
  },
  'storage.v1.CSIDriverSpec': {
    members: {
      fsGroupPolicy: [oneOf('File', 'None', 'ReadWriteOnceWithFSType')],
      volumeLifecycleModes: [each(oneOf('Persistent', 'Ephemeral'), (path) => path)],
    },
  },
  'storage.v1.TokenRequest': { members: { expirationSeconds: [TOKEN_LIFE] } },
  'storage.v1.CSINodeDriver': {
    members: { name: [required(), mustBeSubdomain], nodeID: [required()] },
  },
  'storage.v1.StorageClass': {
    members: {
      reclaimPolicy: [unlessEmpty(oneOf('Delete', 'Retain'))],
      volumeBindingMode: [oneOf('Immediate', 'WaitForFirstConsumer')],
    },
  },
  'storage.v1.VolumeAttachmentSpec': {
    members: { attacher: [required(), mustBeSubdomain], nodeName: [mustBeSubdomain] },
  },
  'storage.v1.VolumeAttachmentSource': {
    members: { persistentVolumeName: [subdomain] },
    together: [sourceErrors],
  },
  'certificates.v1.CertificateSigningRequestSpec': {
    members: {
      ...requires('signerName', 'usages').members,
      expirationSeconds: [CSR_LIFE],
    },
  },
  'certificates.v1.CertificateSigningRequestCondition': requires('type', 'status'),
};
