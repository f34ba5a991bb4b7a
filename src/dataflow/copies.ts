/**
 * Whether imported targets are unchanged since they were copied at the start of the job. The imports hash contains
 * only the generation of a target, and a recreated target starts with the first generation again.
 */
import type { Target } from '../api/kinds/target.ts';
import { labels } from '../api/labels.ts';
import type { ImportSet } from '../blueprint/import-set.ts';
import { equal } from '../lib/json.ts';
import type { View } from '../lib/objects.ts';

/** Names of the imports whose targets differ from the given copies. */
export function replacedTargets(imports: ImportSet, copies: readonly View<Target>[]): readonly string[] {
  const replaced = copies.flatMap(({ metadata: { labels: location = {} }, spec }) => {
    const name = location[labels.dataKey] ?? '';
    const now = importedTarget(imports, name, location);
    return now && !equal(now.spec, spec) ? [name] : [];
  });
  return [...new Set(replaced)];
}

function importedTarget(
  { targets, targetLists, targetMaps }: ImportSet,
  name: string,
  location: Readonly<Record<string, string>>,
): View<Target> | undefined {
  const at = location[labels.dataIndex];
  const key = location[labels.dataTargetMapKey];
  if (at !== undefined) return targetLists.get(name)?.[Number(at)];
  if (key !== undefined) return targetMaps.get(name)?.[key];
  return targets.get(name);
}
