/** Decides which events queue a key: those of the primary, of sources, and calls of `enqueue`. */
import type { Clock } from '../../lib/clock.ts';
import type { Rng } from '../../lib/rng.ts';
import type { Logger } from '../../observability/log.ts';
import type { ControllerMetrics } from '../../observability/controller-metrics.ts';
import { syncWait } from './decide.ts';
import { admits } from '../sources/filters.ts';
import { keyOf } from '../keys.ts';
import { INITIAL_PRIORITY, type WorkQueue } from '../queue/queue.ts';
import type { ActiveReconciles } from './active-reconciles.ts';
import type { Expectations } from './expectations.ts';
import type { Slots } from './slots.ts';
import type { SourceHost } from '../sources/sources.ts';
import type { Settings } from './spec.ts';
import type { Cache, Change, Key, Obj, View } from '../types.ts';

interface IntakePorts<P extends Obj> {
  readonly settings: Settings<P>;
  readonly cache: Cache<P>;
  readonly queue: WorkQueue;
  readonly slots: Slots;
  readonly active: ActiveReconciles;
  readonly expectations: Expectations<P>;
  readonly metrics: ControllerMetrics;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Logger;
  /** Whether this process is responsible for a primary. */
  readonly handles: (primary: View<P>) => boolean;
  /** Called with a primary that was deleted while it was not being reconciled. */
  readonly onGone: (primary: View<P>) => void;
}

export class Intake<P extends Obj> {
  readonly #ports: IntakePorts<P>;
  readonly host: SourceHost<P>;

  constructor(ports: IntakePorts<P>) {
    const { settings, cache, clock, log } = ports;
    this.#ports = ports;
    this.host = {
      controller: settings.spec.name,
      handles: ports.handles,
      ownEvents: settings.ownEvents,
      primaries: cache,
      clock,
      log,
      guard: (what, fn, otherwise) => this.#guard(what, fn, otherwise),
      ignored: ({ source, action }, primaries) => {
        ports.metrics.event(source, action, 'filtered');
        if (primaries && ports.expectations.size > 0)
          for (const key of primaries()) ports.expectations.check(key);
      },
      echoed: ({ source, action }) => {
        ports.metrics.event(source, action, 'echo');
      },
      emit: (key, cause) => {
        ports.expectations.check(key);
        const { filter } = settings.spec;
        const isWanted =
          !filter?.generic || this.#guard('generic filter', () => filter.generic?.(key) ?? true, true);
        if (isWanted) this.#admit(key, cause.source, cause.action);
        else ports.metrics.event(cause.source, cause.action, 'filtered');
      },
    };
  }

  /** @param why for the log only */
  enqueue(key: Key, why: string): void {
    this.#ports.log.trace({ controller: this.host.controller, key, why }, 'enqueued');
    this.#admit(key, 'enqueue', 'generic');
  }

  /**
   * Queues an object for which another process was responsible. What happened to it meanwhile is unknown, so a
   * generation that is not new does not matter; the author's filter still counts.
   */
  onTaken(obj: View<P>): void {
    const { settings, slots, metrics } = this.#ports;
    const { filter } = settings.spec;
    const key = keyOf(obj);
    if (slots.isParked(key, obj.metadata.uid)) return;
    if (this.#guard('filter', () => filter?.add?.(obj, true) ?? true, false))
      this.#add(key, 'primary', 'add', INITIAL_PRIORITY);
    else {
      metrics.event('primary', 'add', 'filtered');
      this.#armSync(key);
    }
  }

  onPrimary(change: Change<P>): void {
    const { obj, type } = change;
    const { settings, slots, metrics } = this.#ports;
    const key = keyOf(obj);
    this.#interrupt(key, change);
    if (type === 'delete') {
      this.#onGone(key, obj);
      metrics.event('primary', type, 'filtered');
      return;
    }
    if (slots.isParked(key, obj.metadata.uid)) return;
    this.#ports.expectations.check(key);
    if (this.#guard('filter', () => admits(settings.admission, change), false)) {
      this.#add(key, 'primary', type, type === 'add' && change.initial ? INITIAL_PRIORITY : 0);
    } else {
      metrics.event('primary', type, 'filtered');
      if (type === 'add') this.#armSync(key);
    }
  }

  /** The namespace of a primary was removed: it was not deleted, but this process has nothing more to do with it. */
  onLeave(primary: View<P>): void {
    this.#onGone(keyOf(primary), primary);
  }

  #admit(key: Key, source: string, action: string): void {
    const { cache, metrics } = this.#ports;
    // Before the first list is complete, it is not known which objects exist; the start of the reconcile checks.
    if (cache.isSynced && !cache.get(key)) metrics.event(source, action, 'filtered');
    else this.#add(key, source, action, 0);
  }

  #add(key: Key, source: string, action: string, priority: number): void {
    const { metrics, queue, log } = this.#ports;
    metrics.event(source, action, queue.add(key, priority));
    const { controller } = this.host;
    log.trace({ controller, key, 'eventsource.name': source, 'eventsource.event.action': action }, 'event');
  }

  #interrupt(key: Key, change: Change<P>): void {
    const { spec } = this.#ports.settings;
    if (!spec.interruptWhen) return;
    this.#ports.active.interrupt(key, () =>
      this.#guard('interrupt condition', () => spec.interruptWhen?.(change) ?? false, false),
    );
  }

  /** An active reconcile notices at its end that its primary is gone; everything else is forgotten here. */
  #onGone(key: Key, primary: View<P>): void {
    const { active, queue, slots, onGone } = this.#ports;
    if (active.has(key)) return;
    queue.cancel(key);
    slots.forget(key);
    onGone(primary);
  }

  #armSync(key: Key): void {
    const { queue, settings, rng } = this.#ports;
    if (queue.timerOf(key)) return;
    const rest = syncWait(settings.timing, rng);
    if (rest.do === 'wait') queue.addAfter(key, rest.ms, rest.kind);
  }

  #guard<T>(what: string, fn: () => T, otherwise: T): T {
    try {
      return fn();
    } catch (error) {
      const { log, metrics } = this.#ports;
      log.error(
        { controller: this.host.controller, what, err: error },
        'event handler failed, event ignored',
      );
      metrics.event(what, 'failed', 'filtered');
      return otherwise;
    }
  }
}
