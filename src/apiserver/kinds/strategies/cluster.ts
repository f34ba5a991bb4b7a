/** Smaller kinds: access rules, leases, events, webhook configurations, nodes. */
import { append } from '../../../lib/lists.ts';
import * as field from '../../schema/field-errors.ts';
import type { Strategy } from '../kinds.ts';
import { badRequest } from '../../status.ts';
import { equalJson, isObject } from '../../types.ts';
import type { FieldError, JsonObject } from '../../types.ts';
import { mustBeQualifiedName as qualifiedName } from '../rules/vocabulary.ts';
import { fill, listOf, objectAt } from './pod-spec.ts';

const RBAC = 'rbac.authorization.k8s.io';

export const role: Strategy = {
  validate(object) {
    return listOf(object, 'rules').flatMap((rule, i) =>
      ruleErrors(rule, `rules[${i}]`, object.kind === 'Role'),
    );
  },
};

const isEmpty = (value: unknown): boolean => !Array.isArray(value) || value.length === 0;

function ruleErrors(rule: JsonObject, path: string, isNamespaced: boolean): FieldError[] {
  const errors: FieldError[] = [];
  if (isEmpty(rule['verbs']))
    errors.push(field.required(`${path}.verbs`, 'verbs must contain at least one value'));
  if (!isEmpty(rule['nonResourceURLs'])) {
    if (isNamespaced)
      errors.push(
        field.invalid(
          `${path}.nonResourceURLs`,
          rule['nonResourceURLs'],
          'namespaced rules cannot apply to non-resource URLs',
        ),
      );
    return errors;
  }
  if (isEmpty(rule['apiGroups']))
    errors.push(field.required(`${path}.apiGroups`, 'resource rules must supply at least one api group'));
  if (isEmpty(rule['resources']))
    errors.push(field.required(`${path}.resources`, 'resource rules must supply at least one resource'));
  return errors;
}

export const roleBinding: Strategy = {
  defaults(object) {
    fill(objectAt(object, 'roleRef'), { apiGroup: RBAC });
    for (const subject of listOf(object, 'subjects'))
      if (subject['kind'] === 'User' || subject['kind'] === 'Group') fill(subject, { apiGroup: RBAC });
  },
  validate(object) {
    const ref = objectAt(object, 'roleRef');
    const errors: FieldError[] = [];
    const kinds = object.kind === 'ClusterRoleBinding' ? ['ClusterRole'] : ['Role', 'ClusterRole'];
    if (!kinds.includes(String(ref['kind'])))
      errors.push(field.notSupported('roleRef.kind', ref['kind'] ?? '', kinds));
    if (!ref['name']) errors.push(field.required('roleRef.name'));
    if (object.kind === 'ClusterRoleBinding')
      listOf(object, 'subjects').forEach(({ kind, namespace }, i) => {
        if (kind === 'ServiceAccount' && !isSet(namespace))
          errors.push(field.required(`subjects[${i}].namespace`));
      });
    return errors;
  },
  validateUpdate: (object, old) =>
    equalJson(object['roleRef'], old['roleRef'])
      ? []
      : [field.invalid('roleRef', object['roleRef'], 'cannot change roleRef')],
};

const MICRO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(?:Z|[+-]\d\d:\d\d)$/;

/** @throws ApiError 400 for times without exactly six decimals */
function checkMicroTimes(object: JsonObject, members: readonly string[], kind: string): void {
  for (const member of members) {
    const value = object[member];
    if (value === undefined || value === null) {
      delete object[member];
      continue;
    }
    if (typeof value !== 'string' || !MICRO_TIME.test(value))
      throw badRequest(
        `${kind} in version "v1" cannot be handled as a ${kind}: parsing time ${JSON.stringify(JSON.stringify(value))} as "2006-01-02T15:04:05.000000Z07:00": cannot parse ${JSON.stringify(field.plainText(value).slice(19))} as ".000000"`,
      );
    if (!value.endsWith('Z'))
      object[member] = `${new Date(Date.parse(value)).toISOString().slice(0, 19)}${value.slice(19, 26)}Z`;
  }
}

export const lease: Strategy = {
  defaults(object) {
    checkMicroTimes(objectAt(object, 'spec'), ['acquireTime', 'renewTime'], 'Lease');
  },
  validate(object) {
    const { leaseDurationSeconds: seconds, leaseTransitions: transitions } = objectAt(object, 'spec');
    const errors: FieldError[] = [];
    if (typeof seconds === 'number' && seconds <= 0)
      errors.push(field.invalid('spec.leaseDurationSeconds', seconds, 'must be greater than 0'));
    if (typeof transitions === 'number' && transitions < 0)
      errors.push(field.invalid('spec.leaseTransitions', transitions, 'must be greater than or equal to 0'));
    return errors;
  },
};

export const event: Strategy = {
  defaults(object) {
    checkMicroTimes(object, ['eventTime'], 'Event');
  },
  validate(object) {
    const about = objectAt(object, 'involvedObject')['namespace'] ?? '';
    const { namespace = '' } = object.metadata;
    const isNew = isSet(object['eventTime']);
    const fits =
      about === ''
        ? namespace === 'default' || (isNew && namespace === 'kube-system')
        : isNew || about === namespace;
    const errors = fits
      ? []
      : [field.invalid('involvedObject.namespace', about, 'does not match event.namespace')];
    return isNew ? [...errors, ...sourceErrors(object, 'reportingComponent')] : errors;
  },
};

const isSet = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

/** What events must have since they have a time with microseconds. */
const sourceErrors = (object: JsonObject, controller: string): FieldError[] =>
  [controller, 'reportingInstance', 'action', 'reason']
    .filter((member) => !isSet(object[member]))
    .map((member) => field.required(member));

/** Where events about objects without a namespace may be. */
const isGlobal = (namespace: string | undefined): boolean =>
  namespace === 'default' || namespace === 'kube-system';

/** Members of older events, and the names that messages have for them. */
const OLD_MEMBERS = {
  deprecatedFirstTimestamp: 'firstTimestamp',
  deprecatedLastTimestamp: 'lastTimestamp',
  deprecatedCount: 'count',
};

function seriesErrors(series: unknown): FieldError[] {
  if (!isObject(series)) return [];
  const errors: FieldError[] = [];
  if (Number(series['count'] ?? 0) < 2)
    errors.push(field.invalid('series.count', '', 'should be at least 2'));
  if (!isSet(series['lastObservedTime'])) errors.push(field.required('series.lastObservedTime'));
  return errors;
}

const EVENT_TYPES = ['Normal', 'Warning'];

/** The same objects in the group of events, which accepts only new ones. */
export const groupEvent: Strategy = {
  defaults(object) {
    checkMicroTimes(object, ['eventTime'], 'Event');
  },
  validate(object) {
    const errors = isSet(object['eventTime']) ? [] : [field.required('eventTime')];
    append(errors, sourceErrors(object, 'reportingController'));
    const type = field.plainText(object['type'] ?? '');
    if (!EVENT_TYPES.includes(type)) errors.push(field.invalid('type', type, `has invalid value: ${type}`));
    const { namespace } = objectAt(object, 'regarding');
    if (isSet(object['eventTime']) && !isSet(namespace) && !isGlobal(object.metadata.namespace))
      errors.push(field.invalid('involvedObject.namespace', '', 'does not match event.namespace'));
    append(errors, qualifiedName(object['reportingController'], 'reportingController', object));
    append(errors, seriesErrors(object['series']));
    for (const [member, shown] of Object.entries(OLD_MEMBERS))
      if (isSet(object[member])) errors.push(field.invalid(shown, '', 'needs to be unset'));
    if (Object.keys(objectAt(object, 'deprecatedSource')).length > 0)
      errors.push(field.invalid('deprecatedSource', object['deprecatedSource'], 'needs to be unset'));
    return errors;
  },
};

/** The author of a request for a certificate is who sends it. */
export const signingRequest: Strategy = {
  prepareForCreate(object, { user }) {
    const { username, uid, groups, extra } = user;
    const spec = objectAt(object, 'spec');
    for (const [member, value] of Object.entries({ username, uid, groups: [...groups], extra }))
      if (value === undefined) delete spec[member];
      else spec[member] = value;
  },
  validate(object) {
    const { request } = objectAt(object, 'spec');
    const text = Buffer.from(field.plainText(request), 'base64').toString();
    return text.includes('-----BEGIN CERTIFICATE REQUEST-----')
      ? []
      : [field.invalid('spec.request', request, 'PEM block type must be CERTIFICATE REQUEST')];
  },
};

/** References to secrets are names in the same namespace. */
export const serviceAccount: Strategy = {
  defaults(object) {
    const secrets = object['secrets'];
    if (Array.isArray(secrets))
      object['secrets'] = secrets.filter(isObject).map(({ name }) => (isSet(name) ? { name } : {}));
  },
};

export const webhooks: Strategy = {
  defaults(object) {
    for (const hook of listOf(object, 'webhooks')) {
      fill(hook, {
        failurePolicy: 'Fail',
        matchPolicy: 'Equivalent',
        namespaceSelector: {},
        objectSelector: {},
        timeoutSeconds: 10,
        ...(object.kind === 'MutatingWebhookConfiguration' ? { reinvocationPolicy: 'Never' } : {}),
      });
      for (const rule of listOf(hook, 'rules')) fill(rule, { scope: '*' });
      const config = objectAt(hook, 'clientConfig');
      if (isObject(config['service'])) fill(config['service'], { port: 443 });
    }
  },
  validate(object) {
    return listOf(object, 'webhooks').flatMap((hook, i) => webhookErrors(hook, `webhooks[${i}]`));
  },
};

function webhookErrors(hook: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const config = objectAt(hook, 'clientConfig');
  const url = config['url'];
  if ((url === undefined) === (config['service'] === undefined))
    errors.push(field.required(`${path}.clientConfig`, 'exactly one of url or service is required'));
  else if (typeof url === 'string' && !url.startsWith('https://'))
    errors.push(
      field.invalid(
        `${path}.clientConfig.url`,
        url,
        `'https' is the only allowed URL scheme; desired format: https://host[/path]`,
      ),
    );
  if (!['None', 'NoneOnDryRun'].includes(String(hook['sideEffects'])))
    errors.push(
      !isSet(hook['sideEffects'])
        ? field.required(`${path}.sideEffects`, 'must specify one of None, NoneOnDryRun')
        : field.notSupported(`${path}.sideEffects`, hook['sideEffects'], ['None', 'NoneOnDryRun']),
    );
  const versions = hook['admissionReviewVersions'];
  if (!Array.isArray(versions) || versions.length === 0)
    errors.push(field.required(`${path}.admissionReviewVersions`, 'must specify one of v1, v1beta1'));
  return errors;
}

const NOT_READY = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };

export const node: Strategy = {
  defaults(object) {
    const spec = objectAt(object, 'spec');
    const { podCIDR: first, podCIDRs: all } = spec;
    if (typeof first === 'string' && (!Array.isArray(all) || all[0] !== first)) spec['podCIDRs'] = [first];
    else if (Array.isArray(all)) spec['podCIDR'] = all[0];
    const status = objectAt(object, 'status');
    if (isObject(status['capacity'])) fill(status, { allocatable: { ...status['capacity'] } });
  },
  prepareForCreate(object) {
    const taints = listOf(objectAt(object, 'spec'), 'taints');
    if (!taints.some((taint) => taint['key'] === NOT_READY.key && taint['effect'] === NOT_READY.effect))
      objectAt(object, 'spec')['taints'] = [...taints, { ...NOT_READY }];
  },
};
