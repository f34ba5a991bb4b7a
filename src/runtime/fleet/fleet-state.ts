/** The state of a fleet, read from its leases: members and holders of shards. Pure. */
import type { LeaseObject } from '../manager/lease.ts';
import type { View } from '../types.ts';
import type { Holders } from './assign.ts';
import { fleetLabel, memberRole, partsAnnotation, roleLabel, SHARDS } from './names.ts';

export interface FleetState {
  /** Members with a valid lease, by identity. */
  readonly members: ReadonlyMap<string, View<LeaseObject>>;
  /** Leases of members that left or were evicted. */
  readonly left: readonly View<LeaseObject>[];
  /** By number; absent until a member has created it. */
  readonly shards: readonly (View<LeaseObject> | undefined)[];
  /** By shard: its holder, if that is a member. */
  readonly holders: Holders;
}

/** What a member runs; undefined if its version does not say so. */
export const partsOf = ({ metadata }: View<LeaseObject>): string | undefined =>
  metadata.annotations?.[partsAnnotation];

export const holderOf = (lease: View<LeaseObject> | undefined): string | undefined =>
  lease?.spec?.holderIdentity || undefined;

/** @param leases of the namespace; those of other fleets are ignored */
export function readFleetState(leases: Iterable<View<LeaseObject>>, fleet: string): FleetState {
  const members = new Map<string, View<LeaseObject>>();
  const left: View<LeaseObject>[] = [];
  const shards: (View<LeaseObject> | undefined)[] = Array.from({ length: SHARDS }, () => undefined);
  for (const lease of leases) {
    const { [fleetLabel]: of, [roleLabel]: role = '' } = lease.metadata.labels ?? {};
    if (of !== fleet) continue;
    if (role !== memberRole) {
      const shard = Number(role);
      if (Number.isInteger(shard) && shard < SHARDS) shards[shard] = lease;
      continue;
    }
    const holder = holderOf(lease);
    if (holder === undefined) left.push(lease);
    else members.set(holder, lease);
  }
  const holders = shards.map((lease) => {
    const holder = holderOf(lease);
    return holder !== undefined && members.has(holder) ? holder : undefined;
  });
  return { members, left, shards, holders };
}
