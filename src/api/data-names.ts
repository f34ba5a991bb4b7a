/** The names under which installations exchange data and targets. An import and an export of the same name make an edge. */
import type { View } from '../lib/objects.ts';
import type { InstallationExports, InstallationImports } from './kinds/installation.ts';

/** Anything with imports and exports: the spec of an installation, or a template of one. */
export interface ImportsAndExports {
  readonly imports?: View<InstallationImports> | undefined;
  readonly exports?: View<InstallationExports> | undefined;
}

/** `data/<name>` and `target/<name>`; references to lists and maps of the parent make no edge. */
export function importedNames({ imports }: ImportsAndExports): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { dataRef } of imports?.data ?? []) if (dataRef) names.add(`data/${dataRef}`);
  for (const { target, targets, targetMap } of imports?.targets ?? []) {
    for (const ref of [target, ...(targets ?? []), ...Object.values(targetMap ?? {})]) {
      if (ref) names.add(`target/${ref}`);
    }
  }
  return names;
}

export function exportedNames({ exports }: ImportsAndExports): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { dataRef } of exports?.data ?? []) if (dataRef) names.add(`data/${dataRef}`);
  for (const { target } of exports?.targets ?? []) if (target) names.add(`target/${target}`);
  return names;
}
