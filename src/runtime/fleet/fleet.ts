/**
 * Divides the work among replicas. Each replica renews a Lease to show that it is alive. The work is divided into
 * shards, each with a Lease that names its holder and is written only when the holder changes. So a fleet needs one
 * request per replica and renewal, whatever the number of shards.
 *
 * A member that stops renewing is evicted by a write with the resource version that was seen during the whole
 * duration: it succeeds only if there was no renewal in between. The evicted member has already stopped writing by
 * then, because it counts from before it sent its last renewal, and gives up after 10 of the 15 seconds.
 * @see docs/adr/0026-replicas-share-the-work.md
 */
import { setMaxListeners } from 'node:events';
import { Alarm } from '../../lib/alarm.ts';
import { smallest } from '../../lib/lists.ts';
import { randomSuffix } from '../../lib/rng.ts';
import type { Logger } from '../../observability/log.ts';
import { createCaches, type StartableCaches } from '../cache/cache.ts';
import { DefinitionError, ShareLostError } from '../errors.ts';
import { createLease, leaseKind, type Lease, type LeaseObject } from '../manager/lease.ts';
import type { Admission, Revisit, Share } from '../controller/share.ts';
import type { Cache, Obj, View } from '../types.ts';
import { createWriter } from '../controller/writer.ts';
import { assign } from './assign.ts';
import { LeaseWrites } from './lease-writes.ts';
import { readFleetState, holderOf, type FleetState } from './fleet-state.ts';
import { fleetLabel, memberLeaseName, memberRole, roleLabel, SHARDS, shardOf } from './names.ts';
import { FailureDetector } from './failure-detector.ts';
import type { FleetOptions } from './options.ts';
import { Shard } from './shard.ts';
import { WarmUp } from './warmup.ts';

export type { FleetOptions, Places } from './options.ts';

export const createFleet = (options: FleetOptions): Fleet => new Fleet(options);

const DURATION_MS = 15_000;
const RENEW_DEADLINE_MS = 10_000;
const RENEW_MS = 3_000;
const LABEL_VALUE = /^[a-z0-9]([-.a-z0-9]{0,61}[a-z0-9])?$/;
const RETRY_MS = 1_000;
/** Objects whose responsible replica is unknown are checked again after this time, if no event comes. */
const UNCLEAR_MS = 30_000;

class Fleet implements Share {
  readonly #options: FleetOptions;
  readonly #log: Logger;
  readonly #caches: StartableCaches;
  readonly #leases: Cache<LeaseObject>;
  readonly #shards: readonly Shard[];
  readonly #leaseWrites: LeaseWrites;
  readonly #failureDetector: FailureDetector;
  readonly #warmUp: WarmUp;
  readonly #alarm: Alarm;
  readonly #life = new AbortController();
  #member: { readonly lease: Lease; readonly identity: string } | undefined;
  #hasJoined = false;
  #revisit: Revisit | undefined;
  #reported = '';

  /** @throws DefinitionError when the name is not a valid label value, or the times do not fit together */
  constructor(options: FleetOptions) {
    if (!LABEL_VALUE.test(options.name)) {
      throw new DefinitionError({
        message: `the fleet "${options.name}" cannot be used as a label value: its name must be 1 to 63 lower-case letters, digits, - and ., and begin and end with a letter or digit`,
      });
    }
    checkTimes(options);
    const { client, clock, rng, log, namespace, name } = options;
    this.#options = options;
    // Every write and every watch adds a listener.
    setMaxListeners(0, this.#life.signal);
    this.#log = log.child({ fleet: `${namespace}/${name}` });
    this.#caches = createCaches({ client, clock, rng, log });
    this.#leases = this.#caches.of(leaseKind, {
      namespaces: [namespace],
      labels: `${fleetLabel}=${name}`,
    });
    const mayWrite = (): boolean => this.#member?.lease.isLeader ?? false;
    this.#shards = Array.from(
      { length: SHARDS },
      (_, i) => new Shard(i, clock, mayWrite, () => this.#reconcile()),
    );
    const write = createWriter(
      { client, caches: this.#caches, fence: this.fence, name: 'fleet' },
      this.#life,
    );
    this.#leaseWrites = new LeaseWrites({ write, clock, namespace, name, log: this.#log });
    this.#failureDetector = new FailureDetector(clock, options.durationMs ?? DURATION_MS);
    this.#alarm = new Alarm(clock, () => {
      this.#reconcile();
    });
    this.#warmUp = new WarmUp(
      {
        clock,
        log: this.#log,
        retryAfterMs: RETRY_MS,
        shards: this.#shards,
        prepare: (shards, signal) => this.#prepare(shards, signal),
        member: () => this.#member,
        onHeld: (shards) => {
          this.#begin(shards);
        },
      },
      this.#life.signal,
    );
    this.#observe();
  }

  // -------------------------------------------------------------- for controllers

  readonly fence = (): void => {
    if (this.#member?.lease.isLeader) return;
    throw new ShareLostError({
      message: 'writes are blocked: this replica could not renew its lease in time',
    });
  };

  holds(place: string): boolean {
    return this.#shard(shardOf(place)).isAdmitting;
  }

  handles(object: View<Obj>): boolean {
    const place = this.#guess(object);
    return place === undefined || this.holds(place);
  }

  hasMoved(old: View<Obj>, object: View<Obj>): boolean {
    try {
      return this.#options.places.hasMoved?.(old, object) ?? false;
    } catch {
      return true;
    }
  }

  catchUp(signal: AbortSignal): Promise<void> {
    return this.#options.catchUp(signal);
  }

  admit(object: View<Obj>, signal: AbortSignal): Admission | Promise<Admission> {
    try {
      const place = this.#options.places.placeOf(object, signal);
      if (!(place instanceof Promise)) return this.#admission(place);
      return place.then(
        (found) => this.#admission(found),
        (error: unknown) => this.#unclear(error, signal),
      );
    } catch (error) {
      return this.#unclear(error, signal);
    }
  }

  #admission(place: string | undefined): Admission {
    if (place === undefined) return { is: 'unclear', requeueAfterMs: UNCLEAR_MS };
    const shard = this.#shard(shardOf(place));
    if (!shard.isAdmitting) return { is: 'foreign' };
    return { is: 'ours', begin: (onLost) => shard.begin(onLost) };
  }

  #unclear(error: unknown, signal: AbortSignal): Admission {
    if (!signal.aborted)
      this.#log.warn({ err: String(error) }, 'cannot determine which shard owns the object');
    return { is: 'unclear', requeueAfterMs: RETRY_MS };
  }

  #shard(number: number): Shard {
    const shard = this.#shards[number];
    if (!shard) throw new RangeError(`there is no shard ${String(number)}`);
    return shard;
  }

  // -------------------------------------------------------------- joining and leaving

  async join(revisit: Revisit, signal: AbortSignal): Promise<void> {
    this.#revisit = revisit;
    const both = AbortSignal.any([signal, this.#life.signal]);
    setMaxListeners(0, both);
    await this.#options.beforeJoin?.(both);
    await this.#caches.start(both);
    this.#leases.subscribe({ name: 'fleet', ownEvents: 'deliver', on: () => this.#reconcile() });
    this.#options.places.onMoved((kind, object) => {
      revisit.one(kind, object);
    });
    await this.#enter(both);
  }

  async #enter(signal: AbortSignal): Promise<void> {
    const { client, clock, rng, log, metrics, namespace, name } = this.#options;
    // Each membership has a new name, so shards of an earlier membership are not held by the next one.
    const identity = `${this.#options.identity}-${randomSuffix(rng)}`;
    const lease = createLease({
      client,
      clock,
      rng,
      log,
      metrics,
      namespace,
      identity,
      name: memberLeaseName(name, identity),
      purpose: 'member',
      labels: { [fleetLabel]: name, [roleLabel]: memberRole },
      durationMs: this.#options.durationMs ?? DURATION_MS,
      renewDeadlineMs: this.#options.renewDeadlineMs ?? RENEW_DEADLINE_MS,
      retryMs: this.#options.renewMs ?? RENEW_MS,
      isPersistent: this.#hasJoined,
      onLost: () => {
        this.#onLost();
      },
    });
    await lease.acquire(signal);
    this.#member = { lease, identity };
    this.#hasJoined = true;
    this.#reconcile();
  }

  /** Joining again is retried without a time limit. */
  #onLost(): void {
    this.#member = undefined;
    for (const shard of this.#shards)
      if (shard.state !== 'none') shard.lose('renewing the lease of this replica failed');
    this.#report(undefined);
    this.#enter(this.#life.signal).catch((error: unknown) => {
      if (!this.#life.signal.aborted) this.#log.error({ err: error }, 'rejoining the fleet failed');
    });
  }

  async leave(isClean: boolean): Promise<void> {
    const member = this.#member;
    const isIdle = isClean && this.#shards.every(({ busyMs }) => busyMs === 0);
    this.#member = undefined;
    this.#life.abort(new ShareLostError({ message: 'replica left the fleet' }));
    this.#alarm.cancel();
    for (const shard of this.#shards) shard.lose('this replica has left');
    if (!member) return;
    // Requests in flight must not arrive after another replica has started: the lease is left to expire.
    if (isIdle) await member.lease.release();
    else member.lease.abandon();
  }

  // -------------------------------------------------------------- reading the leases

  /** Starts the changes that the leases require. Their results arrive as events, and failures are retried later. */
  #reconcile(): void {
    const member = this.#member;
    if (!member?.lease.isLeader || this.#life.signal.aborted) return;
    const state = readFleetState(this.#leases.list(), this.#options.name);
    // Until the watch has delivered our own lease, this replica would not be counted.
    if (!state.members.has(member.identity)) return;
    const { dead, nextMs } = this.#failureDetector.read(state, member.identity);
    const steps = [
      ...dead.map((lease) => this.#leaseWrites.evict(lease)),
      ...state.left.map((lease) => this.#leaseWrites.clear(lease)),
      ...this.#settle(state, member.identity),
    ];
    for (const step of steps) {
      void step.then((isDone) => {
        if (!isDone) this.#reconcileAfter(RETRY_MS);
      });
    }
    const waits = this.#shards.filter(({ state }) => state === 'draining').map(({ busyMs }) => busyMs);
    this.#reconcileAfter(Math.min(nextMs, smallest(waits)));
    this.#report(state);
  }

  #reconcileAfter(ms: number): void {
    this.#alarm.by(this.#options.clock.now() + Math.max(1, ms));
  }

  /** Moves each shard one step towards the assignment. @returns for each step whether it completed */
  #settle(state: FleetState, self: string): Promise<boolean>[] {
    const wanted = assign(state.holders, [...state.members.keys()]);
    return this.#shards.flatMap((shard) => {
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
    shard.state = 'taking';
    const took = await this.#leaseWrites.take(shard.number, lease, self);
    // The shard or the membership changed meanwhile, and that change has set the state.
    if ((shard.state as string) !== 'taking' || this.#member?.identity !== self) return true;
    shard.state = took ? 'warming' : 'none';
    if (took) this.#warmUp.begin();
    return took;
  }

  #keep(shard: Shard): Promise<boolean>[] {
    if (shard.state === 'draining') {
      shard.state = 'warming';
      this.#warmUp.begin();
    }
    return [];
  }

  #giveUp(shard: Shard, lease: View<LeaseObject> | undefined): Promise<boolean>[] {
    shard.state = 'draining';
    if (shard.busyMs > 0 || !lease) return [];
    shard.state = 'releasing';
    return [
      this.#leaseWrites.release(lease).then((isReleased) => {
        // The lease shows whether it is still ours; if so, it is taken and released again.
        if (shard.state === 'releasing') shard.state = 'none';
        return isReleased;
      }),
    ];
  }

  /** What has to be done before the objects of new shards are reconciled. */
  async #prepare(shards: readonly Shard[], signal: AbortSignal): Promise<void> {
    await this.#options.catchUp(signal);
    const isTaken = this.#isIn(shards);
    const isTakenAgain = this.#isIn(shards.filter(({ wasHeld }) => wasHeld));
    await this.#revisit?.prepare({ isTaken, isTakenAgain }, signal);
  }

  /** Queues the objects of new shards as if they were new. */
  #begin(shards: readonly Shard[]): void {
    this.#revisit?.all(this.#isIn(shards));
    this.#reconcile();
  }

  /** Whether an object belongs to one of the shards, or may belong to it. */
  #isIn(shards: readonly Shard[]): (object: View<Obj>) => boolean {
    const numbers = new Set(shards.map(({ number }) => number));
    if (numbers.size === 0) return () => false;
    return (object) => {
      const place = this.#guess(object);
      return place === undefined || numbers.has(shardOf(place));
    };
  }

  #guess(object: View<Obj>): string | undefined {
    try {
      return this.#options.places.guess(object);
    } catch {
      // `admit` reports the error.
      return undefined;
    }
  }

  // -------------------------------------------------------------- reporting

  get #held(): number {
    return this.#shards.filter(({ isOurs }) => isOurs).length;
  }

  #report(state: FleetState | undefined): void {
    // A start takes all shards one after the other.
    if (this.#shards.some(({ state }) => state === 'taking' || state === 'warming')) return;
    const members = state?.members.size ?? 0;
    const share = `${String(this.#held)} ${String(members)}`;
    if (share === this.#reported) return;
    this.#reported = share;
    this.#log.info({ shards: this.#held, of: SHARDS, replicas: members }, 'shards assigned');
  }

  #observe(): void {
    const { metrics } = this.#options;
    metrics.observed(
      { name: 'espalier_fleet_shards_held', help: 'Shards of the work that this replica holds.' },
      () => [[{}, this.#held]],
    );
    metrics.observed(
      { name: 'espalier_fleet_replicas', help: 'Replicas that share the work, as this one sees it.' },
      () => [[{}, readFleetState(this.#leases.list(), this.#options.name).members.size]],
    );
  }
}

/** A replica must have stopped before the others consider it dead. */
function checkTimes({ name, ...times }: FleetOptions): void {
  const { durationMs = DURATION_MS, renewDeadlineMs = RENEW_DEADLINE_MS, renewMs = RENEW_MS } = times;
  if (0 < renewMs && renewMs < renewDeadlineMs && renewDeadlineMs < durationMs) return;
  throw new DefinitionError({
    message: `the times of fleet "${name}" must be renewMs < renewDeadlineMs < durationMs, and are ${String(renewMs)}, ${String(renewDeadlineMs)} and ${String(durationMs)}`,
  });
}
