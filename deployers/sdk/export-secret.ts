/**
 * The secret with the exports of a deploy item: JSON under the key `config`, owned by the deploy item. It is written
 * before the job ends, so it exists for everyone who sees the finished job.
 */
import { createHash } from 'node:crypto';
import { isBeingDeleted } from '../../src/api/job.ts';
import { goJson } from '../../src/lib/gojson.ts';
import { randomSuffix, seededRng } from '../../src/lib/rng.ts';
import { AlreadyExists, Forbidden, Invalid, isNamespaceTerminating } from '../../src/runtime/errors.ts';
import { joinKey } from '../../src/runtime/keys.ts';
import { getIfThere } from '../../src/runtime/transport/read.ts';
import type { View } from '../../src/runtime/types.ts';
import type { Direction } from './intake.ts';
import { SECRET, itemOwner, type DeployItem, type Secret } from './kinds.ts';
import { ConfigurationError, problemOf } from './errors.ts';
import { isExportOf, isItem, removeExports, secretTaken, type Host } from './export-owner.ts';
import { fail, retry, type ExportOf, type Outcome } from './outcome.ts';

/**
 * Writes the exports of an outcome to a secret, or deletes the secret if a finished job exports nothing. A rejected
 * write is a failure of the job. Temporary errors are thrown and retried soon.
 * @returns the new `status.exportRef`
 */
export async function writeExports(
  item: View<DeployItem>,
  outcome: Outcome,
  direction: Direction,
  host: Host,
): Promise<{ readonly outcome: Outcome; readonly exportRef: Reference | undefined }> {
  const old = item.status?.exportRef as Reference | undefined;
  try {
    if ((outcome.kind === 'done' || outcome.kind === 'wait') && outcome.exports)
      return { outcome, exportRef: await writeExportSecret(item, outcome.exports, host) };
    if (
      !old ||
      direction === 'remove' ||
      outcome.kind !== 'done' ||
      (outcome.phase ?? 'Succeeded') !== 'Succeeded'
    )
      return { outcome, exportRef: old };
    await removeExportSecret(item, old, host);
    return { outcome, exportRef: undefined };
  } catch (error) {
    const isRefused = error instanceof Forbidden || error instanceof Invalid;
    if (!isRefused && !(error instanceof ConfigurationError)) throw error;
    const problem = problemOf(error, { operation: 'reconcile', reason: 'CreateOrUpdateExports' });
    const { status, conditions } = outcome;
    // The API server refuses to create secrets in a terminating namespace, and no installation will import from it.
    if (isBeingDeleted(item.metadata) && isNamespaceTerminating(error))
      return { outcome: fail(problem, { status, conditions }), exportRef: old };
    return { outcome: retry(problem, { status, conditions }), exportRef: old };
  }
}

interface Reference {
  readonly name: string;
  readonly namespace: string;
}

/**
 * Writes the secret, if possible the one that the status names. It is also sent if nothing has changed: that is cheap
 * for the server, and recreates a deleted secret. A secret of another owner is not changed.
 * @returns the reference for `status.exportRef`
 */
async function writeExportSecret(item: View<DeployItem>, exported: ExportOf, host: Host): Promise<Reference> {
  const old = item.status?.exportRef;
  const prefix = exported.generateName;
  const name =
    old?.name ?? (prefix === undefined ? `${item.metadata.name}-export` : prefix + suffixFor(item));
  await put(secretOf(item, name, exported), item, host);
  return { name, namespace: item.metadata.namespace ?? '' };
}

/** Deletes the secret whose values must not be imported any more; a secret of another owner stays. */
async function removeExportSecret(
  item: View<DeployItem>,
  { name, namespace }: Reference,
  host: Host,
): Promise<void> {
  if (namespace !== item.metadata.namespace) return;
  await removeExports(joinKey(namespace, name), item, host);
}

/**
 * Looks random but is the same for the same deploy item, so a crash before the status is written leaves no
 * unreferenced secret.
 */
const suffixFor = (item: View<DeployItem>): string => {
  const seed = createHash('sha256')
    .update(item.metadata.uid ?? item.metadata.name)
    .digest()
    .readUInt32BE(0);
  return randomSuffix(seededRng(seed));
};

const secretOf = (
  item: View<DeployItem>,
  name: string,
  { value, generateName, isControlled }: ExportOf,
): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {
    name,
    namespace: item.metadata.namespace ?? '',
    ...(generateName !== undefined && { generateName }),
    ownerReferences: [{ ...itemOwner(item), ...(isControlled && { controller: true }) }],
  },
  data: { config: Buffer.from(goJson(value)).toString('base64') },
});

/**
 * Creates the secret, or updates an existing one if the deploy item may write it. The uid is sent as well, so a
 * secret that has replaced the one that was read is not changed.
 * @throws ConfigurationError when the secret has another owner
 */
async function put(secret: Secret, item: View<DeployItem>, { write, live, signal }: Host): Promise<void> {
  const create = () => write({ verb: 'create', kind: SECRET, object: secret });
  const { namespace, name, ownerReferences: owners = [] } = secret.metadata;
  const key = joinKey(namespace, name);
  if (!item.status?.exportRef) {
    try {
      await create();
      return;
    } catch (error) {
      if (!(error instanceof AlreadyExists)) throw error;
    }
  }
  const there = await getIfThere(live, SECRET, key, signal);
  if (!there) {
    await create();
    return;
  }
  if (!isExportOf(there, item))
    throw new ConfigurationError({
      operation: 'CreateOrUpdateExports',
      reason: 'SecretNotOwned',
      message: secretTaken(key, item.metadata),
    });
  const { uid, ownerReferences: before = [] } = there.metadata;
  const others = before.filter((owner) => !isItem(owner, item));
  const metadata = { ownerReferences: [...others, ...owners], ...(uid !== undefined && { uid }) };
  await write({ verb: 'merge', kind: SECRET, key, body: { metadata, data: secret.data } });
}
