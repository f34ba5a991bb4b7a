/** Rules of pods without their containers and volumes: scheduling, security, network. */
import { labelSelectorErrors } from '../../selectors/selectors.ts';
import * as field from '../../schema/field-errors.ts';
import type { FieldError, JsonObject } from '../../types.ts';
import { nodeSelectorRules } from './node-selectors.ts';
import { resourceNames } from './resources.ts';
import {
  between,
  each,
  isAbsent,
  isEmpty,
  ip,
  label,
  labels,
  mustBeAtLeast,
  mustBeBetween,
  mustBeIp,
  mustBeOneOf,
  mustBeQualifiedName,
  oneOf,
  qualifiedName,
  required,
  requiredOneOf,
  structOf,
  structsOf,
  subdomain,
  unlessEmpty,
  type MemberRule,
  type RuleTable,
} from './vocabulary.ts';

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];
const OPERATORS = ['Equal', 'Exists'];
const ANY_KEY = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';

function tolerationErrors(toleration: JsonObject, path: string): FieldError[] {
  const { key, operator, value, effect, tolerationSeconds } = toleration;
  const errors: FieldError[] = [];
  const at = `${path}.operator`;
  if (isEmpty(key) && operator !== 'Exists') errors.push(field.invalid(at, operator ?? '', ANY_KEY));
  if (!isAbsent(tolerationSeconds) && effect !== 'NoExecute')
    errors.push(
      field.invalid(
        `${path}.effect`,
        effect ?? '',
        "effect must be 'NoExecute' when `tolerationSeconds` is set",
      ),
    );
  if (operator === 'Exists' && !isEmpty(value))
    errors.push(field.invalid(at, value, "value must be empty when `operator` is 'Exists'"));
  else if (!isEmpty(operator) && !OPERATORS.includes(operator as string))
    errors.push(field.notSupported(at, operator, OPERATORS));
  return errors;
}

const onlyWithSelector =
  (member: string) =>
  (struct: JsonObject, path: string): FieldError[] =>
    isEmpty(struct[member]) || !isAbsent(struct['labelSelector'])
      ? []
      : [field.forbidden(`${path}.${member}`, 'must not be specified when labelSelector is not set')];

const topologyKey: MemberRule = (value, path, owner) => [
  ...required('can not be empty')(value, path, owner),
  ...mustBeQualifiedName(value, path, owner),
];

const userId = between(0, 2 ** 31 - 1);
const ids = { runAsUser: [userId], runAsGroup: [userId] };
const WINDOWS_ON_LINUX = 'windows options cannot be set for a linux pod';

function podErrors(spec: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (!isEmpty(spec['nodeName']) && structsOf(spec['schedulingGates']).length > 0)
    errors.push(
      field.forbidden(`${path}.nodeName`, 'cannot be set until all schedulingGates have been cleared'),
    );
  if (structOf(spec['os'])['name'] !== 'linux') return errors;
  const refuse = (owner: JsonObject, at: string): void => {
    if (!isAbsent(structOf(owner['securityContext'])['windowsOptions']))
      errors.push(field.forbidden(`${at}.securityContext.windowsOptions`, WINDOWS_ON_LINUX));
  };
  refuse(spec, path);
  for (const member of ['initContainers', 'containers'])
    structsOf(spec[member]).forEach((container, i) => {
      refuse(container, `${path}.${member}[${String(i)}]`);
    });
  return errors;
}

function claimErrors(claim: JsonObject, path: string): FieldError[] {
  const { name = '', resourceClaimName = null, resourceClaimTemplateName = null } = claim;
  const count = [resourceClaimName, resourceClaimTemplateName].filter((each) => each !== null).length;
  if (count === 1) return [];
  const members = '`resourceClaimName`, `resourceClaimTemplateName`';
  return [
    field.invalid(
      path,
      new field.Verbatim({
        Name: name,
        ResourceClaimName: resourceClaimName,
        ResourceClaimTemplateName: resourceClaimTemplateName,
      }),
      count === 0
        ? `must specify one of: ${members}`
        : 'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified',
    ),
  ];
}

/** Of a profile that may be in a file on the node. */
const profile = (what: string, kind: string): RuleTable[string] => ({
  members: {
    type: [
      requiredOneOf(['Localhost', 'RuntimeDefault', 'Unconfined'], `type is required when ${what} is set`),
    ],
  },
  together: [
    ({ type = '', localhostProfile }, path) => {
      const at = `${path}.localhostProfile`;
      if (type === 'Localhost')
        return isAbsent(localhostProfile)
          ? [field.required(at, `must be set when ${kind} type is Localhost`)]
          : [];
      return isAbsent(localhostProfile)
        ? []
        : [
            field.invalid(
              at,
              new field.Verbatim({ Type: type, LocalhostProfile: localhostProfile }),
              `can only be set when ${kind} type is Localhost`,
            ),
          ];
    },
  ],
});

export const podRules: RuleTable = {
  ...nodeSelectorRules,
  'core.v1.PodTemplateSpec': {
    together: [
      (template, path) => labels(structOf(template['metadata'])['labels'], `${path}.labels`, template),
      (template, path) =>
        isEmpty(structOf(template['spec'])['ephemeralContainers'])
          ? []
          : [
              field.forbidden(
                `${path}.spec.ephemeralContainers`,
                'ephemeral containers not allowed in pod template',
              ),
            ],
    ],
  },
  'core.v1.PodSpec': {
    members: {
      activeDeadlineSeconds: [between(1, 2 ** 31 - 1)],
      dnsPolicy: [oneOf('ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None')],
      hostname: [label],
      subdomain: [label],
      nodeName: [subdomain],
      serviceAccountName: [subdomain],
      runtimeClassName: [subdomain],
      preemptionPolicy: [
        (value, path, owner) =>
          isAbsent(value) ? [] : requiredOneOf(['PreemptLowerPriority', 'Never'])(value, path, owner),
      ],
      overhead: [(value, path) => resourceNames('containers')(value, `${path}.limits`)],
    },
    together: [podErrors],
  },
  'core.v1.PodOS': { members: { name: [requiredOneOf(['linux', 'windows'])] } },
  'core.v1.PodReadinessGate': { members: { conditionType: [mustBeQualifiedName] } },
  'core.v1.PodSchedulingGate': {
    together: [({ name }, path) => mustBeQualifiedName(name, path, {})],
  },
  'core.v1.PodResourceClaim': {
    members: { name: [required(), unlessEmpty(label)] },
    together: [claimErrors],
  },
  'core.v1.Toleration': {
    members: { key: [qualifiedName], effect: [oneOf(...EFFECTS)] },
    together: [tolerationErrors],
  },
  'core.v1.HostAlias': { members: { ip: [mustBeIp], hostnames: [each(subdomain, (path) => path)] } },
  'core.v1.PodDNSConfig': { members: { nameservers: [each(ip)] } },
  'core.v1.PodDNSConfigOption': {
    together: [({ name }, path) => required('must not be empty')(name, path, {})],
  },
  'core.v1.TopologySpreadConstraint': {
    members: {
      maxSkew: [mustBeAtLeast(1, 'must be greater than zero')],
      topologyKey: [
        (value, path, owner) =>
          isEmpty(value) ? [field.required(path, 'can not be empty')] : qualifiedName(value, path, owner),
      ],
      whenUnsatisfiable: [mustBeOneOf('DoNotSchedule', 'ScheduleAnyway')],
      minDomains: [between(1, Infinity, 'must be greater than zero')],
      nodeAffinityPolicy: [oneOf('Honor', 'Ignore')],
      nodeTaintsPolicy: [oneOf('Honor', 'Ignore')],
    },
    together: [onlyWithSelector('matchLabelKeys')],
  },
  'core.v1.PodAffinityTerm': {
    members: { topologyKey: [topologyKey] },
    together: [onlyWithSelector('matchLabelKeys'), onlyWithSelector('mismatchLabelKeys')],
  },
  'core.v1.WeightedPodAffinityTerm': {
    members: { weight: [mustBeBetween(1, 100, 'must be in the range 1-100')] },
  },
  'core.v1.PodSecurityContext': {
    members: {
      ...ids,
      fsGroup: [userId],
      supplementalGroups: [each(userId)],
      fsGroupChangePolicy: [oneOf('Always', 'OnRootMismatch')],
      seLinuxChangePolicy: [oneOf('Recursive')],
      supplementalGroupsPolicy: [oneOf('Merge', 'Strict')],
    },
  },
  'core.v1.SecurityContext': { members: { ...ids, procMount: [oneOf('Default', 'Unmasked')] } },
  'core.v1.Sysctl': { members: { name: [required()] } },
  'core.v1.SeccompProfile': profile('seccompProfile', 'seccomp'),
  'core.v1.AppArmorProfile': profile('appArmorProfile', 'AppArmor'),
  'core.v1.PodCondition': { members: { type: [mustBeQualifiedName] }, shown: { type: 'Type' } },
  'core.v1.HostIP': { together: [({ ip: value }, path) => mustBeIp(value, path, {})] },
  'core.v1.PodIP': { together: [({ ip: value }, path) => mustBeIp(value, path, {})] },
  'meta.v1.LabelSelector': { together: [labelSelectorErrors] },
};
