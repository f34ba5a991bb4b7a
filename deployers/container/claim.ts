/**
 * Names around an item are the original's, `<namespace>-<item>-…`: item `c` in namespace `a-b` and item `b-c` in namespace `a`
 * would share everything, down to the credentials of their targets. Whoever has the secret with the configuration has
 * the other names as well.
 */
import { createHash } from 'node:crypto';
import { Conflict } from '../../src/runtime/errors.ts';
import { joinKey } from '../../src/runtime/keys.ts';
import { getIfThere } from '../../src/runtime/read.ts';
import { ConfigurationError } from '../sdk/errors.ts';
import { DEPLOY_ITEM } from '../sdk/kinds.ts';
import { CONTAINER_GROUP } from './contract.ts';
import type { Place } from './hosted.ts';
import { SECRET, type Secret } from './kinds.ts';
import { itemOf, type ItemRef } from './names.ts';

/**
 * Stores the secret unless it belongs to another item. The API server itself refuses to change the labels that another item
 * has set, so of two that come at once one is refused.
 * @throws ConfigurationError when the other item is there
 */
export async function claim(place: Place, secret: Secret, item: ItemRef, signal: AbortSignal): Promise<void> {
  const id = createHash('sha256').update(keyOf(item)).digest('hex').slice(0, 16);
  const write = { verb: 'apply', kind: SECRET, object: secret, manager: `${CONTAINER_GROUP}/${id}` } as const;
  const { client, namespace } = place;
  try {
    await client.send({ ...write, force: false }, signal);
    return;
  } catch (error) {
    if (!(error instanceof Conflict)) throw error;
  }
  const key = joinKey(namespace, secret.metadata.name);
  const there = await getIfThere(client, SECRET, key, signal);
  const owner = there && itemOf(there);
  if (owner && !isSame(owner, item) && (await getIfThere(client, DEPLOY_ITEM, keyOf(owner), signal))) {
    throw new ConfigurationError(
      'ClaimNames',
      'NameTaken',
      `secret ${key} belongs to deploy item ${keyOf(owner)}: the names of what is made for it and for ${keyOf(item)} are the same; rename one of the two`,
    );
  }
  await client.send({ ...write, force: true }, signal);
}

/** Whether an object may be taken for that of the item: it says so, or does not say whose it is. */
export const mayBeOf = (object: Parameters<typeof itemOf>[0], item: ItemRef): boolean =>
  isSame(itemOf(object) ?? item, item);

const keyOf = ({ namespace, name }: ItemRef): string => joinKey(namespace, name);

const isSame = (a: ItemRef, b: ItemRef): boolean => keyOf(a) === keyOf(b);
