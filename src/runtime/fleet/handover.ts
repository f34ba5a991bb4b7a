/**
 * Takes and releases the leases of shards until this replica holds those that are assigned to it. A shard is released
 * when its active reconciles have ended.
 */
import type { LeaseObject } from '../manager/lease.ts';
import type { View } from '../types.ts';
import { assign } from './assign.ts';
import { holderOf, type FleetState } from './fleet-state.ts';
import type { LeaseWrites } from './lease-writes.ts';
import type { Shard } from './shard.ts';

interface HandoverPorts {
  readonly leaseWrites: LeaseWrites;
  /** By number. */
  readonly shards: readonly Shard[];
  /** Identity of the current membership; undefined while this replica is not a member. */
  readonly identity: () => string | undefined;
  /** Called when shards have become `warming`. */
  readonly onWarming: () => void;
}

export class Handover {
  readonly #ports: HandoverPorts;

  constructor(ports: HandoverPorts) {
    this.#ports = ports;
  }

  /** Moves each shard one step towards the assignment. @returns for each step whether it completed */
  settle(state: FleetState, self: string): Promise<boolean>[] {
    const wanted = assign(state.holders, [...state.members.keys()]);
    return this.#ports.shards.flatMap((shard) => {
      const lease = state.shards[shard.number];
      const isHolder = holderOf(lease) === self;
      const isWanted = wanted[shard.number] === self;
      switch (shard.state) {
        case 'none':
          // The lease names this replica, which does not know it: a response was lost.
          return isHolder || (isWanted && state.holders[shard.number] === undefined)
            ? [this.#take(shard, lease, self)]
            : [];
        case 'taking':
        case 'releasing':
          return [];
        default:
          if (!isHolder) {
            shard.lose(`${holderOf(lease) ?? 'no replica'} holds its lease`);
            return [];
          }
          return isWanted ? this.#keep(shard) : this.#giveUp(shard, lease);
      }
    });
  }

  async #take(shard: Shard, lease: View<LeaseObject> | undefined, self: string): Promise<boolean> {
    const { leaseWrites, identity, onWarming } = this.#ports;
    shard.state = 'taking';
    const took = await leaseWrites.take(shard.number, lease, self);
    // The shard or the membership changed meanwhile, and that change has set the state.
    if ((shard.state as string) !== 'taking' || identity() !== self) return true;
    shard.state = took ? 'warming' : 'none';
    if (took) onWarming();
    return took;
  }

  #keep(shard: Shard): Promise<boolean>[] {
    if (shard.state === 'draining') {
      shard.state = 'warming';
      this.#ports.onWarming();
    }
    return [];
  }

  #giveUp(shard: Shard, lease: View<LeaseObject> | undefined): Promise<boolean>[] {
    shard.state = 'draining';
    if (shard.busyMs > 0 || !lease) return [];
    shard.state = 'releasing';
    return [
      this.#ports.leaseWrites.release(lease).then((isReleased) => {
        // The lease shows whether it is still ours; if so, it is taken and released again.
        if (shard.state === 'releasing') shard.state = 'none';
        return isReleased;
      }),
    ];
  }
}
