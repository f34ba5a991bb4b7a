/** The input of export executions: results of deploy items, and all objects in the installation's own context. */
import type { DataObject } from '../api/kinds/dataobject.ts';
import type { Target } from '../api/kinds/target.ts';
import { labels } from '../api/labels.ts';
import type { ExportSources } from '../blueprint/exports.ts';
import { plainTarget } from '../blueprint/import-set.ts';
import { isObject, type View } from '../lib/objects.ts';

/**
 * @param executionExports data of the DataObject of the Execution (`Exec.<name>`); undefined without Execution
 * @param dataObjects all of the own context, in any order
 * @param targets all of the own context, in any order
 */
export function exportSources(objects: {
  readonly executionExports: unknown;
  readonly dataObjects: readonly View<DataObject>[];
  readonly targets: readonly View<Target>[];
}): ExportSources {
  const { executionExports, dataObjects, targets } = objects;
  const keyed = dataObjects.map((o) => [labelOf(o, labels.dataKey), o.data ?? null] as const);
  return {
    deployitems: isObject(executionExports) ? executionExports : {},
    dataobjects: Object.fromEntries(keyed.filter(([key]) => key !== '')),
    targets: targetsByKey(targets),
  };
}

const labelOf = (object: View<DataObject | Target>, label: string): string =>
  object.metadata.labels?.[label] ?? '';

/**
 * Single targets as objects, elements of a list or map import as a list or map. Upstream uses an arbitrary element
 * instead.
 */
function targetsByKey(targets: readonly View<Target>[]): Record<string, unknown> {
  const groups = new Map<string, View<Target>[]>();
  for (const target of targets) {
    const key = labelOf(target, labels.dataKey);
    if (key !== '') groups.set(key, [...(groups.get(key) ?? []), target]);
  }
  return Object.fromEntries([...groups].map(([key, group]) => [key, groupValue(group)]));
}

function groupValue(group: readonly View<Target>[]): unknown {
  const index = (t: View<Target>): string => labelOf(t, labels.dataIndex);
  const mapKey = (t: View<Target>): string => labelOf(t, labels.dataTargetMapKey);
  const list = group.filter((t) => index(t) !== '');
  if (list.length > 0) return list.sort((a, b) => Number(index(a)) - Number(index(b))).map(plainTarget);
  const map = group.filter((t) => mapKey(t) !== '');
  if (map.length > 0) return Object.fromEntries(map.map((t) => [mapKey(t), plainTarget(t)]));
  const [first] = group;
  return first ? plainTarget(first) : null;
}
