/** Reads deploy items with objects on other clusters, and changes their records. */
import { withLeftBehindCondition } from '../../../../../deployers/sdk/inventory-cluster.ts';
import { deployItemKind, type DeployItem } from '../../../../api/kinds/deployitem.ts';
import {
  clusterText,
  countOf,
  leftBehindIn,
  objectsToDelete,
  withLeftBehind,
  type LeftBehind,
} from '../../../../api/left-behind.ts';
import { timestamp } from '../../../../lib/clock.ts';
import { mergeDiff } from '../../../../lib/merge.ts';
import { Conflict, NotFound } from '../../../../runtime/errors.ts';
import type { View } from '../../../../runtime/types.ts';
import type { Cluster } from '../../../cluster.ts';
import { CommandError } from '../../../errors.ts';
import { selfCommand } from '../../../self-command.ts';

/** @throws CommandError if there is no such item */
export async function itemNamed(
  { client, namespace }: Pick<Cluster, 'client' | 'namespace'>,
  name: string,
): Promise<DeployItem> {
  try {
    return await client.get(deployItemKind, `${namespace}/${name}`);
  } catch (error) {
    if (!(error instanceof NotFound)) throw error;
    throw new CommandError(
      `there is no deploy item ${name} in namespace ${namespace}; choose another with -n, ` +
        `or list those with objects on other clusters: ${selfCommand()} deployitems left-behind list -A`,
    );
  }
}

/** @throws CommandError if no objects stay on other clusters */
export function entriesOf(item: View<DeployItem>): readonly LeftBehind[] {
  const entries = leftBehindIn(item.status);
  if (entries.length > 0) return entries;
  throw new CommandError(`deploy item ${item.metadata.name} has no objects on other clusters`);
}

/** The cluster of an entry with its objects, one line each. */
export function linesOf(entry: LeftBehind): readonly string[] {
  const { cluster, clusters = 1, omitted = 0 } = entry;
  const count = countOf(entry) === 1 ? '1 object' : `${String(countOf(entry))} objects`;
  const where = cluster ? `cluster ${clusterText(cluster)}` : `${String(clusters)} older clusters`;
  return [
    `${count} on ${where}`,
    ...objectsToDelete(entry.providerStatus).map(({ text }) => `    ${text}`),
    ...(omitted > 0 ? [`    ${String(omitted)} more, which the status only counts`] : []),
  ];
}

const MAX_ATTEMPTS = 10;

/**
 * Changes the entries of the stored item, even if a deployer writes it at the same time.
 * @param change the entries to keep
 */
export async function changeEntries(
  cluster: Pick<Cluster, 'client' | 'clock' | 'namespace'>,
  name: string,
  change: (entry: LeftBehind) => LeftBehind | undefined,
): Promise<void> {
  const { client, clock } = cluster;
  for (let attempt = 1; ; attempt++) {
    const item = await itemNamed(cluster, name);
    const before = item.status ?? { observedGeneration: 0 };
    const entries = leftBehindIn(before).flatMap((entry) => change(entry) ?? []);
    const next = withLeftBehindCondition(withLeftBehind(before, entries), item, timestamp(clock));
    const status = mergeDiff(before, next);
    if (!status) return;
    const { resourceVersion } = item.metadata;
    const body = { metadata: { resourceVersion }, status };
    const key = `${cluster.namespace}/${name}`;
    try {
      await client.send({ verb: 'merge', kind: deployItemKind, key, body, sub: 'status' });
      return;
    } catch (error) {
      if (!(error instanceof Conflict) || attempt >= MAX_ATTEMPTS) throw error;
    }
  }
}
