/** The context that a plugin receives: created from the deploy item, its Context and its target, and validated. */
import { isBeingDeleted } from '../../src/api/job.ts';
import { lastJobNeverStarted } from '../../src/api/never-started.ts';
import { refusalForJob } from '../../src/api/validation/index.ts';
import { othersKeeping } from '../../src/api/managed-objects.ts';
import { inexactIn, refusedInteger } from '../../src/lib/exact-json.ts';
import type { Logger } from '../../src/observability/log.ts';
import type { Tracer } from '../../src/observability/tracing/span.ts';
import { joinKey } from '../../src/runtime/keys.ts';
import { NotFound } from '../../src/runtime/errors.ts';
import type { Client, Store, View } from '../../src/runtime/types.ts';
import { CodecError, type Codec } from './codec.ts';
import type { DeployerPlugin, DeployContext, ReadinessRules } from './deployer.ts';
import { ConfigurationError, InternalError, RetryError, messageOf } from './errors.ts';
import { hostApi } from './host.ts';
import { CONTEXT, TARGET, type ContextObject, type DeployItem, type Target } from './kinds.ts';
import { VALIDATE_TARGET, validateTarget, type ResolvedTarget, type TargetReader } from './target.ts';
import type { TimeoutPolicy } from './timeout.ts';
import { traceOf } from './trace.ts';

const VALIDATE_ITEM = 'ValidateDeployItem';

/** Dependencies of a reconcile. */
export interface DeployContextPorts {
  readonly plugin: DeployerPlugin;
  readonly client: Client;
  readonly contexts: Pick<Store<ContextObject>, 'get'>;
  readonly targets: Pick<Store<Target>, 'get'>;
  readonly reader: TargetReader;
  readonly timeouts: TimeoutPolicy;
  /** Deploy items whose status contains the object with this uid. */
  readonly managersOf: (uid: string) => Iterable<View<DeployItem>>;
  readonly clock: DeployContext['clock'];
  readonly rng: DeployContext['rng'];
  /** Default `kstatus`. */
  readonly rules?: ReadinessRules | undefined;
  /** Undefined if traces are switched off. */
  readonly tracer?: Tracer | undefined;
}

/** The deploy item of a reconcile, and the functions for it. */
interface Subject extends Pick<DeployContext, 'begin' | 'scratch' | 'event'> {
  readonly item: View<DeployItem>;
  readonly log: Logger;
}

/** The limits of one reconcile. */
export interface Bounds {
  /** Milliseconds. */
  left(): number;
  readonly signal: AbortSignal;
  /** Name in the last call of `assertTimeLeft`. */
  readonly deadline: { lastStep: string };
}

/** Rejects what the webhooks reject, in case they are not installed. @throws ConfigurationError */
export function refuseInvalid(
  item: View<DeployItem>,
  target: View<Target> | undefined,
  operation: string,
): void {
  const itemRefusal = refusalForJob('deployitems', item);
  if (itemRefusal !== undefined)
    throw new ConfigurationError({ operation, reason: VALIDATE_ITEM, message: itemRefusal });
  const targetRefusal = target && refusalForJob('targets', target);
  if (target && targetRefusal !== undefined) {
    throw new ConfigurationError({
      operation,
      reason: VALIDATE_TARGET,
      message: `target ${target.metadata.name}: ${targetRefusal}`,
    });
  }
}

/**
 * Whether the item failed in all jobs because its configuration cannot be read, so there is nothing to uninstall. A
 * configuration that was applied may have been replaced by one that cannot be read; a plugin need not write a status.
 */
export function neverApplied({ spec, status }: View<DeployItem>, { config }: DeployerPlugin): boolean {
  if (status?.providerStatus !== undefined || !lastJobNeverStarted(status)) return false;
  if (inexactIn(spec.config)) return true;
  try {
    config.decode(spec.config);
    return false;
  } catch (error) {
    if (error instanceof CodecError) return true;
    throw error;
  }
}

/** The cache may not contain a Context that was just created with the item; then it is read from the server. */
export async function contextOf(
  item: View<DeployItem>,
  { contexts, client, timeouts }: DeployContextPorts,
  bounds: Bounds,
  operation: string,
): Promise<View<ContextObject>> {
  const key = joinKey(item.metadata.namespace, item.spec.context || 'default');
  const cached = contexts.get(key);
  if (cached) return cached;
  timeouts.check('deployer: before start', bounds.left());
  try {
    return await client.get(CONTEXT, key, bounds.signal);
  } catch (error) {
    const isMissing = error instanceof NotFound;
    // Contexts are deleted first when a namespace is deleted; the objects must be uninstalled anyway.
    if (isMissing && operation === 'delete') return withoutContext(item);
    if (isMissing && isBeingDeleted(item.metadata)) {
      throw new ConfigurationError({
        operation,
        reason: 'GetLandscaperContext',
        message: `the Context ${key} no longer exists, and the deploy item is being deleted`,
      });
    }
    const why = isMissing ? 'it does not exist' : messageOf(error);
    throw new RetryError({
      operation,
      reason: 'GetLandscaperContext',
      message: `unable to get the Context ${key}: ${why}`,
      cause: error,
    });
  }
}

/** Replaces a deleted Context; it contains no credentials. */
const withoutContext = ({ metadata, spec }: View<DeployItem>): View<ContextObject> => ({
  apiVersion: `${CONTEXT.group}/${CONTEXT.version}`,
  kind: CONTEXT.kind,
  metadata: { name: spec.context || 'default', ...(metadata.namespace && { namespace: metadata.namespace }) },
});

export function deployContextOf(
  subject: Subject,
  ports: DeployContextPorts,
  bounds: Bounds,
  facts: { readonly target: ResolvedTarget | undefined; readonly context: View<ContextObject> },
): DeployContext {
  const { plugin, clock, rng, tracer, rules = 'kstatus' } = ports;
  const { item } = subject;
  return {
    item,
    config: decoded(plugin, plugin.config, faithful(plugin, item), 'ProviderConfiguration'),
    previous: item.status?.providerStatus && statusOf(plugin, item.status.providerStatus),
    context: facts.context,
    target: facts.target,
    secondaryTarget: (name) => secondaryTarget(name, item, ports, bounds.signal),
    alsoManagedBy: (uid) => othersKeeping(item, ports.managersOf(uid)),
    host: hostApi(ports.client, item, bounds.signal),
    signal: bounds.signal,
    assertTimeLeft(name) {
      bounds.deadline.lastStep = name;
      bounds.signal.throwIfAborted();
      return ports.timeouts.check(name, bounds.left());
    },
    begin: subject.begin,
    scratch: subject.scratch,
    readiness: rules,
    clock,
    rng,
    log: subject.log,
    trace: traceOf(item, tracer),
    event: subject.event,
  };
}

/** The configuration, if no integer in it would lose digits on the way to the target. @throws ConfigurationError */
function faithful(
  { initOperation = 'Init', decodeReason = 'Parse' }: DeployerPlugin,
  item: View<DeployItem>,
): unknown {
  const { metadata, spec } = item;
  const found = inexactIn(spec.config, 'spec.config');
  if (!found) return spec.config;
  const where = `deploy item ${metadata.namespace ?? ''}/${metadata.name}: ${found.path}`;
  throw new ConfigurationError({
    operation: initOperation,
    reason: `${decodeReason}ProviderConfiguration`,
    message: refusedInteger(where, found.digits),
  });
}

const statusOf = (plugin: DeployerPlugin, status: unknown): unknown =>
  plugin.status ? decoded(plugin, plugin.status, status, 'ProviderStatus') : status;

function decoded<T>(plugin: DeployerPlugin, codec: Codec<T>, document: unknown, what: string): T {
  const { initOperation: operation = 'Init', decodeReason = 'Parse' } = plugin;
  try {
    return codec.decode(document);
  } catch (error) {
    if (!(error instanceof CodecError))
      throw new InternalError({
        operation,
        reason: `${decodeReason}${what}`,
        message: messageOf(error),
        cause: error,
      });
    throw new ConfigurationError({
      operation,
      reason: `${error.step === 'decode' ? decodeReason : 'Validate'}${what}`,
      message: [error.message, ...(codec.unread?.(document) ?? [])].join('; '),
    });
  }
}

async function secondaryTarget(
  name: string,
  item: View<DeployItem>,
  { targets, client, reader }: DeployContextPorts,
  signal: AbortSignal,
): Promise<ResolvedTarget> {
  const place = { operation: 'SecondaryTarget', reason: 'ReadSecondaryTarget' } as const;
  const key = joinKey(item.metadata.namespace, name);
  let target = targets.get(key);
  try {
    target ??= await client.get(TARGET, key, signal);
  } catch (error) {
    throw new RetryError({
      ...place,
      message: `unable to read secondary target ${name}: ${messageOf(error)}`,
      cause: error,
    });
  }
  try {
    const resolved = await reader.resolve(target, signal);
    validateTarget(resolved, place.operation);
    return resolved;
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    throw new RetryError({
      ...place,
      message: `unable to resolve secondary target ${name}: ${messageOf(error)}`,
      cause: error,
    });
  }
}
