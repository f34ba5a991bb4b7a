/** Computes the object to send from the existing object and the manifest. Pure; the tables match upstream's. */
import { copy, equal } from '../../../src/lib/json.ts';
import { isObject, ownField, type Fields, table } from '../../../src/lib/objects.ts';
import { withoutServerMetadata } from '../../../src/workflow/shapes.ts';
import type { KubeObject, Strategy } from './model.ts';

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  value === 0 ||
  value === false ||
  (Array.isArray(value) && value.length === 0) ||
  (isObject(value) && Object.keys(value).length === 0);

/**
 * A deep merge that recurses only into maps.
 * @param wins whose value counts if both have one: `into` (unless it is empty) or `from`
 */
export function deepMerge(into: Fields, from: Fields, wins: 'into' | 'from'): Fields {
  const result: Fields = { ...into };
  for (const [key, existing] of Object.entries(from)) {
    const ours = ownField(into, key);
    if (!Object.hasOwn(into, key)) {
      if (existing !== null || wins === 'from') result[key] = copy(existing);
    } else if (isObject(ours) && isObject(existing)) {
      result[key] = deepMerge(ours, existing, wins);
    } else if (wins === 'from') {
      result[key] = copy(existing);
    } else if (isEmpty(ours) && !isEmpty(existing)) {
      result[key] = copy(existing);
    }
  }
  return result;
}

/**
 * The object to send with PUT.
 * @param current as read from the cluster
 * @param wanted the manifest
 * @param own labels that every strategy sets
 */
export function desired(
  current: KubeObject,
  wanted: KubeObject,
  strategy: Exclude<Strategy, 'apply'>,
  own: Readonly<Record<string, string>>,
): KubeObject {
  const base =
    strategy === 'merge' || strategy === 'mergeOverwrite'
      ? (deepMerge(current, wanted, strategy === 'merge' ? 'into' : 'from') as KubeObject)
      : keepServerFields(current, copy(wanted));
  const labels = { ...base.metadata.labels, ...own };
  return {
    ...base,
    metadata: { ...base.metadata, labels, ...identityOf(current) },
  };
}

/** Binds the write to this object in this version. */
function identityOf({ metadata }: KubeObject): Pick<KubeObject['metadata'], 'resourceVersion' | 'uid'> {
  const { resourceVersion, uid } = metadata;
  return { ...(resourceVersion && { resourceVersion }), ...(uid && { uid }) };
}

/**
 * Fields of the existing object that a replacement must keep: immutable values that the API server has assigned,
 * and fields by which other controllers track the object.
 */
function keepServerFields(current: KubeObject, wanted: KubeObject): KubeObject {
  const { finalizers, ownerReferences } = current.metadata;
  const metadata = {
    ...(finalizers && { finalizers }),
    ...(ownerReferences && { ownerReferences }),
    ...wanted.metadata,
  };
  const result: KubeObject = { ...wanted, metadata };
  const status = current['status'];
  if (status !== undefined && wanted['status'] === undefined) result['status'] = status;
  for (const keep of KEEPERS[`${groupOfObject(wanted)}/${wanted.kind}`] ?? []) keep(result, current);
  return result;
}

const groupOfObject = ({ apiVersion }: KubeObject): string => apiVersion.split('/').slice(0, -1).join('/');

type FieldKeeper = (result: KubeObject, current: KubeObject) => void;

/** Keeps a field if the manifest does not set it (or always, if it is immutable). */
const keep =
  (path: readonly string[], how: 'ifOpen' | 'always' = 'ifOpen'): FieldKeeper =>
  (result, current) => {
    const value = path.reduce<unknown>(ownField, current);
    if (value === undefined) return;
    let at: Fields = result;
    for (const step of path.slice(0, -1)) {
      const inner = ownField(at, step);
      at[step] = isObject(inner) ? { ...inner } : {};
      at = at[step] as Fields;
    }
    const last = path.at(-1) ?? '';
    if (how === 'always' || at[last] === undefined) at[last] = copy(value);
  };

/** A keeper for objects with a certain value in a field. */
const whenOf =
  (field: string, value: string, keeper: FieldKeeper): FieldKeeper =>
  (result, current) => {
    if (result[field] === value) keeper(result, current);
  };

/** Rules that a controller aggregates from other roles. */
const aggregatedRules: FieldKeeper = (result, current) => {
  if (result['aggregationRule'] !== undefined) keep(['rules'])(result, current);
};

const KEEPERS: Readonly<Record<string, readonly FieldKeeper[]>> = table({
  '/Service': [keep(['spec', 'clusterIP']), keep(['spec', 'clusterIPs'])],
  'batch/Job': [
    keep(['spec', 'selector'], 'always'),
    keep(['spec', 'template', 'metadata', 'labels'], 'always'),
  ],
  '/ServiceAccount': [keep(['secrets'])],
  'rbac.authorization.k8s.io/ClusterRole': [aggregatedRules],
  // Set when the claim is bound, and immutable from then on.
  '/PersistentVolumeClaim': [
    keep(['spec', 'volumeName']),
    keep(['spec', 'storageClassName']),
    keep(['spec', 'volumeMode']),
  ],
  // Without the claim reference the volume would count as released.
  '/PersistentVolume': [keep(['spec', 'claimRef'])],
  '/Secret': [
    whenOf('type', 'kubernetes.io/service-account-token', keep(['data'])),
    whenOf(
      'type',
      'kubernetes.io/service-account-token',
      keep(['metadata', 'annotations', 'kubernetes.io/service-account.uid']),
    ),
  ],
});

/**
 * The object without fields that only an API server sets. Manifests copied from a cluster contain them, and the API
 * server refuses to create an object with them.
 */
export function withoutServerOwned(object: KubeObject): KubeObject {
  const metadata: unknown = withoutServerMetadata({ ...object.metadata });
  return { ...object, metadata: metadata as KubeObject['metadata'] };
}

/** Whether sending `next` would not change `current`, if the client can determine that. */
export const isUnchanged = (current: KubeObject, next: KubeObject): boolean =>
  equal(comparable(current), comparable(next));

function comparable(object: KubeObject): Fields {
  const metadata: Fields = { ...withoutServerOwned(object).metadata };
  for (const field of ['labels', 'annotations', 'finalizers', 'ownerReferences']) {
    if (isEmpty(metadata[field])) delete metadata[field];
  }
  const { stringData, ...rest } = object as Fields;
  if (!isObject(stringData)) return { ...rest, metadata };
  const folded = Object.fromEntries(
    Object.entries(stringData).map(([key, value]) => [key, Buffer.from(String(value)).toString('base64')]),
  );
  const data = ownField(rest, 'data');
  return { ...rest, metadata, data: { ...(isObject(data) ? data : {}), ...folded } };
}
