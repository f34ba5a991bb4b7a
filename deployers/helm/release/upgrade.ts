/** Upgrades a release to another chart or other values. */
import { because, recordTime, ReleaseError, said, type ReleaseTarget } from './cluster.ts';
import { runHooks } from './hooks.ts';
import { existing } from './ownership.ts';
import { deleteAll, findSame, resourcesOf, type Resource } from './resources.ts';
import { isValidName, ownedResources, recorded, render } from './revision.ts';
import { rollBack } from './rollback.ts';
import type { ActionSettings, ChartInput } from './settings.ts';
import {
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

/** @throws ReleaseError if it fails; HelmError for errors in the chart */
export async function upgrade(
  input: ChartInput,
  settings: ActionSettings,
  target: ReleaseTarget,
): Promise<void> {
  const { name } = target;
  if (!isValidName(name)) throw new ReleaseError(`release name is invalid: ${name}`);
  const { last, current } = await base(target);
  const info = {
    first_deployed: current.view.info.first_deployed,
    last_deployed: recordTime(target.clock),
    deleted: '',
    description: 'Preparing upgrade',
    status: 'pending-upgrade',
  };
  const version = last.version + 1;
  const at = { revision: version, version, isUpgrade: true, info, labels: last.labels };
  const revision = await render(input, at, target);
  const wanted = await ownedResources(revision, target);
  const before = await resourcesOf(current.view.documents, target).catch((error: unknown) => {
    throw because('unable to build kubernetes objects from current release manifest', error, target);
  });
  const added = wanted.filter((resource) => !isInSameVersion(before, resource));
  const adopted = await existing(added, settings.takesOwnership, target).catch((error: unknown) => {
    throw because('Unable to continue with update', error, target);
  });
  await createRevision(revision, target, { prunes: true });
  const working = { revision };
  await recorded(
    working,
    target,
    (message) => `Upgrade "${name}" failed: ${message}`,
    () => perform({ working, current, before: [...before, ...adopted], wanted }, settings, target),
    (error) => fail(working, error, settings, target),
  );
}

const isInSameVersion = (resources: readonly Resource[], wanted: Resource): boolean =>
  findSame(resources, wanted)?.object.apiVersion === wanted.object.apiVersion;

/** The last revision, and the one whose objects are on the cluster. @throws ReleaseError */
async function base(target: ReleaseTarget): Promise<{ readonly last: Revision; readonly current: Revision }> {
  const records = await history(target);
  const last = await newestIn(records, target);
  const none = `"${target.name}" has no deployed releases`;
  if (!last) throw new ReleaseError(none);
  const { status } = last.view.info;
  if (status.startsWith('pending-'))
    throw new ReleaseError('another operation (install/upgrade/rollback) is in progress');
  if (status === 'deployed') return { last, current: last };
  const deployed = records.findLast((record) => record.status === 'deployed');
  const current = deployed && (await readRevision(deployed, target));
  if (current) return { last, current };
  if (status === 'failed' || status === 'superseded') return { last, current: last };
  throw new ReleaseError(none);
}

interface Step {
  readonly working: Working;
  /** The revision that is replaced. */
  readonly current: Revision;
  readonly before: readonly Resource[];
  readonly wanted: readonly Resource[];
}

/** A failure after objects were created. */
class FailedAfter extends UpdateFailed {}

async function perform(
  { working, current, before, wanted }: Step,
  { force, waits, waitsForJobs = false, timeoutMs }: ActionSettings,
  target: ReleaseTarget,
): Promise<void> {
  await runHooks(working, 'pre-upgrade', timeoutMs, target).catch((error: unknown) => {
    throw because('pre-upgrade hooks failed', error, target);
  });
  const created = await update(before, wanted, target, { force });
  try {
    if (waits) await waitUntilReady(wanted, timeoutMs, target, { waitsForJobs });
    await runHooks(working, 'post-upgrade', timeoutMs, target).catch((error: unknown) => {
      throw because('post-upgrade hooks failed', error, target);
    });
  } catch (error) {
    target.signal.throwIfAborted();
    throw new FailedAfter(said(error), created, { cause: error });
  }
  await setStatus(current, 'superseded', target);
  const info = { status: 'deployed', description: 'Upgrade complete' };
  working.revision = await updateRevision(working.revision, { info }, target);
}

async function fail(
  working: Working,
  error: Error,
  settings: ActionSettings,
  target: ReleaseTarget,
): Promise<never> {
  const message = said(error);
  const description = `Upgrade "${target.name}" failed: ${message}`;
  await setStatus(working.revision, 'failed', target, description).catch((problem: unknown) => {
    target.warn('failure of the release cannot be recorded', problem);
  });
  if (settings.cleansUp && error instanceof UpdateFailed) {
    const problems = await deleteAll(error.created, target);
    if (problems.length > 0) {
      const which = problems.map(said).join(', ');
      throw new ReleaseError(
        `an error occurred while cleaning up resources. original upgrade error: ${message}: unable to cleanup resources: ${which}`,
      );
    }
  }
  if (settings.isAtomic) await undo(error, settings, target);
  throw error;
}

/** Rolls back to the last revision that succeeded. */
async function undo(error: Error, settings: ActionSettings, target: ReleaseTarget): Promise<never> {
  const message = said(error);
  const good = (await history(target)).findLast(({ status }) => ['superseded', 'deployed'].includes(status));
  if (!good) {
    throw new ReleaseError(
      `unable to find a previously successful release when attempting to rollback. original upgrade error: ${message}`,
    );
  }
  await rollBack(good.revision, { ...settings, waits: true, cleansUp: false }, target).catch(
    (problem: unknown) => {
      const why = `an error occurred while rolling back the release. original upgrade error: ${message}`;
      throw because(why, problem, target);
    },
  );
  throw new ReleaseError(
    `release ${target.name} failed, and has been rolled back due to atomic being set: ${message}`,
    { cause: error },
  );
}
