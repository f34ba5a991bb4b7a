/** Runs the reconcile of a key, if its object may be reconciled now: creates the context and the permit. */
import { withLogFields } from '../../observability/log.ts';
import type { ControllerMetrics } from '../../observability/controller-metrics.ts';
import type { FightBackoff } from './fight-backoff.ts';
import { createContext } from './context.ts';
import { beginReconcile, isLastAttempt } from './decide.ts';
import { dispatch, type Dispatched } from './dispatch.ts';
import type { Expectations } from './expectations.ts';
import type { OutcomeHandler } from './outcome-handler.ts';
import type { Forgetting } from './forgetting.ts';
import type { WorkItem, WorkQueue } from '../queue/queue.ts';
import { reconcileFields } from './reconcile-log.ts';
import type { ActiveReconciles } from './active-reconciles.ts';
import type { ControllerPorts } from './ports.ts';
import type { Slots, KeySlot } from './slots.ts';
import type { OurAdmission, Admission } from './share.ts';
import type { SourceSet } from '../sources/source-set.ts';
import type { Settings } from './spec.ts';
import type { Cache, Key, Obj, View } from '../types.ts';
import { UnreadNamespaces } from './unread-namespaces.ts';
import type { MayStart } from './workers.ts';
import { createWriter } from './writer.ts';

interface ReconcileRunnerPorts<P extends Obj> extends ControllerPorts {
  readonly settings: Settings<P>;
  readonly cache: Cache<P>;
  readonly queue: WorkQueue;
  readonly slots: Slots;
  readonly metrics: ControllerMetrics;
  readonly active: ActiveReconciles;
  readonly sources: SourceSet<P>;
  readonly outcomeHandler: OutcomeHandler<P>;
  readonly forgetting: Forgetting<P>;
  readonly fightBackoff: FightBackoff<P> | undefined;
  readonly expectations: Expectations<P>;
  /** Aborted when the controller gives up its running reconciles. */
  readonly signal: AbortSignal;
  /** Whether the namespace of the key is watched. */
  readonly isInScope: (key: Key) => boolean;
}

export class ReconcileRunner<P extends Obj> {
  readonly #ports: ReconcileRunnerPorts<P>;
  readonly #unread: UnreadNamespaces;

  constructor(ports: ReconcileRunnerPorts<P>) {
    this.#ports = ports;
    this.#unread = new UnreadNamespaces(ports.sources, ports.queue);
  }

  /** @param mayStart waits for the total limit; undefined without one */
  async run(item: WorkItem, mayStart: MayStart | undefined): Promise<void> {
    const { cache, slots } = this.#ports;
    const { key } = item;
    const answer = this.#admission(key);
    const admission = answer instanceof Promise ? await answer : answer;
    // The object may have changed while its admission was determined.
    const primary = cache.get(key);
    if (!primary) {
      slots.forget(key);
      return;
    }
    if (slots.isParked(key, primary.metadata.uid)) return;
    const ours = this.#ours(key, admission);
    if (ours === 'no' || this.#waits(primary, item)) return;
    if (mayStart && !(await mayStart())) return;
    // The object may have changed while it waited.
    const current = mayStart ? cache.get(key) : primary;
    if (current) await this.#begin(current, item, ours);
    else slots.forget(key);
  }

  /** Undefined: this is the only process, or the object does not exist. */
  #admission(key: Key): Admission | Promise<Admission> | undefined {
    const { share, cache, signal } = this.#ports;
    const primary = share && cache.get(key);
    return primary && share.admit(primary, signal);
  }

  /** Our admission, if any is needed; `no` if this process must not reconcile the object now. */
  #ours(key: Key, admission: Admission | undefined): OurAdmission | undefined | 'no' {
    const { queue, slots, isInScope } = this.#ports;
    if (admission?.is === 'unclear') {
      // This process may be responsible, so failures still count: only the start is delayed.
      queue.addAfter(key, admission.requeueAfterMs, 'requeue');
      return 'no';
    }
    if (admission?.is !== 'foreign' && isInScope(key)) return admission;
    slots.forget(key);
    return 'no';
  }

  /** Whether the key must wait; it is queued again when it may start. */
  #waits(primary: View<P>, { key, priority }: WorkItem): boolean {
    const { queue, slots, fightBackoff, clock } = this.#ports;
    if (this.#unread.holds({ key, priority })) return true;
    const limitedMs = slots.limitedMs(key, clock.now());
    const waitMs = limitedMs > 0 ? limitedMs : (fightBackoff?.waitMs(key, primary) ?? 0);
    if (waitMs > 0) queue.addAfter(key, waitMs, 'limit', priority);
    return waitMs > 0;
  }

  async #begin(primary: View<P>, item: WorkItem, admission: OurAdmission | undefined): Promise<void> {
    const { key } = item;
    const { uid } = primary.metadata;
    const { settings, cache, slots, metrics, outcomeHandler, forgetting, expectations, clock, rng } =
      this.#ports;
    const slot = slots.of(key, uid);
    if (beginReconcile(slot, clock.now())) metrics.attempt();
    const { spec } = settings;
    let isLost = false;
    const fields = reconcileFields(spec.name, primary, rng, spec.logFields?.bind(spec));
    await withLogFields(fields, async () => {
      const startedAt = clock.now();
      const outcome = await this.#reconcile(primary, slot, item, admission, () => (isLost = true));
      outcomeHandler.on(outcome, slot, item, startedAt);
      expectations.onEnd(key, outcome.type === 'ran' && outcome.result.ok);
    });
    slots.tidy(key);
    // An object that was created with the same name meanwhile is a different one.
    if (cache.get(key)?.metadata.uid !== uid) void forgetting.on(primary);
    else if (isLost) await forgetting.on(primary);
  }

  async #reconcile(
    primary: View<P>,
    slot: KeySlot,
    item: WorkItem,
    admission: OurAdmission | undefined,
    onLost: () => void,
  ): Promise<Dispatched> {
    const { settings, client, log, cache, caches, fence, recorder, clock, metrics, sources } = this.#ports;
    const { name, kind } = settings.spec;
    const { key } = item;
    const active = this.#ports.active.begin(item);
    const permit = admission?.begin((reason) => {
      onLost();
      active.abort(reason);
    });
    const guard = (): void => {
      fence();
      permit?.fence();
    };
    const onWritten = this.#ports.fightBackoff?.observerOf(key, primary);
    const write = createWriter(
      { client, caches, fence: guard, name, ...(onWritten && { onWritten }) },
      active,
    );
    const ctx = createContext<P>({
      controller: { name, kind, fieldManager: settings.fieldManager },
      clock,
      live: client,
      key,
      primary,
      reconcile: active,
      attempt: slot.attempt,
      lastAttempt: isLastAttempt(slot, settings.timing.retry),
      log,
      write: permit ? permit.around(write) : write,
      recorder,
      expectations: this.#ports.expectations.of(key, primary),
      sources: () => sources.values(),
    });
    try {
      return await dispatch(primary, ctx, { settings, client, cache, metrics, key });
    } finally {
      active.end();
      permit?.end();
    }
  }
}
