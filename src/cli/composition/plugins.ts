/** The deployers of this program as plugins, for commands that ask them for plans instead of running them. */
import type { DeployerPlugin } from '../../../deployers/sdk/index.ts';
import { workerRunners } from '../../blueprint/workers/runner.ts';
import { createComponentRepositories } from '../../components/component-repositories.ts';
import { systemClock } from '../../lib/clock.ts';
import { secureRng } from '../../lib/secure-rng.ts';
import type { Client } from '../../runtime/types.ts';
import type { Configuration } from '../configuration/configuration.ts';
import { deployerPlugin } from './landscaper.ts';
import { deployerNames } from '../names.ts';

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
  const pods = { client, settings: container };
  return new Map(
    deployerNames.map((name) => deployerPlugin(name, charts, pods)).map((plugin) => [plugin.type, plugin]),
  );
}
