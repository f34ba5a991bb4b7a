/** Notes when, by our own clock, each member was last seen to renew; clocks of machines differ, so no time stamp counts. */
import type { Clock } from '../../lib/clock.ts';
import type { LeaseObject } from '../manager/lease.ts';
import type { View } from '../types.ts';
import type { FleetState } from './fleet-state.ts';

interface Sighting {
  readonly version: string;
  readonly at: number;
}

export class FailureDetector {
  readonly #clock: Clock;
  readonly #durationMs: number;
  #seen: ReadonlyMap<string, Sighting> = new Map();

  /** @param durationMs for members that do not say how long they may be silent */
  constructor(clock: Clock, durationMs: number) {
    this.#clock = clock;
    this.#durationMs = durationMs;
  }

  /** @returns members that were silent for too long, and in how long the next one could be; Infinity: nobody */
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
      const before = this.#seen.get(member);
      const since = before?.version === version ? before : { version, at: now };
      seen.set(member, since);
      const seconds = lease.spec?.leaseDurationSeconds;
      const leftMs = since.at + (seconds === undefined ? this.#durationMs : seconds * 1_000) - now;
      if (leftMs <= 0) dead.push(lease);
      else nextMs = Math.min(nextMs, leftMs);
    }
    this.#seen = seen;
    return { dead, nextMs };
  }
}
