/** Reverts what servers change in objects that they store: their own metadata, `stringData`, quantities. Pure. */
import { isObject, ownField, type Fields } from '../lib/objects.ts';
import { canonicalQuantity } from '../lib/quantity.ts';
import type { View } from '../lib/objects.ts';

/** Fields of `metadata` that the server sets. */
export const SERVER_METADATA = [
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'managedFields',
  'selfLink',
] as const;

/** A copy of `metadata` without fields that the server sets. */
export function withoutServerMetadata(metadata: Readonly<Fields>): Fields {
  const result: Fields = { ...metadata };
  for (const field of SERVER_METADATA) delete result[field];
  return result;
}

/** `stringData` as the server stores it: in base64 in `data`. */
export function withFoldedStringData(object: Readonly<Fields>): Fields {
  const { stringData, ...rest } = object;
  if (!isObject(stringData)) return { ...object };
  const folded = Object.fromEntries(
    Object.entries(stringData).map(([key, value]) => [key, Buffer.from(String(value)).toString('base64')]),
  );
  const data = ownField(rest, 'data');
  return { ...rest, data: { ...(isObject(data) ? data : {}), ...folded } };
}

/** The fields of an object that its author sets, without metadata. */
export function authored(object: View<Fields>): Fields {
  const { apiVersion: _a, kind: _k, metadata: _m, status: _s, ...rest } = object;
  return object['kind'] === 'Secret' ? withFoldedStringData(rest) : rest;
}

/** Labels and annotations. */
export function metadataOf(object: View<Fields>): Fields {
  const metadata = ownField(object, 'metadata');
  const part = (name: string): unknown => ownField(metadata, name) ?? {};
  return { labels: part('labels'), annotations: part('annotations') };
}

/** Paths at which Kubernetes, and kinds that follow its conventions, have quantities. */
const QUANTITY =
  /\/(resources\/(limits|requests)|capacity|allocatable|spec\/hard|spec\/limits\/\d+\/[a-zA-Z]+)\/[^/]+$|\/sizeLimit$/;

/** Whether two values are quantities according to their path, and equal, such as `500m` and `0.5`. */
export function isSameQuantity(a: unknown, b: unknown, path: string): boolean {
  if (!QUANTITY.test(path)) return false;
  const [x, y] = [a, b].map((value) =>
    ['string', 'number', 'bigint'].includes(typeof value) ? canonicalQuantity(String(value)) : undefined,
  );
  return x !== undefined && x === y;
}
