/** Creates all objects that a pod needs, then the pod. Each step can be repeated. */
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
import { all, assertOurs, deleteByUid, deletePod, putAll, type Place, type Wanted } from './host-objects.ts';
import { CONFIG_MAP, POD, SECRET, TARGET, type Secret } from './kinds.ts';
import { itemOf, namesOf, selectorOf, type RunKey } from './names.ts';
import { configMapFor, initRules, secretFor, targetFile, waitRules, type ObjectOwner } from './objects.ts';
import type { runKey } from './options.ts';
import { type ContainerOptions, type ContainerContext } from './options.ts';
import { isActive } from './pod-status.ts';
import { podOf } from './pod.ts';
import { isSidecar } from './sidecar.ts';
import { snapshotsIn, stateLabel } from './snapshots.ts';

export type Key = ReturnType<typeof runKey>;

/**
 * Deletes pods of earlier runs, because two pods would write the same state.
 * @returns the name of a pod that is still running
 */
export async function deleteOldPods(
  ctx: Pick<ContainerContext, 'signal'>,
  key: Pick<Key, 'item' | 'pod'>,
  options: ContainerOptions,
): Promise<string | undefined> {
  const place = placeOf(options);
  const pods = await all(place, POD, selectorOf(key.item), { signal: ctx.signal });
  const others = pods.filter(({ metadata }) => metadata.name !== key.pod);
  for (const pod of others) {
    if (isActive(pod) || !options.settings.keepsEndedPods) await deletePod(place, pod, ctx.signal);
  }
  if (!others.some(isActive)) return undefined;
  // A pod without a node has nothing to stop, and is already gone.
  const left = await all(place, POD, selectorOf(key.item), { signal: ctx.signal });
  return left.find((pod) => pod.metadata.name !== key.pod && isActive(pod))?.metadata.name;
}

const ownerOf = (key: Key, { settings, deployerId = CONTAINER_GROUP }: ContainerOptions): ObjectOwner => ({
  item: key.item,
  namespace: settings.namespace,
  deployerId,
});

/**
 * Stores the configuration, which also reserves the names for the item. @throws ConfigurationError if the names are
 * taken
 */
export async function configure(ctx: ContainerContext, key: Key, options: ContainerOptions): Promise<void> {
  const { config } = namesOf(key.item);
  const secret = secretFor(ownerOf(key, options), config, configurationOf(ctx), 'configuration');
  await reserveNames(placeOf(options), fitting(secret, 'the configuration'), key.item, ctx.signal);
}

const MAX_SECRET_BYTES = 2 ** 20;

/** @throws ConfigurationError if the secret is too large for an API server */
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

/** Deletes the export of an earlier run. @throws ConfigurationError if the secret belongs to another owner */
async function deleteExport({ item, signal }: ContainerContext, key: Key, place: Place): Promise<void> {
  const { export: name } = namesOf(key.item);
  const secretKey = joinKey(place.namespace, name);
  const secret = await getIfThere(place.client, SECRET, secretKey, signal);
  if (!secret) return;
  // A secret with the labels of another item is a leftover: that item no longer exists, otherwise the names would
  // not be ours.
  const isOurs = itemOf(secret) !== undefined || isExportFor(secret, key.item, item);
  if (!isOurs && key.operation === 'DELETE') return; // a deletion exports nothing
  if (!isOurs)
    throw new ConfigurationError({
      operation: 'CreateSecret',
      reason: 'SecretNotOwned',
      message: secretTaken(secretKey, key.item),
    });
  await deleteByUid(place, SECRET, secret, signal);
}

/** @param leftMs remaining time of the job. @returns the pod, possibly from an earlier attempt */
export async function startPod(
  ctx: ContainerContext,
  key: Key,
  options: ContainerOptions,
  leftMs: number,
): Promise<Obj> {
  const { settings, deployerId = CONTAINER_GROUP } = options;
  const { signal } = ctx;
  const place = placeOf(options);
  const names = namesOf(key.item);
  const owner = ownerOf(key, options);
  const image = ctx.config.image ?? settings.defaultImage;
  const pulls = await pullSecrets(ctx, options, image);

  await deleteExport(ctx, key, place);
  const stateSecrets = await pruneState(place, key, signal);
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
    run: key,
    deployerId,
    settings,
    isSidecar: await isSidecar(settings, async () => (await options.supportsSidecars?.(signal)) ?? false),
    image,
    stateSecrets,
    command: ctx.config.command,
    args: ctx.config.args,
    traceparent: ctx.trace.traceparent,
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
      assertOurs(POD, there, item);
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

/** Parts of the newest snapshot; deletes older ones. */
export async function pruneState(
  place: Place,
  { item }: Pick<RunKey, 'item'>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const secrets = await all(place, SECRET, selectorOf(item, stateLabel), { signal, metadataOnly: true });
  const { newest, others } = snapshotsIn(secrets);
  for (const secret of others) await deleteByUid(place, SECRET, secret, signal);
  return newest;
}

/** The configuration of the user; if it has no repository, the repository of the Context is added. */
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
