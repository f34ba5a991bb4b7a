/**
 * Reserves the names of an item's objects. They are upstream's, `<namespace>-<item>-…`, so item `c` in namespace
 * `a-b` and item `b-c` in namespace `a` would share all objects, including the credentials of their targets. The
 * item that owns the configuration secret also owns the other names.
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
import { createOrFind, type Place } from './host-objects.ts';
import { SECRET, type Secret } from './kinds.ts';
import { itemOf, type ItemRef } from './names.ts';

/**
 * Stores the secret unless it belongs to another item or a user. The API server refuses to change labels of another
 * field manager, so if two items reserve the name at the same time, one of them fails.
 * @throws ConfigurationError if the other item exists, or if a user created the secret
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
    const existing = await getIfThere(client, SECRET, key, signal);
    if (!existing || existing.metadata.uid !== uid) throw error; // the secret was replaced meanwhile
    const owner = itemOf(existing);
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
 * Whether a secret is the export of the item: its labels say so, or it is an export in upstream's format, which has
 * no labels, and the item already has exports.
 */
export function isExportFor(secret: View<Secret>, ref: ItemRef, item: View<DeployItem>): boolean {
  const owner = itemOf(secret);
  return owner ? isSame(owner, ref) : item.status?.exportRef !== undefined && isUnmarkedExport(secret);
}

/** Whether a secret looks like an export of upstream: it has no labels with an owner, and contains nothing else. */
export const isUnmarkedExport = (secret: View<Secret>): boolean =>
  Object.keys(secret.metadata.labels ?? {}).length === 0 &&
  (secret.metadata.ownerReferences ?? []).length === 0 &&
  holdsOnlyExports(secret);

const keyOf = ({ namespace, name }: ItemRef): string => joinKey(namespace, name);

export const isSame = (a: ItemRef, b: ItemRef): boolean => keyOf(a) === keyOf(b);
