/**
 * Replicas that share trees: a fleet that divides work by root, and that waits for the caches of all tree objects
 * to catch up.
 */
import { createFleet, type FleetOptions } from '../runtime/fleet/fleet.ts';
import { catchUp } from '../runtime/cache/catch-up.ts';
import type { Share } from '../runtime/controller/share.ts';
import type { Cache, Client, Obj } from '../runtime/types.ts';
import { createRoots } from './roots.ts';
import type { World } from './world.ts';

interface TreeFleetOptions extends Omit<FleetOptions, 'places' | 'catchUp'> {
  /** The client of the controllers; `client` is the client for leases. */
  readonly treeClient: Client;
  readonly world: World;
}

export function createTreeFleet({ treeClient, world, ...options }: TreeFleetOptions): Share {
  const { installations, executions, deployItems, dataObjects, targets, targetSyncs } = world;
  const written = [installations, executions, deployItems, dataObjects, targets, targetSyncs];
  const ports = { client: treeClient, clock: options.clock };
  return createFleet({
    ...options,
    places: createRoots(world, treeClient),
    catchUp: async (signal) => {
      await Promise.all((written as unknown as Cache<Obj>[]).map((cache) => catchUp(ports, cache, signal)));
    },
  });
}
