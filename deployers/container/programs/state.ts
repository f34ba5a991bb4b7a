/** The state of an item in secrets: an archive in pieces, a new set of them for every run. */
import { randomSuffix, type Rng } from '../../../src/lib/rng.ts';
import { randomUuid } from '../../../src/lib/uuid.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import type { Logger } from '../../../src/observability/log.ts';
import { AlreadyExists } from '../../../src/runtime/errors.ts';
import { joinKey } from '../../../src/runtime/keys.ts';
import type { Client } from '../../../src/runtime/types.ts';
import { annotations, CONTAINER_GROUP, keys, labels, secretTypes } from '../contract.ts';
import { all, type Place } from '../hosted.ts';
import { SECRET, type Secret } from '../kinds.ts';
import { labelsOf, selectorOf, stateName, type ItemRef } from '../names.ts';
import { snapshotsIn, stateLabel } from '../snapshots.ts';
import { FolderProblem, packFolder, unpackFolder } from './folder.ts';
import { patiently } from './patience.ts';

/** As much as a secret may hold. */
const PIECE_BYTES = 2 ** 20;

interface StatePorts {
  readonly client: Client;
  /** Where the secrets are. */
  readonly namespace: string;
  readonly item: ItemRef;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Logger;
}

/**
 * Puts the newest snapshot into the folder.
 * @param names of its secrets in order; undefined looks for them by label
 * @returns how many pieces there were
 */
export async function restoreState(
  { client, namespace, item }: Pick<StatePorts, 'client' | 'namespace' | 'item'>,
  folder: string,
  names: readonly string[] | undefined,
): Promise<number> {
  const wanted = names ?? (await newestNames({ client, namespace }, item));
  const pieces: Uint8Array[] = [];
  for (const name of wanted) {
    const { data } = await client.get(SECRET, joinKey(namespace, name));
    const piece = data?.[keys.data];
    if (piece === undefined) {
      throw new FolderProblem(
        `secret ${namespace}/${name} contains no part of the state: it has no key ${keys.data}`,
      );
    }
    pieces.push(Buffer.from(piece, 'base64'));
  }
  if (pieces.length > 0) await unpackFolder(Buffer.concat(pieces), folder);
  return pieces.length;
}

const newestNames = async (place: Place, item: ItemRef): Promise<readonly string[]> =>
  snapshotsIn(await all(place, SECRET, selectorOf(item, stateLabel))).newest;

/**
 * Stores the folder as a new snapshot. Older ones stay: whoever started the pod removes them when this one is whole.
 * @returns how many pieces it has; none for an empty folder
 */
export async function saveState(ports: StatePorts, folder: string): Promise<number> {
  const archive = await packFolder(folder);
  if (!archive) return 0;
  const count = Math.ceil(archive.length / PIECE_BYTES);
  const uuid = randomUuid(ports.rng);
  const time = new Date(ports.clock.wall()).toISOString();
  for (let num = 0; num < count; num++) {
    const bytes = archive.subarray(num * PIECE_BYTES, (num + 1) * PIECE_BYTES);
    const object = pieceOf(ports, bytes, {
      [annotations.stateUuid]: uuid,
      [annotations.stateNum]: String(num),
      [annotations.statePieces]: String(count),
      [annotations.stateTime]: time,
    });
    await patiently(ports, () => created(ports, object));
  }
  return count;
}

/** The name is a long random one: what is there under it was stored by an attempt whose answer got lost. */
async function created({ client }: StatePorts, object: Secret): Promise<void> {
  try {
    await client.send({ verb: 'create', kind: SECRET, object });
  } catch (error) {
    if (!(error instanceof AlreadyExists)) throw error;
  }
}

const pieceOf = (
  { item, namespace, rng }: StatePorts,
  bytes: Uint8Array,
  more: Readonly<Record<string, string>>,
): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {
    name: stateName(item, randomSuffix(rng) + randomSuffix(rng)),
    namespace,
    labels: { ...labelsOf(item, CONTAINER_GROUP), [labels.type]: secretTypes.state },
    annotations: { [annotations.item]: `${item.namespace}/${item.name}`, ...more },
  },
  data: { [keys.data]: Buffer.from(bytes).toString('base64') },
});
