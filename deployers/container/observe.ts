/**
 * One reconcile of a run. The state of the pod is stored before the deployer acts on it, so that a deployer that
 * crashes in between sees the same result again. The name of the pod is fixed for a run: the pod is created once. A
 * deleted pod is not recreated in the same job, since it is unknown what it has done.
 */
import { goJson } from '../../src/lib/gojson.ts';
import { maskOf, type Mask } from '../../src/lib/masking.ts';
import { textsHere, TextsTooLarge, TextUnreadable } from '../../src/lib/yaml-texts.ts';
import { getIfThere } from '../../src/runtime/transport/read.ts';
import { InternalError, TimeoutError } from '../sdk/errors.ts';
import { done, fail, wait, type Outcome } from '../sdk/outcome.ts';
import { ensureTokens } from './accounts.ts';
import { isSame, isUnmarkedExport } from './reserve-names.ts';
import { removeEverything } from './cleanup.ts';
import { CONTAINER_GROUP, FORCE_CLEANUP, keys, type Operation } from './contract.ts';
import { assertOurs, deletePod } from './host-objects.ts';
import { POD, SECRET, type Pod } from './kinds.ts';
import { inNamespace, moveIn } from './namespace-move.ts';
import { itemOf, namesOf } from './names.ts';
import { PREFIX, runKey, type ContainerOptions, type ContainerContext } from './options.ts';
import {
  conditionsOf,
  podStatusOf,
  pullCausesIn,
  runStateOf,
  statusOf,
  failureIn,
  podDisappeared,
  type PodStatus,
  type ProviderStatus,
} from './pod-status.ts';
import { deleteOldPods, configure, placeOf, pruneState, startPod, type Key } from './prepare.ts';

type Answer = Promise<Outcome<ProviderStatus>>;

/** Polling interval, in case an event of the pod is lost. */
const POLL_INTERVAL_MS = 30_000;
/** Polling interval while an old pod has not ended; its end is an event, too. */
const OLD_POD_INTERVAL_MS = 5_000;

export const apply = (ctx: ContainerContext, options: ContainerOptions): Answer =>
  carryOut(ctx, options, 'RECONCILE');

export async function remove(ctx: ContainerContext, options: ContainerOptions): Answer {
  const isForced = ctx.item.metadata.annotations?.[FORCE_CLEANUP] !== undefined;
  if (!isForced && ctx.previous) return carryOut(ctx, options, 'DELETE');
  ctx.assertTimeLeft(`${PREFIX}: start delete`);
  const { namespace } = ctx.previous ?? {};
  for (const each of new Set([options, inNamespace(options, namespace)])) {
    await removeEverything(placeOf(each), ctx.item, ctx.signal);
  }
  return done();
}

async function carryOut(ctx: ContainerContext, configured: ContainerOptions, operation: Operation): Answer {
  const key = runKey(ctx, operation);
  const before = ctx.previous?.podStatus;
  // A run continues in the namespace where it started.
  const options = inNamespace(configured, before?.podName === key.pod ? ctx.previous?.namespace : undefined);
  const pod = await getIfThere(options.client, POD, `${options.settings.namespace}/${key.pod}`, ctx.signal);
  if (pod) assertOurs(POD, pod, key.item);
  const leftMs = await timeLeft(ctx, operation, pod, options);
  // A job that becomes a deletion, or whose item was changed, must run the image again.
  if (before?.lastSuccessfulJobID === key.jobID && before.podName === key.pod)
    return succeeded(ctx, key, options, before, pod);
  if (pod) return evaluate(ctx, key, options, pod, leftMs);
  if (before?.podName !== key.pod) return begin(ctx, key, options, leftMs);
  const problem = failureIn(before, true)?.problem ?? podDisappeared(key.pod);
  return fail(problem, { conditions: conditionsOf(before) });
}

/** After the timeout of a job, its pod is deleted. @throws TimeoutError */
async function timeLeft(
  ctx: ContainerContext,
  operation: Operation,
  pod: Pod | undefined,
  options: ContainerOptions,
): Promise<number> {
  try {
    return ctx.assertTimeLeft(`${PREFIX}: start ${operation === 'DELETE' ? 'delete' : 'reconcile'}`);
  } catch (error) {
    if (error instanceof TimeoutError && pod) await deletePod(placeOf(options), pod, ctx.signal);
    throw error;
  }
}

const phaseOf = (operation: Operation): { readonly phase?: string } =>
  operation === 'DELETE' ? { phase: 'Deleting' } : {};

async function begin(ctx: ContainerContext, key: Key, options: ContainerOptions, leftMs: number): Answer {
  const before = ctx.previous?.podStatus;
  await configure(ctx, key, options);
  const runningPod = await moveIn(ctx, key, options);
  // From here on, objects may exist that have to be deleted.
  if (runningPod === undefined) await ctx.begin(statusOf(key.operation, options.settings.namespace, before));
  const oldPod = runningPod ?? (await deleteOldPods(ctx, key, options));
  if (oldPod !== undefined) {
    const message = `pod ${oldPod} of an earlier run has not ended yet`;
    const why = { operation: 'CreatePod', reason: 'PodInTheWay', message };
    return wait({ ...phaseOf(key.operation), why, requeueAfterMs: OLD_POD_INTERVAL_MS });
  }
  const pod = (await startPod(ctx, key, options, leftMs)) as Pod;
  return evaluate(ctx, key, options, pod, leftMs);
}

async function evaluate(
  ctx: ContainerContext,
  key: Key,
  options: ContainerOptions,
  pod: Pod,
  leftMs: number,
): Answer {
  const last = ctx.previous?.podStatus?.lastSuccessfulJobID;
  const podStatus = podStatusOf(pod, last === key.jobID ? undefined : last, maskFor(ctx));
  const status = statusOf(key.operation, options.settings.namespace, podStatus);
  const conditions = conditionsOf(podStatus);
  const runState = runStateOf(pod, podStatus, rememberedCauses(ctx, podStatus));
  switch (runState.is) {
    case 'running': {
      const owner = {
        item: key.item,
        namespace: options.settings.namespace,
        deployerId: options.deployerId ?? CONTAINER_GROUP,
      };
      await ensureTokens(ctx, placeOf(options), owner, leftMs);
      return wait({
        ...phaseOf(key.operation),
        status,
        conditions,
        why: runState.why,
        requeueAfterMs: POLL_INTERVAL_MS,
      });
    }
    case 'failed':
      // A pod that is being deleted would otherwise stay until the next job, and the drain of its node would wait for it.
      if (runState.isStuck || pod.metadata.deletionTimestamp !== undefined) {
        await ctx.begin(status);
        await deletePod(placeOf(options), pod, ctx.signal);
      }
      await pruneState(placeOf(options), key, ctx.signal);
      return fail(runState.problem, { status, conditions });
    case 'succeeded': {
      const ended = { ...podStatus, lastSuccessfulJobID: key.jobID };
      await ctx.begin(statusOf(key.operation, options.settings.namespace, ended));
      return succeeded(ctx, key, options, ended, pod);
    }
  }
}

const CAUSES = 'pullCauses';

/** Some kubelets report why an image cannot be pulled only for a few seconds after each attempt. */
function rememberedCauses(
  { scratch }: ContainerContext,
  status: PodStatus,
): Readonly<Record<string, string>> {
  const before = scratch.get(CAUSES) as Readonly<Record<string, string>> | undefined;
  const causes = { ...before, ...pullCausesIn(status) };
  scratch.set(CAUSES, causes);
  return causes;
}

/** @param ended as it is stored */
async function succeeded(
  ctx: ContainerContext,
  key: Key,
  options: ContainerOptions,
  ended: PodStatus,
  pod: Pod | undefined,
): Answer {
  const place = placeOf(options);
  if (key.operation === 'DELETE') {
    await removeEverything(place, ctx.item, ctx.signal);
    return done();
  }
  await pruneState(place, key, ctx.signal);
  const exported = await exportedBy(ctx, key, options);
  if (pod && !options.settings.keepsEndedPods) await deletePod(place, pod, ctx.signal);
  return done({
    status: statusOf(key.operation, options.settings.namespace, ended),
    conditions: conditionsOf(ended),
    ...(exported && { exports: { value: exported.value, isControlled: true } }),
  });
}

/** The export that the wait container stored in the deployer's namespace; undefined if the image exports nothing. */
async function exportedBy(
  ctx: ContainerContext,
  { item }: Key,
  { client, settings, textsOf }: ContainerOptions,
): Promise<{ readonly value: unknown } | undefined> {
  const name = namesOf(item).export;
  const secret = await getIfThere(client, SECRET, `${settings.namespace}/${name}`, ctx.signal);
  const owner = secret && itemOf(secret);
  // Includes exports of pods that upstream started; they have no labels.
  const isOurs = secret && (owner ? isSame(owner, item) : isUnmarkedExport(secret));
  const text = isOurs ? secret.data?.[keys.data] : undefined;
  if (text === undefined) return undefined;
  try {
    const job = { texts: [[keys.data, decoded(text)]], integers: 'exact' } as const;
    const [read] = await (textsOf?.(item.namespace) ?? textsHere).readTexts(job);
    return { value: read?.value };
  } catch (cause) {
    const isUnreadable = cause instanceof TextUnreadable;
    if (!isUnreadable && !(cause instanceof TextsTooLarge)) throw cause;
    const why = isUnreadable ? 'is not valid JSON or YAML' : `is too large: ${cause.message}`;
    const message = `the export in secret ${settings.namespace}/${name} ${why}`;
    throw new InternalError({ operation: 'ReadExport', reason: 'ReadExport', message, cause });
  }
}

const decoded = (base64: string): string => Buffer.from(base64, 'base64').toString('utf8');

/** The end of an image's output may contain any of its inputs. */
const maskFor = ({ target, config }: ContainerContext): Mask =>
  maskOf([target?.content ?? '', goJson(config.importValues ?? {})]);
