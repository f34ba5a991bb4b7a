/** Table cells of limits, budgets, scaling, certificate requests and admission policies. */
import { humanDuration } from './human-duration.ts';
import {
  at,
  containerCells,
  formatLabels,
  listAt,
  numberAt,
  orNone,
  textAt,
  type PrinterRows,
} from './cells.ts';
import { isObject, type JsonObject } from '../types.ts';

/** Used and allowed values, for requests or for limits. */
function quotaText(quota: unknown, isLimit: boolean): string {
  const hard = at(quota, 'status', 'hard');
  return Object.keys(isObject(hard) ? hard : {})
    .sort()
    .filter((name) => name.startsWith('limits.') === isLimit)
    .map((name) => `${name}: ${textAt(quota, 'status', 'used', name) || '0'}/${textAt(hard, name)}`)
    .join(', ');
}

const orUnknown = (text: string): string => orNone(text, '<unknown>');

/** One metric of an autoscaler: current and target value. */
function metricText(metric: JsonObject, current: JsonObject | undefined): string {
  const type = textAt(metric, 'type');
  const member = `${type.charAt(0).toLowerCase()}${type.slice(1)}`;
  const target = at(metric, member, 'target');
  const now = at(current, member, 'current');
  if (member === 'resource' || member === 'containerResource') {
    const name = textAt(metric, member, 'name');
    const average = textAt(target, 'averageValue');
    if (average !== '') return `${name}: ${orUnknown(textAt(now, 'averageValue'))}/${average}`;
    const used = at(now, 'averageUtilization');
    const wanted = textAt(target, 'averageUtilization');
    return `${name}: ${typeof used === 'number' ? `${used}%` : '<unknown>'}/${wanted === '' ? '<auto>' : `${wanted}%`}`;
  }
  const average = textAt(target, 'averageValue');
  return average === ''
    ? `${orUnknown(textAt(now, 'value'))}/${textAt(target, 'value')}`
    : `${orUnknown(textAt(now, 'averageValue'))}/${average}${member === 'pods' ? '' : ' (avg)'}`;
}

const METRICS_SHOWN = 2;

function metricsText(scaler: unknown): string {
  const current = listAt(scaler, 'status', 'currentMetrics');
  const texts = listAt(scaler, 'spec', 'metrics').map((metric, i) => metricText(metric, current[i]));
  if (texts.length === 0) return '<none>';
  const more = texts.length > METRICS_SHOWN ? ` + ${texts.length - METRICS_SHOWN} more...` : '';
  return `${texts.slice(0, METRICS_SHOWN).join(', ')}${more}`;
}

function requestCondition(request: unknown): string {
  const types = listAt(request, 'status', 'conditions').map((condition) => textAt(condition, 'type'));
  const has = (type: string): boolean => types.includes(type);
  const decision = has('Denied') ? 'Denied' : has('Approved') ? 'Approved' : 'Pending';
  return [
    decision,
    ...(has('Failed') ? ['Failed'] : []),
    ...(textAt(request, 'status', 'certificate') === '' ? [] : ['Issued']),
  ].join(',');
}

function paramKind(policy: unknown): string {
  const kind = at(policy, 'spec', 'paramKind');
  return kind === undefined ? '<unset>' : `${textAt(kind, 'apiVersion')}/${textAt(kind, 'kind')}`;
}

function paramRef(binding: unknown): string {
  const ref = at(binding, 'spec', 'paramRef');
  if (ref === undefined) return '<unset>';
  const namespace = textAt(ref, 'namespace');
  const name = textAt(ref, 'name');
  return name === ''
    ? namespace === ''
      ? '*'
      : `${namespace}/*`
    : namespace === ''
      ? name
      : `${namespace}/${name}`;
}

export const policyPrinters: PrinterRows = {
  PodTemplate: [
    ['Name', 'Containers', 'Images', 'Pod Labels'],
    (object) => [
      object.metadata.name,
      ...containerCells(at(object, 'template', 'spec')),
      formatLabels(at(object, 'template', 'metadata', 'labels')),
    ],
  ],
  ResourceQuota: [
    ['Name', 'Request', 'Limit', 'Age'],
    (quota, age) => [quota.metadata.name, quotaText(quota, false), quotaText(quota, true), age()],
  ],
  'policy/PodDisruptionBudget': [
    ['Name', 'Min Available', 'Max Unavailable', 'Allowed Disruptions#', 'Age'],
    (budget, age) => [
      budget.metadata.name,
      orNone(textAt(budget, 'spec', 'minAvailable'), 'N/A'),
      orNone(textAt(budget, 'spec', 'maxUnavailable'), 'N/A'),
      numberAt(budget, 'status', 'disruptionsAllowed'),
      age(),
    ],
  ],
  'autoscaling/HorizontalPodAutoscaler': [
    ['Name', 'Reference', 'Targets', 'MinPods', 'MaxPods', 'Replicas', 'Age'],
    (scaler, age) => [
      scaler.metadata.name,
      `${textAt(scaler, 'spec', 'scaleTargetRef', 'kind')}/${textAt(scaler, 'spec', 'scaleTargetRef', 'name')}`,
      metricsText(scaler),
      orNone(textAt(scaler, 'spec', 'minReplicas'), '<unset>'),
      numberAt(scaler, 'spec', 'maxReplicas'),
      numberAt(scaler, 'status', 'currentReplicas'),
      age(),
    ],
  ],
  'autoscaling/Scale': [
    ['Name', 'Desired#', 'Available#', 'Age'],
    (scale, age) => [
      scale.metadata.name,
      numberAt(scale, 'spec', 'replicas'),
      numberAt(scale, 'status', 'replicas'),
      age(),
    ],
  ],
  'certificates.k8s.io/CertificateSigningRequest': [
    ['Name', 'Age', 'SignerName', 'Requestor', 'RequestedDuration', 'Condition'],
    (request, age) => {
      const seconds = at(request, 'spec', 'expirationSeconds');
      return [
        request.metadata.name,
        age(),
        orNone(textAt(request, 'spec', 'signerName')),
        textAt(request, 'spec', 'username'),
        typeof seconds === 'number' ? humanDuration(seconds * 1000) : '<none>',
        requestCondition(request),
      ];
    },
  ],
  'node.k8s.io/RuntimeClass': [
    ['Name', 'Handler', 'Age'],
    (object, age) => [object.metadata.name, textAt(object, 'handler'), age()],
  ],
  'admissionregistration.k8s.io/ValidatingAdmissionPolicy': [
    ['Name', 'Validations#', 'ParamKind', 'Age'],
    (policy, age) => [
      policy.metadata.name,
      listAt(policy, 'spec', 'validations').length,
      paramKind(policy),
      age(),
    ],
  ],
  'admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding': [
    ['Name', 'PolicyName', 'ParamRef', 'Age'],
    (binding, age) => [
      binding.metadata.name,
      textAt(binding, 'spec', 'policyName'),
      paramRef(binding),
      age(),
    ],
  ],
};
