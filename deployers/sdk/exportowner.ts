/** Whose a secret with exports is. Upstream marks its own as we do: with an owner reference to the deploy item. */
import { GROUP } from '../../src/api/labels.ts';
import { Conflict, NotFound } from '../../src/runtime/errors.ts';
import { joinKey } from '../../src/runtime/keys.ts';
import { getIfThere } from '../../src/runtime/read.ts';
import type { Client, Key, Obj, View, Writer } from '../../src/runtime/types.ts';
import { SECRET, type DeployItem, type Secret } from './kinds.ts';

/** What the secrets of an item are written and read with. */
export interface Host {
  readonly write: Writer;
  readonly live: Pick<Client, 'get'>;
  readonly signal: AbortSignal;
}

type Owner = NonNullable<Obj['metadata']['ownerReferences']>[number];

/** Whether an owner is the item, or an earlier one of the same name. */
export const isItem = (owner: View<Owner>, { metadata }: View<DeployItem>): boolean =>
  owner.uid === metadata.uid ||
  (owner.kind === 'DeployItem' && owner.apiVersion.startsWith(`${GROUP}/`) && owner.name === metadata.name);

/**
 * Whether the item may write its exports into a secret that is there. It may when the item owns the secret, or when the
 * status of the item names it and nothing says otherwise: backups may lose owners, but do not add keys.
 */
export function isExportOf(secret: View<Secret>, item: View<DeployItem>): boolean {
  const { name, ownerReferences: owners = [] } = secret.metadata;
  if (owners.some((owner) => isItem(owner, item))) return true;
  return item.status?.exportRef?.name === name && owners.length === 0 && holdsOnlyExports(secret);
}

/** Whether a secret holds what a deployer writes as exports, and nothing besides. */
export const holdsOnlyExports = ({ data = {} }: View<Secret>): boolean => {
  const [only, ...more] = Object.keys(data);
  return only === 'config' && more.length === 0;
};

/** Says which secret is in the way of the exports of an item. @param key of the secret */
export const secretTaken = (
  key: Key,
  { namespace, name }: { namespace?: string | undefined; name: string },
) =>
  `secret ${key} exists and does not belong to deploy item ${joinKey(namespace, name)}, so the exports of the item cannot be stored there and the secret stays as it is; delete or rename the secret, or rename the deploy item`;

/** Takes a secret away that the item with the uid owns; one that somebody else made stays. */
export async function removeOwned(
  key: Key,
  item: string | undefined,
  { write, live, signal }: Host,
): Promise<void> {
  const secret = await getIfThere(live, SECRET, key, signal);
  const isOurs = secret?.metadata.ownerReferences?.some(({ uid }) => uid === item) ?? false;
  if (!secret || !isOurs) return;
  const { uid } = secret.metadata;
  try {
    await write({ verb: 'delete', kind: SECRET, key, ...(uid !== undefined && { uid }) });
  } catch (error) {
    // Gone meanwhile, or replaced by one that is somebody else's.
    if (!(error instanceof NotFound || error instanceof Conflict)) throw error;
  }
}
