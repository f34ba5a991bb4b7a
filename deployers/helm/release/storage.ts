/** Stores revisions as Helm does: one secret each, with the status in a label. */
import { AlreadyExists, NotFound } from '../../../src/runtime/errors.ts';
import type { RecordChange, RecordView } from '../../../src/templating/helm/record-view.ts';
import { SECRET, type Secret } from '../../sdk/kinds.ts';
import { recordsOf, type ReleaseRecord } from '../releases.ts';
import { because, ReleaseError, type ReleaseTarget } from './cluster.ts';

/** Number of revisions that are kept. */
const MAX_REVISIONS = 10;

/** A revision whose record was read. */
export interface Revision {
  readonly version: number;
  readonly view: RecordView;
  /** `data.release` of its secret. */
  readonly release: string;
  /** Labels of its secret that a user added. */
  readonly labels: Readonly<Record<string, string>>;
}

/** The revision that an action works on, with changes that are not stored yet. */
export interface Working {
  revision: Revision;
}

const OWN_LABELS: ReadonlySet<string> = new Set([
  'name',
  'owner',
  'status',
  'version',
  'createdAt',
  'modifiedAt',
]);

const secretName = (release: string, version: number): string =>
  `sh.helm.release.v1.${release}.v${String(version)}`;

/** All records, oldest first, without their contents. */
export const history = (target: ReleaseTarget): Promise<readonly ReleaseRecord[]> =>
  recordsOf(target.access, target, target.signal);

/** The newest of the records that can be read; damaged ones do not count, as in Helm. */
export async function newestIn(
  records: readonly ReleaseRecord[],
  target: ReleaseTarget,
): Promise<Revision | undefined> {
  for (const record of [...records].reverse()) {
    const revision = await readRevision(record, target);
    if (revision) return revision;
  }
  return undefined;
}

export async function readRevision(
  record: ReleaseRecord,
  target: ReleaseTarget,
): Promise<Revision | undefined> {
  const release = await record.content();
  const view = await target.charts.viewRecord({ release });
  if (!view) return undefined;
  const labels = Object.entries(record.labels).filter(([key]) => !OWN_LABELS.has(key));
  return { version: record.revision, view, release, labels: Object.fromEntries(labels) };
}

/**
 * Reads a new revision, so that it can be stored.
 * @param release the record
 * @param labels those of the last revision
 */
export async function newRevision(
  release: string,
  version: number,
  labels: Readonly<Record<string, string>>,
  target: ReleaseTarget,
): Promise<Revision> {
  const view = await target.charts.viewRecord({ release });
  if (!view) throw new ReleaseError('the record of the new revision cannot be read');
  return { version, view, release, labels };
}

// ---------------------------------------------------------------- writes

const now = ({ clock }: ReleaseTarget): string => String(Math.floor(clock.wall() / 1000));

function secretOf(revision: Revision, time: 'createdAt' | 'modifiedAt', target: ReleaseTarget): Secret {
  const { name, namespace } = target;
  const { version, view, release, labels } = revision;
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: secretName(name, version),
      namespace,
      labels: {
        ...labels,
        [time]: now(target),
        name,
        owner: 'helm',
        status: view.info.status,
        version: String(version),
      },
    },
    type: 'helm.sh/release.v1',
    data: { release },
  };
}

/** Makes room for a new revision, and stores it. @throws ReleaseError */
export async function createRevision(
  revision: Revision,
  target: ReleaseTarget,
  { prunes = false }: { readonly prunes?: boolean } = {},
): Promise<void> {
  if (prunes) await prune(target);
  const object = secretOf(revision, 'createdAt', target);
  try {
    await target.access.client.send({ verb: 'create', kind: SECRET, object }, target.signal);
  } catch (error) {
    if (error instanceof AlreadyExists) throw new ReleaseError('release: already exists', { cause: error });
    throw because('create: failed to create', error, target);
  }
}

/** Deletes the oldest revisions, but never the deployed one. */
async function prune(target: ReleaseTarget): Promise<void> {
  const records = await history(target);
  const deployed = records.findLast(({ status }) => status === 'deployed');
  const excess = records.length - (MAX_REVISIONS - 1);
  const old = records.filter((record) => record !== deployed).slice(0, Math.max(0, excess));
  for (const { revision } of old) await deleteRevision(revision, target);
}

/** Stores a change. @returns the changed revision. @throws ReleaseError */
export async function updateRevision(
  revision: Revision,
  change: RecordChange,
  target: ReleaseTarget,
): Promise<Revision> {
  const changed = await changedRevision(revision, change, target);
  const object = secretOf(changed, 'modifiedAt', target);
  try {
    await target.access.client.send({ verb: 'replace', kind: SECRET, object }, target.signal);
  } catch (error) {
    throw because('update: failed to update', error, target);
  }
  return changed;
}

/** The changed revision, which is not stored. */
export async function changedRevision(
  { release, ...rest }: Revision,
  change: RecordChange,
  target: ReleaseTarget,
): Promise<Revision> {
  const next = (await target.charts.changeRecord({ release, change })) ?? release;
  return newRevision(next, change.version ?? rest.version, rest.labels, target);
}

/** The revision with another status. @returns the changed revision. @throws ReleaseError */
export const setStatus = (
  revision: Revision,
  status: string,
  target: ReleaseTarget,
  description = revision.view.info.description,
): Promise<Revision> => updateRevision(revision, { info: { status, description } }, target);

export async function deleteRevision(version: number, target: ReleaseTarget): Promise<void> {
  const { access, name, namespace, signal } = target;
  const key = `${namespace}/${secretName(name, version)}`;
  try {
    await access.client.send({ verb: 'delete', kind: SECRET, key }, signal);
  } catch (error) {
    if (!(error instanceof NotFound)) throw error;
  }
}
