/** Rules of webhook configurations, admission policies, and rights. */
import { isDns1123Subdomain } from '../../../lib/names.ts';
import * as field from '../../schema/field-errors.ts';
import type { FieldError } from '../../types.ts';
import {
  between,
  isAbsent,
  isEmpty,
  oneOf,
  required,
  requires,
  structOf,
  type MemberRule,
  type RuleTable,
  type StructRule,
  type TypeRules,
} from './vocabulary.ts';

const RBAC = 'rbac.authorization.k8s.io';

/** Which requests a rule is about. */
const requestRule: TypeRules = {
  members: {
    ...requires('apiGroups', 'apiVersions', 'operations', 'resources').members,
    scope: [oneOf('*', 'Cluster', 'Namespaced')],
  },
};

const FAILURE_POLICY = oneOf('Fail', 'Ignore');
const MATCH_POLICY = oneOf('Equivalent', 'Exact');

const hookName: MemberRule = (value, path) => {
  const name = field.plainText(value);
  if (name === '') return [field.required(path)];
  const problems = isDns1123Subdomain(name);
  if (problems.length > 0) return [field.invalid(path, name, problems.join(','))];
  return name.split('.').length < 3
    ? [field.invalid(path, name, 'should be a domain with at least three segments separated by dots')]
    : [];
};

const hook: TypeRules = {
  members: {
    name: [hookName],
    failurePolicy: [FAILURE_POLICY],
    matchPolicy: [MATCH_POLICY],
    timeoutSeconds: [between(1, 30, 'the timeout value must be between 1 and 30 seconds')],
  },
};

/** Upstream reports a missing name as a missing namespace, and the other way round. */
const serviceErrors: StructRule = ({ name, namespace }, path) => [
  ...required()(name, `${path}.namespace`, {}),
  ...required()(namespace, `${path}.name`, {}),
];

const policyErrors: StructRule = ({ validations, auditAnnotations, matchConstraints }, path) => {
  const errors: FieldError[] = [];
  if (isEmpty(validations) && isEmpty(auditAnnotations))
    for (const member of ['validations', 'auditAnnotations'])
      errors.push(
        field.required(`${path}.${member}`, 'validations or auditAnnotations must contain at least one item'),
      );
  if (!isAbsent(matchConstraints) && isEmpty(structOf(matchConstraints)['resourceRules']))
    errors.push(field.required(`${path}.matchConstraints.resourceRules`));
  return errors;
};

const EXCLUSIVE = 'name and selector are mutually exclusive';

const parameterErrors: StructRule = ({ name, selector }, path) => {
  if (isEmpty(name))
    return isAbsent(selector) ? [field.required(path, 'one of name or selector must be specified')] : [];
  return isAbsent(selector)
    ? []
    : ['name', 'selector'].map((member) => field.forbidden(`${path}.${member}`, EXCLUSIVE));
};

const subjectErrors: StructRule = ({ kind = '', name, apiGroup = '' }, path) => {
  const errors: FieldError[] = isEmpty(name) ? [field.required(`${path}.name`)] : [];
  const needsGroup = (group: string): void => {
    if (apiGroup !== group) errors.push(field.notSupported(`${path}.apiGroup`, apiGroup, [group]));
  };
  if (kind === 'ServiceAccount') needsGroup('');
  else if (kind === 'User' || kind === 'Group') needsGroup(RBAC);
  else errors.push(field.notSupported(`${path}.kind`, kind, ['ServiceAccount', 'User', 'Group']));
  return errors;
};

const bothErrors: StructRule = ({ nonResourceURLs, apiGroups, resources, resourceNames }, path) =>
  !isEmpty(nonResourceURLs) && ![apiGroups, resources, resourceNames].every(isEmpty)
    ? [
        field.invalid(
          `${path}.nonResourceURLs`,
          nonResourceURLs,
          'rules cannot apply to both regular resources and non-resource URLs',
        ),
      ]
    : [];

const GROUP = 'admissionregistration.v1';

export const admissionRules: RuleTable = {
  [`${GROUP}.ValidatingWebhook`]: hook,
  [`${GROUP}.MutatingWebhook`]: {
    members: { ...hook.members, reinvocationPolicy: [oneOf('IfNeeded', 'Never')] },
  },
  [`${GROUP}.ServiceReference`]: {
    members: {
      port: [between(1, 65535, 'port is not valid: must be between 1 and 65535, inclusive')],
    },
    together: [serviceErrors],
  },
  [`${GROUP}.MatchCondition`]: requires('name', 'expression'),
  [`${GROUP}.RuleWithOperations`]: requestRule,
  [`${GROUP}.NamedRuleWithOperations`]: requestRule,
  [`${GROUP}.MatchResources`]: { members: { matchPolicy: [MATCH_POLICY] } },
  [`${GROUP}.ValidatingAdmissionPolicySpec`]: {
    members: { failurePolicy: [FAILURE_POLICY], matchConstraints: [required()] },
    together: [policyErrors],
  },
  [`${GROUP}.ParamKind`]: requires('apiVersion', 'kind'),
  [`${GROUP}.Validation`]: {
    members: {
      expression: [required('expression is not specified')],
      reason: [oneOf('Forbidden', 'Invalid', 'RequestEntityTooLarge')],
    },
  },
  [`${GROUP}.Variable`]: {
    members: {
      name: [required('name is not specified')],
      expression: [required('expression is not specified')],
    },
  },
  [`${GROUP}.AuditAnnotation`]: {
    members: { valueExpression: [required('valueExpression is not specified')] },
  },
  [`${GROUP}.ValidatingAdmissionPolicyBindingSpec`]: {
    members: {
      policyName: [required()],
      validationActions: [required('at least one validation action is required')],
    },
  },
  [`${GROUP}.ParamRef`]: {
    members: { parameterNotFoundAction: [required()] },
    together: [parameterErrors],
  },
  'rbac.v1.Subject': { together: [subjectErrors] },
  'rbac.v1.PolicyRule': { together: [bothErrors] },
  'rbac.v1.AggregationRule': {
    members: {
      clusterRoleSelectors: [
        required('at least one clusterRoleSelector required if aggregationRule is non-nil'),
      ],
    },
  },
};
