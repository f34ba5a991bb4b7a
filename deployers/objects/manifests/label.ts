/** The labels by which a deployer recognises its objects on any cluster. */
import { table } from '../../../src/lib/objects.ts';
import { createHash } from 'node:crypto';
import { ESPALIER_PREFIX, GROUP } from '../../../src/api/labels.ts';

/** On every object of every deployer that applies manifests. */
export const MANIFEST_LABEL = `manifest.deployer.${GROUP}/deployitem`;
/** Distinguishes items of the same name; upstream has no such label. */
export const NAMESPACE_LABEL = `${ESPALIER_PREFIX}/deployitem-namespace`;

const MAX_LABEL = 63;
const KEPT = 54;

/** The item's name as a label value: unchanged, or shortened with a hash if it is too long. */
export const labelValue = (name: string): string =>
  name.length <= MAX_LABEL
    ? name
    : `${name.slice(0, KEPT)}-${createHash('sha256').update(name).digest('hex').slice(0, 8)}`;

/** Additional labels of the deployers for these types. */
const OWN_LABELS: Readonly<Record<string, string>> = table({
  [`${GROUP}/helm`]: `helm.deployer.${GROUP}/deployitem`,
});

interface Labelled {
  readonly metadata: { readonly labels?: Readonly<Record<string, string>> };
}

/**
 * The label changes for an object that the item with `ownership` leaves to another item; null removes a label.
 * undefined if the labels do not contain this item's name.
 */
export function handedOverLabels(
  { labels }: Ownership,
  next: { readonly name: string; readonly namespace: string; readonly type: string },
  object: Labelled,
): Readonly<Record<string, string | null>> | undefined {
  const known = object.metadata.labels ?? {};
  if (!isOwned({ labels }, object)) return undefined;
  const own = OWN_LABELS[next.type];
  const gone = Object.keys(labels).filter((key) => known[key] === labels[key]);
  return {
    ...Object.fromEntries(gone.map((key) => [key, null])),
    ...ownershipOf(next, [MANIFEST_LABEL, ...(own === undefined ? [] : [own])]).labels,
  };
}

export interface Ownership {
  /** All labels to set, by key. */
  readonly labels: Readonly<Record<string, string>>;
}

/** @param keys keys of the labels with the item's name */
export const ownershipOf = (
  item: { readonly name: string; readonly namespace?: string },
  keys: readonly string[] = [MANIFEST_LABEL],
): Ownership => ({
  labels: {
    ...Object.fromEntries(keys.map((key) => [key, labelValue(item.name)])),
    ...(item.namespace && { [NAMESPACE_LABEL]: labelValue(item.namespace) }),
  },
});

/**
 * Whether the labels of an object contain the item's name. Upstream's objects have no label with the namespace;
 * they match as well.
 */
export function isOwned(
  { labels }: Ownership,
  object: { readonly metadata: { readonly labels?: Readonly<Record<string, string>> } },
): boolean {
  const own = object.metadata.labels ?? {};
  if (own[MANIFEST_LABEL] !== labels[MANIFEST_LABEL]) return false;
  return own[NAMESPACE_LABEL] === undefined || own[NAMESPACE_LABEL] === labels[NAMESPACE_LABEL];
}
