/**
 * Converts between autoscaling/v1 and v2; v2 is the stored form. Fields that v1 does not have are kept in
 * annotations, so that reading and writing in v1 loses nothing.
 */
import { cpuMetric, DEFAULT_CPU_PERCENT } from './strategies/policy.ts';
import { isObject } from '../types.ts';
import type { JsonObject, KubeObject } from '../types.ts';

const KEEP = 'autoscaling.alpha.kubernetes.io/';

const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});
const listOf = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);

/** The CPU percentage that a metric targets or reports, if it is a CPU metric. */
function cpuPercent(metric: JsonObject, member: 'target' | 'current'): number | undefined {
  const resource = objectOf(metric['resource']);
  const percent = objectOf(resource[member])['averageUtilization'];
  return metric['type'] === 'Resource' && resource['name'] === 'cpu' && typeof percent === 'number'
    ? percent
    : undefined;
}

/** Separates the first CPU metric from a list. */
function split(
  metrics: JsonObject[],
  member: 'target' | 'current',
): { percent?: number; rest: JsonObject[] } {
  const at = metrics.findIndex((metric) => cpuPercent(metric, member) !== undefined);
  const found = metrics[at];
  if (!found) return { rest: metrics };
  return { percent: cpuPercent(found, member) as number, rest: metrics.filter((_, i) => i !== at) };
}

function fromStorage(object: KubeObject): KubeObject {
  const { metrics, behavior, ...spec } = objectOf(object['spec']);
  const { currentMetrics, conditions, ...status } = objectOf(object['status']);
  const wanted = split(listOf(metrics), 'target');
  const seen = split(listOf(currentMetrics), 'current');
  const kept = Object.entries({
    metrics: wanted.rest.length > 0 ? wanted.rest : undefined,
    behavior,
    conditions,
    'current-metrics': seen.rest.length > 0 ? seen.rest : undefined,
  }).filter(([, value]) => value !== undefined);
  const annotations = {
    ...object.metadata.annotations,
    ...Object.fromEntries(kept.map(([name, value]) => [KEEP + name, JSON.stringify(value)])),
  };
  return {
    ...object,
    apiVersion: 'autoscaling/v1',
    metadata: { ...object.metadata, ...(Object.keys(annotations).length > 0 ? { annotations } : {}) },
    spec: {
      ...spec,
      ...(wanted.percent === undefined ? {} : { targetCPUUtilizationPercentage: wanted.percent }),
    },
    status: {
      currentReplicas: 0,
      ...status,
      ...(seen.percent === undefined ? {} : { currentCPUUtilizationPercentage: seen.percent }),
    },
  };
}

function toStorage(object: KubeObject): KubeObject {
  const { targetCPUUtilizationPercentage: wanted, ...spec } = objectOf(object['spec']);
  const { currentCPUUtilizationPercentage: seen, currentReplicas, ...status } = objectOf(object['status']);
  const { annotations = {}, ...metadata } = object.metadata;
  const kept = (name: string): unknown => parsed(annotations[KEEP + name]);
  const others = Object.entries(annotations).filter(([key]) => !key.startsWith(KEEP));
  const rest = listOf(kept('metrics'));
  const target = typeof wanted === 'number' ? wanted : rest.length === 0 ? DEFAULT_CPU_PERCENT : undefined;
  const current =
    typeof seen === 'number'
      ? [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: seen } } }]
      : [];
  const metrics = [...current, ...listOf(kept('current-metrics'))];
  const behavior = kept('behavior');
  const conditions = kept('conditions');
  return {
    ...object,
    apiVersion: 'autoscaling/v2',
    metadata: { ...metadata, ...(others.length > 0 ? { annotations: Object.fromEntries(others) } : {}) },
    spec: {
      ...spec,
      metrics: [...rest, ...(target === undefined ? [] : [cpuMetric(target)])],
      ...(behavior === undefined ? {} : { behavior }),
    },
    status: {
      ...status,
      ...(currentReplicas ? { currentReplicas } : {}),
      ...(conditions === undefined ? {} : { conditions }),
      currentMetrics: metrics.length > 0 ? metrics : null,
    },
  };
}

/** The value of one of our annotations; undefined if it is damaged. */
function parsed(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

export const autoscalerConversion = { fromStorage, toStorage };
