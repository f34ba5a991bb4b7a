/**
 * Records when, by our own clock, each member last renewed its lease. Clocks of machines differ, so time stamps of
 * others only count for leases that had expired long ago when this replica started.
 */
import type { Clock } from '../../lib/clock.ts';
import type { LeaseObject } from '../manager/lease.ts';
import { durationOf, expiredLongAgo } from '../manager/lease-expiry.ts';
import type { View } from '../types.ts';
import type { FleetState } from './fleet-state.ts';

interface Sighting {
  readonly version: string;
  readonly at: number;
}

export class FailureDetector {
  readonly #clock: Clock;
  readonly #durationMs: number;
  /** Undefined before the first read. */
  #seen: ReadonlyMap<string, Sighting> | undefined;

  /** @param durationMs for members whose lease has no duration */
  constructor(clock: Clock, durationMs: number) {
    this.#clock = clock;
    this.#durationMs = durationMs;
  }

  /** @returns members that did not renew in time, and when the next one could fail; Infinity: never */
  read(
    { members }: FleetState,
    self: string,
  ): { readonly dead: readonly View<LeaseObject>[]; readonly nextMs: number } {
    const now = this.#clock.now();
    const seen = new Map<string, Sighting>();
    const dead: View<LeaseObject>[] = [];
    let nextMs = Infinity;
    for (const [member, lease] of members) {
      if (member === self) continue;
      const version = lease.metadata.resourceVersion ?? '';
      const before = this.#seen?.get(member);
      const isDead = !this.#seen && expiredLongAgo(lease, this.#durationMs, this.#clock);
      const since = before?.version === version ? before : { version, at: isDead ? -Infinity : now };
      seen.set(member, since);
      const leftMs = since.at + durationOf(lease.spec, this.#durationMs) - now;
      if (leftMs <= 0) dead.push(lease);
      else nextMs = Math.min(nextMs, leftMs);
    }
    this.#seen = seen;
    return { dead, nextMs };
  }
}
