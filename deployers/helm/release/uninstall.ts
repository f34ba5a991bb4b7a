/** Uninstalls a release: deletes its objects, and its records unless the history is kept. */
import { byCodePoint } from '../../../src/lib/gojson.ts';
import { INSTALL_ORDER } from '../../../src/templating/helm/manifests.ts';
import { because, recordTime, ReleaseError, said, type ReleaseTarget } from './cluster.ts';
import { deleteInterrupted, runHooks } from './hooks.ts';
import { isKeptByRecord } from './ownership.ts';
import { deleteAll, resourcesOf, type Resource } from './resources.ts';
import { isValidName } from './revision.ts';
import {
  changedRevision,
  deleteRevision,
  history,
  newestIn,
  readRevision,
  setStatus,
  updateRevision,
  type Working,
} from './storage.ts';
import { waitUntilDeleted } from './wait.ts';
import type { ReleaseRecord } from '../releases.ts';

interface UninstallSettings {
  /** Whether to wait until the objects are deleted. */
  readonly waits: boolean;
  readonly keepsHistory: boolean;
  /** For each hook, and for the wait. */
  readonly timeoutMs: number;
}

/** The release does not exist. */
export class ReleaseNotFound extends ReleaseError {}

/** @throws ReleaseNotFound; ReleaseError if it fails */
export async function uninstall(settings: UninstallSettings, target: ReleaseTarget): Promise<void> {
  const { name, clock } = target;
  if (!isValidName(name)) throw new ReleaseError(`uninstall: Release name is invalid: ${name}`);
  const records = await history(target);
  const last = await newestIn(records, target);
  if (!last) throw new ReleaseNotFound(`uninstall: Release not loaded: ${name}: release: not found`);
  const { status, deleted } = last.view.info;
  if (status === 'uninstalled') {
    if (settings.keepsHistory) throw new ReleaseError(`the release named "${name}" is already deleted`);
    await purge(records, target);
    return;
  }
  if (status === 'uninstalling') await deleteInterrupted(last, deleted, settings.timeoutMs, target);
  const info = {
    status: 'uninstalling',
    deleted: recordTime(clock),
    description: 'Deletion in progress (or silently failed)',
  };
  const working = { revision: await changedRevision(last, { info }, target) };
  await runHooks(working, 'pre-delete', settings.timeoutMs, target);
  working.revision = await updateRevision(working.revision, { info }, target);
  const errors = [
    ...(await deleteObjects(working, settings, target)),
    ...(await errorOf(runHooks(working, 'post-delete', settings.timeoutMs, target), target)),
  ];
  if (settings.keepsHistory) await keep(working, records, target);
  else await purge(records, target);
  if (errors.length > 0) {
    const count = `uninstallation completed with ${String(errors.length)} error(s)`;
    throw new ReleaseError(`${count}: ${errors.map(said).join('; ')}`, { cause: errors[0] });
  }
}

/** @returns the errors of waiting. @throws ReleaseError if an object cannot be deleted */
async function deleteObjects(
  { revision }: Working,
  { waits, timeoutMs }: UninstallSettings,
  target: ReleaseTarget,
): Promise<readonly unknown[]> {
  const failed = `failed to delete release: ${target.name}`;
  const all = await resourcesOf(revision.view.documents, target).catch((error: unknown) => {
    throw because(`${failed}: unable to build kubernetes objects for delete`, error, target);
  });
  const resources = inOrder(all.filter((resource) => !isKeptByRecord(resource)));
  const errors = await deleteAll(resources, target);
  if (errors.length > 0) throw new ReleaseError(`${failed}: ${errors.map(said).join('; ')}`);
  return waits ? errorOf(waitUntilDeleted(resources, timeoutMs, target), target) : [];
}

async function errorOf(work: Promise<void>, { signal }: ReleaseTarget): Promise<readonly unknown[]> {
  try {
    await work;
    return [];
  } catch (error) {
    signal.throwIfAborted();
    return [error];
  }
}

/** The reverse order of an installation, except that services are deleted before workloads. */
const ORDER = [...INSTALL_ORDER].reverse().filter((kind) => kind !== 'Service');
ORDER.splice(ORDER.indexOf('IngressClass') + 1, 0, 'Service');
const rank = new Map(ORDER.map((kind, i) => [kind, i]));

const inOrder = (resources: readonly Resource[]): readonly Resource[] =>
  [...resources].sort(({ object: a }, { object: b }) => {
    const [x, y] = [rank.get(a.kind), rank.get(b.kind)];
    if (x === undefined && y === undefined) return byCodePoint(a.kind, b.kind);
    return (x ?? ORDER.length) - (y ?? ORDER.length);
  });

async function purge(records: readonly ReleaseRecord[], target: ReleaseTarget): Promise<void> {
  for (const { revision } of records) await deleteRevision(revision, target);
}

async function keep(
  working: Working,
  records: readonly ReleaseRecord[],
  target: ReleaseTarget,
): Promise<void> {
  await setStatus(working.revision, 'uninstalled', target, 'Uninstallation complete');
  for (const record of records) {
    if (record.status !== 'deployed' || record.revision === working.revision.version) continue;
    const deployed = await readRevision(record, target);
    if (deployed) await setStatus(deployed, 'superseded', target);
  }
}
