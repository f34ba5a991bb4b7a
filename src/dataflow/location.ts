/** The location of a DataObject or Target in the data flow; it determines name, labels and owner. */
import { API_VERSION, annotations, labels } from '../api/labels.ts';
import type { ObjectMeta } from '../api/shared.ts';
import type { View } from '../lib/objects.ts';
import { elementName, objectName } from './scope.ts';

/** The context from which an object is read, its writer, and its name: the source of its object name and labels. */
export interface DataLocation {
  readonly context: string;
  readonly source: string;
  readonly sourceType?: 'import' | 'export';
  readonly key: string;
  readonly jobID?: string | undefined;
  readonly index?: number;
  readonly mapKey?: string;
}

/** Labels and annotations of users; copies of a target keep them. */
export interface UserMetadata {
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

/** Keys of the labels that describe the location of an object; an update removes those that are not wanted. */
export const locationLabelKeys: readonly string[] = [
  labels.dataContext,
  labels.dataSource,
  labels.dataSourceType,
  labels.dataKey,
  labels.dataIndex,
  labels.dataTargetMapKey,
  labels.dataJobId,
];

/** `kind` is explicit, because objects from a list do not contain it. */
export interface Owner {
  readonly kind: 'Installation' | 'Execution';
  readonly metadata: View<ObjectMeta>;
}

/** Metadata of an object at a location: name, labels, content hash and owner. */
export function metadataAt(
  { metadata: owner, kind: ownerKind }: Owner,
  location: DataLocation,
  hash: string,
  user: UserMetadata = {},
): ObjectMeta {
  const { context, key, index, mapKey } = location;
  const element = index ?? mapKey;
  return {
    name: objectName(context, element === undefined ? key : elementName(key, element)),
    ...(owner.namespace === undefined ? {} : { namespace: owner.namespace }),
    labels: { ...user.labels, ...locationLabels(location) },
    annotations: { ...user.annotations, [annotations.dataHash]: hash },
    ownerReferences: [
      {
        apiVersion: API_VERSION,
        kind: ownerKind,
        name: owner.name,
        uid: owner.uid ?? '',
      },
    ],
  };
}

/** An empty value means no label. `#` in a key would make the label invalid, so it is removed. */
function locationLabels(location: DataLocation): Record<string, string> {
  const all = {
    [labels.dataContext]: location.context,
    [labels.dataSource]: location.source,
    [labels.dataSourceType]: location.sourceType ?? '',
    [labels.dataKey]: location.key.replace(/^#/, ''),
    [labels.dataIndex]: location.index === undefined ? '' : String(location.index),
    [labels.dataTargetMapKey]: location.mapKey ?? '',
    [labels.dataJobId]: location.jobID ?? '',
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
}
