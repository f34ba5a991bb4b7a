/** Pods: defaults, quality of service, and the few mutable fields. */
import * as field from '../../schema/field-errors.ts';
import { goQuote, plainText } from '../../schema/field-errors.ts';
import { forbidden } from '../../status.ts';
import type { Strategy } from '../kinds.ts';
import { equalJson, isObject } from '../../types.ts';
import type { JsonObject, KubeObject } from '../../types.ts';
import { defaultPodSpec, fill, listOf, objectAt, podSpecErrors } from './pod-spec.ts';

const NOT_READY = { effect: 'NoExecute', operator: 'Exists', tolerationSeconds: 300 };
const TOLERATIONS = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];

export const pod: Strategy = {
  defaults(object) {
    const spec = objectAt(object, 'spec');
    defaultPodSpec(spec);
    fill(spec, { enableServiceLinks: true });
    for (const container of listOf(spec, 'containers')) {
      if (spec['hostNetwork'] === true)
        for (const port of listOf(container, 'ports')) fill(port, { hostPort: port['containerPort'] });
      const resources = objectAt(container, 'resources');
      if (!isObject(resources['limits'])) continue;
      fill(objectAt(resources, 'requests'), resources['limits']);
    }
  },
  prepareForCreate(object, context) {
    const spec = objectAt(object, 'spec');
    fill(spec, { serviceAccountName: 'default' });
    const { name } = object.metadata;
    refuse(name, runtimeProblem(spec, context.all('node.k8s.io/runtimeclasses')));
    refuse(name, setPriority(spec, context.all('scheduling.k8s.io/priorityclasses')));
    spec['serviceAccount'] = spec['serviceAccountName'];
    const tolerations = listOf(spec, 'tolerations');
    for (const key of TOLERATIONS)
      if (!tolerations.some((t) => t['key'] === key || t['key'] === undefined))
        tolerations.push({ key, ...NOT_READY });
    spec['tolerations'] = tolerations;
    object['status'] = { phase: 'Pending', ...gateConditions(spec, context.now), qosClass: qosClass(spec) };
  },
  prepareForUpdate(object, old) {
    const status = object['status'] as JsonObject | undefined;
    const before = (old['status'] as JsonObject | undefined)?.['qosClass'];
    if (status && before !== undefined) status['qosClass'] = before;
    const seen = (old['status'] as JsonObject | undefined)?.['observedGeneration'];
    if (status && seen !== undefined) fill(status, { observedGeneration: seen });
  },
  validate: (object) => podSpecErrors(objectAt(object, 'spec'), 'spec'),
  validateUpdate(object, old) {
    const wanted = frozen(object);
    const before = frozen(old);
    if (Number(before['terminationGracePeriodSeconds']) < 0 && wanted['terminationGracePeriodSeconds'] === 1)
      before['terminationGracePeriodSeconds'] = 1;
    return equalJson(wanted, before)
      ? []
      : [
          field.forbidden(
            'spec',
            'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
          ),
        ];
  },
};

/** The immutable part of a pod's spec; a pod may still be bound to a node. */
function frozen(object: KubeObject): JsonObject {
  const { activeDeadlineSeconds: _1, tolerations: _2, nodeName: _3, ...rest } = object['spec'] as JsonObject;
  const withoutImages = (member: string): unknown =>
    listOf(rest, member).map(({ image: _4, ...container }) => container);
  return {
    ...rest,
    containers: withoutImages('containers'),
    initContainers: withoutImages('initContainers'),
  };
}

/** The classes that every cluster has. */
const SYSTEM_PRIORITIES: ReadonlyMap<unknown, number> = new Map([
  ['system-cluster-critical', 2_000_000_000],
  ['system-node-critical', 2_000_001_000],
]);

/** @throws ApiError 403 for what the admission of pods refuses */
function refuse(name: string, problem: string | undefined): void {
  if (problem !== undefined) throw forbidden({ group: '', plural: 'pods', kind: 'Pod' }, name, problem);
}

/** Sets the overhead of the class. Returns why the pod cannot use it. */
function runtimeProblem(spec: JsonObject, classes: Iterable<KubeObject>): string | undefined {
  const { runtimeClassName: name, overhead } = spec;
  const found = [...classes].find(({ metadata }) => metadata.name === name);
  if (typeof name === 'string' && name !== '' && !found)
    return `pod rejected: RuntimeClass ${goQuote(name)} not found`;
  const fixed = found && isObject(found['overhead']) ? found['overhead']['podFixed'] : undefined;
  if (overhead !== undefined && fixed === undefined)
    return 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead';
  return undefined;
}

/** Sets the priority of the named class, or of the default one. Returns why the pod cannot have it. */
function setPriority(spec: JsonObject, classes: Iterable<KubeObject>): string | undefined {
  const name = spec['priorityClassName'];
  const found = [...classes].find(({ metadata, globalDefault }) =>
    name === undefined ? globalDefault === true : metadata.name === name,
  );
  if (name === undefined && found) spec['priorityClassName'] = found.metadata.name;
  if (name !== undefined && !found && !SYSTEM_PRIORITIES.has(name))
    return `no PriorityClass with name ${plainText(name)} was found`;
  const wanted = {
    priority: found?.['value'] ?? SYSTEM_PRIORITIES.get(name) ?? 0,
    preemptionPolicy: found?.['preemptionPolicy'] ?? 'PreemptLowerPriority',
  };
  const { priority = wanted.priority, preemptionPolicy = wanted.preemptionPolicy } = spec;
  const computed = 'priority admission controller computed';
  if (priority !== wanted.priority)
    return `the integer value of priority (${plainText(priority)}) must not be provided in pod spec; ${computed} ${plainText(wanted.priority)} from the given PriorityClass name`;
  if (preemptionPolicy !== wanted.preemptionPolicy)
    return `the string value of PreemptionPolicy (${plainText(preemptionPolicy)}) must not be provided in pod spec; ${computed} ${plainText(wanted.preemptionPolicy)} from the given PriorityClass name`;
  Object.assign(spec, wanted);
  return undefined;
}

function gateConditions(spec: JsonObject, now: string): JsonObject {
  if (listOf(spec, 'schedulingGates').length === 0) return {};
  const reason = 'SchedulingGated';
  const message = 'Scheduling is blocked due to non-empty scheduling gates';
  return {
    conditions: [
      {
        type: 'PodScheduled',
        status: 'False',
        lastProbeTime: null,
        lastTransitionTime: now,
        reason,
        message,
      },
    ],
  };
}

function qosClass(spec: JsonObject): string {
  const all = isObject(spec['resources'])
    ? [spec]
    : [...listOf(spec, 'containers'), ...listOf(spec, 'initContainers')];
  const parts = all.map((container) => {
    const resources = isObject(container['resources']) ? container['resources'] : {};
    const requests = isObject(resources['requests']) ? resources['requests'] : {};
    const limits = isObject(resources['limits']) ? resources['limits'] : {};
    return { requests, limits };
  });
  if (parts.every(({ requests, limits }) => Object.keys(requests).length + Object.keys(limits).length === 0))
    return 'BestEffort';
  const isGuaranteed = parts.every(({ requests, limits }) =>
    ['cpu', 'memory'].every((name) => limits[name] !== undefined && requests[name] === limits[name]),
  );
  return isGuaranteed ? 'Guaranteed' : 'Burstable';
}
