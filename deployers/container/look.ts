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
import { isSame, isUnmarkedExport } from './claim.ts';
import { removeEverything } from './cleanup.ts';
import { CONTAINER_GROUP, FORCE_CLEANUP, keys, type Operation } from './contract.ts';
import { assertMarked, dropPod } from './hosted.ts';
import { POD, SECRET, type Pod } from './kinds.ts';
import { inNamespace, moveIn } from './move.ts';
import { itemOf, namesOf } from './names.ts';
import { PREFIX, runKey, type ContainerOptions, type ContainerRun } from './options.ts';
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

export const apply = (run: ContainerRun, options: ContainerOptions): Answer =>
  carryOut(run, options, 'RECONCILE');

export async function remove(run: ContainerRun, options: ContainerOptions): Answer {
  const isForced = run.item.metadata.annotations?.[FORCE_CLEANUP] !== undefined;
  if (!isForced && run.previous) return carryOut(run, options, 'DELETE');
  run.checkpoint(`${PREFIX}: start delete`);
  const { namespace } = run.previous ?? {};
  for (const each of new Set([options, inNamespace(options, namespace)])) {
    await removeEverything(placeOf(each), run.item, run.signal);
  }
  return done();
}

async function carryOut(run: ContainerRun, configured: ContainerOptions, operation: Operation): Answer {
  const key = runKey(run, operation);
  const before = run.previous?.podStatus;
  // A run that has begun ends where it is.
  const options = inNamespace(configured, before?.podName === key.pod ? run.previous?.namespace : undefined);
  const pod = await getIfThere(options.client, POD, `${options.settings.namespace}/${key.pod}`, run.signal);
  if (pod) assertMarked(POD, pod, key.item);
  const leftMs = await timeLeft(run, operation, pod, options);
  // A job that is turned into a deletion, or whose item was changed, has to run the image again.
  if (before?.lastSuccessfulJobID === key.jobID && before.podName === key.pod)
    return succeeded(run, key, options, before, pod);
  if (pod) return judge(run, key, options, pod, leftMs);
  if (before?.podName !== key.pod) return begin(run, key, options, leftMs);
  const problem = troubleIn(before, true)?.problem ?? vanished(key.pod);
  return fail(problem, { conditions: conditionsOf(before) });
}

/** A job whose time is over takes its pod along. @throws TimeoutError */
async function timeLeft(
  run: ContainerRun,
  operation: Operation,
  pod: Pod | undefined,
  options: ContainerOptions,
): Promise<number> {
  try {
    return run.checkpoint(`${PREFIX}: start ${operation === 'DELETE' ? 'delete' : 'reconcile'}`);
  } catch (error) {
    if (error instanceof TimeoutError && pod) await dropPod(placeOf(options), pod, run.signal);
    throw error;
  }
}

const phaseOf = (operation: Operation): { readonly phase?: string } =>
  operation === 'DELETE' ? { phase: 'Deleting' } : {};

async function begin(run: ContainerRun, key: Key, options: ContainerOptions, leftMs: number): Answer {
  const before = run.previous?.podStatus;
  await configure(run, key, options);
  const stillThere = await moveIn(run, key, options);
  // From here on there may be something to take back.
  if (stillThere === undefined) await run.begin(statusOf(key.operation, options.settings.namespace, before));
  const inTheWay = stillThere ?? (await clearTheWay(run, key, options));
  if (inTheWay !== undefined) {
    const message = `pod ${inTheWay} of an earlier run has not ended yet`;
    const why = { operation: 'CreatePod', reason: 'PodInTheWay', message };
    return wait({ ...phaseOf(key.operation), why, afterMs: IN_THE_WAY_MS });
  }
  const pod = (await startPod(run, key, options, leftMs)) as Pod;
  return judge(run, key, options, pod, leftMs);
}

async function judge(
  run: ContainerRun,
  key: Key,
  options: ContainerOptions,
  pod: Pod,
  leftMs: number,
): Answer {
  const last = run.previous?.podStatus?.lastSuccessfulJobID;
  const seen = podStatusOf(pod, last === key.jobID ? undefined : last, maskFor(run));
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
      await ensureTokens(run, placeOf(options), owner, leftMs);
      return wait({ ...phaseOf(key.operation), status, conditions, why: stand.why, afterMs: UNASKED_MS });
    }
    case 'failed':
      if (stand.isStuck) {
        await run.begin(status);
        await dropPod(placeOf(options), pod, run.signal);
      }
      await prunedState(placeOf(options), key, run.signal);
      return fail(stand.problem, { status, conditions });
    case 'succeeded': {
      const ended = { ...seen, lastSuccessfulJobID: key.jobID };
      await run.begin(statusOf(key.operation, options.settings.namespace, ended));
      return succeeded(run, key, options, ended, pod);
    }
  }
}

/** @param ended as it is stored */
async function succeeded(
  run: ContainerRun,
  key: Key,
  options: ContainerOptions,
  ended: PodStatus,
  pod: Pod | undefined,
): Answer {
  const place = placeOf(options);
  if (key.operation === 'DELETE') {
    await removeEverything(place, run.item, run.signal);
    return done();
  }
  await prunedState(place, key, run.signal);
  const exported = await exportedBy(run, key, options);
  if (pod && !options.settings.keepsPods) await dropPod(place, pod, run.signal);
  return done({
    status: statusOf(key.operation, options.settings.namespace, ended),
    conditions: conditionsOf(ended),
    ...(exported && { exports: { value: exported.value, isControlled: true } }),
  });
}

/** What the wait container has put into the deployer's namespace; undefined when the image exports nothing. */
async function exportedBy(
  run: ContainerRun,
  { item }: Key,
  { client, settings }: ContainerOptions,
): Promise<{ readonly value: unknown } | undefined> {
  const name = namesOf(item).export;
  const secret = await getIfThere(client, SECRET, `${settings.namespace}/${name}`, run.signal);
  const owner = secret && itemOf(secret);
  // Also that of a pod which the original started: it has no labels.
  const isOurs = secret && (owner ? isSame(owner, item) : isUnmarkedExport(secret));
  const text = isOurs ? secret.data?.[keys.data] : undefined;
  if (text === undefined) return undefined;
  try {
    return { value: parseYaml(Buffer.from(text, 'base64').toString('utf8'), { integers: 'exact' }) };
  } catch (cause) {
    const message = `the export in secret ${settings.namespace}/${name} is neither JSON nor YAML`;
    throw new InternalError('ReadExport', 'ReadExport', message, { cause });
  }
}

/** The end of an image's output may show anything that it was given. */
const maskFor = ({ target, config }: ContainerRun): Mask =>
  maskOf([target?.content ?? '', goJson(config.importValues ?? {})]);
