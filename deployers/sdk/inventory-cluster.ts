/**
 * Binds the inventory of a deploy item to its cluster. If the target leads to another cluster than in the last job, the
 * plugin gets the inventory of that cluster, and the other one is kept in `status.leftBehind` until the target leads back,
 * or until a user deletes or forgets the objects. Nothing changes while the identity of a cluster is unknown.
 */
import { shownTargetName } from '../../src/api/target-name.ts';
import { conditionReasons, conditionTypes } from '../../src/api/conditions.ts';
import {
  clusterText,
  countOf,
  describeEntry,
  describeLeftBehind,
  isNamed,
  leftBehindIn,
  leftBehindWayOut,
  limited,
  objectsToDelete,
  uidsIn,
  withLeftBehind,
  withoutObjects,
  type ClusterIdentity,
  type LeftBehind,
  type NamedLeftBehind,
} from '../../src/api/left-behind.ts';
import type { Fields } from '../../src/lib/objects.ts';
import type { Problem } from '../../src/machine/decision.ts';
import { changed } from '../../src/machine/status.ts';
import type { View } from '../../src/runtime/types.ts';
import type { SeenCluster } from './cluster-identity.ts';
import { withHead } from './codec.ts';
import type { DeployerPlugin } from './deployer.ts';
import type { Direction } from './intake.ts';
import type { DeployItem, DeployItemStatus } from './kinds.ts';
import { fail, type Outcome } from './outcome.ts';
import type { ResolvedTarget } from './target.ts';

/** The inventory for the cluster to which the target leads now, and what stays on others. */
interface Bound {
  readonly providerStatus: DeployItemStatus['providerStatus'] | undefined;
  /** Recorded for `providerStatus`. */
  readonly cluster: ClusterIdentity | undefined;
  readonly leftBehind: readonly LeftBehind[];
  readonly isMoved: boolean;
  /** The inventory that stays on the cluster of the last job. */
  readonly left?: NamedLeftBehind | undefined;
  /** The inventory of an earlier job on the cluster to which the target leads again. */
  readonly returned?: NamedLeftBehind | undefined;
}

const isKnown = (cluster: SeenCluster | undefined): cluster is ClusterIdentity => cluster?.uid !== undefined;

/**
 * @param current the cluster to which the target leads now; undefined if it has not been asked
 * @param empty the provider status for a cluster without objects. It is not absent, because a lost one says nothing
 */
function bind(
  status: View<DeployItemStatus> | undefined,
  current: SeenCluster | undefined,
  empty: Fields,
): Bound {
  const { providerStatus, targetCluster: recorded } = (status ?? {}) as Partial<DeployItemStatus>;
  const leftBehind = leftBehindIn(status);
  const unchanged = { providerStatus, cluster: recorded, leftBehind, isMoved: false };
  if (!isKnown(current)) return unchanged;
  const isEmpty = objectsToDelete(providerStatus).length === 0;
  const isElsewhere = recorded !== undefined && recorded.uid !== current.uid;
  const known = leftBehind.find((entry) => entry.cluster?.uid === current.uid);
  const returned = known && isNamed(known) && (isElsewhere || isEmpty) ? known : undefined;
  if (!isElsewhere && !returned) return unchanged;
  const left = isElsewhere && !isEmpty ? { cluster: recorded, providerStatus } : undefined;
  const others = leftBehind.filter((entry) => entry !== returned);
  return {
    providerStatus: returned?.providerStatus ?? empty,
    cluster: current,
    leftBehind: limited(left ? [...others, left] : others),
    isMoved: true,
    left,
    returned,
  };
}

/** The cluster to record with a provider status. */
function clusterToRecord(
  { cluster }: Pick<Bound, 'cluster'>,
  current: SeenCluster | undefined,
  facts: {
    /** Nothing was deployed before this job. */
    readonly isFirst: boolean;
    /** The job succeeded, so all objects of the inventory are on the current cluster. */
    readonly isDone: boolean;
  },
): ClusterIdentity | undefined {
  if (isKnown(current)) {
    // The objects of an inventory without a cluster may be anywhere until a job has applied all of them.
    return cluster || facts.isFirst || facts.isDone ? current : undefined;
  }
  const isAnother = current && cluster && current.server !== cluster.server;
  return facts.isDone && isAnother ? undefined : cluster;
}

interface Given {
  readonly item: View<DeployItem>;
  readonly direction: Direction;
  readonly target: ResolvedTarget | undefined;
  readonly plugin: Pick<DeployerPlugin, 'status'>;
  readonly signal: AbortSignal;
}

const emptyStatus = ({ plugin }: Given): Fields => withHead(plugin.status, {}) as Fields;

/** A change of the status, beside that of the provider status. */
export type StatusRevision = (status: DeployItemStatus, now: string) => DeployItemStatus;

export class InventoryBinding {
  readonly #given: Given;
  #current: SeenCluster | undefined;
  readonly #bound: Bound;
  #isBegun = false;
  #isRemoved = false;

  private constructor(given: Given, current: SeenCluster | undefined) {
    this.#given = given;
    this.#current = current;
    this.#bound = bind(given.item.status, current, emptyStatus(given));
  }

  /** @throws DeployerError if a cluster is recorded and the current one cannot be asked */
  static async of(given: Given): Promise<InventoryBinding> {
    const { target, signal, item } = given;
    const isRecorded = item.status?.targetCluster !== undefined || leftBehindIn(item.status).length > 0;
    return new InventoryBinding(given, isRecorded ? await target?.cluster(signal) : undefined);
  }

  /** The item with the inventory of the current cluster. */
  get item(): View<DeployItem> {
    const { item } = this.#given;
    const { isMoved, providerStatus } = this.#bound;
    return isMoved ? { ...item, status: { observedGeneration: 0, ...item.status, providerStatus } } : item;
  }

  /** Whether the target leads to another cluster than in the last reconcile. */
  get isMoved(): boolean {
    return this.#bound.isMoved;
  }

  /** Whether it is recorded that the item has nothing on the current cluster. */
  get isEmpty(): boolean {
    const { cluster, providerStatus } = this.#bound;
    return (
      cluster !== undefined && providerStatus !== undefined && objectsToDelete(providerStatus).length === 0
    );
  }

  get #targetName(): string | undefined {
    return this.#given.target && shownTargetName(this.#given.target);
  }

  /** Reason and message of the events about a cluster that has changed. */
  get events(): readonly (readonly ['Normal' | 'Warning', string, string])[] {
    const { left, returned } = this.#bound;
    const target = `target ${this.#targetName ?? ''}`;
    const cluster = isKnown(this.#current) ? clusterText(this.#current) : '';
    return [
      ...(left
        ? [
            [
              'Warning',
              'ObjectsLeftBehind',
              `${target} now leads to cluster ${cluster}; ${describeEntry(left)}`,
            ] as const,
          ]
        : []),
      ...(returned ? [['Normal', 'ObjectsManagedAgain', againText(target, cluster, returned)] as const] : []),
    ];
  }

  /** Remarks for a plan. */
  get notes(): readonly string[] {
    const { leftBehind } = this.#bound;
    const again = this.events.filter(([type]) => type === 'Normal').map(([, , note]) => note);
    if (leftBehind.length === 0) return again;
    const { direction } = this.#given;
    return [
      ...again,
      direction === 'apply' ? this.#message() : `the deletion will fail: ${this.#problem().message}`,
    ];
  }

  /** Call it before a provider status is stored. */
  async begin(): Promise<void> {
    this.#isBegun = true;
    if (this.#isFirst) await this.#look();
  }

  /** What the job ends with. A removal fails while objects stay on other clusters. */
  async conclude(outcome: Outcome): Promise<Outcome> {
    const { direction } = this.#given;
    if (outcome.kind !== 'done') return outcome;
    if (direction === 'apply') {
      if (outcome.status !== undefined) await this.#look();
      return outcome;
    }
    if (this.#bound.leftBehind.length === 0) return outcome;
    this.#isRemoved = true;
    return fail(this.#problem());
  }

  /** @param outcome of the plugin; undefined for one that has only begun, or threw an error */
  revision(outcome?: Outcome): StatusRevision {
    return (before, now) => {
      const isDone = outcome?.kind === 'done';
      const { isMoved, providerStatus, leftBehind } = this.#bound;
      let status = before;
      if (isMoved && !this.#isBegun && providerStatus) status = { ...status, providerStatus };
      if (this.#isRemoved) status = { ...status, providerStatus: emptyStatus(this.#given) };
      const inventory = outcome?.status ?? status.providerStatus;
      const facts = { isFirst: this.#isFirst, isDone: isDone && outcome.status !== undefined };
      const cluster = clusterToRecord(this.#bound, this.#current, facts);
      const { targetCluster: _, ...rest } = status;
      const uids = uidsIn(inventory);
      const entries = leftBehind.flatMap((entry) => withoutObjects(entry, uids) ?? []);
      const next = withLeftBehind({ ...rest, ...(cluster && { targetCluster: { ...cluster } }) }, entries);
      return withLeftBehindCondition(next, this.#given.item, now, this.#targetName);
    };
  }

  get #isFirst(): boolean {
    const { cluster, providerStatus } = this.#bound;
    return cluster === undefined && objectsToDelete(providerStatus).length === 0;
  }

  /** Asks for the cluster if no decision depends on it; if there is no answer, it remains unknown. */
  async #look(): Promise<void> {
    const { target, signal } = this.#given;
    if (this.#current || !target) return;
    try {
      this.#current = await target.cluster(signal);
    } catch (error) {
      if (signal.aborted) throw error;
    }
  }

  #message(): string {
    return leftBehindMessage(this.#given.item, this.#bound.leftBehind, this.#targetName);
  }

  #problem(): Problem {
    const where = isKnown(this.#current)
      ? `; target ${this.#targetName ?? ''} now leads to cluster ${clusterText(this.#current)}`
      : '';
    return {
      operation: 'delete',
      reason: 'ObjectsOnAnotherCluster',
      message: `${describeLeftBehind(this.#bound.leftBehind)}${where}; ${leftBehindWayOut(named(this.#given.item, this.#targetName), 'deletion')}`,
      codes: ['ERR_CONFIGURATION_PROBLEM'],
    };
  }
}

const againText = (target: string, cluster: string, returned: NamedLeftBehind): string => {
  const { omitted = 0 } = returned;
  const listed = countOf(returned) - omitted;
  const rest = omitted > 0 ? `; ${String(omitted)} more were only counted and stay there` : '';
  return `${target} leads to cluster ${cluster} again; the deploy item manages ${listed === 1 ? '1 object' : `${String(listed)} objects`} there again${rest}`;
};

const named = ({ metadata, spec }: View<DeployItem>, target = spec.target?.name) => ({
  name: metadata.name,
  namespace: metadata.namespace,
  target,
});

const leftBehindMessage = (item: View<DeployItem>, entries: readonly LeftBehind[], target?: string): string =>
  `${describeLeftBehind(entries)}; ${leftBehindWayOut(named(item, target), 'next job')}`;

/**
 * The status with the condition about its objects on other clusters, or without it.
 * @param target its name for users; default: that in the spec
 */
export function withLeftBehindCondition(
  status: DeployItemStatus,
  item: View<DeployItem>,
  now: string,
  target?: string,
): DeployItemStatus {
  const entries = leftBehindIn(status);
  const type = conditionTypes.ObjectsLeftBehind;
  if (entries.length === 0) return changed(status, { settled: [type] }, now);
  const message = leftBehindMessage(item, entries, target);
  const condition = { type, status: 'True', reason: conditionReasons.OnAnotherCluster, message } as const;
  return changed(status, { conditions: [condition] }, now);
}
