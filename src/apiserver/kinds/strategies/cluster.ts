/** Smaller kinds: access rules, leases, events, webhook configurations, nodes. */
import * as field from '../../schema/field-errors.ts';
import type { Strategy } from '../kinds.ts';
import { badRequest } from '../../status.ts';
import { equalJson, isObject } from '../../types.ts';
import type { FieldError, JsonObject } from '../../types.ts';
import { fill, listOf, objectAt } from './pod-spec.ts';

const RBAC = 'rbac.authorization.k8s.io';

export const role: Strategy = {
  defaults(object) {
    object['rules'] ??= null;
  },
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
    fill(object, {
      eventTime: null,
      firstTimestamp: null,
      lastTimestamp: null,
      reportingComponent: '',
      reportingInstance: '',
      source: {},
    });
  },
  validate(object) {
    const about = objectAt(object, 'involvedObject')['namespace'] ?? '';
    const { namespace = '' } = object.metadata;
    const fits = about === '' ? namespace === 'default' || namespace === 'kube-system' : about === namespace;
    return fits ? [] : [field.invalid('involvedObject.namespace', about, 'does not match event.namespace')];
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
  if (typeof url === 'string' && !url.startsWith('https://'))
    errors.push(
      field.invalid(
        `${path}.clientConfig.url`,
        url,
        `'https' is the only allowed URL scheme; desired format: https://host[/path]`,
      ),
    );
  if (!['None', 'NoneOnDryRun'].includes(String(hook['sideEffects'])))
    errors.push(
      hook['sideEffects'] === undefined
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
  prepareForCreate(object) {
    const taints = listOf(objectAt(object, 'spec'), 'taints');
    if (!taints.some((taint) => taint['key'] === NOT_READY.key && taint['effect'] === NOT_READY.effect))
      objectAt(object, 'spec')['taints'] = [...taints, { ...NOT_READY }];
  },
};
