/**
 * One look at a run of an image. What is seen of the pod is stored before anything is done about it, so a deployer that
 * dies in between finds the same answer again. The pod of a run has a name of its own: it is created once, whatever
 * happens, and one that is gone is never replaced within its job, since nobody knows what it has done.
 */
import { goJson } from '../../src/lib/gojson.ts';
import { maskOf, type Mask } from '../../src/lib/masking.ts';
import { parseYaml } from '../../src/lib/yaml.ts';
import { getIfThere } from '../../src/runtime/transport/read.ts';
import { InternalError, TimeoutError } from '../sdk/errors.ts';
import { done, fail, wait, type Outcome } from '../sdk/outcome.ts';
import { ensureTokens } from './accounts.ts';
import { isSame, isUnmarkedExport } from './reserve-names.ts';
import { removeEverything } from './cleanup.ts';
import { CONTAINER_GROUP, FORCE_CLEANUP, keys, type Operation } from './contract.ts';
import { assertMarked, dropPod } from './hosted.ts';
import { POD, SECRET, type Pod } from './kinds.ts';
import { inNamespace, moveIn } from './move.ts';
import { itemOf, namesOf } from './names.ts';
import { PREFIX, runKey, type ContainerOptions, type ContainerContext } from './options.ts';
import {
  conditionsOf,
  podStatusOf,
  standOf,
  statusOf,
  troubleIn,
  vanished,
  type PodStatus,
  type ProviderStatus,
} from './pod-status.ts';
import { clearTheWay, configure, placeOf, prunedState, startPod, type Key } from './prepare.ts';

type Answer = Promise<Outcome<ProviderStatus>>;

/** Should an event of the pod get lost. */
const UNASKED_MS = 30_000;
/** Until a pod in the way is looked after again; its end is an event. */
const IN_THE_WAY_MS = 5_000;

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
  // A run that has begun ends where it is.
  const options = inNamespace(configured, before?.podName === key.pod ? ctx.previous?.namespace : undefined);
  const pod = await getIfThere(options.client, POD, `${options.settings.namespace}/${key.pod}`, ctx.signal);
  if (pod) assertMarked(POD, pod, key.item);
  const leftMs = await timeLeft(ctx, operation, pod, options);
  // A job that is turned into a deletion, or whose item was changed, has to run the image again.
  if (before?.lastSuccessfulJobID === key.jobID && before.podName === key.pod)
    return succeeded(ctx, key, options, before, pod);
  if (pod) return judge(ctx, key, options, pod, leftMs);
  if (before?.podName !== key.pod) return begin(ctx, key, options, leftMs);
  const problem = troubleIn(before, true)?.problem ?? vanished(key.pod);
  return fail(problem, { conditions: conditionsOf(before) });
}

/** A job whose time is over takes its pod along. @throws TimeoutError */
async function timeLeft(
  ctx: ContainerContext,
  operation: Operation,
  pod: Pod | undefined,
  options: ContainerOptions,
): Promise<number> {
  try {
    return ctx.assertTimeLeft(`${PREFIX}: start ${operation === 'DELETE' ? 'delete' : 'reconcile'}`);
  } catch (error) {
    if (error instanceof TimeoutError && pod) await dropPod(placeOf(options), pod, ctx.signal);
    throw error;
  }
}

const phaseOf = (operation: Operation): { readonly phase?: string } =>
  operation === 'DELETE' ? { phase: 'Deleting' } : {};

async function begin(ctx: ContainerContext, key: Key, options: ContainerOptions, leftMs: number): Answer {
  const before = ctx.previous?.podStatus;
  await configure(ctx, key, options);
  const stillThere = await moveIn(ctx, key, options);
  // From here on there may be something to take back.
  if (stillThere === undefined) await ctx.begin(statusOf(key.operation, options.settings.namespace, before));
  const inTheWay = stillThere ?? (await clearTheWay(ctx, key, options));
  if (inTheWay !== undefined) {
    const message = `pod ${inTheWay} of an earlier run has not ended yet`;
    const why = { operation: 'CreatePod', reason: 'PodInTheWay', message };
    return wait({ ...phaseOf(key.operation), why, requeueAfterMs: IN_THE_WAY_MS });
  }
  const pod = (await startPod(ctx, key, options, leftMs)) as Pod;
  return judge(ctx, key, options, pod, leftMs);
}

async function judge(
  ctx: ContainerContext,
  key: Key,
  options: ContainerOptions,
  pod: Pod,
  leftMs: number,
): Answer {
  const last = ctx.previous?.podStatus?.lastSuccessfulJobID;
  const seen = podStatusOf(pod, last === key.jobID ? undefined : last, maskFor(ctx));
  const status = statusOf(key.operation, options.settings.namespace, seen);
  const conditions = conditionsOf(seen);
  const stand = standOf(pod, seen);
  switch (stand.is) {
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
        why: stand.why,
        requeueAfterMs: UNASKED_MS,
      });
    }
    case 'failed':
      if (stand.isStuck) {
        await ctx.begin(status);
        await dropPod(placeOf(options), pod, ctx.signal);
      }
      await prunedState(placeOf(options), key, ctx.signal);
      return fail(stand.problem, { status, conditions });
    case 'succeeded': {
      const ended = { ...seen, lastSuccessfulJobID: key.jobID };
      await ctx.begin(statusOf(key.operation, options.settings.namespace, ended));
      return succeeded(ctx, key, options, ended, pod);
    }
  }
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
  await prunedState(place, key, ctx.signal);
  const exported = await exportedBy(ctx, key, options);
  if (pod && !options.settings.keepsPods) await dropPod(place, pod, ctx.signal);
  return done({
    status: statusOf(key.operation, options.settings.namespace, ended),
    conditions: conditionsOf(ended),
    ...(exported && { exports: { value: exported.value, isControlled: true } }),
  });
}

/** What the wait container has put into the deployer's namespace; undefined when the image exports nothing. */
async function exportedBy(
  ctx: ContainerContext,
  { item }: Key,
  { client, settings }: ContainerOptions,
): Promise<{ readonly value: unknown } | undefined> {
  const name = namesOf(item).export;
  const secret = await getIfThere(client, SECRET, `${settings.namespace}/${name}`, ctx.signal);
  const owner = secret && itemOf(secret);
  // Also that of a pod which the original started: it has no labels.
  const isOurs = secret && (owner ? isSame(owner, item) : isUnmarkedExport(secret));
  const text = isOurs ? secret.data?.[keys.data] : undefined;
  if (text === undefined) return undefined;
  try {
    return { value: parseYaml(Buffer.from(text, 'base64').toString('utf8'), { integers: 'exact' }) };
  } catch (cause) {
    const message = `the export in secret ${settings.namespace}/${name} is not valid JSON or YAML`;
    throw new InternalError({ operation: 'ReadExport', reason: 'ReadExport', message, cause });
  }
}

/** The end of an image's output may show anything that it was given. */
const maskFor = ({ target, config }: ContainerContext): Mask =>
  maskOf([target?.content ?? '', goJson(config.importValues ?? {})]);
