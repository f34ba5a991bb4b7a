/** The deployers of a world: a process that can be killed. */
import { helmDeployer } from '../../../deployers/helm/index.ts';
import { manifestDeployer } from '../../../deployers/manifest/index.ts';
import { mockDeployer } from '../../../deployers/mock/index.ts';
import { deployerController } from '../../../deployers/sdk/controller.ts';
import type { DeployerPlugin, DeployerSettings } from '../../../deployers/sdk/deployer.ts';
import type { TimeoutPolicy } from '../../../deployers/sdk/timeout.ts';
import { chartsHere } from '../../support/helm-charts.ts';
import { createComponentRepositories } from '../../../src/components/component-repositories.ts';
import { systemClock as clock } from '../../../src/lib/clock.ts';
import { seededRng } from '../../../src/lib/rng.ts';
import { silentLogger as log } from '../../../src/observability/log.ts';
import { createMetrics } from '../../../src/observability/metrics.ts';
import { createCaches } from '../../../src/runtime/cache/caches.ts';
import { createManager } from '../../../src/runtime/manager/manager.ts';
import { Faults } from '../../support/faults.ts';
import { clientFor, type Server } from './servers.ts';

export interface Deployers {
  readonly faults: Faults;
  stop(): Promise<void>;
}

/** How the deployers run, if not in the usual way. */
export interface Serving {
  /** Settings of all of them. */
  readonly config?: DeployerSettings;
  readonly timeouts?: TimeoutPolicy;
  /** Deployers besides ours. */
  readonly others?: readonly DeployerPlugin[];
}

/** @param helm path of the helm program */
export async function startDeployers(
  server: Server,
  helm: string | undefined,
  { others = [], ...settings }: Serving,
): Promise<Deployers> {
  const faults = new Faults();
  const client = faults.around(await clientFor(server, 'deployer'));
  const rng = seededRng(1);
  const caches = createCaches({ client, clock, rng, log, freeze: true });
  const metrics = createMetrics();
  const manager = createManager({ client, caches, clock, rng, log, metrics, identity: 'test' });
  const life = new AbortController();
  const self = { server: server.url, caData: Buffer.from(server.ca).toString('base64') };
  const deps = { client, caches, clock, rng, log, self, signal: life.signal, ...settings };
  manager.add(deployerController(manifestDeployer(), deps));
  manager.add(deployerController(mockDeployer(), deps));
  const repositories = createComponentRepositories({ clock, rng, signal: life.signal, allowPlainHttp: true });
  manager.add(
    deployerController(helmDeployer({ repositories, chartsOf: chartsHere(), clock, executable: helm }), deps),
  );
  for (const other of others) manager.add(deployerController(other, deps));
  await manager.start();
  return {
    faults,
    async stop() {
      await manager.stop();
      life.abort();
      await repositories.close();
      await client.close();
    },
  };
}
