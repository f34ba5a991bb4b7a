/**
 * The controllers as one process, assembled as in src/cli/composition/landscaper.ts, with virtual time and the
 * simulated network.
 */
import { contextController } from '../../../controllers/context/index.ts';
import { deployItemController } from '../../../controllers/deployitem/index.ts';
import { executionController } from '../../../controllers/execution/index.ts';
import { installationController } from '../../../controllers/installation/index.ts';
import { mockDeployer } from '../../../deployers/mock/index.ts';
import { deployerController } from '../../../deployers/sdk/controller.ts';
import type { DeployerPlugin } from '../../../deployers/sdk/deployer.ts';
import { withCriticalProblems } from '../../../src/machine/critical.ts';
import { createTreeFleet } from '../../../src/landscape/tree-fleet.ts';
import { withTreeInLog } from '../../../src/landscape/tree.ts';
import { createTreeSizes } from '../../../src/landscape/tree-size.ts';
import { createWorld } from '../../../src/landscape/world.ts';
import { createMetrics } from '../../../src/observability/metrics.ts';
import { createCaches } from '../../../src/runtime/cache/cache.ts';
import { inThisThread } from '../../../src/blueprint/work.ts';
import { createComponentRepositories } from '../../../src/components/component-repositories.ts';
import { createClientPool } from '../../../src/runtime/transport/client-pool.ts';
import type { ControllerSpec } from '../../../src/runtime/controller/controller.ts';
import { createManager, type StartableManager } from '../../../src/runtime/manager/manager.ts';
import type { Caches, Client, Key, Obj } from '../../../src/runtime/types.ts';
import type { Chance } from '../../../src/testing/engine/chance.ts';
import type { Scheduler } from '../../../src/testing/engine/scheduler.ts';
import { bugReporter, hostClock } from '../../../src/testing/process/host.ts';
import type { Host } from '../../../src/testing/network/exchange.ts';
import type { Network } from '../../../src/testing/network/network.ts';
import { NAMESPACE } from './objects.ts';

export type Part = 'landscaper' | 'deployers';

export interface ProcessPorts {
  readonly scheduler: Scheduler;
  readonly network: Network;
  readonly chance: Chance;
  readonly plugins: (host: Host) => readonly DeployerPlugin[];
  /** Called when a controller starts to reconcile an object. */
  readonly onPass: (controller: string, key: Key) => void;
  /** Called with errors that indicate a bug of the program. */
  readonly onBug: (description: string) => void;
  /** Shares the work with all processes of the same name; absent: works alone. */
  readonly fleet: string | undefined;
  /** Is placed between the controllers and the network; the invariants have to detect a broken one. */
  readonly wrapClient: (client: Client) => Client;
  /** The same for leases and shard assignments. */
  readonly wrapLeases: (client: Client) => Client;
}

/** How long a deploy item may wait for a deployer. */
export const PICKUP_MS = 60_000;

export class Process implements Host {
  isAlive = true;
  isStopping = false;
  readonly name: string;
  readonly caches: Caches;
  readonly #manager: StartableManager;

  constructor(name: string, parts: readonly Part[], ports: ProcessPorts) {
    this.name = name;
    const { network, chance, onBug } = ports;
    const host = hostClock(ports.scheduler.clock, this);
    const { clock } = host;
    const log = bugReporter(onBug);
    const client = ports.wrapClient(network.client(this));
    const rng = chance;
    const caches = createCaches({ client, clock, rng, log, freeze: true });
    // The probe of the event loop ticks forever; in virtual time it cannot measure anything.
    host.isMuted = true;
    const metrics = createMetrics();
    const world = createWorld(caches);
    const ground = { clock, rng, log, metrics, identity: name };
    const share =
      ports.fleet === undefined
        ? undefined
        : createTreeFleet({
            ...ground,
            client: ports.wrapLeases(network.client(this)),
            treeClient: client,
            world,
            namespace: NAMESPACE,
            name: ports.fleet,
          });
    const manager = createManager({ ...ground, client, caches, ...(share && { share }) });
    host.isMuted = false;
    const add = (spec: ControllerSpec<Obj>): void => {
      const report = (description: string): Promise<void> => {
        onBug(description);
        return Promise.resolve();
      };
      manager.add(counted(withTreeInLog(world, withCriticalProblems(spec, report)), ports.onPass));
    };
    const sources = createClientPool(clock, () => Promise.reject(new Error('there are no other clusters')));
    const repositories = createComponentRepositories({ clock, rng });
    const servedTypes = new Set<string>();
    const here = inThisThread({ clock, rng });
    const runnerOf = () => here;
    const trees = createTreeSizes(world);
    const common = {
      world,
      client,
      clock,
      rng,
      sources,
      repositories,
      servedTypes,
      runnerOf,
      trees,
    };
    if (parts.includes('landscaper')) {
      add(installationController(common) as unknown as ControllerSpec<Obj>);
      add(executionController(common) as unknown as ControllerSpec<Obj>);
      add(deployItemController({ ...common, pickupTimeoutMs: PICKUP_MS }) as unknown as ControllerSpec<Obj>);
      add(contextController({ world }));
    }
    if (parts.includes('deployers')) {
      for (const plugin of [...ports.plugins(this), mockDeployer()]) {
        const deps = { client, caches, clock, rng, log };
        add(deployerController(plugin, deps) as unknown as ControllerSpec<Obj>);
      }
    }
    this.caches = caches;
    this.#manager = manager;
    manager.start().catch((error: unknown) => {
      if (this.isAlive && !this.isStopping) onBug(`${name} did not start: ${String(error)}`);
    });
  }

  /** Like a killed process: nothing of it ever runs again. */
  crash(): void {
    this.isAlive = false;
  }

  /** Like a process that is asked to stop: running reconciles are finished. */
  async stop(): Promise<void> {
    this.isStopping = true;
    await this.#manager.stop();
    this.isAlive = false;
  }
}

function counted(spec: ControllerSpec<Obj>, onPass: ProcessPorts['onPass']): ControllerSpec<Obj> {
  const { reconciler } = spec;
  return {
    ...spec,
    reconciler: {
      ...reconciler,
      reconcile: (primary, ctx) => {
        onPass(spec.name, ctx.key);
        return reconciler.reconcile(primary, ctx);
      },
    },
  };
}
