/** The hash over all imports of an installation: `status.importsHash`. */
import type { Target } from '../api/kinds/target.ts';
import type { ImportSet } from '../blueprint/import-set.ts';
import { goJson } from '../lib/gojson.ts';
import { sha1Hex } from '../lib/hash.ts';
import type { View } from '../lib/objects.ts';

/**
 * Lower-case hex SHA-1 of compact JSON: data by content, targets by generation.
 * @see gardener/landscaper pkg/landscaper/installations/imports/hash.go
 */
export function importsHash(imports: ImportSet): string {
  const generation = (target: View<Target>): string => String(target.metadata.generation ?? 0);
  const list = (targets: readonly View<Target>[]): string =>
    targets.length === 0 ? '' : goJson(targets.map(generation));
  const map = (targets: Readonly<Record<string, View<Target>>>): string => {
    const entries = Object.entries(targets).map(([key, target]) => [key, generation(target)] as const);
    return entries.length === 0 ? '' : goJson(Object.fromEntries(entries));
  };
  const groups = [
    ['DataObjects', versions(imports.data, ({ version }) => version)],
    ['Targets', versions(imports.targets, generation)],
    ['TargetLists', versions(imports.targetLists, list)],
    ['TargetMaps', versions(imports.targetMaps, map)],
  ] as const;
  return sha1Hex(`{${groups.map(([name, group]) => `"${name}":${goJson(group)}`).join(',')}}`);
}

const versions = <T>(group: ReadonlyMap<string, T>, version: (value: T) => string): Record<string, string> =>
  Object.fromEntries([...group].map(([name, value]) => [name, version(value)]));
