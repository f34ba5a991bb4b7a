/**
 * The secret with which an item exports: one JSON text under the key `config`, owned by the item. Written before the end
 * of the job, so whoever sees the job finished finds it.
 */
import { createHash } from 'node:crypto';
import { goJson } from '../../src/lib/gojson.ts';
import { randomSuffix, seededRng } from '../../src/lib/rng.ts';
import { AlreadyExists, Conflict, Forbidden, Invalid, NotFound } from '../../src/runtime/errors.ts';
import { joinKey } from '../../src/runtime/keys.ts';
import { getIfThere } from '../../src/runtime/read.ts';
import type { Client, View, Writer } from '../../src/runtime/types.ts';
import type { Direction } from './intake.ts';
import { SECRET, itemOwner, type DeployItem, type Secret } from './kinds.ts';
import { problemOf } from './errors.ts';
import { retry, type ExportOf, type Outcome } from './outcome.ts';

/** What the exports of an item are written and read with. */
interface Host {
  readonly write: Writer;
  readonly live: Pick<Client, 'get'>;
  readonly signal: AbortSignal;
}

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
      return { outcome, exportRef: await writeExportSecret(item, outcome.exports, host.write) };
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
    if (!isRefused) throw error;
    const problem = problemOf(error, { operation: 'reconcile', reason: 'CreateOrUpdateExports' });
    const { status, conditions } = outcome;
    return { outcome: retry(problem, { status, conditions }), exportRef: old };
  }
}

interface Reference {
  readonly name: string;
  readonly namespace: string;
}

/**
 * Writes the secret, the one the status names already if there is one. It is sent again when nothing changed: that
 * costs the server nothing, and a secret that somebody removed comes back.
 * @returns the reference for `status.exportRef`
 */
async function writeExportSecret(
  item: View<DeployItem>,
  exported: ExportOf,
  send: Writer,
): Promise<Reference> {
  const old = item.status?.exportRef;
  const prefix = exported.generateName;
  const name =
    old?.name ?? (prefix === undefined ? `${item.metadata.name}-export` : prefix + suffixFor(item));
  await put(secretOf(item, name, exported), old !== undefined, send);
  return { name, namespace: item.metadata.namespace ?? '' };
}

/** Takes the secret away whose values nobody shall import any more; one that is not the item's stays. */
async function removeExportSecret(
  { metadata }: View<DeployItem>,
  { name, namespace }: Reference,
  { write, live, signal }: Host,
): Promise<void> {
  if (namespace !== metadata.namespace) return;
  const key = joinKey(namespace, name);
  const secret = await getIfThere(live, SECRET, key, signal);
  const isOurs = secret?.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid) ?? false;
  if (!secret || !isOurs) return;
  const { uid } = secret.metadata;
  try {
    await write({ verb: 'delete', kind: SECRET, key, ...(uid !== undefined && { uid }) });
  } catch (error) {
    // Gone meanwhile, or replaced by one that is somebody else's.
    if (!(error instanceof NotFound || error instanceof Conflict)) throw error;
  }
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

/** Whichever of create and patch is more likely comes first; neither needs a read. */
async function put(secret: Secret, isKnown: boolean, send: Writer): Promise<void> {
  const create = () => send({ verb: 'create', kind: SECRET, object: secret });
  const patch = () =>
    send({
      verb: 'merge',
      kind: SECRET,
      key: joinKey(secret.metadata.namespace, secret.metadata.name),
      body: { metadata: { ownerReferences: secret.metadata.ownerReferences }, data: secret.data },
    });
  try {
    await (isKnown ? patch() : create());
  } catch (error) {
    if (isKnown && error instanceof NotFound) await create();
    else if (!isKnown && error instanceof AlreadyExists) await patch();
    else throw error;
  }
}
