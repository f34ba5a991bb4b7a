/** The deployers of this program as plugins: to run them, and for commands that ask them for plans instead. */
import { containerDeployer, type ContainerOptions } from '../../../deployers/container/index.ts';
import { helmDeployer, type HelmOptions } from '../../../deployers/helm/index.ts';
import { manifestDeployer } from '../../../deployers/manifest/index.ts';
import { mockDeployer } from '../../../deployers/mock/index.ts';
import type { DeployerPlugin } from '../../../deployers/sdk/index.ts';
import { workerRunners } from '../../blueprint/workers/runner.ts';
import { createComponentRepositories } from '../../components/component-repositories.ts';
import { systemClock } from '../../lib/clock.ts';
import { secureRng } from '../../lib/secure-rng.ts';
import type { Client } from '../../runtime/types.ts';
import type { Configuration } from '../configuration/configuration.ts';
import { deployerNames, itemTypes, type DeployerName } from '../names.ts';

/**
 * Plugins keyed by type of deploy item. They open connections and start processes only on demand.
 * @param client of the host cluster
 * @param signal closes what they have opened
 */
export function pluginsByType(
  { registry, templating, helm, container }: Configuration,
  client: Client,
  signal: AbortSignal,
): ReadonlyMap<string, DeployerPlugin> {
  const clock = systemClock;
  const repositories = createComponentRepositories({ clock, rng: secureRng, signal, ...registry });
  signal.addEventListener('abort', () => void repositories.close(), { once: true });
  const runners = workerRunners({ clock, ...templating });
  signal.addEventListener('abort', () => void runners.close(), { once: true });
  const charts = { repositories, clock, chartsOf: runners.of, ...helm };
  const pods = { client, settings: container, withDefaults: repositories.withDefaults };
  return new Map(
    deployerNames.map((name) => deployerPlugin(name, charts, pods)).map((plugin) => [plugin.type, plugin]),
  );
}

/** Types of deploy items whose deployer refuses unknown fields of configurations. */
export const strictTypes = ({ deployers, isStrict }: Configuration): ReadonlySet<string> =>
  new Set(
    deployerNames
      .filter((name) => deployers?.[name]?.settings.strict ?? isStrict)
      .map((name) => itemTypes[name]),
  );

export function deployerPlugin(
  name: DeployerName,
  helm: HelmOptions,
  container: ContainerOptions,
): DeployerPlugin {
  switch (name) {
    case 'container':
      return containerDeployer(container);
    case 'helm':
      return helmDeployer(helm);
    case 'manifest':
      return manifestDeployer();
    case 'mock':
      return mockDeployer();
  }
}
