/**
 * Replicas of an operator that share its work: a fleet that divides primaries by their places, and that waits for all
 * caches of the operator to catch up. Knows nothing about the kinds.
 */
import { catchUp } from '../cache/catch-up.ts';
import type { Share } from '../controller/share.ts';
import { DefinitionError, NoSuchKind, NotFound } from '../errors.ts';
import { keyOf } from '../keys.ts';
import type { LeasePorts } from '../manager/lease.ts';
import type { Caches, Client, Obj, View } from '../types.ts';
import { createFleet } from './fleet.ts';
import { requireLeaseRights } from './lease-rights.ts';
import type { Places } from './options.ts';

/**
 * How replicas share the work. The Leases of a fleet are in one namespace, and their names begin with `name`. Times are
 * milliseconds, by default 15,000, 10,000 and 3,000.
 */
export interface Sharing {
  /** Default: that of the pod or of the kubeconfig's context. */
  readonly namespace?: string;
  /** Replicas with the same name share the work; all must add the same controllers. Default: the operator's name. */
  readonly name?: string;
  /**
   * What must stay together: primaries with the same place are handled by the same replica. The place of an object must
   * stay the same while the object exists: derive it from its namespace, name, owners, or immutable fields. Default:
   * each object by itself, `namespace/name`, or `name` if it is cluster-scoped.
   */
  readonly place?: (primary: View<Obj>) => string;
  /** After this time without a renewal, the work of a replica is assigned to others. */
  readonly durationMs?: number;
  /** How long a replica works without a successful renewal. */
  readonly renewDeadlineMs?: number;
  /** Time between renewals. */
  readonly renewMs?: number;
}

/** A cluster whose objects the controllers read. */
interface CachedCluster {
  readonly client: Client;
  readonly caches: Caches;
}

interface SharingPorts extends LeasePorts {
  readonly name: string;
  readonly identity: string;
  /** All clusters whose caches the controllers read, first that of the primaries. */
  readonly clusters: () => Iterable<CachedCluster>;
}

/** @throws DefinitionError when the name is not a valid label value, or the times do not fit together */
export function createSharing(sharing: Sharing, ports: SharingPorts): Share {
  const { place, ...given } = sharing;
  const { clusters, ...fleet } = ports;
  const options = { ...fleet, ...given };
  return createFleet({
    ...options,
    places: placesOf(place),
    beforeJoin: (signal) => requireLeaseRights(options, signal),
    catchUp: async (signal) => {
      await Promise.all([...clusters()].map((cluster) => catchUpAll(cluster, ports, signal)));
    },
  });
}

function placesOf(place: Sharing['place']): Places {
  const never = () => () => undefined;
  if (!place) return { placeOf: keyOf, guess: keyOf, onMoved: never };
  const checked = (object: View<Obj>): string => {
    const found: unknown = place(object);
    if (typeof found === 'string') return found;
    throw new DefinitionError({
      message: `place returned ${typeof found} for ${object.kind} ${keyOf(object)}`,
    });
  };
  return {
    placeOf: checked,
    guess: checked,
    onMoved: never,
    hasMoved: (old, object) => checked(old) !== checked(object),
  };
}

/**
 * A cache that is not synced has not been read yet by any controller. A kind that the server does not serve has no
 * objects.
 */
async function catchUpAll(
  { client, caches }: CachedCluster,
  { clock }: Pick<SharingPorts, 'clock'>,
  signal: AbortSignal,
): Promise<void> {
  const synced = [...caches.all()].filter(({ isSynced }) => isSynced);
  await Promise.all(
    synced.map(async (cache) => {
      const isNeeded = (): boolean => [...caches.all()].includes(cache);
      try {
        await catchUp({ client, clock, isNeeded }, cache, signal);
      } catch (error) {
        if (!(error instanceof NotFound || error instanceof NoSuchKind)) throw error;
      }
    }),
  );
}
