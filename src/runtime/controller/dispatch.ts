/**
 * Handles one key: adds a missing finalizer and queues the key again; cleans up an object that is being deleted;
 * otherwise reconciles. It never throws; errors are in the result.
 */
import type { ControllerMetrics } from '../../observability/controller-metrics.ts';
import { checkDelete, checkError, checkUpdate } from './check-control.ts';
import { applyUpdate, writeStatus, type ControlPorts } from './controls.ts';
import type { ReconcileResult } from './decide.ts';
import { Conflict, isFinal } from '../errors.ts';
import { addFinalizer, hasFinalizer, removeFinalizer } from './finalizer.ts';
import type { Reconciler, Settings } from './spec.ts';
import { getIfThere } from '../transport/read.ts';
import type { Cache, Client, Context, ErrorControl, Key, Obj, UpdateControl, View, Write } from '../types.ts';

export type Dispatched =
  /** There was nothing to do; neither reconcile nor cleanup was called. */
  | { readonly type: 'idle' }
  /** The finalizer was added; the key must be queued again. */
  | { readonly type: 'prepared' }
  | {
      readonly type: 'ran';
      readonly result: ReconcileResult;
      /** The reconciler's `onError` handled the failure. */
      readonly isHandled: boolean;
    };

interface DispatchPorts<P extends Obj> {
  readonly settings: Settings<P>;
  readonly client: Client;
  readonly cache: Cache<P>;
  readonly metrics: ControllerMetrics;
  readonly key: Key;
}

export function dispatch<P extends Obj>(
  primary: View<P>,
  ctx: Context<P>,
  ports: DispatchPorts<P>,
): Promise<Dispatched> {
  const { finalizer } = ports.settings;
  const isDeleting = primary.metadata.deletionTimestamp !== undefined;
  if (finalizer.type === 'reconciler') return reconcile(primary, ctx, ports);
  if (isDeleting) {
    const isOurs = finalizer.type === 'runtime' && hasFinalizer(primary, finalizer.name);
    return isOurs ? cleanup(primary, finalizer.name, ctx, ports) : Promise.resolve({ type: 'idle' });
  }
  if (finalizer.type === 'runtime' && !hasFinalizer(primary, finalizer.name)) {
    return prepare(primary, finalizer.name, ctx, ports);
  }
  return reconcile(primary, ctx, ports);
}

async function prepare<P extends Obj>(
  primary: View<P>,
  finalizer: string,
  ctx: Context<P>,
  { settings, client }: DispatchPorts<P>,
): Promise<Dispatched> {
  try {
    const { write, signal } = ctx;
    const there = await addFinalizer(settings.spec.kind, primary, finalizer, { client, write, signal });
    return { type: there ? 'prepared' : 'idle' };
  } catch (error) {
    return failed({ ok: false, error, retry: true });
  }
}

async function cleanup<P extends Obj>(
  primary: View<P>,
  finalizer: string,
  ctx: Context<P>,
  { settings, client, metrics }: DispatchPorts<P>,
): Promise<Dispatched> {
  try {
    const control = await (settings.spec.reconciler as CleaningReconciler<P>).cleanup(primary, ctx);
    checkDelete(control);
    if (control.finalizer === 'keep') return ran({ ok: true, ...requeueOf(control) });
    const { write, signal } = ctx;
    await removeFinalizer(settings.spec.kind, primary, finalizer, { client, write, signal });
    return ran({ ok: true, removed: primary.metadata.uid ?? '' });
  } catch (thrown) {
    const error = toError(thrown, metrics);
    return failed({ ok: false, error, retry: !isFinal(error) });
  }
}

/** The runtime has a finalizer only for reconcilers with a cleanup. */
type CleaningReconciler<P extends Obj> = Reconciler<P> & Required<Pick<Reconciler<P>, 'cleanup'>>;

async function reconcile<P extends Obj>(
  primary: View<P>,
  ctx: Context<P>,
  ports: DispatchPorts<P>,
): Promise<Dispatched> {
  try {
    const control = await ports.settings.spec.reconciler.reconcile(primary, ctx);
    checkUpdate(control, primary);
    const base = control.write === 'none' ? primary : baseOf(control, primary, ports);
    const { echo } = control.write === 'none' ? {} : control;
    await applyUpdate(control, base, controlPorts(primary, ctx, ports, echo));
    return ran({ ok: true, ...requeueOf(control) });
  } catch (thrown) {
    const error = toError(thrown, ports.metrics);
    return onFailure(primary, ctx, error, ports);
  }
}

async function onFailure<P extends Obj>(
  primary: View<P>,
  ctx: Context<P>,
  error: Error,
  ports: DispatchPorts<P>,
): Promise<Dispatched> {
  const control = await askAuthor(primary, ctx, error, ports);
  const isLast = isFinal(error);
  if (control === 'default') return failed({ ok: false, error, retry: !isLast });
  if (control.status) await writeErrorStatus(control.status, primary, ctx, ports);
  const retry = control.retry && !isLast;
  if (retry && control.requeueAfterMs !== undefined) {
    ctx.log.warn(
      { requeueAfterMs: control.requeueAfterMs },
      'a failed reconcile is retried after its back-off, not after a delay',
    );
  }
  return {
    type: 'ran',
    isHandled: true,
    result: { ok: false, error, retry, ...(!retry && requeueOf(control)) },
  };
}

async function askAuthor<P extends Obj>(
  primary: View<P>,
  ctx: Context<P>,
  error: Error,
  { settings }: DispatchPorts<P>,
): Promise<ErrorControl<P>> {
  const { reconciler } = settings.spec;
  if (!reconciler.onError) return 'default';
  try {
    const control = await reconciler.onError(primary, ctx, error);
    checkError(control, primary);
    return control;
  } catch (second) {
    ctx.log.error({ err: second }, 'error handler failed');
    return 'default';
  }
}

/** Number of attempts to write the status of a failed reconcile while others write the object. */
const STATUS_TRIES = 5;

/** Based on the newest known state, because the failure may have been a conflict; after a conflict, on the live one. */
async function writeErrorStatus<P extends Obj>(
  object: P | View<P>,
  primary: View<P>,
  ctx: Context<P>,
  ports: DispatchPorts<P>,
): Promise<void> {
  const { cache, client, key, settings } = ports;
  try {
    let current: View<P> | undefined = cache.get(key) ?? primary;
    for (let tries = 1; current && current.metadata.uid === primary.metadata.uid; tries++) {
      const how = { version: current.metadata.resourceVersion };
      try {
        await writeStatus(object, current, how, {
          ...controlPorts(primary, ctx, ports),
          observed: undefined,
        });
        return;
      } catch (error) {
        if (!(error instanceof Conflict) || tries >= STATUS_TRIES) throw error;
      }
      current = (await getIfThere(client, settings.spec.kind, key, ctx.signal)) as View<P> | undefined;
    }
  } catch (error) {
    ctx.log.warn({ err: String(error) }, 'writing the status of a failed reconcile failed');
  }
}

/** The state from which the reconciler's object was derived: the primary, or a state that was written or read since. */
function baseOf<P extends Obj>(
  control: Exclude<UpdateControl<P>, { write: 'none' }>,
  primary: View<P>,
  { cache, key }: DispatchPorts<P>,
): View<P> {
  const { resourceVersion, uid } = control.object.metadata;
  if (resourceVersion === undefined || resourceVersion === primary.metadata.resourceVersion) return primary;
  const newest = cache.get(key);
  const isIt = newest?.metadata.resourceVersion === resourceVersion && newest.metadata.uid === uid;
  return isIt ? newest : primary;
}

function controlPorts<P extends Obj>(
  primary: View<P>,
  ctx: Context<P>,
  { settings }: DispatchPorts<P>,
  echo?: Write['echo'],
): ControlPorts<P> {
  return {
    kind: settings.spec.kind,
    write: echo ? (write, signal) => ctx.write({ ...write, echo }, signal) : ctx.write,
    manager: settings.fieldManager,
    finalizer: settings.finalizer.type === 'runtime' ? settings.finalizer.name : undefined,
    observed: settings.generation === 'status' ? primary.metadata.generation : undefined,
  };
}

interface Requeue {
  readonly requeueAfterMs?: number;
}

const requeueOf = ({ requeueAfterMs }: Requeue): Requeue =>
  requeueAfterMs === undefined ? {} : { requeueAfterMs };

const ran = (result: ReconcileResult): Dispatched => ({ type: 'ran', result, isHandled: false });
const failed = ran;

function toError(thrown: unknown, metrics: ControllerMetrics): Error {
  if (thrown instanceof Error) return thrown;
  metrics.panic();
  return new Error(`a value that is not an error was thrown: ${String(thrown)}`, { cause: thrown });
}
