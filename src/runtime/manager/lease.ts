/**
 * Leader election: one replica holds a Lease and renews it; the others wait until they have not seen a renewal for
 * its whole duration.
 *
 * Clocks of machines differ, so a replica does not rely on time stamps of others: it records when, by its own clock, it
 * saw the lease change. Only a lease that expired ten minutes ago or more is taken at once. The holder stops writing
 * before the others may start, because it counts from before it sent its last renewal, and gives up after 10 of the 15
 * seconds.
 */
import { microTimestamp, sleep, type Clock } from '../../lib/clock.ts';
import type { Rng } from '../../lib/rng.ts';
import type { Logger } from '../../observability/log.ts';
import type { Metrics } from '../../observability/metrics.ts';
import { Forbidden, LeadershipLostError, NotFound } from '../errors.ts';
import { joinKey } from '../keys.ts';
import { contentOf, newLease, withHold, withoutHolder } from './lease-content.ts';
import { durationOf, expiredLongAgo } from './lease-expiry.ts';
import { getIfThere } from '../transport/read.ts';
import type { Client, Kind, Obj } from '../types.ts';

export interface LeaseObject extends Obj {
  spec?: {
    holderIdentity?: string;
    leaseDurationSeconds?: number;
    acquireTime?: string;
    renewTime?: string;
    leaseTransitions?: number;
  };
}

export const leaseKind: Kind<LeaseObject> = {
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  plural: 'leases',
  namespaced: true,
};

/** Dependencies of leases. */
export interface LeasePorts {
  /** Preferably a client with its own connections, so that other requests do not delay renewals. */
  readonly client: Client;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly namespace: string;
}

export interface LeaseOptions extends LeasePorts {
  readonly name: string;
  /** Unique among replicas. */
  readonly identity: string;
  /** Called once when leadership is lost involuntarily; the process should end. */
  onLost(error: LeadershipLostError): void;
  /** Default 15 s. */
  readonly durationMs?: number;
  /** Default 10 s. */
  readonly renewDeadlineMs?: number;
  /** Default 2 s. */
  readonly retryMs?: number;
  /** For log and metrics: the holder is the leader (default), or a member of a fleet. */
  readonly purpose?: 'leader' | 'member';
  /**
   * Whether `acquire` continues if the requests are forbidden or the namespace does not exist: for a process that held
   * the lease before. Default `false`.
   */
  readonly isPersistent?: boolean;
  /** Labels of a lease that is created. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Annotations of a lease that is created. */
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface Lease {
  readonly isLeader: boolean;
  /**
   * Resolves when this process is the leader, and renews the lease from then on.
   * @throws the signal's reason; Forbidden if this process has no permission for the lease, NotFound if its namespace does
   *   not exist
   */
  acquire(signal: AbortSignal): Promise<void>;
  /** @throws LeadershipLostError unless this process may write now */
  fence(): void;
  /** Releases the lease, so that another replica can take it at once. Never fails. */
  release(): Promise<void>;
  /** Stops renewing and writes nothing: the lease expires. */
  abandon(): void;
}

/** Random share by which the time between attempts is extended. */
const JITTER = 0.2;

const messagesFor = {
  leader: {
    waiting: 'waiting for leadership',
    held: 'became leader',
    lost: 'leadership lost',
  },
  member: {
    waiting: 'joining the fleet',
    held: 'joined the fleet',
    lost: 'lost the membership in the fleet',
  },
} as const;

export function createLease(options: LeaseOptions): Lease {
  return new HeldLease(options);
}

function masterGauge({ metrics, name }: LeaseOptions): (value: number) => void {
  const labels = { name };
  const gauge = metrics.gauge({
    name: 'leader_election_master_status',
    help: 'Whether this process leads.',
    labels: ['name'],
    zero: [labels],
  });
  return (value) => {
    gauge.set(labels, value);
  };
}

class HeldLease implements Lease {
  readonly #options: LeaseOptions;
  readonly #key: string;
  readonly #durationMs: number;
  readonly #deadlineMs: number;
  readonly #retryMs: number;
  readonly #end = new AbortController();
  /** The lease as last seen, and when we first saw this version, by our clock. */
  #seen: { readonly object: LeaseObject; readonly at: number } | undefined;
  /** When the last successful renewal was sent; undefined while this process is not the leader. */
  #renewedAt: number | undefined;
  #hasRead = false;
  /** Since when requests for the lease are refused. */
  #refused: { readonly since: number; readonly error: Error } | undefined;
  readonly #setMaster: (value: number) => void;

  constructor(options: LeaseOptions) {
    this.#options = options;
    this.#key = joinKey(options.namespace, options.name);
    this.#durationMs = options.durationMs ?? 15_000;
    this.#deadlineMs = options.renewDeadlineMs ?? 10_000;
    this.#retryMs = options.retryMs ?? 2_000;
    this.#setMaster = options.purpose === 'member' ? () => undefined : masterGauge(options);
  }

  get isLeader(): boolean {
    return this.#renewedAt !== undefined && this.#options.clock.now() - this.#renewedAt < this.#deadlineMs;
  }

  fence(): void {
    if (this.isLeader) return;
    this.#lose('the lease was not renewed in time');
    throw this.#lostError('this process is not the leader');
  }

  async acquire(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    const messages = messagesFor[this.#options.purpose ?? 'leader'];
    log.info({ lease: this.#key }, messages.waiting);
    while (!(await this.#attempt(signal, this.#deadlineMs))) {
      this.#refuseToWait();
      await sleep(clock, this.#untilNextTry(), signal);
    }
    log.info({ lease: this.#key }, messages.held);
    this.#setMaster(1);
    void this.#keep();
  }

  /** Permissions may be granted, and the namespace may be created, a moment after the start. */
  #refuseToWait(): void {
    const { isPersistent, clock } = this.#options;
    const refused = this.#refused;
    if (isPersistent || !refused || clock.now() - refused.since < this.#deadlineMs) return;
    throw refused.error;
  }

  async release(): Promise<void> {
    this.#end.abort(new Error('lease released'));
    const held = this.#seen?.object;
    if (!this.isLeader || !held) return;
    this.#renewedAt = undefined;
    this.#setMaster(0);
    const object = withoutHolder(held, microTimestamp(this.#options.clock));
    try {
      await this.#options.client.send({ verb: 'replace', kind: leaseKind, object });
    } catch (error) {
      this.#options.log.warn({ lease: this.#key, err: String(error) }, 'releasing the lease failed');
    }
  }

  abandon(): void {
    this.#end.abort(new Error('leaving the lease to expire'));
    this.#renewedAt = undefined;
    this.#setMaster(0);
  }

  /** Renews until the lease is released, or until renewals have failed for too long. */
  async #keep(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#end;
    while (this.#renewedAt !== undefined) {
      const leftMs = this.#renewedAt + this.#deadlineMs - clock.now();
      if (leftMs <= 0) {
        this.#lose('renewing the lease timed out');
        return;
      }
      try {
        await sleep(clock, Math.min(this.#retryMs, leftMs), signal);
      } catch {
        return;
      }
      const restMs = this.#renewedAt + this.#deadlineMs - clock.now();
      if (restMs > 0 && !(await this.#attempt(signal, restMs)) && this.#isHeldByOther()) {
        this.#lose(`${this.#seen?.object.spec?.holderIdentity ?? 'an unknown process'} took the lease`);
        return;
      }
    }
  }

  #lose(why: string): void {
    if (this.#renewedAt === undefined) return;
    this.#renewedAt = undefined;
    this.#setMaster(0);
    this.#end.abort(new Error(why));
    const { log, purpose = 'leader' } = this.#options;
    log.error({ lease: this.#key, reason: why }, messagesFor[purpose].lost);
    this.#options.onLost(this.#lostError(why));
  }

  #lostError(why: string): LeadershipLostError {
    return new LeadershipLostError({ message: `writes are blocked, lease ${this.#key}: ${why}` });
  }

  /** Tries to take or renew the lease. @returns false for any failure */
  async #attempt(signal: AbortSignal, limitMs: number): Promise<boolean> {
    const { clock, log } = this.#options;
    const sentAt = clock.now();
    const limit = new AbortController();
    const disarm = clock.at(sentAt + limitMs, () => {
      limit.abort(new Error('no response in time'));
    });
    try {
      const isOurs = await this.#tryOnce(AbortSignal.any([signal, limit.signal]));
      this.#refused = undefined;
      // A response that arrives after the deadline must not restore a leadership that was given up.
      if (!isOurs || signal.aborted || clock.now() - sentAt >= this.#deadlineMs) return false;
      this.#renewedAt = sentAt;
      return true;
    } catch (error) {
      if (!signal.aborted) log.warn({ lease: this.#key, err: String(error) }, 'lease request failed');
      const isRefusal = error instanceof Forbidden || error instanceof NotFound;
      this.#refused = isRefusal ? { since: this.#refused?.since ?? sentAt, error } : undefined;
      // The lease must be read again.
      this.#isStale = true;
      return false;
    } finally {
      disarm();
    }
  }

  #isStale = true;

  async #tryOnce(signal: AbortSignal): Promise<boolean> {
    const { client, clock, identity } = this.#options;
    const isSure = this.#renewedAt !== undefined && !this.#isStale;
    const current = isSure ? this.#seen?.object : await this.#read(signal);
    if (this.#isEnded(current)) return false;
    const hold = { identity, durationMs: this.#durationMs, now: microTimestamp(clock) };
    if (!current) {
      const object = newLease(this.#options, hold);
      this.#see(await client.send({ verb: 'create', kind: leaseKind, object }, signal));
    } else {
      if (this.#isHeldByOther()) return false;
      const object = withHold(current, hold);
      this.#see(await client.send({ verb: 'replace', kind: leaseKind, object }, signal));
    }
    this.#isStale = false;
    return true;
  }

  async #read(signal: AbortSignal): Promise<LeaseObject | undefined> {
    const object = await getIfThere(this.#options.client, leaseKind, this.#key, signal);
    if (object) this.#see(object);
    else this.#seen = undefined;
    this.#hasRead = true;
    return object;
  }

  #see(object: LeaseObject): void {
    const { clock } = this.#options;
    const before = this.#seen;
    if (before && contentOf(before.object) === contentOf(object)) this.#seen = { object, at: before.at };
    // Only at the start: a lease that appears or changes later has a live holder, however wrong its clock is.
    else if (!this.#hasRead && expiredLongAgo(object, this.#durationMs, clock))
      this.#seen = { object, at: -Infinity };
    else this.#seen = { object, at: clock.now() };
  }

  /** A member that was evicted stays evicted, whatever its lease contains. */
  #isEnded(current: LeaseObject | undefined): boolean {
    const { purpose, identity } = this.#options;
    return (
      purpose === 'member' && this.#renewedAt !== undefined && current?.spec?.holderIdentity !== identity
    );
  }

  /** Another replica holds the lease, and it has not expired. */
  #isHeldByOther(): boolean {
    if (this.#isEnded(this.#seen?.object)) return true;
    const holder = this.#seen?.object.spec?.holderIdentity;
    if (!holder || holder === this.#options.identity) return false;
    return this.#expiresInMs() > 0;
  }

  #expiresInMs(): number {
    if (!this.#seen) return 0;
    const { object, at } = this.#seen;
    return at + durationOf(object.spec, this.#durationMs) - this.#options.clock.now();
  }

  /** At the latest when the lease expires, so that a takeover is not delayed. */
  #untilNextTry(): number {
    const { rng } = this.#options;
    const periodMs = this.#retryMs * (1 + JITTER * rng.next());
    return this.#isHeldByOther() ? Math.min(periodMs, Math.max(1, this.#expiresInMs())) : periodMs;
  }
}
