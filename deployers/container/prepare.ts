/** Brings everything in place that a pod needs, and then the pod. Each step may be repeated. */
import { AlreadyExists, Forbidden, Invalid } from '../../src/runtime/errors.ts';
import { joinKey } from '../../src/runtime/keys.ts';
import { getIfThere } from '../../src/runtime/transport/read.ts';
import type { Obj } from '../../src/runtime/types.ts';
import { ConfigurationError, RetryError } from '../sdk/errors.ts';
import { secretTaken } from '../sdk/export-owner.ts';
import { accountWith, ensureTokens } from './accounts.ts';
import { reserveNames, isExportFor } from './reserve-names.ts';
import { CONTAINER_GROUP, keys } from './contract.ts';
import { pullSecrets, repositoryContextOf } from './credentials.ts';
import { all, assertMarked, drop, dropPod, putAll, type Place, type Wanted } from './hosted.ts';
import { CONFIG_MAP, POD, SECRET, TARGET, type Secret } from './kinds.ts';
import { itemOf, namesOf, selectorOf, type RunKey } from './names.ts';
import { configMapFor, initRules, secretFor, targetFile, waitRules, type Belonging } from './objects.ts';
import type { runKey } from './options.ts';
import { type ContainerOptions, type ContainerContext } from './options.ts';
import { isActive } from './pod-status.ts';
import { podOf } from './pod.ts';
import { snapshotsIn, stateLabel } from './snapshots.ts';

export type Key = ReturnType<typeof runKey>;

/**
 * Lets pods of earlier runs go: two of them would write the same state.
 * @returns the name of one that still runs
 */
export async function clearTheWay(
  ctx: Pick<ContainerContext, 'signal'>,
  key: Pick<Key, 'item' | 'pod'>,
  options: ContainerOptions,
): Promise<string | undefined> {
  const place = placeOf(options);
  const pods = await all(place, POD, selectorOf(key.item), { signal: ctx.signal });
  const others = pods.filter(({ metadata }) => metadata.name !== key.pod);
  for (const pod of others) {
    if (isActive(pod) || !options.settings.keepsPods) await dropPod(place, pod, ctx.signal);
  }
  if (!others.some(isActive)) return undefined;
  // Without a node there is nothing to wind up, and it is gone already.
  const left = await all(place, POD, selectorOf(key.item), { signal: ctx.signal });
  return left.find((pod) => pod.metadata.name !== key.pod && isActive(pod))?.metadata.name;
}

const ownerOf = (key: Key, { settings, deployerId = CONTAINER_GROUP }: ContainerOptions): Belonging => ({
  item: key.item,
  namespace: settings.namespace,
  deployerId,
});

/** Stores the configuration, and with it whose the names around the item are. @throws ConfigurationError when they are taken */
export async function configure(ctx: ContainerContext, key: Key, options: ContainerOptions): Promise<void> {
  const { config } = namesOf(key.item);
  const secret = secretFor(ownerOf(key, options), config, configurationOf(ctx), 'configuration');
  await reserveNames(placeOf(options), fitting(secret, 'the configuration'), key.item, ctx.signal);
}

const MAX_SECRET_BYTES = 2 ** 20;

/** @throws ConfigurationError when no server would take it */
function fitting(secret: Secret, what: string): Secret {
  const texts = Object.values(secret.data ?? {});
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text, 'base64'), 0);
  if (bytes <= MAX_SECRET_BYTES) return secret;
  throw new ConfigurationError({
    operation: 'CreateSecret',
    reason: 'TooBig',
    message: `${what} has ${String(bytes)} bytes; the pod gets it from a secret, which can contain at most ${String(MAX_SECRET_BYTES)} bytes`,
  });
}

/** What an earlier run has exported. @throws ConfigurationError when the secret is somebody else's */
async function dropExport({ item, signal }: ContainerContext, key: Key, place: Place): Promise<void> {
  const { export: name } = namesOf(key.item);
  const secretKey = joinKey(place.namespace, name);
  const secret = await getIfThere(place.client, SECRET, secretKey, signal);
  if (!secret) return;
  // One with the labels of another item is left over: that item is gone, or the names would not be ours.
  const isOurs = itemOf(secret) !== undefined || isExportFor(secret, key.item, item);
  if (!isOurs && key.operation === 'DELETE') return; // a removal exports nothing
  if (!isOurs)
    throw new ConfigurationError({
      operation: 'CreateSecret',
      reason: 'SecretNotOwned',
      message: secretTaken(secretKey, key.item),
    });
  await drop(place, SECRET, secret, signal);
}

/** @param leftMs of the job. @returns the pod; that of an earlier attempt when it is there already */
export async function startPod(
  ctx: ContainerContext,
  key: Key,
  options: ContainerOptions,
  leftMs: number,
): Promise<Obj> {
  const { client, settings, deployerId = CONTAINER_GROUP } = options;
  const { signal } = ctx;
  const place = placeOf(options);
  const names = namesOf(key.item);
  const owner = ownerOf(key, options);
  const image = ctx.config.image ?? settings.defaultImage;
  const pulls = await pullSecrets(ctx, client, image);

  await dropExport(ctx, key, place);
  const stateSecrets = await prunedState(place, key, signal);
  const target = secretFor(owner, names.target, await targetOf(ctx, options), 'target');
  const pullSecret = (name: string, data: Readonly<Record<string, string>> | undefined): readonly Wanted[] =>
    data ? [{ kind: SECRET, object: secretFor(owner, name, data, 'pullSecret') }] : [];
  const ocmConfig = await ocmConfigOf(ctx);
  const wanted: readonly Wanted[] = [
    { kind: SECRET, object: fitting(target, 'the target with its content') },
    ...pullSecret(names.imagePull, pulls.image),
    ...pullSecret(names.blueprintPull, pulls.blueprint),
    ...pullSecret(names.descriptorPull, pulls.descriptor),
    ...(ocmConfig ? [{ kind: CONFIG_MAP, object: configMapFor(owner, names.ocmConfig, ocmConfig) }] : []),
    ...accountWith(owner, names.initAccount, initRules(stateSecrets)),
    ...accountWith(owner, names.waitAccount, waitRules(key.pod, names.export)),
  ];
  await putAll(place, owner.item, wanted, signal);
  await ensureTokens(ctx, place, owner, leftMs);

  const pod = podOf({
    ...{ run: key, deployerId, settings, image, stateSecrets },
    command: ctx.config.command,
    args: ctx.config.args,
    has: {
      imagePull: pulls.image !== undefined,
      blueprintPull: pulls.blueprint !== undefined,
      descriptorPull: pulls.descriptor !== undefined,
      ocmConfig: ocmConfig !== undefined,
    },
  });
  return create(ctx, key, pod, options);
}

export const placeOf = ({ client, settings }: ContainerOptions): Place => ({
  client,
  namespace: settings.namespace,
});

async function create(
  ctx: ContainerContext,
  { item }: Key,
  pod: Obj,
  { client, settings }: ContainerOptions,
): Promise<Obj> {
  const { name } = pod.metadata;
  try {
    return await client.send({ verb: 'create', kind: POD, object: pod }, ctx.signal);
  } catch (error) {
    if (error instanceof AlreadyExists) {
      const there = await client.get(POD, `${settings.namespace}/${name}`, ctx.signal);
      assertMarked(POD, there, item);
      return there;
    }
    const isFinal = error instanceof Invalid;
    if (!isFinal && !(error instanceof Forbidden)) throw error;
    const message = `pod ${settings.namespace}/${name} was refused: ${error.message}`;
    if (isFinal)
      throw new ConfigurationError({ operation: 'CreatePod', reason: 'CreatePod', message, cause: error });
    throw new RetryError({ operation: 'CreatePod', reason: 'CreatePod', message, cause: error });
  }
}

/** Pieces of the newest snapshot; older ones go. */
export async function prunedState(
  place: Place,
  { item }: Pick<RunKey, 'item'>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const secrets = await all(place, SECRET, selectorOf(item, stateLabel), { signal, metadataOnly: true });
  const { newest, others } = snapshotsIn(secrets);
  for (const secret of others) await drop(place, SECRET, secret, signal);
  return newest;
}

/** As the user wrote it, with the repository of the Context where it names none. */
function configurationOf(ctx: ContainerContext): Readonly<Record<string, string>> {
  const given = ctx.item.spec.config as { readonly componentDescriptor?: { readonly ref?: object } };
  const ref = given.componentDescriptor?.ref;
  const repositoryContext = repositoryContextOf(ctx);
  const document =
    ref && repositoryContext
      ? {
          ...given,
          componentDescriptor: { ...given.componentDescriptor, ref: { ...ref, repositoryContext } },
        }
      : given;
  return { [keys.configuration]: JSON.stringify(document) };
}

async function targetOf(
  ctx: ContainerContext,
  { client }: ContainerOptions,
): Promise<Readonly<Record<string, string>>> {
  const { target } = ctx;
  const object =
    target && (await getIfThere(client, TARGET, `${target.namespace}/${target.name}`, ctx.signal));
  if (target && !object) {
    throw new RetryError({
      operation: 'ReadTarget',
      reason: 'ReadTarget',
      message: `target ${target.namespace}/${target.name} no longer exists`,
    });
  }
  return { [keys.target]: targetFile(object, target?.content) };
}

async function ocmConfigOf({
  context,
  host,
}: ContainerContext): Promise<Readonly<Record<string, string>> | undefined> {
  const name = context.ocmConfig?.name ?? '';
  if (name === '') return undefined;
  const found = await host.configMap(name);
  const text = found?.[keys.ocmConfiguration];
  return text === undefined ? undefined : { [keys.ocmConfiguration]: text };
}
