/**
 * A controller: puts its parts together, and starts and stops them. Events arrive in intake.ts, workers.ts takes keys
 * from the queue, reconcile-runner.ts decides about each of them and runs the reconcile, outcome-handler.ts handles the result.
 */
import { controllerMetrics, type ControllerMetrics } from '../../observability/controller-metrics.ts';
import type { Metrics } from '../../observability/metrics.ts';
import { objectMetrics } from '../../observability/object-metrics.ts';
import { scopeOf, type JoinableScope } from '../cache/namespace-scope.ts';
import { FightBackoff } from './fight-backoff.ts';
import { Expectations } from './expectations.ts';
import { OutcomeHandler } from './outcome-handler.ts';
import { Forgetting } from './forgetting.ts';
import { joinKey, namespaceOf } from '../keys.ts';
import type { WorkQueue } from '../queue/queue.ts';
import { createReads } from './reads.ts';
import { ActiveReconciles } from './active-reconciles.ts';
import { Slots } from './slots.ts';
import { Intake } from './intake.ts';
import type { ManagedController } from './managed-controller.ts';
import { Pace } from '../../lib/pace.ts';
import type { ControllerPorts } from './ports.ts';
import type { TakeOver } from './share.ts';
import { refuseLocal } from './local-sources.ts';
import { SourceSet } from '../sources/source-set.ts';
import type { Source } from '../sources/sources.ts';
import { settingsOf, type ControllerSpec, type Settings } from './spec.ts';
import type { Cache, Key, Kind, Obj, View } from '../types.ts';
import { ReconcileRunner } from './reconcile-runner.ts';
import { queueOf, Workers } from './workers.ts';

export type { Controller, ManagedController } from './managed-controller.ts';
export type { ControllerSpec, Reconciler } from './spec.ts';

interface Ports extends ControllerPorts {
  readonly metrics: Metrics;
}

/** @throws DefinitionError when the spec is inconsistent */
export function createController<P extends Obj>(spec: ControllerSpec<P>, ports: Ports): ManagedController {
  return new KeyController(settingsOf(spec), ports);
}

class KeyController<P extends Obj> {
  readonly name: string;
  readonly kind: Kind<P>;
  readonly cache: Cache<P>;
  readonly #settings: Settings<P>;
  readonly #ports: Ports;
  readonly #metrics: ControllerMetrics;
  readonly #queue: WorkQueue;
  readonly #slots: Slots;
  readonly #active: ActiveReconciles;
  readonly #intake: Intake<P>;
  readonly #sources: SourceSet<P>;
  readonly #forgetting: Forgetting<P>;
  readonly #expectations: Expectations<P>;
  readonly #workers: Workers;
  readonly #pace: Pace;
  readonly #scope: JoinableScope | undefined;
  readonly #life = new AbortController();

  constructor(settings: Settings<P>, ports: Ports) {
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
    const fightBackoff = spec.fights === 'ignore' ? undefined : new FightBackoff({ ...ports, controller });
    const objects = spec.objectMetrics ? objectMetrics(ports.metrics, spec.name) : undefined;
    this.#slots = new Slots(spec.limit, (key) => {
      objects?.forget(key);
      fightBackoff?.forget(key);
      this.#expectations.forget(key);
    });
    this.#active = new ActiveReconciles(ports.clock, spec.reconcileTimeoutMs, this.#slowObserver());
    this.#forgetting = this.#createForgetting(ports);
    this.#expectations = this.#createExpectations(ports);
    const shared = {
      ...ports,
      settings,
      cache: this.cache,
      queue: this.#queue,
      slots: this.#slots,
      metrics: this.#metrics,
      active: this.#active,
      expectations: this.#expectations,
    };
    this.#intake = new Intake({
      ...shared,
      handles: (primary) => ports.share?.handles(primary) ?? true,
      onGone: (primary) => {
        void this.#forgetting.on(primary);
      },
    });
    this.#sources = new SourceSet(this.#intake.host);
    this.#scope = this.cache.options && scopeOf(this.cache.options);
    this.#joinScope();
    this.#workers = this.#createWorkers(
      new ReconcileRunner({
        ...shared,
        fightBackoff,
        sources: this.#sources,
        outcomeHandler: new OutcomeHandler({ ...shared, objects }),
        forgetting: this.#forgetting,
        signal: this.#life.signal,
        isInScope: (key) => this.#isInScope(key),
      }),
    );
  }

  #slowObserver(): ConstructorParameters<typeof ActiveReconciles>[2] {
    const { log } = this.#ports;
    return {
      timedOut: (key, limitMs) => {
        this.#metrics.timeout();
        log.warn({ controller: this.name, key, limitMs }, 'reconcile exceeded its time limit, aborting');
      },
      overdue: (key, ms) => {
        log.warn({ controller: this.name, key, ms: Math.round(ms) }, 'reconcile has not ended yet');
      },
    };
  }

  #createWorkers(runner: ReconcileRunner<P>): Workers {
    const { clock, log } = this.#ports;
    return new Workers({
      queue: this.#queue,
      clock,
      pace: this.#pace,
      maxConcurrent: this.#settings.maxConcurrent,
      totalLimit: this.#settings.spec.totalLimit,
      freesWorkerAfterMs: this.#settings.spec.freesWorkerAfterMs,
      handle: (item, mayStart) => runner.run(item, mayStart),
      onError: ({ key }, err) => {
        log.error({ controller: this.name, key, err }, 'reconcile failed');
      },
    });
  }

  #joinScope(): void {
    this.#scope?.join({
      open: (isAdded) => this.#open(isAdded),
      leave: () => this.#leave(),
      close: () => undefined,
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

  get active(): readonly Key[] {
    return this.#active.keys;
  }

  get pending(): number {
    return [...this.#queue.depths().values()].reduce((sum, ready) => sum + ready, this.#active.size);
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
}
