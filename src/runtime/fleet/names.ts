/** How the leases of a fleet are called, and into which shard something falls. */
import { createHash } from 'node:crypto';

/**
 * How many parts the work is divided into: enough that a few replicas get about the same, few enough that all leases fit
 * into one small list. Replicas that disagree about it would work at the same objects.
 */
export const SHARDS = 16;

/** On every lease of a fleet: the fleet's name. */
export const fleetLabel = 'espalier.dev/fleet';
/** What a lease of a fleet is: `member`, or the number of a shard. */
export const roleLabel = 'espalier.dev/role';
export const memberRole = 'member';

const LONGEST_NAME = 253;

/** @param place what stays together, `namespace/name` of a root */
export const shardOf = (place: string): number =>
  createHash('sha256').update(place).digest().readUInt32BE(0) % SHARDS;

export const shardLeaseName = (fleet: string, shard: number): string =>
  `${fleet}-shard-${String(shard).padStart(2, '0')}`;

/** @param identity anything; what a name must not have is replaced */
export function memberLeaseName(fleet: string, identity: string): string {
  const name = `${fleet}-member-${identity.toLowerCase().replace(/[^a-z0-9-]+/g, '-')}`;
  return name.slice(0, LONGEST_NAME).replace(/-+$/, '');
}
