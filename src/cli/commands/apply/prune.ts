/** Deletes the objects of a set that are no longer in its files. */
import { isBeingDeleted } from '../../../api/job.ts';
import { labels } from '../../../api/labels.ts';
import { contextKind, dataObjectKind, installationKind, targetKind } from '../../../api/landscaper-kinds.ts';
import { sleep, type Clock } from '../../../lib/clock.ts';
import { formatDuration } from '../../../lib/duration.ts';
import { NotFound } from '../../../runtime/errors.ts';
import { keyOf } from '../../../runtime/keys.ts';
import { getIfThere } from '../../../runtime/transport/read.ts';
import type { Client, Key, Kind, Obj } from '../../../runtime/types.ts';
import { CommandError, UsageError } from '../../errors.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { configMapKind, secretKind } from '../install/kinds.ts';
import { listAll } from '../install/listing.ts';
import { rankOf } from './prepare.ts';
import { titleOf } from './read.ts';
import { identityOf, type PlannedObject } from './resolve.ts';
import { selfCommand } from '../../self-command.ts';

/** An object of a set that its files do not contain. */
interface ObsoleteObject {
  readonly kind: Kind;
  readonly key: Key;
  readonly uid: string;
  /** `installation/web` */
  readonly title: string;
}

/** Kinds that are searched even if the files contain none of them. */
const alwaysSearched: readonly Kind[] = [
  installationKind,
  targetKind,
  contextKind,
  dataObjectKind,
  configMapKind,
  secretKind,
];

/**
 * The objects to delete, in order: installations first, because uninstalling needs their targets.
 * @param namespaces where to search; cluster-scoped objects are never deleted
 */
export async function obsoleteObjects(
  client: Client,
  planned: readonly PlannedObject[],
  set: string,
  namespaces: readonly string[],
): Promise<readonly ObsoleteObject[]> {
  const wanted = new Set(planned.map(({ kind, object }) => identityOf(kind, object)));
  const searched = new Map(
    [...alwaysSearched, ...planned.map(({ kind }) => kind)]
      .filter(({ namespaced }) => namespaced)
      .map((kind) => [`${kind.group}/${kind.kind}`, kind]),
  );
  const found: ObsoleteObject[] = [];
  for (const kind of searched.values()) {
    for (const namespace of namespaces) {
      const query = { namespace, labels: `${labels.set}=${set}`, metadataOnly: true };
      for (const { metadata } of await listAll<Obj>(client, kind, query)) {
        const isOwned = metadata.ownerReferences?.some(({ controller }) => controller) ?? false;
        if (isOwned || isBeingDeleted(metadata) || wanted.has(identityOf(kind, { metadata }))) continue;
        const title = titleOf({ kind: kind.kind, metadata });
        found.push({ kind, key: keyOf({ metadata } as Obj), uid: metadata.uid ?? '', title });
      }
    }
  }
  return found.sort((a, b) => rankOf(b.kind.kind) - rankOf(a.kind.kind));
}

/** @throws UsageError without a terminal, CommandError if the user does not confirm */
export async function confirmDeletion(
  obsolete: readonly ObsoleteObject[],
  set: string,
  terminal: Terminal,
): Promise<void> {
  for (const { title, key } of obsolete) terminal.warn(`to be deleted: ${title} (${key})`);
  const answer = await terminal.ask(
    `Deletes ${String(obsolete.length)} objects of set ${set} that are not in the files. Type the name of the set to continue: `,
  );
  if (answer === undefined)
    throw new UsageError(
      'cannot ask for confirmation without a terminal; check with --dry-run, then add --yes',
    );
  if (answer.trim() !== set) throw new CommandError('not confirmed, nothing was changed');
}

interface DeletePorts {
  readonly client: Client;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly report: (title: string) => void;
}

/** Waits for the end of the installations before it deletes other objects. @throws CommandError after the timeout */
export async function deleteObsolete(obsolete: readonly ObsoleteObject[], ports: DeletePorts): Promise<void> {
  const isFirst = ({ kind }: ObsoleteObject): boolean => kind.kind === installationKind.kind;
  const installations = obsolete.filter(isFirst);
  const others = obsolete.filter((one) => !isFirst(one));
  for (const one of installations) await remove(one, ports);
  if (others.length === 0) return;
  await untilGone(installations, ports);
  for (const one of others) await remove(one, ports);
}

async function remove({ kind, key, uid, title }: ObsoleteObject, ports: DeletePorts): Promise<void> {
  try {
    await ports.client.send({
      verb: 'delete',
      kind,
      key,
      ...(uid !== '' && { uid }),
      propagation: 'Background',
    });
  } catch (error) {
    if (!(error instanceof NotFound)) throw error;
  }
  ports.report(title);
}

const POLL_MS = 500;

async function untilGone(installations: readonly ObsoleteObject[], ports: DeletePorts): Promise<void> {
  const { client, clock, timeoutMs } = ports;
  const giveUpAt = clock.now() + timeoutMs;
  for (const { kind, key, uid, title } of installations) {
    while ((await getIfThere(client, kind, key))?.metadata.uid === uid) {
      if (clock.now() >= giveUpAt)
        throw new CommandError(
          `${title} was not deleted within ${formatDuration(timeoutMs)}, so the objects that it may need are kept; ` +
            `see why with: ${selfCommand()} installations inspect, then run the command again`,
        );
      await sleep(clock, POLL_MS);
    }
  }
}
