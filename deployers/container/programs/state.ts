/** The state of an item in secrets: an archive split into parts. Every run stores a new set. */
import { randomSuffix, type Rng } from '../../../src/lib/rng.ts';
import { randomUuid } from '../../../src/lib/uuid.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import type { Logger } from '../../../src/observability/log.ts';
import { AlreadyExists } from '../../../src/runtime/errors.ts';
import { joinKey } from '../../../src/runtime/keys.ts';
import type { Client } from '../../../src/runtime/types.ts';
import { annotations, CONTAINER_GROUP, keys, labels, secretTypes } from '../contract.ts';
import { all, type Place } from '../host-objects.ts';
import { SECRET, type Secret } from '../kinds.ts';
import { labelsOf, selectorOf, stateName, type ItemRef } from '../names.ts';
import { snapshotsIn, stateLabel } from '../snapshots.ts';
import { FolderProblem, packFolder, unpackFolder } from './folder.ts';
import { withRetries } from './retries.ts';

/** Maximum size of a secret. */
const PIECE_BYTES = 2 ** 20;

interface StatePorts {
  readonly client: Client;
  /** Namespace of the secrets. */
  readonly namespace: string;
  readonly item: ItemRef;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Logger;
}

/**
 * Restores the newest snapshot to the folder.
 * @param names of its secrets in order; undefined: they are found by label
 * @returns the number of parts
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
 * Stores the folder as a new snapshot. The deployer deletes older snapshots when this one is complete.
 * @returns the number of parts; 0 for an empty folder
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
    await withRetries(ports, () => created(ports, object));
  }
  return count;
}

/** The name is long and random, so an existing secret was created by an attempt whose response was lost. */
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
