/** Reads all facts for the phases of an execution; no other file reads them. */
import type { InstallationLimits } from '../../src/api/limits.ts';
import { isBeingDeleted } from '../../src/api/job.ts';
import { deployItemKind } from '../../src/api/kinds/deployitem.ts';
import {
  UnreadableDeployItems,
  type DeployItemTemplate,
  type Execution,
} from '../../src/api/kinds/execution.ts';
import type { RunnerOf } from '../../src/blueprint/work.ts';
import { executionContext, objectName } from '../../src/dataflow/scope.ts';
import { PhaseError } from '../../src/machine/decision.ts';
import type { Gatherers } from '../../src/machine/phase.ts';
import { freshNames } from '../../src/landscape/fresh-names.ts';
import { ownersOf } from '../../src/landscape/tree.ts';
import { placeOf } from '../../src/landscape/tracing/job-spans.ts';
import type { TreeSizes } from '../../src/landscape/tree-size.ts';
import { index, type World } from '../../src/landscape/world.ts';
import { traceparentFor, type Tracer } from '../../src/observability/tracing/span.ts';
import { joinKey, keyOf } from '../../src/runtime/keys.ts';
import type { ClientPool } from '../../src/runtime/transport/client-pool.ts';
import type { Client, View } from '../../src/runtime/types.ts';
import { missingDeployerText } from './awaiting.ts';
import { assign, dueForRemoval, jobOf, mayBeStarting, type Item } from './classify.ts';
import { readExports } from './exports.ts';
import { clusterNames, itemsWithoutCluster } from './shoot-clusters.ts';
import type { Snapshot } from './snapshot.ts';
import type { TemplateReader } from './templates.ts';

export interface Sources {
  readonly world: World;
  /** Reads secrets, which are not cached. */
  readonly client: Client;
  /** Clients for the source clusters of TargetSyncs. */
  readonly sources: ClientPool;
  /** Types of deploy items that the deployers of this process handle. */
  readonly servedTypes: ReadonlySet<string>;
  readonly trees: TreeSizes;
  /** Default: the limits of an empty configuration. */
  readonly limits?: InstallationLimits;
  /** Runs the work on large lists. */
  readonly runnerOf: RunnerOf;
  /** Undefined if traces are switched off. */
  readonly tracer?: Tracer;
}

export const managedItems = (world: World, self: View<Execution>): readonly Item[] =>
  world.deployItems.byIndex(index.managedBy, keyOf(self));

export const gather =
  ({ world, client, sources, servedTypes, trees, tracer, runnerOf }: Sources, reader: TemplateReader) =>
  (self: View<Execution>, now: string): Gatherers<Snapshot> => ({
    self: () => self,
    now: () => now,
    ancestors: () => ownersOf(world, self),
    reservation: async (get) => {
      const templates = await get('templates');
      const { active } = assign(self, templates, await get('items'));
      return trees.reserve(self, templates.filter(({ name }) => !active.has(name)).length);
    },
    templates: () => templatesOrNone(self, reader),
    refusal: () => reader.refusal(self),
    items: () => managedItems(world, self),
    clusterNames: async (get) => clusterNames({ world, client, sources }, self, await get('templates')),
    itemsWithoutCluster: async (get) =>
      itemsWithoutCluster(
        { world, client, sources },
        self,
        dueForRemoval(self, await get('templates'), await get('items')),
      ),
    freshName: () =>
      freshNames(
        self,
        (name) => world.deployItems.get(joinKey(self.metadata.namespace, name)),
        (item) => !isBeingDeleted(item.metadata),
      ),
    traceparentOf: () => (name) =>
      tracer && traceparentFor(tracer, jobOf(self), { ...placeOf(self), kind: deployItemKind.kind, name }),
    missingDeployer: () => (type) => missingDeployerText(type, servedTypes, formerDeployer(world, type)),
    exports: async (get) => {
      const { active } = assign(self, await get('templates'), await get('items'));
      const names = (await get('templates')).map(({ name }) => name);
      return readExports({ client, texts: runnerOf(self.metadata.namespace ?? '') }, names, active);
    },
    exportObject: () => world.dataObjects.get(joinKey(self.metadata.namespace, exportName(self))),
  });

/** The name of a deployer that has picked up an item of this type. */
function formerDeployer({ deployItems }: World, type: string): string | undefined {
  for (const key of deployItems.keysByIndex(index.pickedUpType, type))
    return deployItems.get(key)?.status?.deployer?.name;
  return undefined;
}

/**
 * An unreadable list of deploy items fails the job in every phase. A deletion continues without the list, so that it does not block
 * the removal of the execution and its items.
 */
async function templatesOrNone(self: View<Execution>, reader: TemplateReader): Promise<DeployItemTemplate[]> {
  try {
    return [...(await reader.templates(self))];
  } catch (error) {
    if (!(error instanceof UnreadableDeployItems)) throw error;
    if (isBeingDeleted(self.metadata)) return [];
    const codes = ['ERR_CONFIGURATION_PROBLEM'] as const;
    throw new PhaseError('handleReconcilePhase', 'ValidateExecution', error.message, codes, { cause: error });
  }
}

/**
 * Items that a write in flight could still start after the job has failed; all items if the templates cannot be
 * read.
 */
export async function itemsToFence(
  world: World,
  self: View<Execution>,
  reader: TemplateReader,
): Promise<readonly Item[]> {
  const items = managedItems(world, self);
  if (items.length === 0) return items;
  try {
    return mayBeStarting(self, await reader.templates(self), items);
  } catch (error) {
    if (error instanceof UnreadableDeployItems) return mayBeStarting(self, [], items);
    throw error;
  }
}

const exportName = (self: View<Execution>): string => objectName(executionContext(self.metadata.name), '');
