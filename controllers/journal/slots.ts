/**
 * Where records are stored. A root has a fixed number of records: while there are fewer, a record is a new object,
 * and then the next one replaces the oldest. So a record is one write, and no cleanup can fall behind. Pure.
 */
import { installationKind, type Installation } from '../../src/api/kinds/installation.ts';
import { jobRecordKind, type JobRecord, type JobRecordSpec } from '../../src/api/kinds/jobrecord.ts';
import type { JournalSettings } from '../../src/api/journal.ts';
import { API_VERSION, labels } from '../../src/api/labels.ts';
import { sha1Hex } from '../../src/lib/hash.ts';
import type { View } from '../../src/runtime/types.ts';
import { trimmedEnd } from '../../src/lib/trim.ts';

type Records = readonly View<JobRecord>[];

/** The latest first. */
export const latestFirst = (records: Records): Records =>
  [...records].sort((a, b) => b.spec.number - a.spec.number);

interface Plan {
  /** Too old, or more than the limit, which was higher before. */
  readonly surplus: Records;
  /** The record that the next one replaces. */
  readonly replaced: View<JobRecord> | undefined;
}

/** @param isNext whether a record is about to be written */
export function planOf(records: Records, settings: JournalSettings, now: number, isNext: boolean): Plan {
  const sorted = latestFirst(records);
  const kept = sorted.slice(0, settings.jobsPerRoot).filter((one) => !isExpired(one, settings, now));
  const surplus = sorted.filter((one) => !kept.includes(one));
  // An expired record is replaced instead of deleted.
  const replaced = isNext
    ? (surplus[0] ?? (kept.length >= settings.jobsPerRoot ? kept.at(-1) : undefined))
    : undefined;
  return { surplus: surplus.filter((one) => one !== replaced), replaced };
}

export const isExpired = (record: View<JobRecord>, settings: JournalSettings, now: number): boolean =>
  expiryOf(record, settings) <= now;

/** Milliseconds since 1970. */
export const expiryOf = ({ spec, metadata }: View<JobRecord>, { maxAgeMs }: JournalSettings): number =>
  (Date.parse(spec.endedAt ?? metadata.creationTimestamp ?? '') || 0) + maxAgeMs;

/** Names have at most 253 characters. */
const MAX_ROOT = 230;

/** A new object, with the lowest number that no record of the root has. */
export function newRecord(
  root: View<Installation>,
  records: Records,
  spec: JobRecordSpec,
  settings: JournalSettings,
): JobRecord {
  const { name, namespace = '', uid = '' } = root.metadata;
  const prefix = `${trimmedEnd(name.slice(0, MAX_ROOT), '.-')}-${sha1Hex(uid).slice(0, 5)}`;
  const taken = new Set(records.map(({ metadata }) => metadata.name));
  let slot = 1;
  while (taken.has(`${prefix}-${String(slot)}`)) slot++;
  const owner = { apiVersion: API_VERSION, kind: installationKind.kind, name, uid };
  return {
    apiVersion: `${jobRecordKind.group}/${jobRecordKind.version}`,
    kind: jobRecordKind.kind,
    metadata: {
      name: `${prefix}-${String(slot)}`,
      namespace,
      labels: { [labels.rootUid]: uid },
      ...(!settings.keepAfterDeletion && { ownerReferences: [owner] }),
    },
    spec,
  };
}

/** The same object with the next record. */
export function replacement({ metadata }: View<JobRecord>, next: JobRecord): JobRecord {
  const { name, resourceVersion } = metadata;
  return { ...next, metadata: { ...next.metadata, name, ...(resourceVersion && { resourceVersion }) } };
}
