/** Cleans up after an action whose process was killed. */
import { deleteRecord, type ReleaseRecord } from '../releases.ts';
import type { ReleaseTarget } from './cluster.ts';
import { deleteInterrupted } from './hooks.ts';
import { readRevision } from './storage.ts';

/** Time until the objects of a hook are deleted. */
const HOOKS_MS = 60_000;

/**
 * Deletes what its hooks left behind, and its record, so that the next action starts where this one did. Objects that it
 * created belong to the release, so the next action takes them over.
 */
export async function discardInterrupted(record: ReleaseRecord, target: ReleaseTarget): Promise<void> {
  const revision = await readRevision(record, target);
  if (revision) await deleteInterrupted(revision, revision.view.info.last_deployed, HOOKS_MS, target);
  await deleteRecord(target.access, record, target.signal);
}
