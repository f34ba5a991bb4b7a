/**
 * The life cycle of a process with controllers: sync the caches, become the leader or join a fleet, run, drain,
 * release.
 */
import { setMaxListeners } from 'node:events';
import type { Clock } from '../../lib/clock.ts';
import type { Rng } from '../../lib/rng.ts';
import type { Check } from '../../observability/health.ts';
import type { Logger } from '../../observability/log.ts';
import type { Metrics } from '../../observability/metrics.ts';
import {
  createController,
  type Controller,
  type ControllerSpec,
  type ManagedController,
} from '../controller/controller.ts';
import { DefinitionError, ShutdownError, SourceError, type LeadershipLostError } from '../errors.ts';
import { LateControllers } from './late-controllers.ts';
import { createLease, type Lease } from './lease.ts';
import { sourcesCheck, watchLoopLag } from './probes.ts';
import { createRecorder, type Recorder } from '../controller/recorder.ts';
import { isSameKind } from '../keys.ts';
import type { Revisit, Share } from '../controller/share.ts';
import type { Caches, Client, Obj, Writer } from '../types.ts';
import { createWriter } from '../controller/writer.ts';

/**
 * Settings of leader election. Times are milliseconds, by default 15,000 for the lease, 10,000 to renew it, 2,000
 * between attempts.
 */
export interface LeaseSettings {
  readonly namespace: string;
  readonly name: string;
  /** Default: the manager's client. */
  readonly client?: Client;
  /** Called when leadership is lost: all writes are rejected from now on, so the process should end. */
  onLost(error: LeadershipLostError): void;
  readonly durationMs?: number;
  readonly renewDeadlineMs?: number;
  readonly retryMs?: number;
}

/** Dependencies of a manager. Processes with replicas need either `lease` or `share`, not both. */
export interface ManagerOptions {
  readonly client: Client;
  /** With `start`, caches that are requested later start by themselves. */
  readonly caches: Caches & { start?(signal: AbortSignal): Promise<void> };
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Unique among replicas; used in Events and in the lease. */
  readonly identity: string;
  /** Absent: this process is the only replica. */
  readonly lease?: LeaseSettings;
  /** With it this process does a part of the work, and other replicas do the rest; used instead of `lease`. */
  readonly share?: Share;
  /** Time limit for the first lists. Default 120 s. */
  readonly syncTimeoutMs?: number;
  /** Time limit for active reconciles when the process stops. Default 30 s. */
  readonly drainMs?: number;
  /**
   * What happens if a kind cannot be read at the start, because its CRD or a permission is missing. `fail` (default):
   * no controller starts. `skip`: the other controllers start, readiness names the kind, and controllers that need it
   * start when it can be read. The caches then need `syncTimeoutMs: Infinity`.
   */
  readonly unreadable?: 'fail' | 'skip';
}

/** Controllers are added to a manager, and share its dependencies. */
export interface Manager {
  /** The cluster that the controllers work on. */
  readonly client: Client;
  readonly caches: Caches;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Logger;
  /**
   * Adds a controller. It runs after the manager has started; with a lease, while this process is the leader.
   * @throws DefinitionError when the spec is inconsistent, the name is already used, or the manager has started
   */
  add<P extends Obj>(spec: ControllerSpec<P>): Controller<P>;
}

/** A manager with the life cycle of its process. */
export interface StartableManager extends Manager {
  readonly recorder: Recorder;
  /** Checks for the health server. */
  readonly checks: readonly Check[];
  /** The caches are synced, this process is the leader, and the controllers run. */
  readonly ready: boolean;
  /** Number of objects that are being reconciled, or could be now; 0 when all controllers wait for events or time. */
  readonly pending: number;
  /** Reconciles that `stop` had to abandon; 0 after a clean stop. */
  readonly unfinished: number;
  /** A writer for code outside of controllers, with the fence and the caches. */
  writer(name: string): Writer;
  /**
   * Resolves when the caches are synced, this process is the leader, and the controllers run.
   * @throws SourceError naming the source that did not sync in time; ShutdownError when stopped meanwhile
   */
  start(): Promise<void>;
  /** Queues nothing more, waits for active reconciles, sends pending Events, releases the lease. Never fails. */
  stop(): Promise<void>;
}

/** Creates a manager; it sends no request before `start`. */
export const createManager = (options: ManagerOptions): StartableManager => new ControllerManager(options);

const SYNC_TIMEOUT_MS = 120_000;
/** Number of objects in a log line. */
const MAX_NAMED = 10;
const DRAIN_MS = 30_000;

class ControllerManager implements StartableManager {
  readonly client: Client;
  readonly caches: Caches;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Logger;
  readonly recorder: Recorder;
  readonly checks: readonly Check[];
  readonly #options: ManagerOptions;
  readonly #controllers: ManagedController[] = [];
  readonly #life = new AbortController();
  readonly #lease: Lease | undefined;
  readonly #late: LateControllers;
  readonly #loop: { stop(): void };
  #phase: 'new' | 'starting' | 'running' | 'stopping' | 'stopped' = 'new';
  #unfinished = 0;
  #stopping: Promise<void> | undefined;

  constructor(options: ManagerOptions) {
    const { caches, clock, rng, log, metrics, identity, client } = options;
    if (options.lease && options.share) {
      throw new DefinitionError({
        message: 'lease and sharing exclude each other: with a lease one replica works, with sharing all do',
      });
    }
    this.#options = options;
    // Every source adds a listener.
    setMaxListeners(0, this.#life.signal);
    this.client = client;
    this.caches = caches;
    this.metrics = metrics;
    this.clock = clock;
    this.rng = rng;
    this.log = log;
    this.#lease = this.#createLease();
    this.#late = new LateControllers({
      caches,
      clock,
      log,
      isRunning: () => this.#phase === 'running',
      catchUp: async (signal) => options.share?.catchUp(signal),
    });
    const fence = (): void => {
      this.#lease?.fence();
      options.share?.fence();
    };
    this.recorder = createRecorder({ client, clock, rng, log, identity, fence });
    const loop = watchLoopLag(clock, metrics, options.log);
    this.#loop = loop;
    const started: Check = {
      name: 'started',
      probe: 'ready',
      problem: () => (this.#phase === 'new' ? 'the manager has not started' : undefined),
    };
    this.checks = [loop.check, started, sourcesCheck(caches)];
  }

  get ready(): boolean {
    return this.#phase === 'running' && this.checks.every((check) => check.problem() === undefined);
  }

  get pending(): number {
    return this.#controllers.reduce((sum, { pending }) => sum + pending, 0);
  }

  get unfinished(): number {
    return this.#unfinished;
  }

  add<P extends Obj>(spec: ControllerSpec<P>): Controller<P> {
    if (this.#phase !== 'new') {
      throw new DefinitionError({
        message: `controller ${spec.name} was added after the manager had started`,
      });
    }
    if (this.#controllers.some(({ name }) => name === spec.name)) {
      throw new DefinitionError({ message: `two controllers are named ${spec.name}` });
    }
    const { client, caches, clock, rng, log, metrics, share } = this.#options;
    const controller = createController(spec, {
      client,
      caches,
      clock,
      rng,
      log,
      metrics,
      ...(share && { share }),
      recorder: this.recorder,
      fence: this.#fence,
    });
    this.#controllers.push(controller);
    return controller as unknown as Controller<P>;
  }

  writer(name: string): Writer {
    const { client, caches } = this.#options;
    return createWriter({ client, caches, fence: this.#fence, name }, this.#life);
  }

  async start(): Promise<void> {
    if (this.#phase !== 'new') throw new DefinitionError({ message: 'the manager can be started only once' });
    this.#phase = 'starting';
    for (const controller of this.#controllers) controller.attach();
    const { signal } = this.#life;
    try {
      await this.#sync(signal);
      await this.#lease?.acquire(signal);
      await this.#options.share?.join(this.#revisit, signal);
    } catch (error) {
      // The reason for which the wait was aborted is more useful than the error of the wait.
      throw signal.aborted ? (signal.reason as Error) : error;
    }
    if (signal.aborted) throw signal.reason as Error;
    for (const controller of this.#controllers) if (!this.#late.has(controller)) controller.startWorkers();
    this.#phase = 'running';
    this.#options.log.info({ controllers: this.#controllers.length }, 'controllers started');
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    const { log, clock, drainMs = DRAIN_MS } = this.#options;
    const reason = new ShutdownError({ message: 'process stopping' });
    if (this.#phase !== 'running') this.#life.abort(reason);
    this.#phase = 'stopping';
    const drained = Promise.all(this.#controllers.map((controller) => controller.stop()));
    if (!(await isWithin(clock, drainMs, drained))) {
      for (const controller of this.#controllers) controller.abortReconciles(reason);
      const late = this.#controllers.flatMap(({ name, active }) => active.map((key) => `${name} ${key}`));
      this.#unfinished = late.length;
      const fields = { runs: late.length, objects: late.slice(0, MAX_NAMED) };
      log.error(fields, 'some reconciles did not end in time and were abandoned');
    }
    this.#phase = 'stopped';
    await isWithin(clock, drainMs, this.recorder.flush());
    await this.#lease?.release();
    await this.#options.share?.leave(this.#unfinished === 0);
    this.#life.abort(reason);
    this.#loop.stop();
    log.info({}, 'stopped');
  }

  /** Called before every write. */
  readonly #fence = (): void => {
    if (this.#phase === 'stopped')
      throw new ShutdownError({ message: 'writes are blocked because the process is stopping' });
    this.#lease?.fence();
    this.#options.share?.fence();
  };

  readonly #revisit: Revisit = {
    prepare: async (objects, signal) => {
      await Promise.all(this.#controllers.map((controller) => controller.prepare(objects, signal)));
    },
    all: (concerns) => {
      for (const controller of this.#controllers) void controller.revisit(concerns);
    },
    one: (kind, object) => {
      for (const controller of this.#controllers)
        if (isSameKind(kind, controller.kind)) controller.revisitOne(object);
    },
  };

  #createLease(): Lease | undefined {
    const { lease, clock, rng, log, metrics, identity, client } = this.#options;
    if (!lease) return undefined;
    return createLease({
      client,
      ...lease,
      clock,
      rng,
      log,
      metrics,
      identity,
      onLost: (error) => {
        for (const controller of this.#controllers) {
          void controller.stop();
          controller.abortReconciles(error);
        }
        lease.onLost(error);
      },
    });
  }

  /** Syncs all caches: first those of the controllers, in their order, then all others. */
  async #sync(signal: AbortSignal): Promise<void> {
    const { caches, clock, syncTimeoutMs = SYNC_TIMEOUT_MS, unreadable } = this.#options;
    if (unreadable === 'skip') {
      // Caches that are requested later start by themselves from now on.
      void caches.start?.(signal).catch(() => undefined);
      await Promise.all(this.#controllers.map((controller) => this.#late.start(controller, signal)));
      return;
    }
    const all = (async () => {
      await Promise.all(this.#controllers.map((controller) => controller.startSources(signal)));
      if (caches.start) await caches.start(signal);
      else await Promise.all([...caches.all()].map((cache) => cache.start(signal)));
    })();
    const ended = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    });
    if (await isWithin(clock, syncTimeoutMs, Promise.race([all, ended]))) return;
    const late = [...caches.all()].filter((cache) => !cache.isSynced);
    const names = late.map(({ name, problem }) => (problem ? `${name} (${problem})` : name)).join(', ');
    const seconds = String(syncTimeoutMs / 1_000);
    throw new SourceError({
      source: names,
      message: `not synced within ${seconds} s: ${names || 'a source that is not a cache'}`,
    });
  }
}

/** Whether the promise resolves in time; rejects if the promise rejects before. */
function isWithin(clock: Clock, ms: number, promise: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const cancel = clock.at(clock.now() + ms, () => {
      resolve(false);
    });
    promise.then(
      () => {
        cancel();
        resolve(true);
      },
      (error: unknown) => {
        cancel();
        reject(error instanceof Error ? error : new Error(String(error)));
      },
    );
  });
}
