/** Imports and exports in the caches. */
import type { ImportLookups } from '../../src/dataflow/imports.ts';
import { isRoot } from '../../src/api/job.ts';
import { dataSourceTypes, labels } from '../../src/api/labels.ts';
import { installationContext } from '../../src/dataflow/scope.ts';
import { index, type World } from '../../src/landscape/world.ts';
import { splitKey } from '../../src/runtime/keys.ts';
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
    world.targets
      .byIndex(index.context, `${namespace}/${wanted[labels.dataContext] ?? ''}`)
      .filter((target) =>
        Object.entries(wanted).every(([key, value]) => target.metadata.labels?.[key] === value),
      ),
  *rootNames(kind) {
    const cache: Cache<Obj> = kind === 'data' ? world.dataObjects : world.targets;
    for (const key of cache.keysByIndex(index.context, `${namespace}/`)) yield splitKey(key).name;
    // Exports that other roots will write. Each look reads a whole namespace, so a large cluster does without.
    if (world.installations.size > MAX_READ) return;
    // eslint-disable-next-line no-restricted-syntax -- at most MAX_READ
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
