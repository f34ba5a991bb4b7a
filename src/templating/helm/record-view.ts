/**
 * Reads and changes release records, which a user with write access to the target may have crafted: both run in a
 * worker that can be stopped.
 */
import { gzipSync } from 'node:zlib';
import { exactJson } from '../../lib/exact-json.ts';
import { isObject, ownField, type Fields } from '../../lib/objects.ts';
import type { RecordInfo } from './record-content.ts';
import { documentsOf } from './documents.ts';
import { documentOf, recordIn, type RecordJob } from './record.ts';

/** One hook of a record. */
export interface RecordHook {
  readonly name: string;
  readonly kind: string;
  /** Path of the template. */
  readonly path: string;
  readonly events: readonly string[];
  readonly weight: number;
  readonly deletePolicies: readonly string[];
  /** RFC 3339; start of its last run, empty if it has not run. */
  readonly startedAt: string;
  /** Its objects as JSON. */
  readonly documents: readonly string[];
}

/** The parts of a record that actions on the release need. */
export interface RecordView {
  readonly info: RecordInfo;
  readonly hooks: readonly RecordHook[];
  /** The objects of the manifest as JSON, in their order. */
  readonly documents: readonly string[];
  /** The chart as `name-version`. */
  readonly chart: string;
}

/** The last run of a hook, in Helm's form. */
export interface HookRun {
  readonly started_at: string;
  readonly completed_at: string;
  readonly phase: 'Unknown' | 'Running' | 'Succeeded' | 'Failed';
}

/** A change of a record. */
export interface RecordChange {
  readonly info?: Partial<RecordInfo>;
  /** By position of the hook. */
  readonly hooks?: readonly {
    readonly index: number;
    readonly run: HookRun;
    readonly deletePolicies: readonly string[];
  }[];
  /** A copy of the record as another revision: hooks keep their last run. */
  readonly version?: number;
}

export interface RecordChangeJob extends RecordJob {
  readonly change: RecordChange;
}

/** Undefined if the record is damaged. @throws ChartInvalid if it exceeds a limit */
export function viewRecord(job: RecordJob): RecordView | undefined {
  const record = recordIn(job);
  const info = ownField(record, 'info');
  if (!record || !isObject(info)) return undefined;
  const hooks = ownField(record, 'hooks');
  const metadata = ownField(ownField(record, 'chart'), 'metadata');
  return {
    info: infoIn(info),
    hooks: (Array.isArray(hooks) ? hooks : []).map(hookOf),
    documents: objectsIn(text(record, 'manifest')),
    chart: `${text(metadata, 'name')}-${text(metadata, 'version')}`,
  };
}

function text(fields: unknown, key: string): string {
  const value = ownField(fields, key);
  return typeof value === 'string' ? value : '';
}

const texts = (fields: unknown, key: string): readonly string[] => {
  const value = ownField(fields, key);
  return (Array.isArray(value) ? value : []).filter((each) => typeof each === 'string');
};

const infoIn = (info: Fields): RecordInfo => ({
  first_deployed: text(info, 'first_deployed'),
  last_deployed: text(info, 'last_deployed'),
  deleted: text(info, 'deleted'),
  description: text(info, 'description'),
  status: text(info, 'status'),
});

const objectsIn = (manifest: string): readonly string[] =>
  documentsOf(manifest).flatMap((part) => documentOf(part) ?? []);

function hookOf(hook: unknown): RecordHook {
  const weight = ownField(hook, 'weight');
  return {
    name: text(hook, 'name'),
    kind: text(hook, 'kind'),
    path: text(hook, 'path'),
    events: texts(hook, 'events'),
    weight: typeof weight === 'number' ? weight : 0,
    deletePolicies: texts(hook, 'delete_policies'),
    startedAt: text(ownField(hook, 'last_run'), 'started_at'),
    documents: objectsIn(text(hook, 'manifest')),
  };
}

/** The changed record, packed for `data.release`; undefined if it is damaged. @throws ChartInvalid */
export function changeRecord({ change, ...job }: RecordChangeJob): string | undefined {
  const record = recordIn(job);
  if (!record) return undefined;
  const info = ownField(record, 'info');
  const hooks = ownField(record, 'hooks');
  const known = Array.isArray(hooks) ? [...(hooks as unknown[])] : [];
  for (const { index, run, deletePolicies } of change.hooks ?? []) {
    const hook = known[index];
    if (isObject(hook)) known[index] = { ...hook, last_run: run, delete_policies: deletePolicies };
  }
  return packRecord({
    ...record,
    info: { ...(isObject(info) && info), ...change.info },
    ...(known.length > 0 && { hooks: known }),
    ...(change.version !== undefined && { version: change.version }),
  });
}

const BEST_COMPRESSION = 9;

/** As Helm does, and again as the API server expects binary data. */
export function packRecord(record: Fields): string {
  const packed = gzipSync(exactJson(record), { level: BEST_COMPRESSION }).toString('base64');
  return Buffer.from(packed).toString('base64');
}
