/** Adds the controllers of a process, each with the part of the world that it may read. */
import { contextController } from '../../../controllers/context/index.ts';
import { deployItemController } from '../../../controllers/deployitem/index.ts';
import { executionController } from '../../../controllers/execution/index.ts';
import { installationController } from '../../../controllers/installation/index.ts';
import { journalControllers } from '../../../controllers/journal/index.ts';
import { syncObjectController } from '../../../controllers/syncobject/index.ts';
import { targetSyncController } from '../../../controllers/targetsync/index.ts';
import { observeJobs } from '../../landscape/job-metrics.ts';
import { createTreeSizes, type TreeSizes } from '../../landscape/tree-size.ts';
import type { Metrics } from '../../observability/metrics.ts';
import type { ControllerSpec } from '../../runtime/controller/controller.ts';
import type { Obj } from '../../runtime/types.ts';
import type { Configuration } from '../configuration/configuration.ts';
import type { ControllerName } from '../names.ts';
import type { WorldOf } from './needs.ts';
import type { ProcessServices } from './process-services.ts';

/** @param ports the services of the process, and what only the controllers need */
export function addControllers(
  names: readonly ControllerName[],
  ports: Omit<ControllerPorts, 'treesOf'> & ProcessServices,
  configuration: Configuration,
  add: AddController,
): void {
  const { world, metrics, clock } = ports;
  const readsAll = names.includes('installation') || names.includes('execution');
  if (readsAll) observeJobs(world, metrics, clock);
  let trees: TreeSizes | undefined;
  const treesOf = (): TreeSizes => (trees ??= createTreeSizes(world, configuration.limits.treeObjects));
  for (const name of names) {
    if (name === 'health' || (name === 'context' && configuration.contexts.isDisabled)) continue;
    addController(name, { ...ports, treesOf }, configuration, metrics, add);
  }
  if (names.includes('installation')) addJournal(ports, configuration, add);
}

type ControllerPorts = Omit<
  Parameters<typeof installationController>[0] & Parameters<typeof executionController>[0],
  'trees'
> & { readonly treesOf: () => TreeSizes };

export type AddController = <P extends Obj>(spec: ControllerSpec<P>) => void;

function addController(
  name: Exclude<ControllerName, 'health'>,
  ports: ControllerPorts,
  configuration: Configuration,
  metrics: Metrics,
  add: AddController,
): void {
  const { client, clock, sources, readiness } = ports;
  const worldOf = <C extends ControllerName>(_: C): WorldOf<C> => ports.world;
  const { limits, workers } = configuration;
  const job = (controller: 'installation' | 'execution') => ({
    ...ports,
    trees: ports.treesOf(),
    remoteRetryMs: limits.remoteRetryMs,
    limits,
    workers: workers[controller],
    entered: phaseMetric(metrics, controller),
  });
  switch (name) {
    case 'installation':
      add(installationController({ ...job(name), ...installationSettings(configuration) }));
      return;
    case 'execution':
      add(executionController(job(name)));
      return;
    case 'deployitem': {
      const { pickupTimeoutMs } = configuration;
      const own = { workers: workers[name], pickupTimeoutMs, ...(readiness && { readiness }) };
      add(deployItemController({ world: worldOf(name), client, clock, ...own }));
      return;
    }
    case 'context':
      add(
        contextController({
          world: worldOf(name),
          workers: workers[name],
          ...contextSettings(configuration),
        }),
      );
      return;
    case 'targetsync':
      add(
        targetSyncController({
          world: worldOf(name),
          client,
          clock,
          sources,
          matcherOf: ports.runnerOf,
          workers: workers[name],
        }),
      );
      return;
    case 'syncobject':
      add(syncObjectController({ world: worldOf(name), client }));
      return;
  }
}

const installationSettings = (configuration: Configuration) => ({
  treeDepth: configuration.limits.treeDepth,
  treeRecursion: configuration.limits.treeRecursion,
  isStrict: configuration.isStrict,
  allowsSecretsInNames: configuration.allowsSecretsInNames,
  ...(configuration.journal && { isJournaled: true }),
  ...(configuration.verification && { verification: configuration.verification }),
});

const contextSettings = ({ contexts, watchNamespaces }: Configuration) => ({
  ...contexts,
  ...(watchNamespaces && { namespaces: watchNamespaces }),
});

/** Records jobs, if the configuration says so. */
function addJournal(
  { world, caches, installationCache }: ProcessServices,
  { journal: settings }: Configuration,
  add: AddController,
): void {
  if (!settings || !installationCache) return;
  const [recorder, cleaner] = journalControllers({ world, caches, installationCache, settings });
  add(recorder);
  add(cleaner);
}

function phaseMetric(metrics: Metrics, controller: string): (phase: string) => void {
  const counter = metrics.counter({
    name: 'espalier_phase_transitions_total',
    help: 'Phase transitions by controller and new phase.',
    labels: ['controller', 'phase'],
  });
  return (phase) => {
    counter.inc({ controller, phase });
  };
}
