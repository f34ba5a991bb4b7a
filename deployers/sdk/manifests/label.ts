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
