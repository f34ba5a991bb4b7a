/** Makes the owner of the webhook configuration the owner of the certificates, so that Kubernetes deletes both after it. */
import { Conflict, NotFound } from '../runtime/errors.ts';
import { Secret } from '../runtime/core-kinds.ts';
import { getIfThere } from '../runtime/transport/read.ts';
import type { Client, Key, OwnerReference } from '../runtime/types.ts';

/**
 * Does nothing if the secret already has the owner. If another client changes the secret meanwhile, the next check tries
 * again.
 * @throws the errors of runtime/errors.ts
 */
export async function ownSecret(client: Client, key: Key, owner: OwnerReference): Promise<void> {
  const secret = await getIfThere(client, Secret, key);
  if (!secret) return;
  const { ownerReferences = [], resourceVersion } = secret.metadata;
  if (ownerReferences.some(({ uid }) => uid === owner.uid)) return;
  // A role of the same name that was deleted and created again has another uid.
  const others = ownerReferences.filter(({ kind, name }) => kind !== owner.kind || name !== owner.name);
  const body = { metadata: { resourceVersion, ownerReferences: [...others, owner] } };
  try {
    await client.send({ verb: 'merge', kind: Secret, key, body });
  } catch (error) {
    if (!(error instanceof Conflict) && !(error instanceof NotFound)) throw error;
  }
}
