/** Rules of names and amounts of resources. */
import { compareQuantities } from '../../../lib/quantity.ts';
import { isQualifiedName } from '../../../lib/names.ts';
import * as field from '../../schema/field-errors.ts';
import type { FieldError } from '../../types.ts';
import { mustBeQualifiedName, structOf, type RuleTable } from './vocabulary.ts';

const COUNTED = [
  'services',
  'replicationcontrollers',
  'resourcequotas',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
];

const COMPUTED = ['cpu', 'memory', 'ephemeral-storage'];

/** Names without a domain that upstream knows, by what they are for. */
const STANDARD = {
  any: [
    ...COMPUTED,
    ...COMPUTED.flatMap((name) => [`requests.${name}`, `limits.${name}`]),
    ...COUNTED,
    'pods',
    'storage',
    'requests.storage',
  ],
  containers: COMPUTED,
  quota: [
    ...COMPUTED,
    ...COMPUTED.flatMap((name) => [`requests.${name}`, `limits.${name}`]),
    ...COUNTED,
    'pods',
    'requests.storage',
  ],
};

const isHugePages = (name: string): boolean => /^(?:requests\.)?hugepages-/.test(name);
const isKnown = (name: string, use: keyof typeof STANDARD): boolean =>
  name.includes('/') || STANDARD[use].includes(name) || isHugePages(name);

/** Names of resources in a map, for containers or for quotas. */
export const resourceNames =
  (use: 'containers' | 'quota') =>
  (resources: unknown, path: string): FieldError[] =>
    Object.keys(structOf(resources)).flatMap((name) => {
      const at = `${path}[${name}]`;
      const problems = isQualifiedName(name);
      if (problems.length > 0) return problems.map((why) => field.invalid(at, name, why));
      return [
        ...(isKnown(name, 'any')
          ? []
          : [field.invalid(at, name, 'must be a standard resource type or fully qualified')]),
        ...(isKnown(name, use) ? [] : [field.invalid(at, name, `must be a standard resource for ${use}`)]),
      ];
    });

/** Amounts that are below zero. */
const amounts = (resources: unknown, path: string): FieldError[] =>
  Object.entries(structOf(resources)).flatMap(([name, amount]) =>
    typeof amount === 'string' && compareQuantities(amount, '0') < 0
      ? [field.invalid(`${path}[${name}]`, amount, 'must be greater than or equal to 0')]
      : [],
  );

const forContainers = [resourceNames('containers'), amounts];
const forQuota = [resourceNames('quota'), amounts];

export const resourceRules: RuleTable = {
  'core.v1.ResourceRequirements': { members: { limits: forContainers, requests: forContainers } },
  'core.v1.LimitRangeItem': {
    members: { type: [mustBeQualifiedName] },
    together: [
      (item, path) =>
        item['type'] === 'PersistentVolumeClaim'
          ? []
          : ['default', 'defaultRequest', 'max', 'min', 'maxLimitRequestRatio'].flatMap((member) =>
              resourceNames('containers')(item[member], `${path}.${member}`),
            ),
    ],
  },
  'core.v1.ResourceQuotaSpec': { members: { hard: forQuota } },
  'core.v1.ResourceQuotaStatus': { members: { hard: forQuota, used: forQuota } },
};
