/**
 * A controller: receives events and starts reconciles. It keeps the slots and assigns keys to workers; dispatch.ts
 * has the reconcile itself, follow-up.ts what happens after it.
 */
import type { Clock } from '../../lib/clock.ts';
import type { Rng } from '../../lib/rng.ts';
import { withLogFields, type Logger } from '../../observability/log.ts';
import { controllerMetrics, type ControllerMetrics } from '../../observability/controller-metrics.ts';
import type { Metrics } from '../../observability/metrics.ts';
import { objectMetrics } from '../../observability/object-metrics.ts';
import { scopeOf, type JoinableScope } from '../cache/namespace-scope.ts';
import { Braking } from './braking.ts';
import { createContext } from './context.ts';
import { beginReconcile, isLastAttempt } from './decide.ts';
import { dispatch, type Dispatched } from './dispatch.ts';
import { Expectations } from './expectations.ts';
import { FollowUp } from './follow-up.ts';
import { Forgetting } from './forgetting.ts';
import { joinKey, namespaceOf } from '../keys.ts';
import type { WorkItem, WorkQueue } from '../queue/queue.ts';
import { createReads } from './reads.ts';
import type { Recorder } from './recorder.ts';
import { reconcileFields } from './reconcile-log.ts';
import { ActiveReconciles } from './active-reconciles.ts';
import { Slots, type KeySlot } from './slots.ts';
import { Intake } from './intake.ts';
import type { ManagedController } from './managed-controller.ts';
import { Pace } from '../../lib/pace.ts';
import type { OurAdmission, Admission, Share, TakeOver } from './share.ts';
import { refuseLocal } from './local-sources.ts';
import { SourceSet } from '../sources/source-set.ts';
import type { Source } from '../sources/sources.ts';
import { settingsOf, type ControllerSpec, type Settings } from './spec.ts';
import type { Cache, Caches, Client, Key, Kind, Obj, View } from '../types.ts';
import { queueOf, Workers, type MayStart } from './workers.ts';
import { createWriter, type Fence } from './writer.ts';

export type { Controller, ManagedController } from './managed-controller.ts';
export type { ControllerSpec, Reconciler } from './spec.ts';

/** How often it is checked whether the secondaries of an added namespace have been listed. */
const UNREAD_MS = 250;

interface ControllerPorts {
  readonly client: Client;
  readonly caches: Caches;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly recorder: Recorder;
  readonly fence: Fence;
  /** Default: this process is responsible for all objects. */
  readonly share?: Share;
}

/** @throws DefinitionError when the spec is inconsistent */
export function createController<P extends Obj>(
  spec: ControllerSpec<P>,
  ports: ControllerPorts,
): ManagedController {
  return new KeyController(settingsOf(spec), ports);
}

class KeyController<P extends Obj> {
  readonly name: string;
  readonly kind: Kind<P>;
  readonly cache: Cache<P>;
  readonly #settings: Settings<P>;
  readonly #ports: ControllerPorts;
  readonly #metrics: ControllerMetrics;
  readonly #queue: WorkQueue;
  readonly #slots: Slots;
  readonly #active: ActiveReconciles;
  readonly #intake: Intake<P>;
  readonly #sources: SourceSet<P>;
  readonly #followUp: FollowUp<P>;
  readonly #forgetting: Forgetting<P>;
  readonly #braking: Braking<P> | undefined;
  readonly #expectations: Expectations<P>;
  readonly #workers: Workers;
  readonly #pace: Pace;
  readonly #scope: JoinableScope | undefined;
  readonly #life = new AbortController();

  constructor(settings: Settings<P>, ports: ControllerPorts) {
    const { spec } = settings;
    if (ports.share) for (const source of spec.sources ?? []) refuseLocal(source, spec.name);
    this.name = spec.name;
    this.kind = spec.kind;
    this.#settings = settings;
    this.#ports = ports;
    this.cache = ports.caches.of(spec.kind, spec.cache);
    this.#pace = new Pace(ports.clock);
    this.#metrics = controllerMetrics(ports.metrics, spec.name, {
      maxConcurrent: settings.maxConcurrent,
      activeWorkers: () => this.#active.size,
      depths: () => this.#queue.depths(),
      running: () => this.#active.ages(),
    });
    this.#queue = queueOf(settings, ports.clock, () => this.#metrics);
    const controller = { name: spec.name, kind: spec.kind, fieldManager: settings.fieldManager };
    this.#braking = spec.fights === 'ignore' ? undefined : new Braking({ ...ports, controller });
    const objects = spec.objectMetrics ? objectMetrics(ports.metrics, spec.name) : undefined;
    this.#slots = new Slots(spec.limit, (key) => {
      objects?.forget(key);
      this.#braking?.forget(key);
      this.#expectations.forget(key);
    });
    this.#active = new ActiveReconciles(ports.clock, spec.reconcileTimeoutMs, () => {
      this.#metrics.timeout();
    });
    this.#forgetting = this.#createForgetting(ports);
    this.#expectations = this.#createExpectations(ports);
    const shared = {
      settings,
      cache: this.cache,
      queue: this.#queue,
      slots: this.#slots,
      metrics: this.#metrics,
      clock: ports.clock,
      rng: ports.rng,
      log: ports.log,
    };
    this.#intake = new Intake({
      ...shared,
      active: this.#active,
      expectations: this.#expectations,
      handles: (primary) => ports.share?.handles(primary) ?? true,
      onGone: (primary) => {
        void this.#forgetting.on(primary);
      },
    });
    this.#followUp = new FollowUp({ ...shared, objects });
    this.#sources = new SourceSet(this.#intake.host);
    this.#scope = this.cache.options && scopeOf(this.cache.options);
    this.#scope?.join({
      open: (isAdded) => this.#open(isAdded),
      leave: () => this.#leave(),
      close: () => undefined,
    });
    this.#workers = new Workers({
      queue: this.#queue,
      clock: ports.clock,
      pace: this.#pace,
      maxConcurrent: settings.maxConcurrent,
      totalLimit: spec.totalLimit,
      handle: (item, mayStart) => this.#handle(item, mayStart),
      onError: ({ key }, err) => {
        ports.log.error({ controller: spec.name, key, err }, 'reconcile failed');
      },
    });
  }

  /** A namespace that was removed a moment ago may be added again before its objects have left the cache. */
  #open(isAdded: (namespace: string) => boolean): Promise<void> {
    return this.revisit(({ metadata }) => isAdded(metadata.namespace ?? ''));
  }

  #leave(): Promise<void> {
    const isOutside = (key: Key): boolean => !this.#isInScope(key);
    for (const key of this.cache.keys()) if (isOutside(key)) this.#queue.cancel(key);
    return this.#active.idle(isOutside);
  }

  #isInScope(key: Key): boolean {
    return this.#scope?.includes(namespaceOf(key)) ?? true;
  }

  #createForgetting({ clock, rng, log }: ControllerPorts): Forgetting<P> {
    const { reconciler } = this.#settings.spec;
    return new Forgetting<P>({
      controller: this.name,
      clock,
      rng,
      log,
      forget: (primary) => reconciler.forget?.(primary),
      isActive: (key) => this.#active.has(key),
    });
  }

  #createExpectations({ clock }: ControllerPorts): Expectations<P> {
    return new Expectations<P>({
      clock,
      primaryOf: (key) => this.cache.get(key),
      readsOf: (primary) => createReads(this.name, primary, () => this.#sources.values()),
      isActive: (key) => this.#active.has(key),
      guard: (what, fn, otherwise) => this.#intake.host.guard(what, fn, otherwise),
      onResult: (key, result) => {
        this.#metrics.event('expectation', result, this.#queue.add(key));
      },
    });
  }

  // -------------------------------------------------------------- life

  attach(): void {
    this.cache.subscribe({
      name: this.name,
      ownEvents: this.#settings.ownEvents,
      on: (change) => {
        this.#intake.onPrimary(change);
        const isMoved = change.type === 'update' && this.#ports.share?.hasMoved(change.old, change.obj);
        if (isMoved) this.#intake.onTaken(change.obj);
      },
      onEcho: ({ type }) => {
        this.#metrics.event('primary', type, 'echo');
      },
      onLeave: (obj) => {
        this.#intake.onLeave(obj);
      },
    });
    for (const source of this.#settings.spec.sources ?? []) this.#sources.attach(source);
  }

  async startSources(signal: AbortSignal): Promise<void> {
    await this.cache.start(signal);
    await this.#sources.start(signal);
  }

  startWorkers(): void {
    this.#workers.start();
  }

  async prepare({ isTaken, isTakenAgain }: TakeOver, signal: AbortSignal): Promise<void> {
    for (const key of [...this.cache.keys()]) {
      const obj = this.cache.peek(key);
      // A reconcile that was aborted when its object was lost does the same at its end.
      if (obj && isTakenAgain(obj) && !this.#active.has(key)) {
        this.#queue.cancel(key);
        this.#slots.forget(key);
        await this.#forgetting.on(obj);
      }
      const rest = this.#pace.rest();
      if (rest) await rest;
      signal.throwIfAborted();
    }
    await this.#sources.refresh(isTaken, signal);
  }

  async revisit(concerns: (object: View<Obj>) => boolean): Promise<void> {
    for (const key of [...this.cache.keys()]) {
      const obj = this.cache.peek(key);
      if (obj && concerns(obj)) this.#intake.onTaken(obj);
      const rest = this.#pace.rest();
      if (rest) await rest;
      if (this.#life.signal.aborted) return;
    }
  }

  revisitOne({ metadata }: View<Obj>): void {
    const obj = this.cache.get(joinKey(metadata.namespace, metadata.name));
    if (obj && obj.metadata.uid === metadata.uid) this.#intake.onTaken(obj);
  }

  async stop(): Promise<void> {
    this.#queue.close();
    await this.#workers.stop();
    this.#forgetting.stop();
    this.#expectations.stop();
  }

  abortReconciles(reason: Error): void {
    this.#life.abort(reason);
    this.#active.abortAll(reason);
  }

  get active(): number {
    return this.#active.size;
  }

  get pending(): number {
    return [...this.#queue.depths().values()].reduce((sum, ready) => sum + ready, this.active);
  }

  // -------------------------------------------------------------- events

  async addSource(source: Source<P>): Promise<void> {
    if (this.#ports.share) refuseLocal(source, this.name);
    return this.#sources.add(source);
  }

  removeSource(name: string): void {
    this.#sources.remove(name);
  }

  hasSource(name: string): boolean {
    return this.#sources.has(name);
  }

  enqueue(key: Key, why = 'no reason given'): void {
    this.#intake.enqueue(key, why);
  }

  // -------------------------------------------------------------- turns

  async #handle(item: WorkItem, mayStart: MayStart | undefined): Promise<void> {
    const { key } = item;
    const answer = this.#admission(key);
    const admission = answer instanceof Promise ? await answer : answer;
    // The object may have changed while its admission was determined.
    const primary = this.cache.get(key);
    if (!primary) {
      this.#slots.forget(key);
      return;
    }
    const { uid } = primary.metadata;
    if (this.#slots.isParked(key, uid)) return;
    if (admission?.is === 'unclear') {
      // This process may be responsible, so failures still count: only the start is delayed.
      this.#queue.addAfter(key, admission.requeueAfterMs, 'requeue');
      return;
    }
    if (admission?.is === 'foreign') {
      this.#slots.forget(key);
      return;
    }
    if (!this.#isInScope(key)) {
      this.#slots.forget(key);
      return;
    }
    if (!this.#sources.hasRead(namespaceOf(key))) {
      this.#queue.addAfter(key, UNREAD_MS, 'requeue', item.priority);
      return;
    }
    const limitedMs = this.#slots.limitedMs(key, this.#ports.clock.now());
    const waitMs = limitedMs > 0 ? limitedMs : (this.#braking?.waitMs(key, primary) ?? 0);
    if (waitMs > 0) {
      this.#queue.addAfter(key, waitMs, 'limit', item.priority);
      return;
    }
    if (mayStart && !(await mayStart())) return;
    // The object may have changed while it waited.
    const current = mayStart ? this.cache.get(key) : primary;
    if (current) await this.#begin(current, item, admission);
    else this.#slots.forget(key);
  }

  async #begin(primary: View<P>, item: WorkItem, admission: OurAdmission | undefined): Promise<void> {
    const { key } = item;
    const { uid } = primary.metadata;
    const { clock, rng } = this.#ports;
    const slot = this.#slots.of(key, uid);
    if (beginReconcile(slot, clock.now())) this.#metrics.attempt();
    const { spec } = this.#settings;
    let isLost = false;
    const fields = reconcileFields(this.name, primary, rng, spec.logFields?.bind(spec));
    await withLogFields(fields, async () => {
      const startedAt = clock.now();
      const outcome = await this.#reconcile(primary, slot, key, admission, () => (isLost = true));
      this.#followUp.on(outcome, slot, item, startedAt);
      this.#expectations.onEnd(key, outcome.type === 'ran' && outcome.result.ok);
    });
    this.#slots.tidy(key);
    // An object that was created with the same name meanwhile is a different one.
    if (this.cache.get(key)?.metadata.uid !== uid) void this.#forgetting.on(primary);
    else if (isLost) await this.#forgetting.on(primary);
  }

  /** Undefined: this is the only process, or there is no object. */
  #admission(key: Key): Admission | Promise<Admission> | undefined {
    const { share } = this.#ports;
    const primary = share && this.cache.get(key);
    return primary && share.admit(primary, this.#life.signal);
  }

  async #reconcile(
    primary: View<P>,
    slot: KeySlot,
    key: Key,
    admission: OurAdmission | undefined,
    onLost: () => void,
  ): Promise<Dispatched> {
    const { client, log, caches, fence, recorder, clock } = this.#ports;
    const active = this.#active.begin(key);
    const permit = admission?.begin((reason) => {
      onLost();
      active.abort(reason);
    });
    const guard = (): void => {
      fence();
      permit?.fence();
    };
    const onWritten = this.#braking?.observerOf(key, primary);
    const write = createWriter(
      { client, caches, fence: guard, name: this.name, ...(onWritten && { onWritten }) },
      active,
    );
    const ctx = createContext<P>({
      controller: { name: this.name, kind: this.kind, fieldManager: this.#settings.fieldManager },
      clock,
      live: client,
      key,
      primary,
      reconcile: active,
      attempt: slot.attempt,
      lastAttempt: isLastAttempt(slot, this.#settings.timing.retry),
      log,
      write: permit ? permit.around(write) : write,
      recorder,
      expectations: this.#expectations.of(key, primary),
      sources: () => this.#sources.values(),
    });
    const ports = { settings: this.#settings, client, cache: this.cache, metrics: this.#metrics, key };
    try {
      return await dispatch(primary, ctx, ports);
    } finally {
      active.end();
      permit?.end();
    }
  }
}
