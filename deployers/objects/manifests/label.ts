/** The labels by which a deployer recognises its objects, on whatever cluster they are. */
import { createHash } from 'node:crypto';
import { ESPALIER_PREFIX, GROUP } from '../../../src/api/labels.ts';

/** Carried by every object of every deployer that works with manifests. */
export const MANIFEST_LABEL = `manifest.deployer.${GROUP}/deployitem`;
/** Tells items of the same name apart; upstream has no such label. */
export const NAMESPACE_LABEL = `${ESPALIER_PREFIX}/deployitem-namespace`;

const MAX_LABEL = 63;
const KEPT = 54;

/** The item's name as a label value: itself, or its beginning and a hash when it is too long for one. */
export const labelValue = (name: string): string =>
  name.length <= MAX_LABEL
    ? name
    : `${name.slice(0, KEPT)}-${createHash('sha256').update(name).digest('hex').slice(0, 8)}`;

/** Labels of the deployers of these types, besides the one that all have. */
const OWN_LABELS: Readonly<Record<string, string>> = {
  [`${GROUP}/helm`]: `helm.deployer.${GROUP}/deployitem`,
};

interface Labelled {
  readonly metadata: { readonly labels?: Readonly<Record<string, string>> };
}

/**
 * The labels to change on an object that the item with `ownership` leaves to another one, with null for what goes.
 * Undefined when the object does not say that it belongs to the item.
 */
export function handedOver(
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

/** @param keys label keys that get the item's name */
export const ownershipOf = (
  item: { readonly name: string; readonly namespace?: string },
  keys: readonly string[] = [MANIFEST_LABEL],
): Ownership => ({
  labels: {
    ...Object.fromEntries(keys.map((key) => [key, labelValue(item.name)])),
    ...(item.namespace && { [NAMESPACE_LABEL]: labelValue(item.namespace) }),
  },
});

/** Whether an object says that it belongs to the item. Objects of upstream carry no namespace and are believed. */
export function isOwned(
  { labels }: Ownership,
  object: { readonly metadata: { readonly labels?: Readonly<Record<string, string>> } },
): boolean {
  const own = object.metadata.labels ?? {};
  if (own[MANIFEST_LABEL] !== labels[MANIFEST_LABEL]) return false;
  return own[NAMESPACE_LABEL] === undefined || own[NAMESPACE_LABEL] === labels[NAMESPACE_LABEL];
}
