/** Rules of horizontal autoscalers; those of version 1 are the same, where it has the members. */
import { append } from '../../../lib/lists.ts';
import { table } from '../../../lib/objects.ts';
import { compareQuantities } from '../../../lib/quantity.ts';
import * as field from '../../schema/field-errors.ts';
import type { FieldError, JsonObject } from '../../types.ts';
import {
  atLeast,
  between,
  isAbsent,
  isEmpty,
  mustBeBetween,
  mustBeOneOf,
  oneOf,
  required,
  structOf,
  type MemberRule,
  type RuleTable,
  type StructRule,
  type TypeRules,
} from './vocabulary.ts';

/** The member with the facts of each type of metric. */
const SOURCES = table({
  ContainerResource: 'containerResource',
  External: 'external',
  Object: 'object',
  Pods: 'pods',
  Resource: 'resource',
});

function metricErrors(metric: JsonObject, path: string): FieldError[] {
  const { type } = metric;
  const errors: FieldError[] = [];
  if (isEmpty(type)) errors.push(field.required(`${path}.type`, 'must specify a metric source type'));
  append(errors, mustBeOneOf(...Object.keys(SOURCES))(type, `${path}.type`, metric));
  const expected = SOURCES[field.plainText(type)];
  const present = Object.values(SOURCES).filter((source) => !isAbsent(metric[source]));
  if (expected !== undefined && !present.includes(expected))
    errors.push(
      field.required(`${path}.${expected}`, 'must populate information for the given metric source'),
    );
  if (present.length === 1) return errors;
  for (const source of present)
    if (source !== expected)
      errors.push(field.forbidden(`${path}.${source}`, 'must populate the given metric source only'));
  return errors;
}

const positive: MemberRule = (value, path) =>
  !isAbsent(value) && compareQuantities(field.plainText(value), '0') <= 0
    ? [field.invalid(path, value, 'must be positive')]
    : [];

const target: TypeRules = {
  members: {
    type: [
      required('must specify a metric target type'),
      (value, path) =>
        ['Utilization', 'Value', 'AverageValue'].includes(field.plainText(value))
          ? []
          : [field.invalid(path, value ?? '', 'must be either Utilization, Value, or AverageValue')],
    ],
    value: [positive],
    averageValue: [positive],
    averageUtilization: [atLeast(1, 'must be greater than 0')],
  },
};

/** What a target of these types needs: one of two members, and not both. */
const oneTarget =
  (first: string, second: string, at: string, none: string, both: string): StructRule =>
  (source, path) => {
    const found = [first, second].filter((member) => !isAbsent(structOf(source['target'])[member]));
    if (found.length === 0) return [field.required(`${path}.target.${at}`, none)];
    return found.length === 2 ? [field.forbidden(`${path}.target.${second}`, both)] : [];
  };

const resourceTarget = oneTarget(
  'averageUtilization',
  'averageValue',
  'averageUtilization',
  'must set either a target raw value or a target utilization',
  'may not set both a target raw value and a target utilization',
);

const podsTarget: StructRule = (source, path) => {
  const { averageValue } = structOf(source['target']);
  return isAbsent(averageValue) || compareQuantities(field.plainText(averageValue), '0') <= 0
    ? [field.required(`${path}.target.averageValue`, 'must specify a positive target averageValue')]
    : [];
};

const objectTarget: StructRule = (source, path) => {
  const { value, averageValue } = structOf(source['target']);
  const { kind, name } = structOf(source['describedObject']);
  return [
    ...required()(kind, `${path}.describedObject.kind`, source),
    ...required()(name, `${path}.describedObject.name`, source),
    ...(isAbsent(value) && isAbsent(averageValue)
      ? [field.required(`${path}.target.averageValue`, 'must set either a target value or averageValue')]
      : []),
  ];
};

const NAME = required('must specify a resource name');

export const autoscalingRules: RuleTable = {
  'autoscaling.v2.MetricSpec': { together: [metricErrors], checksForbidden: true },
  'autoscaling.v1.HorizontalPodAutoscalerSpec': {
    members: {
      targetCPUUtilizationPercentage: [
        (value, _path, owner) =>
          atLeast(1, 'must be greater than 0')(
            value,
            'spec.metrics[0].resource.target.averageUtilization',
            owner,
          ),
      ],
    },
  },
  'autoscaling.v2.MetricTarget': target,
  'autoscaling.v2.MetricIdentifier': {
    members: { name: [required('must specify a metric name')] },
    unchecked: ['selector'],
  },
  'autoscaling.v2.ResourceMetricSource': { members: { name: [NAME] }, together: [resourceTarget] },
  'autoscaling.v2.ContainerResourceMetricSource': {
    members: { name: [NAME], container: [required('must specify a container')] },
    together: [resourceTarget],
  },
  'autoscaling.v2.PodsMetricSource': { together: [podsTarget] },
  'autoscaling.v2.ObjectMetricSource': { together: [objectTarget] },
  'autoscaling.v2.ExternalMetricSource': {
    together: [
      oneTarget(
        'value',
        'averageValue',
        'averageValue',
        'must set either a target value for metric or a per-pod target',
        'may not set both a target value for metric and a per-pod target',
      ),
    ],
  },
  'autoscaling.v2.HPAScalingRules': {
    members: {
      policies: [required('must specify at least one Policy')],
      selectPolicy: [oneOf('Disabled', 'Max', 'Min')],
      stabilizationWindowSeconds: [
        atLeast(0, 'must be greater than or equal to zero'),
        between(-Infinity, 3600, 'must be less than or equal to 3600'),
      ],
    },
  },
  'autoscaling.v2.HPAScalingPolicy': {
    members: {
      type: [mustBeOneOf('Percent', 'Pods')],
      value: [mustBeBetween(1, Infinity, 'must be greater than zero')],
      periodSeconds: [
        mustBeBetween(1, Infinity, 'must be greater than zero'),
        between(-Infinity, 1800, 'must be less than or equal to 1800'),
      ],
    },
  },
};
