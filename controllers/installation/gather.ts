/** Everything an installation's phases read, and the only place where they read it. */
import { contextKind } from '../../src/api/kinds/context.ts';
import { defaultLimits, type InstallationLimits } from '../../src/api/limits.ts';
import type { Installation } from '../../src/api/kinds/installation.ts';
import type { RunnerOf } from '../../src/blueprint/work.ts';
import { executionContext, installationContext, objectName } from '../../src/dataflow/scope.ts';
import { importsHash } from '../../src/dataflow/imports-hash.ts';
import { replacedTargets } from '../../src/dataflow/copies.ts';
import { staleObjects, type WrittenObject } from '../../src/dataflow/objects.ts';
import { exportSources } from '../../src/dataflow/export-sources.ts';
import { predecessorsOf, siblingOf } from '../../src/dataflow/siblings.ts';
import { dataSourceTypes, labels } from '../../src/api/labels.ts';
import { isBeingDeleted } from '../../src/api/job.ts';
import { adviceOn, describeAdvice } from '../../src/blueprint/lint/advice.ts';
import { stateSecretNames } from '../../src/blueprint/state.ts';
import type { Gatherers } from '../../src/machine/phase.ts';
import { freshNames } from '../../src/landscape/fresh-names.ts';
import { keyOf } from '../../src/machine/apply.ts';
import { PhaseError } from '../../src/machine/decision.ts';
import { DEFAULT_TREE_DEPTH, ownersOf } from '../../src/landscape/tree.ts';
import type { TreeSizes } from '../../src/landscape/tree-size.ts';
import { index, type World } from '../../src/landscape/world.ts';
import { getIfThere } from '../../src/runtime/transport/read.ts';
import type { ClientPool } from '../../src/runtime/transport/client-pool.ts';
import type { Client, View } from '../../src/runtime/types.ts';
import { assignChildren } from './children.ts';
import { childrenOf, executionOf, isOwnedBy, siblingsOf, type Inst } from './relatives.ts';
import type { FindComponent } from './component.ts';
import { unlessDeleted } from './component-errors.ts';
import { exportsOf } from './lookups.ts';
import { readImports } from './read-imports.ts';
import { IssuedKubeconfigs } from '../../src/blueprint/kubeconfigs/issued.ts';
import { kubeconfigIssuer } from './kubeconfigs.ts';
import { StateSecrets } from './states.ts';
import { loadOrExplain, renderExportObjects, renderForInit } from './render.ts';
import type { DataOrTarget, Rendered, Snapshot, Upsert } from './snapshot.ts';

export interface Sources {
  readonly world: World;
  /** For secrets and config maps, which are not cached. */
  readonly client: Client;
  /** Clients of the clusters that issue kubeconfigs. */
  readonly sources: ClientPool;
  /** Where templates are executed. */
  readonly runnerOf: RunnerOf;
  readonly findComponent: FindComponent;
  /** How many levels of installations a tree may have; default 30. */
  readonly treeDepth?: number;
  readonly trees: TreeSizes;
  /** Default: those of a configuration that says nothing. */
  readonly limits?: InstallationLimits;
}

export const gather =
  ({
    world,
    client,
    sources: clusters,
    runnerOf,
    findComponent,
    trees,
    treeDepth = DEFAULT_TREE_DEPTH,
    limits = defaultLimits,
  }: Sources) =>
  (self: View<Installation>, now: string): Gatherers<Snapshot> => {
    const namespace = self.metadata.namespace ?? '';
    const runner = runnerOf(namespace);
    const ownScope = `${namespace}/${installationContext(self.metadata.name)}`;
    const jobID = self.status?.jobID ?? '';
    const existing = (wanted: WrittenObject): DataOrTarget | undefined => {
      const cache = wanted.kind === 'Target' ? world.targets : world.dataObjects;
      return cache.get(`${namespace}/${wanted.metadata.name}`);
    };
    const upserts = (objects: readonly WrittenObject[]): Upsert[] =>
      objects.map((wanted) => ({ wanted, existing: existing(wanted) }));

    const secrets = new StateSecrets(client, namespace);
    const kubeconfigs = new IssuedKubeconfigs(kubeconfigIssuer({ client, sources: clusters }, namespace));

    return {
      self: () => self,
      now: () => now,
      freshName: () =>
        freshNames(
          self,
          (name) => world.installations.get(`${namespace}/${name}`),
          (other) => isOwnedBy(other, self) && !isBeingDeleted(other.metadata),
        ),
      ancestors: () => ownersOf(world, self),
      treeDepth: () => treeDepth,
      limits: () => limits,
      room: async (get) =>
        trees.claim(self, newObjects(world, self, await get('rendered'), await get('children'))),
      context: () => {
        const key = `${namespace}/${self.spec.context ?? 'default'}`;
        return world.contexts.get(key) ?? getIfThere(client, contextKind, key);
      },
      component: (get) => unlessDeleted(self, async () => findComponent(self, await get('context'))),
      blueprint: (get) => unlessDeleted(self, async () => loadOrExplain(self, (await get('component')).view)),
      advice: async (get) => describeAdvice(adviceOn(await get('blueprint'))),
      siblings: () => siblingsOf(world, self),
      predecessors: async (get) => pickPredecessors(self, await get('siblings')),
      predecessorJobs: async (get) =>
        Object.fromEntries(
          (await get('predecessors')).map((p) => [p.metadata.name, p.status?.jobIDFinished ?? '']),
        ),
      imports: () => readImports(self, world, client),
      importsHash: async (get) => importsHash((await get('imports')).imports),
      replacedTargets: async (get) => {
        // Import executions and mappings may have put anything into the copies.
        const { importExecutions = [] } = (await get('blueprint')).info;
        if (importExecutions.length > 0 || self.spec.importDataMappings) return [];
        const copies = world.targets
          .byIndex(index.source, ownScope)
          .filter(({ metadata: { labels: l } }) => l?.[labels.dataJobId] === jobID && isImport(l));
        return replacedTargets((await get('imports')).imports, copies);
      },
      children: () => childrenOf(world, self),
      execution: () => executionOf(world, self),
      rendered: (get) =>
        unlessDeleted(self, async () => {
          const blueprint = await get('blueprint');
          const states = await secrets.states(stateSecretNames(self.metadata.name, blueprint, 'deploy'));
          return renderForInit(self, blueprint, (await get('imports')).imports, {
            ...{ runner, states, kubeconfigs, limits },
          });
        }),
      stateUpserts: async (get) => secrets.upserts((await get('rendered')).states),
      importUpserts: async (get) => upserts((await get('rendered')).importObjects),
      ownExports: () => exportsOf(world, self),
      oldExports: async (get) =>
        (await get('ownExports')).filter(({ metadata: { labels: l } }) => l?.[labels.dataJobId] !== jobID),
      staleObjects: () =>
        staleObjects(
          [
            ...world.dataObjects.byIndex(index.context, ownScope),
            ...world.targets.byIndex(index.context, ownScope),
          ],
          jobID,
        ),
      renderedExports: async (get) => {
        const executionName = objectName(executionContext(self.metadata.name), '');
        const stale = new Set(await get('staleObjects'));
        const sources = exportSources({
          executionExports: world.dataObjects.get(`${namespace}/${executionName}`)?.data,
          dataObjects: world.dataObjects.byIndex(index.context, ownScope).filter((o) => !stale.has(o)),
          targets: world.targets.byIndex(index.context, ownScope).filter((o) => !stale.has(o)),
        });
        const { imports } = await get('imports');
        const blueprint = await get('blueprint');
        return unlessDeleted(self, async () => {
          const states = await secrets.states(stateSecretNames(self.metadata.name, blueprint, 'export'));
          return renderExportObjects(self, blueprint, imports, sources, {
            ...{ runner, states, kubeconfigs, limits },
          });
        });
      },
      exportUpserts: async (get) => upserts((await get('renderedExports')).objects),
      exportStateUpserts: async (get) => secrets.upserts((await get('renderedExports')).states),
    };
  };

/** How many objects there will be that are not there yet, those of the execution included. */
function newObjects(
  world: World,
  self: Inst,
  { children: wanted, items }: Rendered,
  children: readonly Inst[],
): number {
  if (wanted instanceof PhaseError) return 0;
  const created = wanted.length - assignChildren(self, wanted, children).living.size;
  if (items instanceof PhaseError || items.length === 0) return created;
  const execution = executionOf(world, self);
  const existing = execution ? world.deployItems.byIndex(index.managedBy, keyOf(self)).length : 0;
  return created + (execution ? 0 : 1) + Math.max(items.length - existing, 0);
}

const isImport = (l: Readonly<Record<string, string>> = {}): boolean =>
  l[labels.dataSourceType] === dataSourceTypes.import;

function pickPredecessors(self: Inst, siblings: readonly Inst[]): readonly Inst[] {
  if (self.spec.optimization?.hasNoSiblingImports) return [];
  const names = new Set(predecessorsOf(siblingOf(self), siblings.map(siblingOf)).map((s) => s.name));
  return siblings.filter((s) => names.has(s.metadata.name));
}
