/** Rolls a release back to an earlier revision, as a new revision. */
import { because, recordTime, ReleaseError, said, type ReleaseTarget } from './cluster.ts';
import { runHooks } from './hooks.ts';
import { deleteAll, resourcesOf, type Resource } from './resources.ts';
import { ownedResources } from './revision.ts';
import type { ActionSettings } from './settings.ts';
import {
  changedRevision,
  createRevision,
  history,
  newestIn,
  readRevision,
  setStatus,
  updateRevision,
  type Revision,
  type Working,
} from './storage.ts';
import { update, UpdateFailed } from './update.ts';
import { waitUntilReady } from './wait.ts';

interface RollbackSettings extends Pick<
  ActionSettings,
  'force' | 'waits' | 'waitsForJobs' | 'cleansUp' | 'timeoutMs'
> {
  /** Whether old revisions are deleted; Helm does not when an atomic upgrade has failed. */
  readonly prunes?: boolean;
}

/** @param to the revision. @throws ReleaseError */
export async function rollBack(to: number, settings: RollbackSettings, target: ReleaseTarget): Promise<void> {
  const records = await history(target);
  const current = await newestIn(records, target);
  if (!current) throw new ReleaseError('release: not found');
  const record = records.find(({ revision }) => revision === to);
  const earlier = record && (await readRevision(record, target));
  if (!earlier) throw new ReleaseError(`release has no ${String(to)} version`);
  const info = {
    first_deployed: current.view.info.first_deployed,
    last_deployed: recordTime(target.clock),
    deleted: '',
    description: `Rollback to ${String(to)}`,
    status: 'pending-rollback',
  };
  const revision = await changedRevision(earlier, { info, version: current.version + 1 }, target);
  await createRevision(revision, target, settings);
  await perform({ revision }, current, settings, target);
}

async function perform(
  working: Working,
  current: Revision,
  settings: RollbackSettings,
  target: ReleaseTarget,
): Promise<void> {
  const { waits, waitsForJobs = false, timeoutMs } = settings;
  const before = await resourcesOf(current.view.documents, target).catch((error: unknown) => {
    throw because('unable to build kubernetes objects from current release manifest', error, target);
  });
  const wanted = await ownedResources(working.revision, target).catch((error: unknown) => {
    throw because('unable to build kubernetes objects from new release manifest', error, target);
  });
  await runHooks(working, 'pre-rollback', timeoutMs, target);
  await apply({ working, current, before, wanted }, settings, target);
  if (waits) {
    await waitUntilReady(wanted, timeoutMs, target, { waitsForJobs }).catch(async (error: unknown) => {
      target.signal.throwIfAborted();
      const description = `Release "${target.name}" failed: ${said(error)}`;
      await setStatus(working.revision, 'failed', target, description);
      throw because(`release ${target.name} failed`, error, target);
    });
  }
  await runHooks(working, 'post-rollback', timeoutMs, target);
  for (const record of await history(target)) {
    if (record.status !== 'deployed') continue;
    const deployed = await readRevision(record, target);
    if (deployed) await setStatus(deployed, 'superseded', target);
  }
  working.revision = await updateRevision(working.revision, { info: { status: 'deployed' } }, target);
}

interface Step {
  readonly working: Working;
  readonly current: Revision;
  readonly before: readonly Resource[];
  readonly wanted: readonly Resource[];
}

async function apply(
  { working, current, before, wanted }: Step,
  { force, cleansUp = false }: RollbackSettings,
  target: ReleaseTarget,
): Promise<void> {
  try {
    await update(before, wanted, target, { force });
  } catch (error) {
    target.signal.throwIfAborted();
    await setStatus(current, 'superseded', target);
    const description = `Rollback "${target.name}" failed: ${said(error)}`;
    await setStatus(working.revision, 'failed', target, description);
    const problems = cleansUp && error instanceof UpdateFailed ? await deleteAll(error.created, target) : [];
    if (problems.length === 0) throw error;
    throw new ReleaseError(
      `an error occurred while cleaning up resources. original rollback error: ${said(error)}: unable to cleanup resources: ${problems.map(said).join(', ')}`,
    );
  }
}
