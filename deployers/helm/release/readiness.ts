/** When objects count as ready, by Helm's rules. Pure: related objects are given. */
import { equal } from '../../../src/lib/json.ts';
import { isObject, ownField } from '../../../src/lib/objects.ts';

/** A value at a path of fields. */
export const fieldAt = (object: unknown, ...path: readonly string[]): unknown =>
  path.reduce((value, key) => ownField(value, key), object);

const numberAt = (object: unknown, fallback: number, ...path: readonly string[]): number => {
  const value = fieldAt(object, ...path);
  return typeof value === 'number' ? value : fallback;
};

const isTrue = (object: unknown, ...types: readonly string[]): boolean => {
  const conditions = fieldAt(object, 'status', 'conditions');
  return (Array.isArray(conditions) ? conditions : []).some(
    (each: unknown) => types.includes(String(ownField(each, 'type'))) && ownField(each, 'status') === 'True',
  );
};

/** Whether the controller has seen the last change. */
export const isObserved = (object: unknown): boolean =>
  numberAt(object, 0, 'status', 'observedGeneration') === numberAt(object, 0, 'metadata', 'generation');

export const isPodReady = (pod: unknown): boolean => isTrue(pod, 'Ready');

/** @throws Error if the job has failed */
export function isJobReady(job: unknown): boolean {
  const failed = numberAt(job, 0, 'status', 'failed');
  if (failed > numberAt(job, 6, 'spec', 'backoffLimit')) {
    const { namespace = '', name = '' } = fieldAt(job, 'metadata') as { namespace?: string; name?: string };
    throw new Error(`job is failed: ${namespace}/${name}`);
  }
  const completions = fieldAt(job, 'spec', 'completions');
  return typeof completions !== 'number' || numberAt(job, 0, 'status', 'succeeded') >= completions;
}

export function isServiceReady(service: unknown): boolean {
  const type = fieldAt(service, 'spec', 'type');
  if (type === 'ExternalName') return true;
  if (!fieldAt(service, 'spec', 'clusterIP')) return false;
  if (type !== 'LoadBalancer') return true;
  const external = fieldAt(service, 'spec', 'externalIPs');
  if (Array.isArray(external) && external.length > 0) return true;
  return Array.isArray(fieldAt(service, 'status', 'loadBalancer', 'ingress'));
}

export const isClaimReady = (claim: unknown): boolean => fieldAt(claim, 'status', 'phase') === 'Bound';

/** A conflict of names counts as ready, because waiting would not resolve it. */
export const isCrdReady = (crd: unknown): boolean => {
  const conditions = fieldAt(crd, 'status', 'conditions');
  const isRejected = (Array.isArray(conditions) ? conditions : []).some(
    (each: unknown) => ownField(each, 'type') === 'NamesAccepted' && ownField(each, 'status') === 'False',
  );
  return isRejected || isTrue(crd, 'Established');
};

export function isDaemonSetReady(set: unknown): boolean {
  if (!isObserved(set)) return false;
  if (fieldAt(set, 'spec', 'updateStrategy', 'type') !== 'RollingUpdate') return true;
  const desired = numberAt(set, 0, 'status', 'desiredNumberScheduled');
  if (numberAt(set, 0, 'status', 'updatedNumberScheduled') !== desired) return false;
  const allowed = fieldAt(set, 'spec', 'updateStrategy', 'rollingUpdate', 'maxUnavailable');
  return numberAt(set, 0, 'status', 'numberReady') >= desired - (scaled(allowed, desired, 'up') ?? desired);
}

export function isStatefulSetReady(set: unknown): boolean {
  if (!isObserved(set)) return false;
  if (fieldAt(set, 'spec', 'updateStrategy', 'type') !== 'RollingUpdate') return true;
  const partition = numberAt(set, 0, 'spec', 'updateStrategy', 'rollingUpdate', 'partition');
  const replicas = numberAt(set, 1, 'spec', 'replicas');
  if (numberAt(set, 0, 'status', 'updatedReplicas') < replicas - partition) return false;
  if (numberAt(set, 0, 'status', 'readyReplicas') !== replicas) return false;
  const [current, next] = ['currentRevision', 'updateRevision'].map((key) => fieldAt(set, 'status', key));
  return partition !== 0 || current === next;
}

/** @param replicaSets all in the namespace */
export function isDeploymentReady(deployment: unknown, replicaSets: readonly unknown[]): boolean {
  if (fieldAt(deployment, 'spec', 'paused') === true) return true;
  const uid = fieldAt(deployment, 'metadata', 'uid');
  const template = withoutHash(fieldAt(deployment, 'spec', 'template'));
  const newest = replicaSets.find(
    (set) => ownerOf(set) === uid && equal(withoutHash(fieldAt(set, 'spec', 'template')), template),
  );
  if (!newest || !isObserved(newest) || !isObserved(deployment)) return false;
  const replicas = numberAt(deployment, 1, 'spec', 'replicas');
  return numberAt(newest, 0, 'status', 'readyReplicas') >= replicas - unavailable(deployment, replicas);
}

const ownerOf = (object: unknown): unknown => {
  const owners = fieldAt(object, 'metadata', 'ownerReferences');
  const owner = (Array.isArray(owners) ? owners : []).find(
    (each: unknown) => ownField(each, 'controller') === true,
  ) as unknown;
  return ownField(owner, 'uid');
};

function withoutHash(template: unknown): unknown {
  if (!isObject(template) || !isObject(template['metadata'])) return template;
  const { labels, ...metadata } = template['metadata'];
  const kept = Object.entries(isObject(labels) ? labels : {}).filter(([key]) => key !== 'pod-template-hash');
  return { ...template, metadata: { ...metadata, labels: Object.fromEntries(kept) } };
}

/** How many pods of a deployment may be unavailable during an update. */
function unavailable(deployment: unknown, replicas: number): number {
  const strategy = fieldAt(deployment, 'spec', 'strategy');
  if (ownField(strategy, 'type') !== 'RollingUpdate' || replicas === 0) return 0;
  const surge = scaled(fieldAt(strategy, 'rollingUpdate', 'maxSurge'), replicas, 'up') ?? 0;
  const most = scaled(fieldAt(strategy, 'rollingUpdate', 'maxUnavailable'), replicas, 'down') ?? 0;
  return Math.min(surge === 0 && most === 0 ? 1 : most, replicas);
}

/** A number, or a percentage of `total`; undefined if it is neither. */
function scaled(value: unknown, total: number, round: 'up' | 'down'): number | undefined {
  if (typeof value === 'number') return value;
  const percent = typeof value === 'string' ? /^(\d+)%$/.exec(value)?.[1] : undefined;
  if (percent === undefined) return undefined;
  const exact = (Number(percent) * total) / 100;
  return round === 'up' ? Math.ceil(exact) : Math.floor(exact);
}
