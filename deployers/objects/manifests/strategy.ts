/** From the object on the cluster and the one that is wanted to the one to send. Pure; the tables are upstream's. */
import { copy, equal } from '../../../src/lib/json.ts';
import { isObject, ownField, type Fields } from '../../../src/lib/objects.ts';
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
 * A deep merge that recurses into maps only.
 * @param wins whose value is taken when both have one: that of `into`, unless empty, or that of `from`
 */
export function deepMerge(into: Fields, from: Fields, wins: 'into' | 'from'): Fields {
  const result: Fields = { ...into };
  for (const [key, theirs] of Object.entries(from)) {
    const ours = ownField(into, key);
    if (!Object.hasOwn(into, key)) {
      if (theirs !== null || wins === 'from') result[key] = copy(theirs);
    } else if (isObject(ours) && isObject(theirs)) {
      result[key] = deepMerge(ours, theirs, wins);
    } else if (wins === 'from') {
      result[key] = copy(theirs);
    } else if (isEmpty(ours) && !isEmpty(theirs)) {
      result[key] = copy(theirs);
    }
  }
  return result;
}

/**
 * The object to send with PUT.
 * @param current as read from the cluster
 * @param wanted the manifest
 * @param own labels that are set whatever the strategy
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
      : carriedOver(current, copy(wanted));
  const labels = { ...base.metadata.labels, ...own };
  return {
    ...base,
    metadata: { ...base.metadata, labels, ...identityOf(current) },
  };
}

/** What makes the write one to this very object in this very version. */
function identityOf({ metadata }: KubeObject): Pick<KubeObject['metadata'], 'resourceVersion' | 'uid'> {
  const { resourceVersion, uid } = metadata;
  return { ...(resourceVersion && { resourceVersion }), ...(uid && { uid }) };
}

/**
 * Fields of the cluster's object that a replacement must keep: those the server has given out and does not take back,
 * and those by which other controllers hold on to the object.
 */
function carriedOver(current: KubeObject, wanted: KubeObject): KubeObject {
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

type Keeper = (result: KubeObject, current: KubeObject) => void;

/** Sets a field when the manifest leaves it open (or always, for what can never be changed). */
const keep =
  (path: readonly string[], how: 'ifOpen' | 'always' = 'ifOpen'): Keeper =>
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

/** A keeper for objects in which a field says something. */
const whenOf =
  (field: string, value: string, keeper: Keeper): Keeper =>
  (result, current) => {
    if (result[field] === value) keeper(result, current);
  };

/** Rules that a controller puts together from other roles. */
const aggregatedRules: Keeper = (result, current) => {
  if (result['aggregationRule'] !== undefined) keep(['rules'])(result, current);
};

const KEEPERS: Readonly<Record<string, readonly Keeper[]>> = {
  '/Service': [keep(['spec', 'clusterIP']), keep(['spec', 'clusterIPs'])],
  'batch/Job': [
    keep(['spec', 'selector'], 'always'),
    keep(['spec', 'template', 'metadata', 'labels'], 'always'),
  ],
  '/ServiceAccount': [keep(['secrets'])],
  'rbac.authorization.k8s.io/ClusterRole': [aggregatedRules],
  // Given out when the claim is bound, and immutable from then on.
  '/PersistentVolumeClaim': [
    keep(['spec', 'volumeName']),
    keep(['spec', 'storageClassName']),
    keep(['spec', 'volumeMode']),
  ],
  // Without the claim the volume would count as released.
  '/PersistentVolume': [keep(['spec', 'claimRef'])],
  '/Secret': [
    whenOf('type', 'kubernetes.io/service-account-token', keep(['data'])),
    whenOf(
      'type',
      'kubernetes.io/service-account-token',
      keep(['metadata', 'annotations', 'kubernetes.io/service-account.uid']),
    ),
  ],
};

/**
 * The object without what only a server can say of it. Manifests copied from a cluster bring such fields along, and a
 * server refuses to create an object that has them.
 */
export function withoutServerOwned(object: KubeObject): KubeObject {
  const metadata: unknown = withoutServerMetadata({ ...object.metadata });
  return { ...object, metadata: metadata as KubeObject['metadata'] };
}

/** Whether sending `next` over `current` would change nothing, as far as that can be told without the server. */
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
