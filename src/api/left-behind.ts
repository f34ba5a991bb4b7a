/**
 * Objects of a deploy item on clusters that its target no longer leads to: how its status records, limits and describes
 * them. The uid of the namespace kube-system identifies a cluster. Pure.
 */
import { isObject, ownField, without, type View } from '../lib/objects.ts';
import type { DeployItemStatus } from './kinds/deployitem.ts';
import { entriesIn, resourceOf, textIn } from './managed-objects.ts';

/** The cluster that a provider status describes. */
export interface ClusterIdentity {
  /** Of the namespace kube-system. */
  readonly uid: string;
  /** Address without credentials; a cluster may have several. */
  readonly server?: string | undefined;
}

/** One element of `status.leftBehind`. Without a cluster, it only counts the objects of the oldest clusters. */
export type LeftBehind = View<NonNullable<DeployItemStatus['leftBehind']>[number]>;

/** An entry that names its cluster. */
export type NamedLeftBehind = LeftBehind & { readonly cluster: ClusterIdentity };

type Status = View<Pick<DeployItemStatus, 'leftBehind'>> | undefined;

export const leftBehindIn = (status: Status): readonly LeftBehind[] => status?.leftBehind ?? [];

export const isNamed = (entry: LeftBehind): entry is NamedLeftBehind => entry.cluster !== undefined;

// ---------------------------------------------------------------- the objects of a provider status

interface ListedObject {
  readonly uid: string;
  /** `ConfigMap app/settings` */
  readonly text: string;
}

/**
 * The objects that a job would have to delete: those of `managedResources` and the release of the manifest and helm
 * deployers. Objects that stay because of their policy are not among them, and the workloads of a release belong to it.
 */
export function objectsToDelete(providerStatus: unknown): readonly ListedObject[] {
  const release = ownField(providerStatus, 'release');
  const entries = entriesIn(providerStatus).filter((entry) => {
    const policy = ownField(entry, 'policy');
    if (policy === 'keep' || policy === 'ignore') return false;
    return !isObject(release) || Boolean(policy);
  });
  return [
    ...(isObject(release) ? [{ uid: '', text: `Helm release ${placeOf(release)}` }] : []),
    ...entries.map((entry) => {
      const resource = resourceOf(entry);
      // Entries without an object, from before it was created, have an empty uid.
      const doubt = ownField(resource, 'uid') === '' ? ' (perhaps not created)' : '';
      return {
        uid: textIn(resource, 'uid'),
        text: `${textIn(resource, 'kind')} ${placeOf(resource)}${doubt}`,
      };
    }),
  ];
}

const placeOf = (ref: unknown): string =>
  [textIn(ref, 'namespace'), textIn(ref, 'name')].filter((part) => part !== '').join('/');

/** Number of objects of an entry, including those that are not listed. */
export const countOf = ({ providerStatus, omitted = 0 }: LeftBehind): number =>
  objectsToDelete(providerStatus).length + omitted;

/** The uids of all objects of a provider status. */
export const uidsIn = (providerStatus: unknown): ReadonlySet<string> =>
  new Set(
    entriesIn(providerStatus)
      .map((entry) => textIn(resourceOf(entry), 'uid'))
      .filter(Boolean),
  );

/** The entry without objects that are known to be on another cluster; undefined if nothing is left of it. */
export function withoutObjects(entry: LeftBehind, uids: ReadonlySet<string>): LeftBehind | undefined {
  const all = entriesIn(entry.providerStatus);
  const others = all.filter((one) => !uids.has(textIn(resourceOf(one), 'uid')));
  const next = others.length === all.length ? entry : withEntries(entry, others);
  return countOf(next) > 0 ? next : undefined;
}

const withEntries = (entry: LeftBehind, entries: readonly unknown[]): LeftBehind => {
  const { managedResources: _, ...rest } = entry.providerStatus ?? {};
  return {
    ...entry,
    providerStatus: { ...rest, ...(entries.length > 0 && { managedResources: entries }) },
  };
};

// ---------------------------------------------------------------- limits

/** Older clusters are only counted. */
export const MAX_CLUSTERS = 10;
/** Of all entries, as JSON. */
export const MAX_BYTES = 256 * 2 ** 10;

/**
 * The entries that are stored: what exceeds the limits is only counted, of the oldest clusters first.
 * @param all oldest first
 */
export function limited(all: readonly LeftBehind[]): readonly LeftBehind[] {
  const counted = all.filter((entry) => !isNamed(entry));
  const named = all.filter(isNamed);
  const newest = named.slice(-MAX_CLUSTERS);
  const older = [...counted, ...named.slice(0, named.length - newest.length)];
  let left = MAX_BYTES;
  const fitting = newest
    .reverse()
    .map((entry) => {
      const next = fittingIn(entry, left);
      left = Math.max(0, left - bytesOf(next));
      return next;
    })
    .reverse();
  if (older.length === 0) return fitting;
  const omitted = older.reduce((sum, entry) => sum + countOf(entry), 0);
  const clusters = older.reduce((sum, entry) => sum + (entry.clusters ?? 1), 0);
  return [{ omitted, clusters }, ...fitting];
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

function fittingIn(entry: NamedLeftBehind, limit: number): NamedLeftBehind {
  if (bytesOf(entry) <= limit) return entry;
  const entries = entriesIn(entry.providerStatus);
  const rest = withEntries(entry, []);
  let left = limit - bytesOf(rest);
  const end = entries.findIndex((one) => (left -= bytesOf(one) + 1) < 0);
  const kept = end < 0 ? entries : entries.slice(0, end);
  const count = countOf(entry);
  const { cluster } = entry;
  if (kept.length === 0 && bytesOf(rest) > limit) return { cluster, omitted: count };
  const next = withEntries(entry, kept);
  const omitted = count - countOf({ ...next, omitted: 0 });
  return { ...next, cluster, ...(omitted > 0 && { omitted }) };
}

// ---------------------------------------------------------------- sentences

/** Maximum number of objects and of clusters that a message lists. */
const MAX_LISTED = 5;

export const clusterText = ({ uid, server }: ClusterIdentity): string =>
  server === undefined ? uid : `${uid} (${server})`;

/** `3 objects stay on cluster 4711 (https://a): ConfigMap app/x, …` */
export function describeEntry(entry: LeftBehind): string {
  const count = countOf(entry);
  const verb = count === 1 ? '1 object stays' : `${String(count)} objects stay`;
  const { cluster, clusters = 1 } = entry;
  if (!cluster) return `${verb} on ${String(clusters)} older ${clusters === 1 ? 'cluster' : 'clusters'}`;
  const shown = objectsToDelete(entry.providerStatus).slice(0, MAX_LISTED);
  const more = count - shown.length;
  const names = [
    ...shown.map(({ text }) => text),
    ...(more > 0 ? [`${shown.length > 0 ? 'and ' : ''}${String(more)} more`] : []),
  ];
  return `${verb} on cluster ${clusterText(cluster)}: ${names.join(', ')}`;
}

/** Newest cluster first. */
export function describeLeftBehind(all: readonly LeftBehind[]): string {
  const shown = [...all].reverse().slice(0, MAX_LISTED);
  const hidden = all.slice(0, all.length - shown.length).reduce((sum, entry) => sum + countOf(entry), 0);
  return [
    ...shown.map(describeEntry),
    ...(hidden > 0 ? [`${String(hidden)} more on other clusters`] : []),
  ].join('; ');
}

interface Named {
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly target?: string | undefined;
}

/**
 * What a user can do about objects on another cluster.
 * @param next what deals with them if the target leads back
 * @param program how the reader starts the program
 */
export function leftBehindWayOut(
  { name, namespace = '', target = 'NAME' }: Named,
  next: 'next job' | 'deletion',
  program = 'espalier',
): string {
  const at = `${name} -n ${namespace}`;
  const again = next === 'deletion' ? 'and repeat the deletion' : 'and the next job manages them again';
  const repeat = next === 'deletion' ? ', and repeat the deletion' : '';
  return (
    `let target ${target} lead to that cluster again, ${again}; ` +
    `or delete them: ${program} deployitems left-behind remove ${at} --target-kubeconfig FILE${repeat}; ` +
    `or leave them there: ${program} deployitems left-behind forget ${at}${repeat}`
  );
}

/** The status with these entries. */
export const withLeftBehind = (status: DeployItemStatus, entries: readonly LeftBehind[]): DeployItemStatus =>
  entries.length > 0
    ? { ...status, leftBehind: entries as NonNullable<DeployItemStatus['leftBehind']> }
    : without(status, 'leftBehind');
