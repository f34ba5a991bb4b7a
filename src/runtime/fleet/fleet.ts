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
import { ShardAdmission } from './admission.ts';
import { FailureDetector } from './failure-detector.ts';
import { partsOf, readFleetState, type FleetState } from './fleet-state.ts';
import { Handover } from './handover.ts';
import { LeaseWrites } from './lease-writes.ts';
import { fleetLabel, memberLeaseName, memberRole, partsAnnotation, roleLabel, SHARDS } from './names.ts';
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

class Fleet implements Share {
  readonly #options: FleetOptions;
  readonly #log: Logger;
  readonly #caches: StartableCaches;
  readonly #leases: Cache<LeaseObject>;
  readonly #shards: readonly Shard[];
  readonly #admission: ShardAdmission;
  readonly #leaseWrites: LeaseWrites;
  readonly #failureDetector: FailureDetector;
  readonly #handover: Handover;
  readonly #alarm: Alarm;
  readonly #life = new AbortController();
  #member: { readonly lease: Lease; readonly identity: string } | undefined;
  #hasJoined = false;
  #revisit: Revisit | undefined;
  #reported = '';
  #reportedParts = new Set<string>();

  /** @throws DefinitionError when the name is not a valid label value, or the times do not fit together */
  constructor(options: FleetOptions) {
    if (!LABEL_VALUE.test(options.name)) {
      throw new DefinitionError({
        message: `the fleet name "${options.name}" is not a valid label value: use 1 to 63 lower-case letters, digits, - and ., and begin and end with a letter or digit`,
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
    this.#admission = new ShardAdmission({
      log: this.#log,
      places: options.places,
      shards: this.#shards,
      retryAfterMs: RETRY_MS,
    });
    const write = createWriter(
      { client, caches: this.#caches, fence: this.fence, name: 'fleet' },
      this.#life,
    );
    this.#leaseWrites = new LeaseWrites({ write, clock, namespace, name, log: this.#log });
    this.#failureDetector = new FailureDetector(clock, options.durationMs ?? DURATION_MS);
    this.#alarm = new Alarm(clock, () => {
      this.#reconcile();
    });
    const warmUp = new WarmUp(
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
    this.#handover = new Handover({
      leaseWrites: this.#leaseWrites,
      shards: this.#shards,
      identity: () => this.#member?.identity,
      onWarming: () => {
        warmUp.begin();
      },
    });
    this.#observe();
  }

  // -------------------------------------------------------------- for controllers

  readonly fence = (): void => {
    if (this.#member?.lease.isLeader) return;
    throw new ShareLostError({
      message: 'writes are blocked: this replica could not renew its lease in time',
    });
  };

  admit(object: View<Obj>, signal: AbortSignal): Admission | Promise<Admission> {
    return this.#admission.admit(object, signal);
  }

  holds(place: string): boolean {
    return this.#admission.holds(place);
  }

  handles(object: View<Obj>): boolean {
    return this.#admission.handles(object);
  }

  hasMoved(old: View<Obj>, object: View<Obj>): boolean {
    return this.#admission.hasMoved(old, object);
  }

  catchUp(signal: AbortSignal): Promise<void> {
    return this.#options.catchUp(signal);
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
    const { client, clock, rng, log, metrics, namespace, name, parts } = this.#options;
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
      ...(parts !== undefined && { annotations: { [partsAnnotation]: parts } }),
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
      ...this.#handover.settle(state, member.identity),
    ];
    for (const step of steps) {
      void step.then((isDone) => {
        if (!isDone) this.#reconcileAfter(RETRY_MS);
      });
    }
    const waits = this.#shards.filter(({ state }) => state === 'draining').map(({ busyMs }) => busyMs);
    this.#reconcileAfter(Math.min(nextMs, smallest(waits)));
    this.#report(state);
    this.#reportOtherParts(state, member.identity);
  }

  #reconcileAfter(ms: number): void {
    this.#alarm.by(this.#options.clock.now() + Math.max(1, ms));
  }

  /** What has to be done before the objects of new shards are reconciled. */
  async #prepare(shards: readonly Shard[], signal: AbortSignal): Promise<void> {
    await this.catchUp(signal);
    const isTaken = this.#admission.isIn(shards);
    const isTakenAgain = this.#admission.isIn(shards.filter(({ wasHeld }) => wasHeld));
    await this.#revisit?.prepare({ isTaken, isTakenAgain }, signal);
  }

  /** Queues the objects of new shards as if they were new. */
  #begin(shards: readonly Shard[]): void {
    this.#revisit?.all(this.#admission.isIn(shards));
    this.#reconcile();
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

  /** Once for each replica: each replica does only its own part of the work of its shards, and the rest is not done. */
  #reportOtherParts({ members }: FleetState, identity: string): void {
    const { parts, name, namespace } = this.#options;
    if (parts === undefined) return;
    const others = [...members].flatMap(([replica, lease]) => {
      const theirs = partsOf(lease);
      return theirs === undefined || theirs === parts ? [] : [{ replica, theirs }];
    });
    for (const { replica, theirs } of others.filter((one) => !this.#reportedParts.has(one.replica)))
      this.#log.warn(
        { replica: identity, parts, other: replica, otherParts: theirs, lease: `${namespace}/${name}` },
        'another replica with the same lease runs other parts; start replicas with other parts with another --lease',
      );
    this.#reportedParts = new Set(others.map(({ replica }) => replica));
  }

  #observe(): void {
    const { metrics } = this.#options;
    metrics.observed({ name: 'espalier_fleet_shards_held', help: 'Shards that this replica holds.' }, () => [
      [{}, this.#held],
    ]);
    metrics.observed(
      { name: 'espalier_fleet_replicas', help: 'Replicas that share the work, as known to this replica.' },
      () => [[{}, readFleetState(this.#leases.list(), this.#options.name).members.size]],
    );
  }
}

/** A replica must have stopped before the others consider it dead. */
function checkTimes({ name, ...times }: FleetOptions): void {
  const { durationMs = DURATION_MS, renewDeadlineMs = RENEW_DEADLINE_MS, renewMs = RENEW_MS } = times;
  if (0 < renewMs && renewMs < renewDeadlineMs && renewDeadlineMs < durationMs) return;
  throw new DefinitionError({
    message: `the times of fleet "${name}" must satisfy renewMs < renewDeadlineMs < durationMs, but are ${String(renewMs)}, ${String(renewDeadlineMs)} and ${String(durationMs)}`,
  });
}
