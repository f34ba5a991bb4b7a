/**
 * A controller: events in, runs out. It keeps the slots, hands turns to workers, and lets `next` decide what
 * follows; the run itself is in dispatch.ts.
 */
import type { Clock } from '../lib/clock.ts';
import type { Rng } from '../lib/rng.ts';
import { withLogFields, type Logger } from '../observability/log.ts';
import { controllerMetrics, type ControllerMetrics, type Metrics } from '../observability/metrics.ts';
import { createContext } from './context.ts';
import { beginRun, endRun, isLastAttempt, next, type RunResult, type Slot } from './decide.ts';
import { dispatch, type Dispatched } from './dispatch.ts';
import { createQueue, type TimerKind, type Turn, type WorkQueue } from './queue.ts';
import { TokenBucket } from './ratelimit.ts';
import type { Recorder } from './recorder.ts';
import { logFailure, runFields } from './runlog.ts';
import { ActiveRuns } from './runs.ts';
import { Slots, type KeySlot } from './slots.ts';
import { Intake } from './intake.ts';
import { Pace } from './pace.ts';
import { SourceSet } from './source-set.ts';
import type { Source } from './sources.ts';
import { settingsOf, type ControllerSpec, type Settings } from './spec.ts';
import type { Cache, Caches, Client, Key, Kind, Obj, View } from './types.ts';
import { createWriter, type Fence } from './writer.ts';

export type { ControllerSpec, Reconciler } from './spec.ts';

/** A controller as the rest of the program sees it. */
export interface Controller<P extends Obj = Obj> {
  readonly name: string;
  readonly kind: Kind<P>;
  /** Raises an event for any primary; one that is not there is ignored. */
  enqueue(key: Key, why?: string): void;
  /** Adds a source to a live controller; resolves when it is in step. A name that is there already adds nothing. */
  addSource(source: Source<P>): Promise<void>;
  removeSource(name: string): void;
  hasSource(name: string): boolean;
}

export interface ControllerPorts {
  readonly client: Client;
  readonly caches: Caches;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly recorder: Recorder;
  readonly fence: Fence;
}

/** A controller as its manager sees it: the steps of its life, in order. */
export interface ManagedController extends Controller {
  readonly cache: Cache<Obj>;
  /** Subscribes to everything; before the caches start. */
  attach(): void;
  /** Resolves when all sources are in step. @throws DefinitionError before `attach` */
  startSources(signal: AbortSignal): Promise<void>;
  startWorkers(): void;
  /** No turn begins any more and nothing is scheduled; resolves when the last run has ended. */
  stop(): Promise<void>;
  /** Aborts the signals of all runs. */
  abortRuns(reason: Error): void;
  /** How many runs are going on. */
  readonly active: number;
}

/** At most so many retries per second for a whole controller, once a burst is used up. */
const RETRIES = { perSecond: 10, burst: 100 } as const;

/** @throws DefinitionError when the description makes no sense */
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
  readonly #active: ActiveRuns;
  readonly #intake: Intake<P>;
  readonly #sources: SourceSet<P>;
  readonly #retries = new TokenBucket(RETRIES);
  readonly #pace: Pace;
  #workers: Promise<void>[] = [];

  constructor(settings: Settings<P>, ports: ControllerPorts) {
    const { spec } = settings;
    this.name = spec.name;
    this.kind = spec.kind;
    this.#settings = settings;
    this.#ports = ports;
    this.cache = ports.caches.of(spec.kind, spec.cache);
    this.#metrics = controllerMetrics(ports.metrics, spec.name, {
      maxConcurrent: settings.maxConcurrent,
      activeWorkers: () => this.#active.size,
      depths: () => this.#queue.depths(),
      running: () => this.#active.ages(),
    });
    this.#queue = createQueue(ports.clock, {
      added: () => {
        this.#metrics.added();
      },
      taken: (ms) => {
        this.#metrics.waited(ms / 1_000);
      },
    });
    this.#slots = new Slots(spec.limit);
    this.#active = new ActiveRuns(ports.clock, spec.runTimeoutMs, () => {
      this.#metrics.timeout();
    });
    this.#intake = new Intake({
      settings,
      cache: this.cache,
      queue: this.#queue,
      slots: this.#slots,
      active: this.#active,
      metrics: this.#metrics,
      clock: ports.clock,
      rng: ports.rng,
      log: ports.log,
    });
    this.#sources = new SourceSet(this.#intake.host);
    this.#pace = new Pace(ports.clock);
  }

  // -------------------------------------------------------------- life

  attach(): void {
    this.cache.subscribe({
      name: this.name,
      ownEvents: this.#settings.ownEvents,
      on: (change) => {
        this.#intake.onPrimary(change);
      },
    });
    for (const source of this.#settings.spec.sources ?? []) this.#sources.attach(source);
  }

  async startSources(signal: AbortSignal): Promise<void> {
    await this.cache.start(signal);
    await this.#sources.start(signal);
  }

  startWorkers(): void {
    this.#workers = Array.from({ length: this.#settings.maxConcurrent }, () => this.#work());
  }

  async stop(): Promise<void> {
    this.#queue.close();
    await Promise.all(this.#workers);
  }

  abortRuns(reason: Error): void {
    this.#active.abortAll(reason);
  }

  get active(): number {
    return this.#active.size;
  }

  // -------------------------------------------------------------- events

  addSource(source: Source<P>): Promise<void> {
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

  async #work(): Promise<void> {
    for (let turn = await this.#queue.take(); turn; turn = await this.#queue.take()) {
      await this.#pace.rest();
      try {
        await this.#turn(turn);
      } catch (error) {
        this.#ports.log.error({ controller: this.name, key: turn.key, err: error }, 'a turn came to nothing');
      } finally {
        turn.end();
      }
    }
  }

  async #turn(turn: Turn): Promise<void> {
    const { key } = turn;
    const primary = this.cache.get(key);
    if (!primary) {
      this.#slots.forget(key);
      return;
    }
    const { uid } = primary.metadata;
    if (this.#slots.isParked(key, uid)) return;
    const { clock } = this.#ports;
    const limitedMs = this.#slots.limitedMs(key, clock.now());
    if (limitedMs > 0) {
      this.#queue.after(key, limitedMs, 'limit', turn.priority);
      return;
    }
    const slot = this.#slots.of(key, uid);
    if (beginRun(slot, clock.now())) this.#metrics.attempt();
    const fields = runFields(this.name, primary, this.#ports.rng);
    await withLogFields(fields, async () => {
      const startedAt = clock.now();
      const outcome = await this.#run(primary, slot, key);
      if (outcome.type === 'ran') this.#measure(outcome.result, clock.now() - startedAt);
      this.#follow(outcome, slot, turn);
    });
    this.#slots.tidy(key);
  }

  async #run(primary: View<P>, slot: KeySlot, key: Key): Promise<Dispatched> {
    const { client, log, caches, fence, recorder } = this.#ports;
    const run = this.#active.begin(key);
    const { signal, interrupt } = run;
    const ctx = createContext<P>({
      controller: this.name,
      key,
      primary,
      signal,
      interrupt,
      attempt: slot.attempt,
      lastAttempt: isLastAttempt(slot, this.#settings.timing.retry),
      log,
      write: createWriter({ client, caches, fence, name: this.name }, signal),
      recorder,
      sources: () => this.#sources.values(),
    });
    const ports = { settings: this.#settings, client, cache: this.cache, metrics: this.#metrics, key };
    try {
      return await dispatch(primary, ctx, ports);
    } finally {
      run.end();
    }
  }

  /** Carries out what `next` says about a finished run. */
  #follow(outcome: Dispatched, slot: KeySlot, turn: Turn): void {
    const { key } = turn;
    if (outcome.type === 'prepared') this.#queue.add(key, turn.priority);
    if (outcome.type !== 'ran') {
      if (outcome.type === 'idle' && !this.cache.get(key)) this.#slots.forget(key);
      return;
    }
    const { result } = outcome;
    const { clock, rng } = this.#ports;
    const now = clock.now();
    const current = this.cache.get(key);
    slot.gone = !current;
    slot.dirty = turn.dirty();
    const step = next(slot, result, this.#settings.timing, now, rng);
    endRun(slot, result);
    let waitMs: number | undefined;
    switch (step.do) {
      case 'drop':
        this.#queue.cancel(key);
        this.#slots.forget(key);
        break;
      case 'park':
        slot.parkedUid = step.uid;
        if (current?.metadata.uid === step.uid) this.#queue.cancel(key);
        break;
      case 'wait':
        waitMs = step.kind === 'retry' ? this.#retryIn(step.ms, slot, now) : step.ms;
        this.#queue.after(key, waitMs, step.kind, keepsPriority(step.kind, waitMs) ? turn.priority : 0);
        break;
      case 'run':
      case 'rest':
        break;
    }
    if (!result.ok) {
      const willRetry = step.do === 'run' || (step.do === 'wait' && step.kind === 'retry');
      logFailure(this.#ports.log, { error: result.error, isHandled: outcome.isHandled, willRetry, waitMs });
    }
  }

  /** A new retry takes its place in the line of all retries; one that was pending already keeps it. */
  #retryIn(ms: number, slot: Slot, now: number): number {
    if (slot.retryAt !== undefined && slot.retryAt > now) return slot.retryAt - now;
    const waitMs = Math.max(ms, this.#retries.reserve(now));
    slot.retryAt = now + waitMs;
    return waitMs;
  }

  #measure(result: RunResult, ms: number): void {
    const seconds = ms / 1_000;
    if (!result.ok) {
      this.#metrics.error();
      if (!result.retry) this.#metrics.terminalError();
      this.#metrics.run('error', seconds);
    } else if (result.again === undefined) {
      this.#metrics.run('success', seconds);
    } else {
      this.#metrics.run(result.again > 0 ? 'requeue_after' : 'requeue', seconds);
    }
  }
}

/** What has to be done over keeps its place behind the edits; what comes back after a rest is like any other. */
const keepsPriority = (kind: TimerKind, waitMs: number): boolean => kind === 'retry' || waitMs <= 0;
