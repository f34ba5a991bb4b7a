/** Rules of containers: probes, hooks, variables, mounts. */
import * as field from '../../schema/field-errors.ts';
import type { FieldError, JsonObject } from '../../types.ts';
import { isConfigKey } from '../strategies/config-map.ts';
import {
  between,
  countOf,
  exactlyOne,
  isAbsent,
  isEmpty,
  matching,
  mustBePort,
  mustBePortOrName,
  mustBeSubdomain,
  notNegative,
  oneOf,
  port,
  portName,
  required,
  subdomain,
  withoutIndex,
  type MemberRule,
  type RuleTable,
  type StructRule,
  type TypeRules,
} from './vocabulary.ts';

const NO_HANDLER = 'must specify a handler type';
const TWO_HANDLERS = 'may not specify more than 1 handler type';
const HEADER_RULE =
  "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')";
const TOO_MANY_SOURCES = 'may not have more than one field specified at a time';

const graceOf = (probe: 'livenessProbe' | 'readinessProbe'): StructRule => {
  const rule: MemberRule =
    probe === 'readinessProbe'
      ? (value, path) => [field.invalid(path, value, 'must not be set for readinessProbes')]
      : between(1, Infinity, 'must be greater than 0');
  return (container, path) => {
    const seconds = (container[probe] as JsonObject | undefined)?.['terminationGracePeriodSeconds'];
    const at = `${path}.${probe}.terminationGracePeriodSeconds`;
    return isAbsent(seconds) ? [] : rule(seconds, at, container);
  };
};

/** Liveness and start-up are decided by the last answer only. */
const onlyOneSuccess =
  (probe: string): StructRule =>
  (container, path) => {
    const count = (container[probe] as JsonObject | undefined)?.['successThreshold'] ?? 1;
    return count === 1 ? [] : [field.invalid(`${path}.${probe}.successThreshold`, count, 'must be 1')];
  };

function resizeErrors({ resourceName, restartPolicy }: JsonObject, path: string): FieldError[] {
  const at = withoutIndex(path);
  const check = (value: unknown, values: readonly string[]): FieldError[] =>
    isEmpty(value)
      ? [field.required(at)]
      : values.includes(value as string)
        ? []
        : [field.notSupported(at, value, values)];
  return [
    ...check(resourceName, ['cpu', 'memory']),
    ...check(restartPolicy, ['NotRequired', 'RestartContainer']),
  ];
}

const SOURCES = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef'];

function variableErrors({ value, valueFrom }: JsonObject, path: string): FieldError[] {
  const at = `${path}.valueFrom`;
  if (isAbsent(valueFrom)) return [];
  const count = countOf(valueFrom, SOURCES);
  if (count === 0)
    return [
      field.invalid(
        at,
        '',
        'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`',
      ),
    ];
  if (!isEmpty(value)) return [field.invalid(at, '', 'may not be specified when `value` is not empty')];
  return count > 1 ? [field.invalid(at, '', TOO_MANY_SOURCES)] : [];
}

function importErrors(source: JsonObject, path: string): FieldError[] {
  const count = countOf(source, ['configMapRef', 'secretRef']);
  if (count === 1) return [];
  const why = count === 0 ? 'must specify one of: `configMapRef` or `secretRef`' : TOO_MANY_SOURCES;
  return [field.invalid(withoutIndex(path), '', why)];
}

const PROPAGATIONS = ['Bidirectional', 'HostToContainer', 'None'];
const RECURSIVE = ['Disabled', 'Enabled', 'IfPossible'];

const mountErrors: StructRule = (mount, path) => {
  const list = withoutIndex(path);
  const { subPath, subPathExpr } = mount;
  return [
    ...oneOf(...PROPAGATIONS)(mount['mountPropagation'], `${list}.mountPropagation`, mount),
    ...oneOf(...RECURSIVE)(mount['recursiveReadOnly'], `${list}.recursiveReadOnly`, mount),
    ...(isEmpty(subPathExpr) || isEmpty(subPath)
      ? []
      : [
          field.invalid(`${path}.subPathExpr`, subPathExpr, 'subPathExpr and subPath are mutually exclusive'),
        ]),
  ];
};

const reference: TypeRules = { members: { name: [required(), subdomain] } };
const keyReference: TypeRules = { members: { name: [mustBeSubdomain], key: [required(), isConfigKey] } };

const fieldVersion: StructRule = ({ apiVersion = 'v1', fieldPath }, path) =>
  apiVersion === 'v1' || isEmpty(fieldPath)
    ? []
    : [
        field.invalid(
          `${path}.fieldPath`,
          fieldPath,
          `error converting fieldPath: unsupported pod version: ${field.plainText(apiVersion)}`,
        ),
      ];

const container: TypeRules = {
  members: { terminationMessagePolicy: [oneOf('File', 'FallbackToLogsOnError')] },
  together: [
    graceOf('livenessProbe'),
    graceOf('readinessProbe'),
    onlyOneSuccess('livenessProbe'),
    onlyOneSuccess('startupProbe'),
  ],
};

export const containerRules: RuleTable = {
  'core.v1.Container': container,
  'core.v1.EphemeralContainer': { members: { name: [required()], image: [required()] } },
  'core.v1.ContainerPort': {
    members: { name: [portName], hostPort: [port], protocol: [oneOf('SCTP', 'TCP', 'UDP')] },
  },
  'core.v1.ContainerResizePolicy': { together: [resizeErrors] },
  'core.v1.ResourceClaim': {
    together: [({ name }, path) => (isEmpty(name) ? [field.required(path)] : [])],
  },
  'core.v1.Probe': {
    members: {
      initialDelaySeconds: [notNegative],
      timeoutSeconds: [notNegative],
      periodSeconds: [notNegative],
      successThreshold: [notNegative],
      failureThreshold: [notNegative],
    },
    together: [exactlyOne(['exec', 'httpGet', 'tcpSocket', 'grpc'], TWO_HANDLERS, NO_HANDLER)],
  },
  'core.v1.LifecycleHandler': {
    together: [exactlyOne(['exec', 'httpGet', 'tcpSocket', 'sleep'], TWO_HANDLERS, NO_HANDLER)],
  },
  'core.v1.ExecAction': { members: { command: [required()] } },
  'core.v1.HTTPGetAction': {
    members: { port: [mustBePortOrName], path: [required()], scheme: [oneOf('HTTP', 'HTTPS')] },
  },
  'core.v1.HTTPHeader': {
    together: [
      ({ name = '' }, path) => matching(/^[-A-Za-z0-9]+$/, HEADER_RULE)(name, withoutIndex(path), {}),
    ],
  },
  'core.v1.TCPSocketAction': { members: { port: [mustBePortOrName] } },
  'core.v1.GRPCAction': { members: { port: [mustBePort] } },
  'core.v1.EnvVar': { together: [variableErrors] },
  'core.v1.ObjectFieldSelector': { members: { fieldPath: [required()] }, together: [fieldVersion] },
  'core.v1.ResourceFieldSelector': { members: { resource: [required()] } },
  'core.v1.ConfigMapKeySelector': keyReference,
  'core.v1.SecretKeySelector': keyReference,
  'core.v1.EnvFromSource': { together: [importErrors] },
  'core.v1.ConfigMapEnvSource': reference,
  'core.v1.SecretEnvSource': reference,
  'core.v1.VolumeMount': { together: [mountErrors] },
};
