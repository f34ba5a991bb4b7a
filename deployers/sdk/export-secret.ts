/**
 * The secret with which an item exports: one JSON text under the key `config`, owned by the item. Written before the end
 * of the job, so whoever sees the job finished finds it.
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
 * Carries out what an outcome exports: a secret for values, and none when all is done and nothing is exported any more.
 * A secret that is refused is a failure of the job like any other, and shown like one; what may pass by itself is thrown
 * and tried again soon.
 * @returns what `status.exportRef` has to be
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
 * Writes the secret, the one the status names already if there is one. It is sent again when nothing changed: that
 * costs the server nothing, and a secret that somebody removed comes back. A secret of somebody else stays as it is.
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

/** Takes the secret away whose values nobody shall import any more; one that is not the item's stays. */
async function removeExportSecret(
  item: View<DeployItem>,
  { name, namespace }: Reference,
  host: Host,
): Promise<void> {
  if (namespace !== item.metadata.namespace) return;
  await removeExports(joinKey(namespace, name), item, host);
}

/** Looks random and is the same for the same item, so that a crash before the status is written leaves no stray secret. */
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
 * Creates the secret, or brings the one that is there up to date if it is the item's. The uid goes along, so a secret
 * that takes the place of the one that was read is not written to.
 * @throws ConfigurationError when the secret is somebody else's
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
