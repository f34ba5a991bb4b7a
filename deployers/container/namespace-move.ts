/**
 * Moves the objects of an item if `container.namespace` has changed since its last run: copies its state, then
 * deletes everything in the old namespace, including accounts and credentials. Each step can be repeated.
 */
import { Forbidden } from '../../src/runtime/errors.ts';
import { joinKey } from '../../src/runtime/keys.ts';
import { getIfThere } from '../../src/runtime/transport/read.ts';
import { ConfigurationError } from '../sdk/errors.ts';
import { removeEverything } from './cleanup.ts';
import { all, put, type Place } from './host-objects.ts';
import { SECRET } from './kinds.ts';
import { selectorOf } from './names.ts';
import type { ContainerOptions, ContainerContext } from './options.ts';
import { deleteOldPods, placeOf, type Key } from './prepare.ts';
import { snapshotsIn, stateLabel } from './snapshots.ts';

/** Options for another namespace than the configured one. */
export const inNamespace = (options: ContainerOptions, namespace: string | undefined): ContainerOptions =>
  namespace === undefined || namespace === options.settings.namespace
    ? options
    : { ...options, settings: { ...options.settings, namespace } };

/**
 * Moves the item from the namespace of its last run to the configured one.
 * @returns the name of a pod that is still running in the old namespace
 * @throws ConfigurationError if the old namespace is not accessible
 */
export async function moveIn(
  ctx: Pick<ContainerContext, 'previous' | 'item' | 'signal'>,
  key: Pick<Key, 'item' | 'pod'>,
  options: ContainerOptions,
): Promise<string | undefined> {
  const before = ctx.previous?.namespace;
  const old = inNamespace(options, before);
  if (old === options || before === undefined) return undefined;
  try {
    const oldPod = await deleteOldPods(ctx, key, old);
    if (oldPod !== undefined) return oldPod;
    await copyState(placeOf(old), placeOf(options), key, ctx.signal);
    await removeEverything(placeOf(old), ctx.item, ctx.signal);
    return undefined;
  } catch (error) {
    if (!(error instanceof Forbidden)) throw error;
    const message =
      `state and credentials of the item are in namespace ${before}, but container.namespace is now ${options.settings.namespace}: ` +
      `they cannot be moved (${error.message}); set container.namespace back, or give Espalier the same rights in namespace ${before} until the next job of each item`;
    throw new ConfigurationError({
      operation: 'MoveItem',
      reason: 'NamespaceChanged',
      message,
      cause: error,
    });
  }
}

/** Copies the newest snapshot with its names, labels and annotations. */
async function copyState(
  from: Place,
  to: Place,
  { item }: Pick<Key, 'item'>,
  signal: AbortSignal,
): Promise<void> {
  const secrets = await all(from, SECRET, selectorOf(item, stateLabel), { signal, metadataOnly: true });
  for (const name of snapshotsIn(secrets).newest) {
    const piece = await getIfThere(from.client, SECRET, joinKey(from.namespace, name), signal);
    if (!piece) continue;
    const { labels = {}, annotations = {} } = piece.metadata;
    const metadata = { name, namespace: to.namespace, labels, annotations };
    const { apiVersion, kind, type, data = {} } = piece;
    await put(to, item, SECRET, { apiVersion, kind, metadata, data, ...(type && { type }) }, signal);
  }
}
