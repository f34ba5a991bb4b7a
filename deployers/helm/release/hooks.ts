/** Runs the hooks of an event, one after the other, and deletes their objects as their policies say. */
import type { HookRun, RecordChange, RecordHook } from '../../../src/templating/helm/record-view.ts';
import { byCodePoint } from '../../../src/lib/gojson.ts';
import { because, listed, recordTime, ReleaseError, said, type ReleaseTarget } from './cluster.ts';
import { createAll, deleteAll, resourcesOf } from './resources.ts';
import { changedRevision, updateRevision, type Revision, type Working } from './storage.ts';
import { waitUntilCompleted, waitUntilDeleted } from './wait.ts';

type HookEvent = `${'pre' | 'post'}-${'install' | 'upgrade' | 'rollback' | 'delete'}`;
type Policy = 'before-hook-creation' | 'hook-succeeded' | 'hook-failed';

interface NumberedHook extends RecordHook {
  /** Position in the record. */
  readonly index: number;
}

/**
 * Runs the hooks of an event, and puts their results into the working copy. What changed since the last hook started is
 * not stored yet.
 * @param timeoutMs time for each hook
 * @throws ReleaseError
 */
export async function runHooks(
  working: Working,
  event: HookEvent,
  timeoutMs: number,
  target: ReleaseTarget,
): Promise<void> {
  const done: NumberedHook[] = [];
  for (const hook of hooksOf(working.revision, event)) {
    await deleteBy('before-hook-creation', hook, timeoutMs, target);
    await runHook(hook, { working, event, timeoutMs, succeeded: done }, target);
    done.push(hook);
  }
  for (const hook of done.reverse()) await deleteBy('hook-succeeded', hook, timeoutMs, target);
}

interface HookStep {
  readonly working: Working;
  readonly event: HookEvent;
  readonly timeoutMs: number;
  readonly succeeded: readonly NumberedHook[];
}

async function runHook(
  hook: NumberedHook,
  { working, event, timeoutMs, succeeded }: HookStep,
  target: ReleaseTarget,
): Promise<void> {
  const resources = await resourcesOf(hook.documents, target).catch((error: unknown) => {
    throw because(`unable to build kubernetes object for ${event} hook ${hook.path}`, error, target);
  });
  const started_at = recordTime(target.clock);
  const changeTo = (phase: HookRun['phase']): RecordChange => {
    const completed_at = phase === 'Running' ? '' : recordTime(target.clock);
    const run = { started_at, completed_at, phase };
    return { hooks: [{ index: hook.index, run, deletePolicies: hook.deletePolicies }] };
  };
  working.revision = await updateRevision(working.revision, changeTo('Running'), target);
  try {
    await createAll(resources, target).catch((error: unknown) => {
      target.signal.throwIfAborted();
      throw new NotCreated(`warning: Hook ${event} ${hook.path} failed: ${said(error)}`, { cause: error });
    });
    await waitUntilCompleted(resources, timeoutMs, target);
  } catch (error) {
    target.signal.throwIfAborted();
    working.revision = await changedRevision(working.revision, changeTo('Failed'), target);
    if (!(error instanceof NotCreated)) await cleanUp(hook, succeeded, timeoutMs, target);
    throw error;
  }
  working.revision = await changedRevision(working.revision, changeTo('Succeeded'), target);
}

/**
 * Deletes what hooks of an interrupted action left behind, if their policies do not delete it before the next run.
 * @param since RFC 3339; start of the action
 */
export async function deleteInterrupted(
  { view }: Revision,
  since: string,
  timeoutMs: number,
  target: ReleaseTarget,
): Promise<void> {
  for (const [index, hook] of view.hooks.entries()) {
    const isOurs = Date.parse(hook.startedAt) >= Date.parse(since); // false if it has not run
    if (isOurs && !hook.deletePolicies.includes('before-hook-creation')) {
      const deletePolicies = ['hook-failed'];
      await deleteBy('hook-failed', { ...hook, index, deletePolicies }, timeoutMs, target);
    }
  }
}

class NotCreated extends ReleaseError {}

/** The hooks of an event by weight and name; their default policy is set. */
function hooksOf({ view }: Revision, event: HookEvent): readonly NumberedHook[] {
  return view.hooks
    .map((hook, index) => ({
      ...hook,
      index,
      deletePolicies: hook.deletePolicies.length > 0 ? hook.deletePolicies : ['before-hook-creation'],
    }))
    .filter(({ events }) => events.includes(event))
    .sort((a, b) => a.weight - b.weight || byCodePoint(a.name, b.name));
}

/** After a failure: an error in the deletion of the failed hook does not hide it. */
async function cleanUp(
  failed: NumberedHook,
  succeeded: readonly NumberedHook[],
  timeoutMs: number,
  target: ReleaseTarget,
): Promise<void> {
  try {
    await deleteBy('hook-failed', failed, timeoutMs, target);
  } catch (error) {
    target.signal.throwIfAborted();
    target.warn('hook that failed cannot be deleted', error);
  }
  for (const hook of succeeded) await deleteBy('hook-succeeded', hook, timeoutMs, target);
}

/** Deletes the objects of a hook if its policies say so; never a CustomResourceDefinition. @throws ReleaseError */
async function deleteBy(
  policy: Policy,
  { kind, path, deletePolicies, documents }: NumberedHook,
  timeoutMs: number,
  target: ReleaseTarget,
): Promise<void> {
  if (kind === 'CustomResourceDefinition' || !deletePolicies.includes(policy)) return;
  const resources = await resourcesOf(documents, target).catch((error: unknown) => {
    throw because(`unable to build kubernetes object for deleting hook ${path}`, error, target);
  });
  const errors = await deleteAll(resources, target);
  if (errors.length > 0) throw new ReleaseError(errors.length === 1 ? said(errors[0]) : listed(errors));
  await waitUntilDeleted(resources, timeoutMs, target);
}
