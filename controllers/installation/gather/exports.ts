/** Facts about the exports of an installation, including those of earlier jobs. */
import { labels } from '../../../src/api/labels.ts';
import { stateSecretNames } from '../../../src/blueprint/state.ts';
import { exportSources } from '../../../src/dataflow/export-sources.ts';
import { staleObjects } from '../../../src/dataflow/objects.ts';
import { executionContext, objectName } from '../../../src/dataflow/scope.ts';
import { index } from '../../../src/landscape/world.ts';
import { exportsOf } from '../cached-objects.ts';
import type { DataOrTarget } from '../snapshot.ts';
import { unlessDeleted } from './component-errors.ts';
import { upserts, type Facts, type GatherContext } from './gather-context.ts';
import { renderExportObjects } from './render.ts';

export const exportFacts = (
  ctx: GatherContext,
): Facts<
  'ownExports' | 'oldExports' | 'staleObjects' | 'renderedExports' | 'exportUpserts' | 'exportStateUpserts'
> => {
  const { self, namespace, jobID, world, secrets, tools } = ctx;
  return {
    ownExports: () => exportsOf(world, self),
    oldExports: async (get) =>
      (await get('ownExports')).filter(({ metadata: { labels: l } }) => l?.[labels.dataJobId] !== jobID),
    staleObjects: () => staleObjects(objectsInScope(ctx), jobID),
    renderedExports: async (get) => {
      const stale = new Set(await get('staleObjects'));
      const { dataObjects, targets } = inScope(ctx);
      const executionName = objectName(executionContext(self.metadata.name), '');
      const sources = exportSources({
        executionExports: world.dataObjects.get(`${namespace}/${executionName}`)?.data,
        dataObjects: dataObjects.filter((o) => !stale.has(o)),
        targets: targets.filter((o) => !stale.has(o)),
      });
      const { imports } = await get('imports');
      const blueprint = await get('blueprint');
      return unlessDeleted(self, async () => {
        const states = await secrets.states(stateSecretNames(self.metadata.name, blueprint, 'export'));
        return renderExportObjects(self, blueprint, imports, sources, { ...tools, states });
      });
    },
    exportUpserts: async (get) => upserts(ctx, (await get('renderedExports')).objects),
    exportStateUpserts: async (get) => secrets.upserts((await get('renderedExports')).states),
  };
};

/** Objects in the installation's own scope. */
const inScope = ({ world, ownScope }: GatherContext) => ({
  dataObjects: world.dataObjects.byIndex(index.context, ownScope),
  targets: world.targets.byIndex(index.context, ownScope),
});

const objectsInScope = (ctx: GatherContext): readonly DataOrTarget[] => {
  const { dataObjects, targets } = inScope(ctx);
  return [...dataObjects, ...targets];
};
