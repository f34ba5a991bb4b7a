/** Limits, priorities and scaling: defaults and rules. */
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
export const autoscaler: Strategy = {
  defaults(object) {
    const spec = objectAt(object, 'spec');
    fill(spec, { minReplicas: 1 });
    if (object.apiVersion !== 'autoscaling/v2' || listOf(spec, 'metrics').length > 0) return;
    spec['metrics'] = [cpuMetric(DEFAULT_CPU_PERCENT)];
  },
  prepareForCreate(object) {
    object['status'] =
      object.apiVersion === 'autoscaling/v2'
        ? { currentMetrics: null, desiredReplicas: 0 }
        : { currentReplicas: 0, desiredReplicas: 0 };
  },
  validate: (object) => scalerErrors(objectAt(object, 'spec')),
};

export const DEFAULT_CPU_PERCENT = 80;

export const cpuMetric = (percent: number): JsonObject => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: percent } },
});
