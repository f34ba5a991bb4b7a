/** Replicas that share deploy items one by one: deployers alone do not read the trees that the items belong to. */
import { catchUp } from '../../src/runtime/cache/catch-up.ts';
import type { Share } from '../../src/runtime/controller/share.ts';
import { createFleet, type FleetOptions } from '../../src/runtime/fleet/fleet.ts';
import { keyOf } from '../../src/runtime/keys.ts';
import type { Cache, Client } from '../../src/runtime/types.ts';
import type { DeployItem } from './kinds.ts';

interface ItemFleetOptions extends Omit<FleetOptions, 'places' | 'catchUp'> {
  /** The client of the deployers; `client` is the client for leases. */
  readonly itemClient: Client;
  readonly items: Cache<DeployItem>;
}

export const createItemFleet = ({ itemClient, items, ...options }: ItemFleetOptions): Share =>
  createFleet({
    ...options,
    places: { placeOf: keyOf, guess: keyOf, onMoved: () => () => undefined },
    catchUp: (signal) => catchUp({ client: itemClient, clock: options.clock }, items, signal),
  });
