/** Imports and exports in the caches. */
import type { ImportLookups } from '../../src/dataflow/imports.ts';
import { isRoot } from '../../src/api/job.ts';
import { dataSourceTypes, labels } from '../../src/api/labels.ts';
import { installationContext } from '../../src/dataflow/scope.ts';
import { index, type World } from '../../src/landscape/world.ts';
import type { Cache, Obj } from '../../src/runtime/types.ts';
import type { Inst } from './related-objects.ts';
import type { DataOrTarget } from './snapshot.ts';

type Cached = Pick<ImportLookups, 'dataObject' | 'target' | 'targetsBySelector' | 'rootNames'>;

/** Installations in the cache up to which the names of their exports are suggested. */
const MAX_READ = 1_000;

export const cachedImports = (world: World, namespace: string): Cached => ({
  dataObject: (name) => world.dataObjects.get(`${namespace}/${name}`),
  target: (name) => world.targets.get(`${namespace}/${name}`),
  targetsBySelector: ({ labels: wanted }) =>
    [...world.targets.list(namespace)].filter((target) =>
      Object.entries(wanted).every(([key, value]) => target.metadata.labels?.[key] === value),
    ),
  *rootNames(kind) {
    const cache: Cache<Obj> = kind === 'data' ? world.dataObjects : world.targets;
    // Objects of other scopes have this label, and a hash as their name.
    for (const { metadata } of cache.list(namespace))
      if ((metadata.labels?.[labels.dataContext] ?? '') === '') yield metadata.name;
    // Exports that other roots will write. Each look reads a whole namespace, so a large cluster does without.
    if (world.installations.size > MAX_READ) return;
    for (const { metadata, spec } of world.installations.list(namespace))
      if (isRoot(metadata)) yield* exportedAs(spec, kind);
  },
});

const exportedAs = ({ exports }: Inst['spec'], kind: 'data' | 'target'): readonly string[] =>
  kind === 'data'
    ? (exports?.data ?? []).flatMap(({ dataRef }) => dataRef ?? [])
    : (exports?.targets ?? []).flatMap(({ target }) => target ?? []);

/** All exports of `self`, from this job or from earlier ones. */
export function exportsOf(world: World, self: Inst): readonly DataOrTarget[] {
  const writer = `${self.metadata.namespace ?? ''}/${installationContext(self.metadata.name)}`;
  return [
    ...world.dataObjects.byIndex(index.source, writer),
    ...world.targets.byIndex(index.source, writer),
  ].filter(({ metadata }) => metadata.labels?.[labels.dataSourceType] === dataSourceTypes.export);
}
