/** The object to send in a replace, for servers and kinds without server-side apply. Pure. */
import { copy } from '../lib/json.ts';
import { ownField, type Fields, type View, table } from '../lib/objects.ts';
import type { Obj } from '../runtime/types.ts';

export interface ReplaceOptions {
  /** Labels and annotations of others do not stay. Default `false`. */
  readonly dropsOthers?: boolean;
}

/**
 * The desired object as a replacement of `actual`: labels and annotations of others stay, as do values that the
 * server has assigned, finalizers and owner references.
 */
export function replacement<R extends Obj>(
  actual: View<R>,
  desired: R,
  { dropsOthers = false }: ReplaceOptions = {},
): R {
  const current = copy(actual) as unknown as Obj & Fields;
  if (dropsOthers) {
    delete current.metadata.labels;
    delete current.metadata.annotations;
  }
  const wanted = copy(desired) as unknown as Obj & Fields;
  const { labels, annotations, finalizers, ownerReferences } = current.metadata;
  const metadata = {
    ...current.metadata,
    ...wanted.metadata,
    ...merged('labels', labels, wanted.metadata.labels),
    ...merged('annotations', annotations, wanted.metadata.annotations),
    ...(finalizers && { finalizers: wanted.metadata.finalizers ?? finalizers }),
    ...(ownerReferences && { ownerReferences: wanted.metadata.ownerReferences ?? ownerReferences }),
    uid: current.metadata.uid,
    resourceVersion: current.metadata.resourceVersion,
  };
  const result: Fields = {
    ...wanted,
    metadata,
    ...(current['status'] !== undefined && { status: current['status'] }),
  };
  carryOver(result, current);
  return result as unknown as R;
}

const merged = (
  name: 'labels' | 'annotations',
  theirs: Record<string, string> | undefined,
  ours: Record<string, string> | undefined,
): Fields => (theirs || ours ? { [name]: { ...theirs, ...ours } } : {});

/**
 * Fields that the server assigns once and does not accept back empty: if the desired object leaves them open, the
 * existing values are sent.
 */
const GIVEN_OUT: Readonly<Record<string, readonly (readonly string[])[]>> = table({
  Service: [
    ['spec', 'clusterIP'],
    ['spec', 'clusterIPs'],
    ['spec', 'healthCheckNodePort'],
  ],
  PersistentVolumeClaim: [['spec', 'volumeName']],
});

function carryOver(result: Fields, current: Fields): void {
  for (const path of GIVEN_OUT[String(result['kind'])] ?? []) {
    const value = path.reduce<unknown>(ownField, current);
    const parent = path.slice(0, -1).reduce<unknown>(ownField, result) as Fields | undefined;
    const last = path.at(-1) ?? '';
    if (value !== undefined && parent && parent[last] === undefined) parent[last] = value;
  }
}
