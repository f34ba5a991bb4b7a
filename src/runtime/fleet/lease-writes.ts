/**
 * The writes of a fleet. Each contains the resource version on which it is based, so if several replicas try the same
 * write, one succeeds. None of them throws: the leases show what failed, and the next attempt starts from there.
 */
import { microTimestamp, type Clock } from '../../lib/clock.ts';
import type { Logger } from '../../observability/log.ts';
import { AlreadyExists, Conflict, NotFound, ShareLostError } from '../errors.ts';
import { joinKey } from '../keys.ts';
import { leaseKind, type LeaseObject } from '../manager/lease.ts';
import type { Key, View, Write, Writer } from '../types.ts';
import { fleetLabel, roleLabel, shardLeaseName } from './names.ts';

interface LeaseWritePorts {
  readonly write: Writer;
  readonly clock: Clock;
  readonly log: Logger;
  readonly namespace: string;
  /** Name of the fleet. */
  readonly name: string;
}

export class LeaseWrites {
  readonly #ports: LeaseWritePorts;
  /** Keys of leases with a write in flight. */
  readonly #underWay = new Set<Key>();

  constructor(ports: LeaseWritePorts) {
    this.#ports = ports;
  }

  /** @param lease as last seen; undefined: not created yet */
  take(shard: number, lease: View<LeaseObject> | undefined, holder: string): Promise<boolean> {
    const { clock, namespace, name } = this.#ports;
    const now = microTimestamp(clock);
    const spec = { holderIdentity: holder, acquireTime: now, renewTime: now };
    if (lease) {
      const leaseTransitions = (lease.spec?.leaseTransitions ?? 0) + 1;
      return this.#replace({ ...lease, spec: { ...spec, leaseTransitions } });
    }
    const object: LeaseObject = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: {
        namespace,
        name: shardLeaseName(name, shard),
        labels: { [fleetLabel]: name, [roleLabel]: String(shard) },
      },
      spec: { ...spec, leaseTransitions: 0 },
    };
    return this.#do({ verb: 'create', kind: leaseKind, object });
  }

  release(lease: View<LeaseObject>): Promise<boolean> {
    const { holderIdentity: _, ...spec } = lease.spec ?? {};
    return this.#replace({ ...lease, spec });
  }

  /** Succeeds only if the member has not renewed since this version. */
  async evict(lease: View<LeaseObject>): Promise<boolean> {
    const { holderIdentity, ...spec } = lease.spec ?? {};
    const isDead = await this.#replace({ ...lease, spec });
    if (isDead)
      this.#ports.log.warn(
        { replica: holderIdentity },
        'a replica stopped renewing its lease, its shards are reassigned',
      );
    return isDead;
  }

  /** Deletes the lease of a member that has left. */
  clear({ metadata }: View<LeaseObject>): Promise<boolean> {
    const { uid } = metadata;
    const { namespace, name } = metadata;
    const key = joinKey(namespace, name);
    return this.#do({ verb: 'delete', kind: leaseKind, key, ...(uid && { uid }) });
  }

  #replace(lease: View<LeaseObject>): Promise<boolean> {
    return this.#do({ verb: 'replace', kind: leaseKind, object: lease as LeaseObject });
  }

  /** @returns whether it succeeded; false while another write of the lease is in flight */
  async #do(write: Write<LeaseObject>): Promise<boolean> {
    const key =
      'key' in write ? write.key : joinKey(write.object.metadata.namespace, write.object.metadata.name);
    if (this.#underWay.has(key)) return false;
    this.#underWay.add(key);
    try {
      await this.#ports.write(write);
      return true;
    } catch (error) {
      const isForeseen =
        error instanceof Conflict ||
        error instanceof AlreadyExists ||
        error instanceof NotFound ||
        error instanceof ShareLostError;
      if (!isForeseen) this.#ports.log.warn({ err: String(error) }, 'writing a lease failed');
      return false;
    } finally {
      this.#underWay.delete(key);
    }
  }
}
