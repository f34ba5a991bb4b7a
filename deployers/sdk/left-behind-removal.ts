/** Removes what a deploy item has on a cluster to which its target no longer leads, as a job of the deployer would. */
import {
  clusterText,
  countOf,
  isNamed,
  objectsToDelete,
  uidsIn,
  withoutObjects,
  type LeftBehind,
  type NamedLeftBehind,
} from '../../src/api/left-behind.ts';
import { sleep, timestamp } from '../../src/lib/clock.ts';
import type { Logger } from '../../src/observability/log.ts';
import type { View } from '../../src/runtime/types.ts';
import { contextOf, deployContextOf, type Bounds, type DeployContextPorts } from './deploy-context.ts';
import { ConfigurationError, DeployerError } from './errors.ts';
import type { DeployItem, Target } from './kinds.ts';
import { waitMs } from './memory.ts';
import { validateTarget, type ResolvedTarget } from './target.ts';
import { remainingMs } from './timeout.ts';

interface LeftBehindRemoval {
  readonly item: View<DeployItem>;
  /** The entries of its status. */
  readonly entries: readonly LeftBehind[];
  /** Leads to the cluster with the objects; need not be stored anywhere. */
  readonly target: View<Target>;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** What the removal waits for. */
  readonly onWait: (why: string) => void;
}

/** What was removed, and what remains of its entry: objects that were only counted. */
export interface RemovedObjects {
  readonly entry: NamedLeftBehind;
  /** `ConfigMap app/settings` */
  readonly removed: readonly string[];
  readonly remaining: LeftBehind | undefined;
}

const PLACE = { operation: 'delete', reason: 'RemoveLeftBehind' } as const;
const refused = (message: string): ConfigurationError => new ConfigurationError({ ...PLACE, message });

/**
 * Removes the objects on the cluster of the target. Objects that the item manages on its own cluster are not among them.
 * @throws ConfigurationError if no entry is about that cluster; TimeoutError after the timeout of the item; errors of the
 *   deployer
 */
export async function removeLeftBehind(
  at: LeftBehindRemoval,
  ports: DeployContextPorts,
): Promise<RemovedObjects> {
  const { item, signal } = at;
  const target = await ports.reader.resolve(at.target, signal);
  validateTarget(target, PLACE.operation);
  const entry = await entryFor(at, target);
  const rest = withoutObjects(entry, uidsIn(item.status?.providerStatus));
  const removed = objectsToDelete(rest?.providerStatus).map(({ text }) => text);
  if (rest && removed.length > 0) await removeAll(withInventory(at, rest, ports), target, ports, at);
  const omitted = countOf(entry) - objectsToDelete(entry.providerStatus).length;
  return { entry, removed, remaining: omitted > 0 ? { cluster: entry.cluster, omitted } : undefined };
}

/** @throws ConfigurationError */
async function entryFor(
  { entries, signal }: LeftBehindRemoval,
  target: ResolvedTarget,
): Promise<NamedLeftBehind> {
  const { uid, server } = await target.cluster(signal);
  if (uid === undefined) {
    const message = `cannot verify which cluster this is: its server does not show the namespace kube-system; use credentials that may read it`;
    throw refused(message);
  }
  const found = entries.find(({ cluster }) => cluster?.uid === uid);
  if (found && isNamed(found)) return found;
  const known = entries.flatMap(({ cluster }) => (cluster ? clusterText(cluster) : [])).join(', ');
  throw refused(
    `no objects of the deploy item stay on cluster ${clusterText({ uid, server })}; they stay on: ${known || 'older clusters that are only counted'}`,
  );
}

/** The item as it would be deleted on that cluster. */
const withInventory = (
  { item }: LeftBehindRemoval,
  { cluster, providerStatus }: LeftBehind,
  { clock }: DeployContextPorts,
): View<DeployItem> => ({
  ...item,
  metadata: { ...item.metadata, deletionTimestamp: timestamp(clock) },
  status: {
    observedGeneration: 0,
    ...(providerStatus && { providerStatus }),
    ...(cluster && { targetCluster: cluster }),
  },
});

async function removeAll(
  item: View<DeployItem>,
  target: ResolvedTarget,
  ports: DeployContextPorts,
  { log, signal, onWait }: LeftBehindRemoval,
): Promise<void> {
  const { clock, plugin } = ports;
  const startedAt = timestamp(clock);
  const start = clock.now();
  const bounds: Bounds = {
    left: () => remainingMs(item.spec.timeout, startedAt, clock.wall()),
    signal,
    deadline: { lastStep: '' },
  };
  const context = await contextOf(item, ports, bounds, PLACE.operation);
  const subject = {
    item,
    log,
    scratch: new Map<string, unknown>(),
    begin: () => Promise.resolve(),
    event: (_type: string, _reason: string, note: string) => {
      onWait(note);
    },
  };
  const ctx = deployContextOf(subject, ports, bounds, { target, context });
  for (;;) {
    const outcome = await plugin.remove(ctx);
    if (outcome.kind === 'done') return;
    if (outcome.kind !== 'wait')
      throw new DeployerError({ ...outcome.problem, codes: outcome.problem.codes ?? [] });
    if (outcome.why) onWait(outcome.why.message);
    await sleep(clock, outcome.requeueAfterMs ?? waitMs(clock.now() - start), signal);
  }
}
