/**
 * One look at an item: everything a plugin needs is brought together, the plugin is asked, and whatever happens becomes
 * an outcome. The order of the questions is upstream's, since it decides which of several mistakes a user is shown.
 */
import { setMaxListeners } from 'node:events';
import { refusalForJob } from '../../src/api/validation/index.ts';
import type { Clock } from '../../src/lib/clock.ts';
import type { Problem } from '../../src/machine/decision.ts';
import { joinKey } from '../../src/runtime/keys.ts';
import { NotFound } from '../../src/runtime/errors.ts';
import type { Cache, Client, Context, View } from '../../src/runtime/types.ts';
import { CodecError, type Codec } from './codec.ts';
import type { DeployerPlugin, Run } from './deployer.ts';
import {
  ConfigurationError,
  InternalError,
  InterruptedError,
  RetryError,
  TimeoutError,
  isCrash,
  messageOf,
  problemOf,
} from './errors.ts';
import { hostApi } from './host.ts';
import { isLeftInPlace, type Direction } from './intake.ts';
import { CONTEXT, TARGET, type ContextObject, type DeployItem, type Target } from './kinds.ts';
import type { Memory } from './memory.ts';
import { done, fail, retry, type Outcome } from './outcome.ts';
import type { Session } from './session.ts';
import { VALIDATE_TARGET, validateTarget, type ResolvedTarget, type TargetReader } from './target.ts';
import { remainingMs, timeoutAt, withLastProblem, type TimeoutPolicy } from './timeout.ts';

const VALIDATE_ITEM = 'ValidateDeployItem';

export interface LookPorts {
  readonly plugin: DeployerPlugin;
  readonly client: Client;
  readonly contexts: Cache<ContextObject>;
  readonly targets: Cache<Target>;
  readonly reader: TargetReader;
  readonly timeouts: TimeoutPolicy;
  readonly clock: Clock;
  readonly rng: Run['rng'];
}

export interface LookAt {
  readonly session: Session;
  readonly ctx: Context<DeployItem>;
  readonly direction: Direction;
  readonly memory: Memory;
  /** The item's target, known to exist; undefined when it has none. */
  readonly target: View<Target> | undefined;
  /** When the job began, RFC 3339. */
  readonly initTime: string | undefined;
  readonly begin: Run['begin'];
}

/** What came of it, and whether the plugin had been reached. */
export interface Seen {
  readonly outcome: Outcome;
  readonly isInPlugin: boolean;
  readonly isCrash: boolean;
}

export async function look(at: LookAt, ports: LookPorts): Promise<Seen> {
  const state = { isInPlugin: false };
  const { item } = at.session;
  const left = (): number => remainingMs(item.spec.timeout, at.initTime, ports.clock.wall());
  const deadline = deadlineOf(left(), ports.clock);
  const signal = AbortSignal.any([at.ctx.signal, at.ctx.interrupt, deadline.signal]);
  setMaxListeners(0, signal); // every request of the look listens
  try {
    if (at.memory.onTimeout && left() <= 0) return seen(fail(late(at.memory.onTimeout, item)));
    const outcome = await ask(at, ports, { left, signal, state, deadline });
    return { outcome, isInPlugin: state.isInPlugin, isCrash: false };
  } catch (thrown) {
    if (at.session.failure) throw at.session.failure;
    if (at.ctx.interrupt.aborted) throw new InterruptedError();
    if (at.ctx.signal.aborted) throw thrown;
    const error: unknown = deadline.signal.aborted ? deadline.signal.reason : thrown;
    return judged(error, at, state.isInPlugin);
  } finally {
    deadline.cancel();
  }
}

const seen = (outcome: Outcome): Seen => ({ outcome, isInPlugin: true, isCrash: false });

const late = (timeout: Problem, item: View<DeployItem>): Problem =>
  withLastProblem(timeout, item.status?.lastError?.message);

function judged(error: unknown, at: LookAt, isInPlugin: boolean): Seen {
  const isApply = at.direction === 'apply';
  if (error instanceof InterruptedError) throw error;
  if (error instanceof TimeoutError) {
    return { outcome: fail(late(error.problem, at.session.item)), isInPlugin, isCrash: false };
  }
  if (isCrash(error)) {
    at.ctx.log.error({ err: error }, 'the deployer crashed');
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
  const afterMs = error instanceof RetryError ? error.afterMs : undefined;
  return { outcome: retry(problem, { afterMs }), isInPlugin, isCrash: false };
}

interface Deadline {
  readonly signal: AbortSignal;
  /** The last checkpoint passed, named when time runs out in the middle of something. */
  checkpoint: string;
  cancel(): void;
}

function deadlineOf(left: number, clock: Clock): Deadline {
  const controller = new AbortController();
  const deadline: Deadline = {
    signal: controller.signal,
    checkpoint: 'deployer: before start',
    cancel: () => undefined,
  };
  if (left <= 0 || !Number.isFinite(left)) return deadline;
  deadline.cancel = clock.at(clock.now() + left, () => {
    const { operation, reason, message } = timeoutAt(deadline.checkpoint);
    controller.abort(new TimeoutError(operation, reason, message));
  });
  return deadline;
}

interface Pass {
  left(): number;
  readonly signal: AbortSignal;
  readonly state: { isInPlugin: boolean };
  readonly deadline: Deadline;
}

async function ask(at: LookAt, ports: LookPorts, pass: Pass): Promise<Outcome> {
  const { plugin } = ports;
  const { item } = at.session;
  const isApply = at.direction === 'apply';
  const operation = isApply ? 'reconcile' : 'delete';
  if (!isApply && isLeftInPlace(item)) return done();
  if (isApply) {
    refuseInvalid(item, at.target, operation);
    await at.session.addFinalizer();
  }

  const target = at.target && (await resolved(at.target, at.memory, ports.reader, pass.signal));
  if (target) validateTarget(target, operation);
  const context = await contextOf(item, ports, pass, operation);
  if (item.spec.config === undefined && isApply) {
    throw new ConfigurationError(operation, 'ProviderConfigurationMissing', 'provider configuration missing');
  }
  if (!isApply && neverApplied(item, plugin)) return done();
  const run = runOf(at, ports, pass, { target, context });
  pass.state.isInPlugin = true;
  return isApply ? plugin.apply(run) : plugin.remove(run);
}

/** What the webhooks refuse, should they not have been asked. @throws ConfigurationError */
function refuseInvalid(item: View<DeployItem>, target: View<Target> | undefined, operation: string): void {
  const itemRefusal = refusalForJob('deployitems', item);
  if (itemRefusal !== undefined) throw new ConfigurationError(operation, VALIDATE_ITEM, itemRefusal);
  const targetRefusal = target && refusalForJob('targets', target);
  if (target && targetRefusal !== undefined) {
    throw new ConfigurationError(
      operation,
      VALIDATE_TARGET,
      `target ${target.metadata.name}: ${targetRefusal}`,
    );
  }
}

/** A configuration that nobody can read was never carried out, so there is nothing to take back. */
function neverApplied({ spec, status }: View<DeployItem>, { config }: DeployerPlugin): boolean {
  if (status?.providerStatus !== undefined) return false;
  try {
    config.decode(spec.config);
    return false;
  } catch (error) {
    if (error instanceof CodecError) return true;
    throw error;
  }
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

/** The cache may not have heard of a Context that was made together with the item; then the server is asked. */
async function contextOf(
  item: View<DeployItem>,
  { contexts, client, timeouts }: LookPorts,
  pass: Pass,
  operation: string,
): Promise<View<ContextObject>> {
  const key = joinKey(item.metadata.namespace, item.spec.context || 'default');
  const cached = contexts.get(key);
  if (cached) return cached;
  timeouts.check('deployer: before start', pass.left());
  try {
    return await client.get(CONTEXT, key, pass.signal);
  } catch (error) {
    const why = error instanceof NotFound ? 'it does not exist' : messageOf(error);
    throw new RetryError(operation, 'GetLandscaperContext', `unable to get the Context ${key}: ${why}`, {
      cause: error,
    });
  }
}

function runOf(
  at: LookAt,
  ports: LookPorts,
  pass: Pass,
  facts: { readonly target: ResolvedTarget | undefined; readonly context: View<ContextObject> },
): Run {
  const { plugin, clock, rng } = ports;
  const { item } = at.session;
  const initOperation = plugin.initOperation ?? 'Init';
  return {
    item,
    config: decoded(plugin.config, item.spec.config, initOperation, 'ProviderConfiguration'),
    previous: item.status?.providerStatus && statusOf(plugin, item.status.providerStatus, initOperation),
    context: facts.context,
    target: facts.target,
    secondaryTarget: (name) => secondaryTarget(name, item, ports, pass.signal),
    host: hostApi(ports.client, item.metadata.namespace ?? '', pass.signal),
    signal: pass.signal,
    checkpoint(name) {
      pass.deadline.checkpoint = name;
      pass.signal.throwIfAborted();
      return ports.timeouts.check(name, pass.left());
    },
    begin: at.begin,
    scratch: at.memory.scratch,
    clock,
    rng,
    log: at.ctx.log,
    event: (type, reason, note) => {
      at.ctx.event(type, reason, note);
    },
  };
}

const statusOf = (plugin: DeployerPlugin, status: unknown, operation: string): unknown =>
  plugin.status ? decoded(plugin.status, status, operation, 'ProviderStatus') : status;

function decoded<T>(codec: Codec<T>, document: unknown, operation: string, what: string): T {
  try {
    return codec.decode(document);
  } catch (error) {
    if (!(error instanceof CodecError))
      throw new InternalError(operation, `Parse${what}`, messageOf(error), { cause: error });
    throw new ConfigurationError(
      operation,
      `${error.step === 'decode' ? 'Parse' : 'Validate'}${what}`,
      error.message,
    );
  }
}

async function secondaryTarget(
  name: string,
  item: View<DeployItem>,
  { targets, client, reader }: LookPorts,
  signal: AbortSignal,
): Promise<ResolvedTarget> {
  const place = ['SecondaryTarget', 'ReadSecondaryTarget'] as const;
  const key = joinKey(item.metadata.namespace, name);
  let target = targets.get(key);
  try {
    target ??= await client.get(TARGET, key, signal);
  } catch (error) {
    throw new RetryError(...place, `unable to read secondary target ${name}: ${messageOf(error)}`, {
      cause: error,
    });
  }
  try {
    return await reader.resolve(target, signal);
  } catch (error) {
    throw new RetryError(...place, `unable to resolve secondary target ${name}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}
