/**
 * One reconcile of a deploy item: creates the context of the plugin, calls it, and converts its result or error to an
 * outcome. The order of the checks is upstream's, because it decides which of several errors a user sees.
 */
import { setMaxListeners } from 'node:events';
import type { Clock } from '../../src/lib/clock.ts';
import { MAX_TRIES } from '../../src/lib/outlook.ts';
import type { Problem } from '../../src/machine/decision.ts';
import type { Context, View } from '../../src/runtime/types.ts';
import { withHead } from './codec.ts';
import type { DeployContext, DeployerPlugin } from './deployer.ts';
import {
  ConfigurationError,
  InterruptedError,
  RetryError,
  TimeoutError,
  isCrash,
  isShutdown,
  messageOf,
  problemOf,
} from './errors.ts';
import { isLeftInPlace, type Direction } from './intake.ts';
import { InventoryBinding, type StatusRevision } from './inventory-cluster.ts';
import type { DeployItem, DeployItemStatus, Target } from './kinds.ts';
import type { Memory } from './memory.ts';
import { done, fail, retry, type Outcome } from './outcome.ts';
import {
  contextOf,
  neverApplied,
  refuseInvalid,
  deployContextOf,
  type Bounds,
  type DeployContextPorts,
} from './deploy-context.ts';
import type { Session } from './session.ts';
import { validateTarget, type ResolvedTarget, type TargetReader } from './target.ts';
import { explained, remainingMs, timeoutAt } from './timeout.ts';

export type ReconcilePorts = DeployContextPorts;

interface ReconcileInput {
  readonly session: Session;
  readonly ctx: Context<DeployItem>;
  readonly direction: Direction;
  readonly memory: Memory;
  /** The existing target of the item; undefined if it has none. */
  readonly target: View<Target> | undefined;
  /** When the job started, RFC 3339. */
  readonly initTime: string | undefined;
  /** Stores the status of a job that has begun. */
  readonly begin: (change: StatusRevision) => Promise<void>;
}

/** The outcome, and whether the plugin was called. */
export interface ReconcileResult {
  readonly outcome: Outcome;
  readonly isInPlugin: boolean;
  readonly isCrash: boolean;
  /** Changes the status in the write that stores the outcome. */
  readonly revise?: StatusRevision | undefined;
}

/** What happens during a reconcile, also if it throws. */
interface ReconcileState {
  isInPlugin: boolean;
  revise?: StatusRevision;
}

export async function reconcileItem(at: ReconcileInput, ports: ReconcilePorts): Promise<ReconcileResult> {
  const state: ReconcileState = { isInPlugin: false };
  const { item } = at.session;
  const left = (): number => remainingMs(item.spec.timeout, at.initTime, ports.clock.wall());
  const deadline = deadlineOf(left(), ports.clock);
  const signal = AbortSignal.any([at.ctx.signal, at.ctx.interrupt, deadline.signal]);
  const kept = at.memory.target;
  setMaxListeners(0, signal); // Every request of the reconcile adds a listener.
  try {
    if (at.memory.onTimeout && left() <= 0) return seen(fail(withTimeout(at.memory.onTimeout, item)));
    const outcome = await callPlugin(at, ports, { left, signal, state, deadline });
    const result = { outcome, ...state, isCrash: false };
    return withFewTries(withFreshCredentials(result, kept, at, ports), at.memory);
  } catch (thrown) {
    if (at.session.failure) throw at.session.failure;
    if (at.ctx.interrupt.aborted) throw new InterruptedError();
    if (at.ctx.signal.aborted || isShutdown(thrown)) throw thrown;
    const isTimedOut = deadline.signal.aborted || (thrown instanceof TimeoutError && left() <= 0);
    // The job has waited for this until the timeout, so it is the reason, wherever in this reconcile the time ran
    // out.
    if (isTimedOut && at.memory.onTimeout)
      return seen(fail(withTimeout(at.memory.onTimeout, at.session.item)));
    const error: unknown = deadline.signal.aborted ? deadline.signal.reason : thrown;
    const result = { ...judged(error, at, state.isInPlugin), revise: state.revise };
    return withFewTries(withFreshCredentials(result, kept, at, ports), at.memory);
  } finally {
    deadline.cancel();
  }
}

const seen = (outcome: Outcome): ReconcileResult => ({ outcome, isInPlugin: true, isCrash: false });

/**
 * Credentials may have been replaced since they were read. A job that was waiting, or used a cached token, tries again
 * with new ones.
 * @param kept the target as read by an earlier reconcile
 */
function withFreshCredentials(
  seen: ReconcileResult,
  kept: Memory['target'],
  at: ReconcileInput,
  ports: ReconcilePorts,
): ReconcileResult {
  const { outcome } = seen;
  if (outcome.kind !== 'retry' && outcome.kind !== 'fail') return seen;
  const { codes = [], ...problem } = outcome.problem;
  if (!at.target || at.memory.isRefused || !codes.includes('ERR_UNAUTHORIZED')) return seen;
  const hadOldTokens = ports.reader.forget(at.session.item.metadata.namespace ?? '');
  const hadOldTarget = kept !== undefined && kept === at.memory.target;
  at.memory.target = undefined;
  if (!hadOldTokens && !hadOldTarget) return seen;
  at.memory.isRefused = true;
  const others = codes.filter((code) => code !== 'ERR_UNAUTHORIZED');
  return { ...seen, outcome: { ...outcome, kind: 'retry', problem: { ...problem, codes: others } } };
}

/** A failure of which it is unknown whether it passes ends the job when it has been tried a few times. */
function withFewTries(seen: ReconcileResult, memory: Memory): ReconcileResult {
  const { outcome } = seen;
  const isUnknown = outcome.kind === 'retry' && outcome.problem.outlook === 'unknown';
  memory.unknownFailures = isUnknown ? memory.unknownFailures + 1 : 0;
  if (!isUnknown || memory.unknownFailures < MAX_TRIES) return seen;
  const { problem } = outcome;
  const codes = [...(problem.codes ?? []), 'ERR_CONFIGURATION_PROBLEM' as const];
  return { ...seen, outcome: { ...outcome, kind: 'fail', problem: { ...problem, codes } } };
}

const withTimeout = (timeout: Problem, item: View<DeployItem>): Problem =>
  explained(timeout, item.spec.timeout, item.status?.lastError?.message);

function judged(error: unknown, at: ReconcileInput, isInPlugin: boolean): ReconcileResult {
  const isApply = at.direction === 'apply';
  if (error instanceof InterruptedError) throw error;
  if (error instanceof TimeoutError) {
    return { outcome: fail(withTimeout(error.problem, at.session.item)), isInPlugin, isCrash: false };
  }
  if (isCrash(error)) {
    at.ctx.log.error({ err: error }, 'deployer crashed');
    const problem = {
      operation: isApply ? 'Reconcile' : 'Delete',
      reason: 'Panic',
      message: messageOf(error),
    };
    return { outcome: retry(problem), isInPlugin, isCrash: true };
  }
  const place = isApply
    ? { operation: 'reconcile', reason: 'Reconcile' }
    : { operation: 'delete', reason: 'DeleteWithUninstall' };
  const problem = problemOf(error, place);
  const requeueAfterMs = error instanceof RetryError ? error.requeueAfterMs : undefined;
  return { outcome: retry(problem, { requeueAfterMs }), isInPlugin, isCrash: false };
}

interface Deadline {
  readonly signal: AbortSignal;
  /** Name in the last call of `assertTimeLeft`; the error contains it if the job times out during a step. */
  lastStep: string;
  cancel(): void;
}

function deadlineOf(left: number, clock: Clock): Deadline {
  const controller = new AbortController();
  const deadline: Deadline = {
    signal: controller.signal,
    lastStep: 'deployer: before start',
    cancel: () => undefined,
  };
  if (left <= 0 || !Number.isFinite(left)) return deadline;
  deadline.cancel = clock.at(clock.now() + left, () => {
    const { operation, reason, message } = timeoutAt(deadline.lastStep);
    controller.abort(new TimeoutError({ operation, reason, message }));
  });
  return deadline;
}

interface ReconcileBounds extends Bounds {
  readonly state: ReconcileState;
}

async function callPlugin(
  at: ReconcileInput,
  ports: ReconcilePorts,
  bounds: ReconcileBounds,
): Promise<Outcome> {
  const { plugin } = ports;
  const { item } = at.session;
  const isApply = at.direction === 'apply';
  const operation = isApply ? 'reconcile' : 'delete';
  if (!isApply && isLeftInPlace(item)) return done();
  if (isApply) {
    refuseInvalid(item, at.target, operation);
    await at.session.addFinalizer();
  }

  const target = at.target && (await resolved(at.target, at.memory, ports.reader, bounds.signal));
  if (target) validateTarget(target, operation);
  const context = await contextOf(item, ports, bounds, operation);
  if (item.spec.config === undefined && isApply) {
    throw new ConfigurationError({
      operation,
      reason: 'ProviderConfigurationMissing',
      message: 'provider configuration missing',
    });
  }
  if (!isApply && neverApplied(item, plugin)) return done();
  const inventory = plugin.hasInventory ? await boundInventory(at, plugin, target, bounds) : undefined;
  const subject = {
    item: inventory?.item ?? item,
    begin: async (status: unknown) => {
      await inventory?.begin();
      const providerStatus = withHead(plugin.status, status) as
        DeployItemStatus['providerStatus'] | undefined;
      await at.begin((before, now) => {
        const next = providerStatus === undefined ? before : { ...before, providerStatus };
        return inventory?.revision()(next, now) ?? next;
      });
    },
    scratch: at.memory.scratch,
    log: at.ctx.log,
    event: (...[type, reason, note]: Parameters<DeployContext['event']>) => {
      at.ctx.event(type, reason, note);
    },
  };
  const ctx = deployContextOf(subject, ports, bounds, { target, context });
  bounds.state.isInPlugin = true;
  const outcome = withStatusHead(plugin, await callDirection(ctx, plugin, isApply, inventory));
  if (!inventory) return outcome;
  const concluded = await inventory.conclude(outcome);
  bounds.state.revise = inventory.revision(concluded);
  return concluded;
}

const withStatusHead = (plugin: DeployerPlugin, outcome: Outcome): Outcome =>
  'status' in outcome ? { ...outcome, status: withHead(plugin.status, outcome.status) } : outcome;

async function callDirection(
  ctx: DeployContext,
  plugin: DeployerPlugin,
  isApply: boolean,
  inventory: InventoryBinding | undefined,
): Promise<Outcome> {
  if (isApply) return plugin.apply(ctx);
  return inventory?.isEmpty ? done() : plugin.remove(ctx);
}

/** The inventory for the current cluster. What the job has remembered about another cluster is dropped. */
async function boundInventory(
  { session: { item }, direction, memory, ctx }: ReconcileInput,
  plugin: DeployerPlugin,
  target: ResolvedTarget | undefined,
  { signal, state }: ReconcileBounds,
): Promise<InventoryBinding> {
  const given = { item, direction, target, plugin, signal };
  const inventory = await InventoryBinding.of(given).catch((error: unknown) => {
    state.isInPlugin = true; // as if the plugin could not reach the cluster
    throw error;
  });
  if (inventory.isMoved) memory.scratch.clear();
  state.revise = inventory.revision();
  for (const [type, reason, note] of inventory.events) ctx.event(type, reason, note);
  return inventory;
}

async function resolved(
  target: View<Target>,
  memory: Memory,
  reader: TargetReader,
  signal: AbortSignal,
): Promise<ResolvedTarget> {
  const version = `${target.metadata.uid ?? ''}/${target.metadata.resourceVersion ?? ''}`;
  if (memory.target?.version !== version) {
    memory.target = { version, resolved: await reader.resolve(target, signal) };
  }
  return memory.target.resolved;
}
