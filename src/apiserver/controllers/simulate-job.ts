/** Jobs: pods until enough have succeeded or too many have failed. */
import { isObject, textOf } from '../types.ts';
import type { JsonObject, KubeObject } from '../types.ts';
import { numberIn, specOf, statusOf, templateOf, withConditions } from './simulator.ts';
import type { Simulator, Workbench } from './simulator.ts';

const PODS = '/pods';
const TRACKING = 'batch.kubernetes.io/job-tracking';

const phaseOf = (pod: KubeObject): string => textOf(statusOf(pod)['phase']) || 'Pending';

export const simulateJob: Simulator = async (bench, live) => {
  if (live.metadata.deletionTimestamp !== undefined) return release(bench, live);
  if (isFinished(live)) return release(bench, live);
  const spec = specOf(live);
  if (spec['suspend'] === true) return undefined;
  const wanted = numberIn(spec, 'completions', 1);
  const backoffLimit = numberIn(spec, 'backoffLimit', 6);
  const pods = bench.controlled(live, PODS);
  const count = (phase: string): number => pods.filter((pod) => phaseOf(pod) === phase).length;
  const [succeeded, failed] = [count('Succeeded'), count('Failed')];
  const active = pods.length - succeeded - failed;
  const isFailed = failed > backoffLimit;
  const isDone = succeeded >= wanted;
  const room = Math.min(numberIn(spec, 'parallelism', 1), wanted - succeeded) - active;
  if (!isDone && !isFailed && room > 0)
    for (let i = 0; i < room; i++)
      await bench.create(live, PODS, bench.podFrom(live, templateOf(live), { finalizers: [TRACKING] }));
  const running = Math.max(0, active + (isDone || isFailed ? 0 : Math.max(0, room)));
  await bench.setStatus(
    'batch/jobs',
    live,
    status(bench, live, { running, succeeded, failed, isDone, isFailed }),
  );
  return undefined;
};

const isFinished = (live: KubeObject): boolean =>
  ((statusOf(live)['conditions'] ?? []) as JsonObject[]).some(
    (c) => (c['type'] === 'Complete' || c['type'] === 'Failed') && c['status'] === 'True',
  );

/** Pods of a finished job are no longer counted. */
async function release(bench: Workbench, live: KubeObject): Promise<undefined> {
  for (const pod of bench.controlled(live, PODS)) {
    if (!pod.metadata.finalizers?.includes(TRACKING)) continue;
    const kept = pod.metadata.finalizers.filter((f) => f !== TRACKING);
    await bench.manager.mergePatch(bench.kind(PODS), pod, {
      metadata: { finalizers: kept.length === 0 ? null : kept },
    });
  }
  return undefined;
}

function status(
  bench: Workbench,
  live: KubeObject,
  counts: { running: number; succeeded: number; failed: number; isDone: boolean; isFailed: boolean },
): JsonObject {
  const old = statusOf(live);
  const { now } = bench;
  const nonZero = (member: string, value: number): JsonObject => (value === 0 ? {} : { [member]: value });
  const condition = (type: string, reason: string, message: string): JsonObject => ({
    type,
    status: 'True',
    reason,
    message,
    lastProbeTime: now,
  });
  const reached = 'Reached expected number of succeeded pods';
  const exceeded = 'Job has reached the specified backoff limit';
  const wanted = counts.isDone
    ? [
        condition('SuccessCriteriaMet', 'CompletionsReached', reached),
        condition('Complete', 'CompletionsReached', reached),
      ]
    : counts.isFailed
      ? [
          condition('FailureTarget', 'BackoffLimitExceeded', exceeded),
          condition('Failed', 'BackoffLimitExceeded', exceeded),
        ]
      : [];
  const conditions = withConditions(old['conditions'], wanted, now);
  return {
    ...(conditions.length === 0 ? {} : { conditions }),
    startTime: old['startTime'] ?? now,
    ...(counts.isDone ? { completionTime: old['completionTime'] ?? now } : {}),
    ...nonZero('active', counts.isDone || counts.isFailed ? 0 : counts.running),
    ...nonZero('succeeded', counts.succeeded),
    ...nonZero('failed', counts.failed),
    ready: 0,
    terminating: 0,
    uncountedTerminatedPods: isObject(old['uncountedTerminatedPods']) ? old['uncountedTerminatedPods'] : {},
  };
}
