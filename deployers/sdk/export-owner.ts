/** The owner of a secret with exports. Like upstream, it has an owner reference to the deploy item. */
import { GROUP } from '../../src/api/labels.ts';
import { Conflict, NotFound } from '../../src/runtime/errors.ts';
import { joinKey } from '../../src/runtime/keys.ts';
import { getIfThere } from '../../src/runtime/transport/read.ts';
import type { Client, Key, Obj, View, Writer } from '../../src/runtime/types.ts';
import { SECRET, type DeployItem, type Secret } from './kinds.ts';

/** Dependencies for reading and writing the secrets of a deploy item. */
export interface Host {
  readonly write: Writer;
  readonly live: Pick<Client, 'get'>;
  readonly signal: AbortSignal;
}

type Owner = NonNullable<Obj['metadata']['ownerReferences']>[number];

/** Whether an owner is the deploy item, or an earlier one of the same name. */
export const isItem = (owner: View<Owner>, { metadata }: View<DeployItem>): boolean =>
  owner.uid === metadata.uid ||
  (owner.kind === 'DeployItem' && owner.apiVersion.startsWith(`${GROUP}/`) && owner.name === metadata.name);

/**
 * Whether the deploy item may write its exports to an existing secret: if it owns the secret, or if its status names
 * the secret and no other owner does. Backups can lose owner references, but they do not add keys.
 */
export function isExportOf(secret: View<Secret>, item: View<DeployItem>): boolean {
  const { name, ownerReferences: owners = [] } = secret.metadata;
  if (owners.some((owner) => isItem(owner, item))) return true;
  return item.status?.exportRef?.name === name && owners.length === 0 && holdsOnlyExports(secret);
}

/** Whether a secret contains exports of a deployer and nothing else. */
export const holdsOnlyExports = ({ data = {} }: View<Secret>): boolean => {
  const [only, ...more] = Object.keys(data);
  return only === 'config' && more.length === 0;
};

interface Named {
  readonly namespace?: string | undefined;
  readonly name: string;
}

/**
 * Names the existing object that prevents the creation of another one.
 * @param kind in a sentence, such as `secret`
 * @param consequence such as `the exports of the item cannot be stored there`
 */
export const nameTaken = (kind: string, key: Key, { namespace, name }: Named, consequence: string): string =>
  `${kind} ${key} exists and does not belong to deploy item ${joinKey(namespace, name)}, so ${consequence} and the ${kind} stays as it is; delete or rename the ${kind}, or rename the deploy item`;

/** The same for the secret with the exports of a deploy item. @param key of the secret */
export const secretTaken = (key: Key, item: Named): string =>
  nameTaken('secret', key, item, 'the exports of the item cannot be stored there');

/** Deletes a secret with exports if the deploy item may write it; any other secret stays. */
export async function removeExports(
  key: Key,
  item: View<DeployItem>,
  { write, live, signal }: Host,
): Promise<void> {
  const secret = await getIfThere(live, SECRET, key, signal);
  if (!secret || !isExportOf(secret, item)) return;
  const { uid } = secret.metadata;
  try {
    await write({ verb: 'delete', kind: SECRET, key, ...(uid !== undefined && { uid }) });
  } catch (error) {
    // The secret was deleted meanwhile, or replaced by a secret of another owner.
    if (!(error instanceof NotFound || error instanceof Conflict)) throw error;
  }
}
