/** Names of the leases of a fleet, and the assignment of objects to shards. */
import { createHash } from 'node:crypto';
import { trimmedEnd } from '../../lib/trim.ts';

/**
 * Number of shards: enough to divide the work evenly among a few replicas, and few enough for one small list of
 * leases. Replicas with different numbers would work on the same objects.
 */
export const SHARDS = 16;

/** Label on every lease of a fleet: the fleet's name. */
export const fleetLabel = 'espalier.dev/fleet';
/** Label on a lease of a fleet: `member`, or the number of a shard. */
export const roleLabel = 'espalier.dev/role';
export const memberRole = 'member';
/** Annotation on the lease of a member: what it runs. */
export const partsAnnotation = 'espalier.dev/parts';

const LONGEST_NAME = 253;

/** @param place `namespace/name` of a root; all objects of a tree have the same */
export const shardOf = (place: string): number =>
  createHash('sha256').update(place).digest().readUInt32BE(0) % SHARDS;

export const shardLeaseName = (fleet: string, shard: number): string =>
  `${fleet}-shard-${String(shard).padStart(2, '0')}`;

/** @param identity any string; characters that are invalid in a name are replaced */
export function memberLeaseName(fleet: string, identity: string): string {
  const name = `${fleet}-member-${identity.toLowerCase().replace(/[^a-z0-9-]+/g, '-')}`;
  return trimmedEnd(name.slice(0, LONGEST_NAME), '-');
}
