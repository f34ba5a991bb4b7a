/** Waits until objects are ready, completed or deleted. Objects are read every two seconds, as Helm does. */
import { sleep } from '../../../src/lib/clock.ts';
import { ApiError, NotFound } from '../../../src/runtime/errors.ts';
import { append } from '../../../src/lib/lists.ts';
import { isObject, ownField, table } from '../../../src/lib/objects.ts';
import type { Kind, Obj } from '../../../src/runtime/types.ts';
import { groupOf, type KubeObject } from '../../objects/manifests/model.ts';
import { inParallel } from '../../objects/manifests/parallel.ts';
import { podProblem } from '../../objects/readiness/pods.ts';
import { HookFailed, HooksFailed, ReleaseError, said, WaitExpired, type ReleaseTarget } from './cluster.ts';
import {
  fieldAt,
  isClaimReady,
  isCrdReady,
  isDaemonSetReady,
  isDeploymentReady,
  isJobReady,
  isObserved,
  isPodReady,
  isServiceReady,
  isStatefulSetReady,
} from './readiness.ts';
import { readLive, type Resource } from './resources.ts';

const INTERVAL_MS = 2000;
/** How often reading one object may fail. */
const MAX_FAILURES = 30;

/**
 * Repeats a check until it holds.
 * @param timeoutMs time for all attempts
 * @throws ReleaseError with `message` when the time is over
 */
async function poll(
  check: () => Promise<boolean>,
  timeoutMs: number,
  { clock, signal }: ReleaseTarget,
  message: string,
): Promise<void> {
  const end = clock.now() + timeoutMs;
  for (;;) {
    if (await check()) return;
    const left = end - clock.now();
    await sleep(clock, Math.min(INTERVAL_MS, Math.max(0, left)), signal);
    if (left <= INTERVAL_MS) throw new WaitExpired(message);
  }
}

const EXPIRED = 'context deadline exceeded';

/** Waits until all objects are ready. @throws ReleaseError */
export async function waitUntilReady(
  resources: readonly Resource[],
  timeoutMs: number,
  target: ReleaseTarget,
  { waitsForJobs = false }: { readonly waitsForJobs?: boolean } = {},
): Promise<void> {
  const failures = new Map<Resource, number>();
  const isReady = async (resource: Resource): Promise<boolean> => {
    try {
      const ready = await readiness(resource, waitsForJobs, target);
      failures.delete(resource);
      return ready;
    } catch (error) {
      target.signal.throwIfAborted();
      const count = (failures.get(resource) ?? 0) + 1;
      failures.set(resource, count);
      if (count > MAX_FAILURES || !isRetryable(error)) throw new ReleaseError(said(error), { cause: error });
      return false;
    }
  };
  const check = async (): Promise<boolean> => {
    for (const resource of resources) if (!(await isReady(resource))) return false;
    return true;
  };
  await poll(check, timeoutMs, target, EXPIRED);
}

const isRetryable = (error: unknown): boolean =>
  !(error instanceof ApiError) || error.status === 429 || (error.status >= 500 && error.status !== 501);

type Check = (live: Obj, target: ReleaseTarget) => boolean | Promise<boolean>;

const listIn = async (
  kind: Kind<Obj>,
  namespace: string,
  { access, signal }: ReleaseTarget,
  labels = '',
): Promise<readonly Obj[]> => {
  const found: Obj[] = [];
  for await (const page of access.client.list(kind, { namespace, labels }, signal))
    append(found, page.items as Obj[]);
  return found;
};

const deploymentCheck: Check = async (live, target) => {
  if (fieldAt(live, 'spec', 'paused') === true) return true;
  const kind = await target.access.kindOf('apps/v1', 'ReplicaSet', target.signal);
  return isDeploymentReady(live, await listIn(kind, live.metadata.namespace ?? '', target));
};

/** A replica set is ready if its pods are. */
const podsCheck: Check = async (live, target) => {
  if (!isObserved(live)) return false;
  const kind = await target.access.kindOf('v1', 'Pod', target.signal);
  const selector = fieldAt(live, 'spec', 'selector');
  const matching =
    ownField(selector, 'matchLabels') ?? (live.kind === 'ReplicationController' ? selector : {});
  const labels = Object.entries(isObject(matching) ? matching : {}).map(([k, v]) => `${k}=${String(v)}`);
  const pods = await listIn(kind, live.metadata.namespace ?? '', target, labels.join(','));
  return pods.every(isPodReady);
};

const CHECKS: Readonly<Record<string, Check>> = table({
  '/Pod': isPodReady,
  '/PersistentVolumeClaim': isClaimReady,
  '/Service': isServiceReady,
  '/ReplicationController': podsCheck,
  'apps/Deployment': deploymentCheck,
  'apps/ReplicaSet': podsCheck,
  'apps/DaemonSet': isDaemonSetReady,
  'apps/StatefulSet': isStatefulSetReady,
  'extensions/Deployment': deploymentCheck,
  'extensions/ReplicaSet': podsCheck,
  'extensions/DaemonSet': isDaemonSetReady,
  'apiextensions.k8s.io/CustomResourceDefinition': isCrdReady,
});

async function readiness(resource: Resource, waitsForJobs: boolean, target: ReleaseTarget): Promise<boolean> {
  const { apiVersion, kind } = resource.object;
  const name = `${groupOf(apiVersion)}/${kind}`;
  const check: Check | undefined = name === 'batch/Job' && waitsForJobs ? isJobReady : CHECKS[name];
  if (!check) return true;
  return check(await target.access.client.get(resource.kind, resource.key, target.signal), target);
}

/** Waits until the objects do not exist any more. @throws ReleaseError */
export const waitUntilDeleted = (
  resources: readonly Resource[],
  timeoutMs: number,
  target: ReleaseTarget,
): Promise<void> => {
  const check = async (): Promise<boolean> => {
    for (const resource of resources) if (await readLive(resource, target)) return false;
    return true;
  };
  return poll(check, timeoutMs, target, EXPIRED);
};

/** Waits until jobs and pods of a hook have completed. @throws ReleaseError if one fails */
export async function waitUntilCompleted(
  resources: readonly Resource[],
  timeoutMs: number,
  target: ReleaseTarget,
): Promise<void> {
  const failures = await inParallel(resources, async (resource) => {
    const isDone = { Job: isJobDone, Pod: isPodDone }[resource.kind.kind];
    if (!isDone) return [];
    let live: Obj | undefined;
    try {
      const check = async (): Promise<boolean> => isDone((live = await liveOrGone(resource, target)));
      await poll(check, timeoutMs, target, 'timed out waiting for the condition');
      return [];
    } catch (error) {
      target.signal.throwIfAborted();
      const withLog = error instanceof HookFailed;
      const pods = live && (await podProblem(live as KubeObject, { ...target, withLog }));
      return [{ error, pods: pods === undefined ? [] : [pods] }];
    }
  });
  const failed = failures.flat();
  if (failed.length === 0) return;
  throw new HooksFailed(
    failed.map(({ error }) => error),
    failed.flatMap(({ pods }) => pods),
  );
}

async function liveOrGone(
  { kind, key }: Resource,
  { access, signal }: ReleaseTarget,
): Promise<Obj | undefined> {
  try {
    return await access.client.get(kind, key, signal);
  } catch (error) {
    if (error instanceof NotFound) return undefined;
    throw error;
  }
}

/** A job that was deleted counts as completed. */
function isJobDone(job: Obj | undefined): boolean {
  const conditions = fieldAt(job, 'status', 'conditions');
  for (const condition of (Array.isArray(conditions) ? conditions : []) as unknown[]) {
    if (ownField(condition, 'status') !== 'True') continue;
    if (ownField(condition, 'type') === 'Complete') return true;
    if (ownField(condition, 'type') !== 'Failed') continue;
    const reason = ownField(condition, 'reason');
    const why = typeof reason === 'string' ? reason : '';
    throw new HookFailed(`job ${job?.metadata.name ?? ''} failed: ${why}`);
  }
  return job === undefined;
}

function isPodDone(pod: Obj | undefined): boolean {
  const phase = fieldAt(pod, 'status', 'phase');
  if (phase === 'Failed') throw new HookFailed(`pod ${pod?.metadata.name ?? ''} failed`);
  return pod === undefined || phase === 'Succeeded';
}
