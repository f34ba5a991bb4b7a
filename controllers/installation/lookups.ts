/** Imports as far as the caches know them. */
import type { ImportLookups } from '../../src/dataflow/imports.ts';
import type { World } from '../../src/machine/world.ts';

type Cached = Pick<ImportLookups, 'dataObject' | 'target' | 'targetsBySelector'>;

export const cachedImports = (world: World, namespace: string): Cached => ({
  dataObject: (name) => world.dataObjects.get(`${namespace}/${name}`),
  target: (name) => world.targets.get(`${namespace}/${name}`),
  targetsBySelector: ({ labels: wanted }) =>
    [...world.targets.list(namespace)].filter((target) =>
      Object.entries(wanted).every(([key, value]) => target.metadata.labels?.[key] === value),
    ),
});
