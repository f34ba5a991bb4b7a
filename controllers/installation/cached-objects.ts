/** Imports and exports as far as the caches know them. */
import type { ImportLookups } from '../../src/dataflow/imports.ts';
import { dataSourceTypes, labels } from '../../src/api/labels.ts';
import { installationContext } from '../../src/dataflow/scope.ts';
import { index, type World } from '../../src/landscape/world.ts';
import type { Inst } from './related-objects.ts';
import type { DataOrTarget } from './snapshot.ts';

type Cached = Pick<ImportLookups, 'dataObject' | 'target' | 'targetsBySelector'>;

export const cachedImports = (world: World, namespace: string): Cached => ({
  dataObject: (name) => world.dataObjects.get(`${namespace}/${name}`),
  target: (name) => world.targets.get(`${namespace}/${name}`),
  targetsBySelector: ({ labels: wanted }) =>
    [...world.targets.list(namespace)].filter((target) =>
      Object.entries(wanted).every(([key, value]) => target.metadata.labels?.[key] === value),
    ),
});

/** What `self` has exported, in this job or in earlier ones. */
export function exportsOf(world: World, self: Inst): readonly DataOrTarget[] {
  const writer = `${self.metadata.namespace ?? ''}/${installationContext(self.metadata.name)}`;
  return [
    ...world.dataObjects.byIndex(index.source, writer),
    ...world.targets.byIndex(index.source, writer),
  ].filter(({ metadata }) => metadata.labels?.[labels.dataSourceType] === dataSourceTypes.export);
}
