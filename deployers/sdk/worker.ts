/**
 * The job protocol of deploy items; the only writer of their status. A reconcile that ends the job needs one write;
 * in between, only waits, failures, and the start of changes outside of the cluster are stored.
 */
import { annotations } from '../../src/api/labels.ts';
import { failedPhase, isBeingDeleted } from '../../src/api/job.ts';
import { neverStarted } from '../../src/api/never-started.ts';
import { timestamp } from '../../src/lib/clock.ts';
import { randomUuid } from '../../src/lib/uuid.ts';
import { eventReason } from '../../src/machine/event-reason.ts';
import type { AddReadiness } from '../../src/machine/readiness.ts';
import { isFinal, NotFound, ShutdownError } from '../../src/runtime/errors.ts';
import { joinKey } from '../../src/runtime/keys.ts';
import type { Cache, Context, Key, View } from '../../src/runtime/types.ts';
import type { DeployerDeps } from './deployer.ts';
import { InterruptedError } from './errors.ts';
import { requeueAfter, rest, type Control } from './control.ts';
import { writeExports } from './export-secret.ts';
import { intake, isLeftInPlace, type Direction } from './intake.ts';
import {
  TARGET,
  type DeployItem,
  type DeployItemStatus,
  type ExecutionObject,
  type Target,
} from './kinds.ts';
import { reconcileItem, type ReconcilePorts, type ReconcileResult } from './reconcile-item.ts';
import { CRASH_RETRY_MS, createMemories, retryMs, waitMs, type Memories, type Memory } from './memory.ts';
import { fail, type Outcome } from './outcome.ts';
import { isOfType, isSelected, targetNameOf } from './responsible.ts';
import { isExecutionRunning, nextDue, scheduleOf } from './schedule.ts';
import { createRivals } from './rivals.ts';
import { ItemChanged, Session } from './session.ts';
import { begun, ended, failedWith, settle, targetMissing, type Settled, type Stamp } from './status.ts';
import { remainingMs } from './timeout.ts';
import { describeUnread, unreadProblem, withUnread } from './unread.ts';

interface WorkerPorts extends ReconcilePorts {
  readonly deps: DeployerDeps;
  /** Unique name of this instance. */
  readonly identity: string;
  readonly readiness: AddReadiness;
  /** Whether the item has an open job, according to the cache. */
  readonly isOpen: (key: Key) => boolean;
  /** Absent if the plugin has no schedule. */
  readonly executions: Cache<ExecutionObject> | undefined;
}

/** Delay of a scheduled job while the execution has an open job. */
const EXECUTION_BUSY_MS = 5000;
/** Delay after a write that conflicted with that of another client. */
const MOVED_RETRY_MS = 100;

interface Worker {
  reconcile(item: View<DeployItem>, ctx: Context<DeployItem>): Promise<Control>;
}

export function createWorker(ports: WorkerPorts): Worker {
  const memories = createMemories(ports.isOpen);
  const rivals = createRivals(ports.identity, ports.deps.log);
  return {
    async reconcile(item, ctx) {
      rivals.report(item, ctx);
      try {
        return await new ItemReconcile(item, ctx, ports, memories).run();
      } catch (error) {
        if (error instanceof ItemChanged) {
          rivals.refused(ctx.key, item);
          return error.isGone ? rest : requeueAfter(MOVED_RETRY_MS);
        }
        if (!(error instanceof InterruptedError)) throw error;
        ctx.event('Warning', 'Interrupted', error.message);
        return rest;
      }
    },
  };
}

/** State of the item's target. */
type TargetState =
  | { readonly isOurs: false }
  | { readonly isOurs: true; readonly target?: View<Target>; readonly isMissing: boolean };

class ItemReconcile {
  readonly #session: Session;
  readonly #ctx: Context<DeployItem>;
  readonly #ports: WorkerPorts;
  readonly #memories: Memories;

  constructor(item: View<DeployItem>, ctx: Context<DeployItem>, ports: WorkerPorts, memories: Memories) {
    this.#session = new Session(item, { write: ctx.write, signal: ctx.signal, readiness: ports.readiness });
    this.#ctx = ctx;
    this.#ports = ports;
    this.#memories = memories;
  }

  get #item(): View<DeployItem> {
    return this.#session.item;
  }

  get #now(): string {
    return timestamp(this.#ports.clock);
  }

  get #stamp(): Stamp {
    const { identity, plugin } = this.#ports;
    return { now: this.#now, deployer: { identity, name: plugin.name, version: plugin.version } };
  }

  async run(): Promise<Control> {
    const { plugin } = this.#ports;
    if (!isOfType(this.#item, plugin.type)) return rest;
    let asked = intake(this.#item);
    if (asked.do === 'nothing') {
      this.#memories.forget(this.#ctx.key);
      if (!plugin.onJobEnded && !this.#isScheduled()) return rest;
    }
    const state = await this.#targetState();
    if (!state.isOurs) return rest;
    if (asked.do === 'nothing') {
      await plugin.onJobEnded?.(this.#item, this.#ctx.signal);
      return this.#isScheduled() ? this.#startScheduledJob(state) : rest;
    }
    if (asked.do === 'testReconcile') {
      await this.#startOwnJob();
      await this.#session.removeAnnotation(annotations.operation);
      asked = {
        do: 'work',
        isNew: false,
        direction: isBeingDeleted(this.#item.metadata) ? 'remove' : 'apply',
      };
    }
    if (state.isMissing) return this.#endWithoutTarget();
    if (asked.do === 'shortcut') return this.#endUnchanged();
    return this.#work(asked.direction, asked.isNew, state.target);
  }

  /** The target decides which instance handles an item; the cache may not contain a target that was just created. */
  async #targetState(): Promise<TargetState> {
    const { targets, client, deps } = this.#ports;
    const name = targetNameOf(this.#item);
    if (name === undefined) {
      return deps.config?.claimUntargeted === false ? { isOurs: false } : { isOurs: true, isMissing: false };
    }
    const key = joinKey(this.#item.metadata.namespace, name);
    let target = targets.get(key);
    try {
      target ??= await client.get(TARGET, key, this.#ctx.signal);
    } catch (error) {
      // No object can have an invalid name, so such a target does not exist, also if the item is to be removed.
      if (error instanceof NotFound || isFinal(error)) return { isOurs: true, isMissing: true };
      throw error;
    }
    return isSelected(deps.config?.targetSelector, target)
      ? { isOurs: true, target, isMissing: false }
      : { isOurs: false };
  }

  async #endWithoutTarget(): Promise<Control> {
    if (isBeingDeleted(this.#item.metadata) && isLeftInPlace(this.#item)) {
      await this.#session.removeFinalizer();
      this.#memories.forget(this.#ctx.key);
      return rest;
    }
    const problem = targetMissing(this.#item);
    const before = this.#item.status as DeployItemStatus;
    const failed = { ...failedWith(before, problem, this.#now), ...neverStarted(before) };
    const phase = failedPhase(this.#item.metadata);
    await this.#store({ status: ended(failed, phase, this.#now), end: phase, problem });
    return this.#onJobEnded();
  }

  async #endUnchanged(): Promise<Control> {
    const status = begun(this.#item.metadata, this.#item.status as DeployItemStatus | undefined, this.#stamp);
    await this.#store({ status: ended(status, 'Succeeded', this.#now), end: 'Succeeded' });
    return this.#onJobEnded();
  }

  // ---------------------------------------------------------------- jobs of the execution

  async #work(direction: Direction, isNew: boolean, target: View<Target> | undefined): Promise<Control> {
    const before = this.#item.status as DeployItemStatus; // The draft contains the job id.
    const unstarted = isNew ? neverStarted(before) : {};
    const unread = isNew && direction === 'apply' ? this.#unreadFields(before) : undefined;
    const draft = withUnread(
      isNew ? begun(this.#item.metadata, before, this.#stamp) : before,
      unread,
      this.#now,
    );
    // Shows that the deletion has started, because it cannot be undone.
    if (isNew && direction === 'remove') await this.#session.writeStatus(draft);
    const memory = this.#memories.of(this.#ctx.key, this.#item, direction);
    if (unread?.length && this.#ports.deps.config?.strict) {
      const outcome = fail(unreadProblem(this.#ports.plugin, unread));
      const refused = { outcome, isInPlugin: false, isCrash: false };
      return this.#conclude({ ...draft, ...unstarted }, refused, direction, memory);
    }
    const place = { current: draft };
    const seen = await reconcileItem(
      {
        session: this.#session,
        ctx: this.#ctx,
        direction,
        memory,
        target,
        initTime: draft.transitionTimes?.initTime,
        begin: async (change) => {
          const started = { ...place.current, ...(direction === 'apply' && { phase: 'Progressing' }) };
          place.current = change(started, this.#now);
          await this.#session.writeStatus(place.current);
        },
      },
      this.#ports,
    );
    this.#assertRunning(seen.outcome);
    const revised = seen.revise?.(place.current, this.#now) ?? place.current;
    const reached = { ...revised, ...(!seen.isInPlugin && unstarted) };
    return this.#conclude(reached, seen, direction, memory);
  }

  /**
   * A process that stops closes the connections to targets while reconciles end, so their failures say nothing about
   * the deploy item. The next process repeats the reconcile. @throws ShutdownError
   */
  #assertRunning(outcome: Outcome): void {
    if (outcome.kind !== 'retry' || !this.#ports.deps.signal?.aborted) return;
    throw new ShutdownError({
      message: `the process stopped during the reconcile: ${outcome.problem.message}`,
    });
  }

  /** Messages about unknown fields; reported once for each generation. */
  #unreadFields(before: DeployItemStatus): readonly string[] {
    const { metadata, spec } = this.#item;
    const unread = this.#ports.plugin.config.unread?.(spec.config) ?? [];
    if (unread.length === 0 || before.observedGeneration === metadata.generation) return unread;
    this.#ctx.log.warn({ fields: unread }, 'unknown fields in the provider configuration');
    this.#ctx.event('Warning', 'UnreadFields', describeUnread(unread));
    return unread;
  }

  async #conclude(
    draft: DeployItemStatus,
    seen: ReconcileResult,
    direction: Direction,
    memory: Memory,
  ): Promise<Control> {
    const { outcome, exportRef } = await writeExports(this.#item, seen.outcome, direction, this.#ctx);
    const { exportRef: _, ...others } = draft;
    const withExports = exportRef ? { ...others, exportRef } : others;
    const settled = settle(withExports, outcome, {
      direction,
      metadata: this.#item.metadata,
      now: this.#now,
      isInPlugin: seen.isInPlugin,
    });
    if (settled.isReleased) {
      await this.#session.removeFinalizer();
      this.#memories.forget(this.#ctx.key);
      return rest;
    }
    await this.#store(settled);
    if (settled.end !== undefined) return this.#onJobEnded();
    const delay = this.#remember(outcome, memory, seen.isCrash);
    const left = remainingMs(
      this.#item.spec.timeout,
      settled.status.transitionTimes?.initTime,
      this.#ports.clock.wall(),
    );
    // A reconcile at the end of the time detects the timeout; later ones are for jobs whose plugin does not check it.
    if (left > 0) return requeueAfter(Math.min(delay, left));
    return requeueAfter(memory.onTimeout ? 0 : delay);
  }

  /** Remembers what the next reconcile needs. @returns milliseconds until then */
  #remember(outcome: Outcome, memory: Memory, isCrash: boolean): number {
    const now = this.#ports.clock.now();
    if (outcome.kind === 'wait') {
      memory.failures = 0;
      memory.onTimeout = outcome.onTimeout;
      memory.waitingSince ??= now;
      return outcome.requeueAfterMs ?? waitMs(now - memory.waitingSince);
    }
    memory.failures++;
    memory.onTimeout = undefined;
    memory.waitingSince = undefined;
    memory.target = undefined; // The secret of the target may be the problem, so it is read again.
    if (isCrash) return CRASH_RETRY_MS;
    return (outcome.kind === 'retry' ? outcome.requeueAfterMs : undefined) ?? retryMs(memory.failures);
  }

  /** One write, and an Event for a new failure. */
  async #store({ status, end, problem }: Settled): Promise<void> {
    const known = this.#item.status?.lastError;
    await this.#session.writeStatus(status);
    const { plugin, deps, clock, reader } = this.#ports;
    if (problem?.codes?.includes('ERR_UNAUTHORIZED')) reader.forget(this.#item.metadata.namespace ?? '');
    if (problem && (known?.message !== problem.message || known.reason !== problem.reason)) {
      this.#ctx.event('Warning', eventReason(problem.reason), problem.message);
      deps.metrics?.reconcileFailed(plugin.name, problem.reason);
    }
    if (end === undefined) return;
    const initTime = status.transitionTimes?.initTime;
    const seconds = initTime === undefined ? 0 : (clock.wall() - Date.parse(initTime)) / 1000;
    deps.metrics?.jobEnded(plugin.name, end, seconds);
  }

  async #onJobEnded(): Promise<Control> {
    this.#memories.forget(this.#ctx.key);
    await this.#ports.plugin.onJobEnded?.(this.#item, this.#ctx.signal);
    const due = this.#nextDue();
    return due === undefined ? rest : requeueAfter(due - this.#ports.clock.wall());
  }

  // ---------------------------------------------------------------- the item's own jobs

  /**
   * Stores the id and the start together, so that a crash never leaves an id without a start. Reads the item from the
   * server, because the watch may be behind.
   */
  async #startOwnJob(): Promise<void> {
    const { metadata } = this.#item;
    const before = (this.#item.status ?? { observedGeneration: 0 }) as DeployItemStatus;
    const status = {
      ...before,
      jobID: randomUuid(this.#ports.rng),
      transitionTimes: { triggerTime: this.#now },
    };
    await this.#session.writeStatus(begun(metadata, status, this.#stamp));
  }

  #isScheduled(): boolean {
    return this.#ports.executions !== undefined && scheduleOf(this.#item, this.#ports.plugin) !== undefined;
  }

  #nextDue(): number | undefined {
    return this.#ports.executions && nextDue(this.#item, this.#ports.plugin);
  }

  async #startScheduledJob(state: Extract<TargetState, { isOurs: true }>): Promise<Control> {
    const { executions, clock } = this.#ports;
    const due = this.#nextDue();
    if (due === undefined || state.isMissing) return rest;
    const left = due - clock.wall();
    if (left > 0) return requeueAfter(left);
    if (executions && isExecutionRunning(this.#item, executions)) return requeueAfter(EXECUTION_BUSY_MS);
    await this.#startOwnJob();
    return this.#work('apply', false, state.target);
  }
}
