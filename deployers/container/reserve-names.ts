/**
 * Names around an item are the original's, `<namespace>-<item>-…`: item `c` in namespace `a-b` and item `b-c` in namespace `a`
 * would share everything, down to the credentials of their targets. Whoever has the secret with the configuration has
 * the other names as well.
 */
import { createHash } from 'node:crypto';
import { Conflict } from '../../src/runtime/errors.ts';
import { joinKey } from '../../src/runtime/keys.ts';
import { getIfThere } from '../../src/runtime/transport/read.ts';
import type { View } from '../../src/runtime/types.ts';
import { ConfigurationError } from '../sdk/errors.ts';
import { holdsOnlyExports } from '../sdk/export-owner.ts';
import { DEPLOY_ITEM, type DeployItem } from '../sdk/kinds.ts';
import { CONTAINER_GROUP } from './contract.ts';
import { createOrFind, type Place } from './hosted.ts';
import { SECRET, type Secret } from './kinds.ts';
import { itemOf, type ItemRef } from './names.ts';

/**
 * Stores the secret unless it belongs to another item or to a person. The API server itself refuses to change the labels
 * that another item has set, so of two that come at once one is refused.
 * @throws ConfigurationError when the other item is there, or a person made the secret
 */
export async function reserveNames(
  place: Place,
  secret: Secret,
  item: ItemRef,
  signal: AbortSignal,
): Promise<void> {
  const id = createHash('sha256').update(keyOf(item)).digest('hex').slice(0, 16);
  const { client, namespace } = place;
  const first = await createOrFind(place, item, SECRET, secret, signal);
  if (first.isNew) return;
  const { uid } = first.object.metadata;
  const object = { ...secret, metadata: { ...secret.metadata, ...(uid !== undefined && { uid }) } };
  const write = { verb: 'apply', kind: SECRET, object, manager: `${CONTAINER_GROUP}/${id}` } as const;
  try {
    await client.send({ ...write, force: false }, signal);
    return;
  } catch (error) {
    if (!(error instanceof Conflict)) throw error;
    const key = joinKey(namespace, secret.metadata.name);
    const there = await getIfThere(client, SECRET, key, signal);
    if (!there || there.metadata.uid !== uid) throw error; // replaced meanwhile
    const owner = itemOf(there);
    if (owner && !isSame(owner, item) && (await getIfThere(client, DEPLOY_ITEM, keyOf(owner), signal))) {
      throw new ConfigurationError({
        operation: 'ClaimNames',
        reason: 'NameTaken',
        message: `secret ${key} belongs to deploy item ${keyOf(owner)}: the objects created for it and for ${keyOf(item)} would have the same names; rename one of the two`,
      });
    }
  }
  await client.send({ ...write, force: true }, signal);
}

/**
 * Whether a secret is the export of the item: it says so, or it is one as the original writes them, which carry no
 * labels, and the item has exports already.
 */
export function isExportFor(secret: View<Secret>, ref: ItemRef, item: View<DeployItem>): boolean {
  const owner = itemOf(secret);
  return owner ? isSame(owner, ref) : item.status?.exportRef !== undefined && isUnmarkedExport(secret);
}

/** Whether a secret looks like the exports that the original writes: nothing says whose it is, and it holds nothing else. */
export const isUnmarkedExport = (secret: View<Secret>): boolean =>
  Object.keys(secret.metadata.labels ?? {}).length === 0 &&
  (secret.metadata.ownerReferences ?? []).length === 0 &&
  holdsOnlyExports(secret);

const keyOf = ({ namespace, name }: ItemRef): string => joinKey(namespace, name);

export const isSame = (a: ItemRef, b: ItemRef): boolean => keyOf(a) === keyOf(b);
