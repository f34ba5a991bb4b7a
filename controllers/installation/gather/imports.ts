/** Facts about the imports of an installation. */
import { dataSourceTypes, labels } from '../../../src/api/labels.ts';
import { replacedTargets } from '../../../src/dataflow/copies.ts';
import { importsHash } from '../../../src/dataflow/imports-hash.ts';
import { index } from '../../../src/landscape/world.ts';
import type { Facts, GatherContext } from './gather-context.ts';
import { readImports } from './read-imports.ts';

export const importFacts = ({
  self,
  world,
  client,
  ownScope,
  jobID,
  texts,
}: GatherContext): Facts<'imports' | 'importsHash' | 'replacedTargets'> => ({
  imports: () => readImports(self, world, client, texts),
  importsHash: async (get) => importsHash((await get('imports')).imports),
  replacedTargets: async (get) => {
    // The copies may hold results of import executions and mappings, so they cannot be compared with the imports.
    const { importExecutions = [] } = (await get('blueprint')).info;
    if (importExecutions.length > 0 || self.spec.importDataMappings) return [];
    const copies = world.targets
      .byIndex(index.source, ownScope)
      .filter(({ metadata: { labels: l } }) => l?.[labels.dataJobId] === jobID && isImport(l));
    return replacedTargets((await get('imports')).imports, copies);
  },
});

const isImport = (l: Readonly<Record<string, string>> = {}): boolean =>
  l[labels.dataSourceType] === dataSourceTypes.import;
