/** Limits, priorities and scaling: defaults and rules. */
import { isQualifiedName } from '../../../lib/names.ts';
import * as field from '../../schema/field-errors.ts';
import type { Strategy } from '../kinds.ts';
import { isObject } from '../../types.ts';
import type { FieldError, JsonObject } from '../../types.ts';
import { fill, listOf, objectAt } from './pod-spec.ts';

export const limitRange: Strategy = {
  defaults(object) {
    for (const limit of listOf(objectAt(object, 'spec'), 'limits')) {
      if (limit['type'] !== 'Container') continue;
      for (const [member, source] of [
        ['default', 'max'],
        ['defaultRequest', 'default'],
        ['defaultRequest', 'min'],
      ] as const)
        if (isObject(limit[source])) fill(objectAt(limit, member), limit[source]);
    }
  },
};

const MAX_USER_PRIORITY = 1_000_000_000;

export const priorityClass: Strategy = {
  defaults(object) {
    fill(object, { preemptionPolicy: 'PreemptLowerPriority' });
  },
  validate(object) {
    const { value } = object;
    return typeof value === 'number' &&
      value > MAX_USER_PRIORITY &&
      !object.metadata.name.startsWith('system-')
      ? [
          field.forbidden(
            'value',
            `maximum allowed value of a user defined priority is ${String(MAX_USER_PRIORITY)}`,
          ),
        ]
      : [];
  },
};

function scalerErrors(spec: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  const min = Number(spec['minReplicas']);
  const max = Number(spec['maxReplicas'] ?? 0);
  if (min < 1) errors.push(field.invalid('spec.minReplicas', min, 'must be greater than or equal to 1'));
  if (max < 1) errors.push(field.invalid('spec.maxReplicas', max, 'must be greater than 0'));
  if (max < min)
    errors.push(field.invalid('spec.maxReplicas', max, 'must be greater than or equal to `minReplicas`'));
  const target = objectAt(spec, 'scaleTargetRef');
  for (const member of ['kind', 'name'])
    if (!target[member]) errors.push(field.required(`spec.scaleTargetRef.${member}`));
  if (!target['apiVersion'])
    errors.push(field.invalid('spec.scaleTargetRef.apiVersion', '', 'apiVersion must specify API group'));
  return errors;
}

/** For both versions; only v2 has `metrics`. */
const ALL_AT_ONCE = { type: 'Percent', value: 100, periodSeconds: 15 };

function defaultBehavior(behavior: JsonObject): void {
  fill(objectAt(behavior, 'scaleUp'), {
    stabilizationWindowSeconds: 0,
    selectPolicy: 'Max',
    policies: [{ type: 'Pods', value: 4, periodSeconds: 15 }, { ...ALL_AT_ONCE }],
  });
  fill(objectAt(behavior, 'scaleDown'), { selectPolicy: 'Max', policies: [{ ...ALL_AT_ONCE }] });
}

/** Which requests an admission policy is about. */
export const admissionPolicy: Strategy = {
  defaults(object) {
    const spec = objectAt(object, 'spec');
    fill(spec, { failurePolicy: 'Fail' });
    defaultMatch(spec['matchConstraints']);
  },
  /** Keys of annotations begin with the name of the policy. */
  validate: (object) =>
    listOf(objectAt(object, 'spec'), 'auditAnnotations').flatMap(({ key }, i) =>
      isQualifiedName(`${object.metadata.name}/${field.plainText(key)}`).map((why) =>
        field.invalid(
          `spec.auditAnnotations[${i}].key`,
          `${object.metadata.name}/${field.plainText(key)}`,
          why,
        ),
      ),
    ),
};

/** To which of the requests of a policy it applies. */
export const admissionPolicyBinding: Strategy = {
  defaults(object) {
    defaultMatch(objectAt(object, 'spec')['matchResources']);
  },
};

function defaultMatch(match: unknown): void {
  if (!isObject(match)) return;
  fill(match, { namespaceSelector: {}, objectSelector: {}, matchPolicy: 'Equivalent' });
  for (const rules of ['resourceRules', 'excludeResourceRules'])
    for (const rule of listOf(match, rules)) fill(rule, { scope: '*' });
}

export const autoscaler: Strategy = {
  defaults(object) {
    const spec = objectAt(object, 'spec');
    fill(spec, { minReplicas: 1 });
    if (object.apiVersion !== 'autoscaling/v2') {
      if (object.metadata.annotations?.[METRICS_ANNOTATION] === undefined)
        fill(spec, { targetCPUUtilizationPercentage: DEFAULT_CPU_PERCENT });
      return;
    }
    if (listOf(spec, 'metrics').length === 0) spec['metrics'] = [cpuMetric(DEFAULT_CPU_PERCENT)];
    if (isObject(spec['behavior'])) defaultBehavior(spec['behavior']);
  },
  validate: (object) => scalerErrors(objectAt(object, 'spec')),
};

export const DEFAULT_CPU_PERCENT = 80;
/** Where version 1 keeps the metrics that it has no members for. */
const METRICS_ANNOTATION = 'autoscaling.alpha.kubernetes.io/metrics';

export const cpuMetric = (percent: number): JsonObject => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: percent } },
});
