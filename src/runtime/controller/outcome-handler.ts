/** After a reconcile: updates metrics, executes the decision of `next`, and logs a failure. */
import type { Clock } from '../../lib/clock.ts';
import type { Rng } from '../../lib/rng.ts';
import type { Logger } from '../../observability/log.ts';
import type { ControllerMetrics } from '../../observability/controller-metrics.ts';
import type { ObjectMetrics } from '../../observability/object-metrics.ts';
import { endReconcile, next, type Slot } from './decide.ts';
import type { Dispatched } from './dispatch.ts';
import { measure } from './measure.ts';
import { namespaceOf } from '../keys.ts';
import type { TimerKind, WorkItem, WorkQueue } from '../queue/queue.ts';
import { TokenBuckets } from '../queue/rate-limit.ts';
import { logFailure } from './reconcile-log.ts';
import type { KeySlot, Slots } from './slots.ts';
import type { Settings } from './spec.ts';
import type { Cache, Key, Obj } from '../types.ts';

/** Maximum rate of retries for each namespace, after an initial burst. */
const RETRIES = { perSecond: 10, burst: 100 } as const;

interface OutcomeHandlerPorts<P extends Obj> {
  readonly settings: Settings<P>;
  readonly cache: Cache<P>;
  readonly queue: WorkQueue;
  readonly slots: Slots;
  readonly metrics: ControllerMetrics;
  readonly objects: ObjectMetrics | undefined;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Logger;
}

export class OutcomeHandler<P extends Obj> {
  readonly #ports: OutcomeHandlerPorts<P>;
  readonly #retries = new TokenBuckets(RETRIES);

  constructor(ports: OutcomeHandlerPorts<P>) {
    this.#ports = ports;
  }

  /** @param startedAt when the reconcile started */
  on(outcome: Dispatched, slot: KeySlot, item: WorkItem, startedAt: number): void {
    const { settings, cache, queue, slots, metrics, objects, clock, rng, log } = this.#ports;
    const { key } = item;
    if (outcome.type === 'prepared') queue.add(key, item.priority);
    if (outcome.type !== 'ran') {
      if (outcome.type === 'idle' && !cache.get(key)) slots.forget(key);
      return;
    }
    const { result } = outcome;
    const now = clock.now();
    const measured = measure(metrics, result, now - startedAt);
    objects?.ran(key, measured, slot.attempt);
    const current = cache.get(key);
    slot.gone = !current;
    slot.dirty = item.dirty();
    const step = next(slot, result, settings.timing, now, rng);
    endReconcile(slot, result);
    let waitMs: number | undefined;
    switch (step.do) {
      case 'drop':
        queue.cancel(key);
        slots.forget(key);
        break;
      case 'park':
        slot.parkedUid = step.uid;
        if (current?.metadata.uid === step.uid) queue.cancel(key);
        break;
      case 'wait':
        waitMs = step.kind === 'retry' ? this.#retryIn(key, step.ms, slot, now) : step.ms;
        queue.addAfter(key, waitMs, step.kind, keepsPriority(step.kind, waitMs) ? item.priority : 0);
        break;
      case 'run':
      case 'rest':
        break;
    }
    if (!result.ok) {
      item.failed();
      const willRetry = step.do === 'run' || (step.do === 'wait' && step.kind === 'retry');
      logFailure(log, { error: result.error, isHandled: outcome.isHandled, willRetry, waitMs });
    }
  }

  /**
   * A new retry is queued behind the other retries of its namespace; a retry that is already pending keeps its time.
   */
  #retryIn(key: Key, ms: number, slot: Slot, now: number): number {
    if (slot.retryAt !== undefined && slot.retryAt > now) return slot.retryAt - now;
    const waitMs = Math.max(ms, this.#retries.reserve(namespaceOf(key), now));
    slot.retryAt = now + waitMs;
    return waitMs;
  }
}

/** Retries keep the priority below edits; a key that returns after a wait has normal priority. */
const keepsPriority = (kind: TimerKind, waitMs: number): boolean => kind === 'retry' || waitMs <= 0;
