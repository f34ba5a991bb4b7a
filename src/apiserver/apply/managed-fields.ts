/**
 * `metadata.managedFields`: which manager set which fields.
 *
 * After every write other than an apply, the object is compared with its previous state: the writer becomes the owner
 * of fields that it added or changed, all others lose fields that were changed or removed. Entries are kept in their
 * wire format.
 */
import {
  difference,
  EMPTY,
  equalSets,
  isEmptySet,
  isFieldSet,
  keepTopLevel,
  sortedSet,
  union,
  type FieldNode,
  type FieldSet,
} from './field-set.ts';
import type { MapType } from './field-types.ts';
import { compareValues } from './typed-compare.ts';
import type { VersionOf } from './versions.ts';
import { isObject, type JsonObject, type KubeObject, type ManagedFieldsEntry } from '../types.ts';

/** Field ownership of a kind. */
export interface ObjectType {
  readonly root: MapType;
  /** The content of an empty object of the kind: members that always exist, which are never tracked. */
  readonly zero: JsonObject;
  /** Whether null means an empty value, as for built-in kinds. */
  readonly dropsNulls: boolean;
}

/** An entry of managedFields with its set; all fields are optional on the wire. */
export interface Managed extends ManagedFieldsEntry {
  readonly set: FieldSet;
}

/** If there are more Update entries than this, the oldest are combined into one. */
const MAX_UPDATERS = 10;
const ANCIENT = 'ancient-changes';

/** Members of metadata without an owner. */
const UNOWNED = [
  'name',
  'namespace',
  'creationTimestamp',
  'selfLink',
  'uid',
  'generation',
  'managedFields',
  'resourceVersion',
];
const UNOWNED_ELEMENTS = new Set(UNOWNED.map((name) => `f:${name}`));

/** The set without apiVersion, kind, and what only the server sets in metadata. */
export function ownable(set: FieldSet): FieldSet {
  const result: Record<string, FieldNode> = {};
  for (const key of Object.keys(set)) {
    const node = set[key];
    if (key === 'f:apiVersion' || key === 'f:kind' || node === undefined) continue;
    if (key !== 'f:metadata') result[key] = node;
    else {
      const kept = Object.entries(node).filter(([name]) => name !== '.' && !UNOWNED_ELEMENTS.has(name));
      if (kept.length > 0) result[key] = Object.fromEntries(kept);
    }
  }
  return result;
}

/** The identity of an entry; an applier is the same in all versions. */
export const identity = (entry: ManagedFieldsEntry): string =>
  JSON.stringify([
    entry.manager ?? '',
    entry.operation ?? '',
    entry.operation === 'Apply' ? '' : (entry.apiVersion ?? ''),
    entry.subresource ?? '',
  ]);

/** The entries of an object; undefined if one of them cannot be parsed. */
export function readManaged(entries: readonly ManagedFieldsEntry[] | undefined): Managed[] | undefined {
  const result: Managed[] = [];
  for (const entry of entries ?? []) {
    const isKnown = entry.operation === 'Apply' || entry.operation === 'Update';
    if (!isKnown || (entry.fieldsType ?? 'FieldsV1') !== 'FieldsV1') return undefined;
    const set = entry.fieldsV1 ?? EMPTY;
    if (!isFieldSet(set)) return undefined;
    result.push({ ...entry, set });
  }
  return result;
}

/** Whether the request resets managedFields: `[]` or `[{}]`. */
function isReset(entries: unknown): boolean {
  if (!Array.isArray(entries)) return false;
  const only: unknown = entries[0];
  return entries.length === 0 || (entries.length === 1 && isObject(only) && Object.keys(only).length === 0);
}

/** The entries before a write: those in the request if they can be parsed, otherwise the stored ones. */
function startingEntries(
  before: KubeObject | undefined,
  after: KubeObject,
  subresource: string | undefined,
): Managed[] {
  const stored = readManaged(before?.metadata.managedFields) ?? [];
  if (subresource !== undefined && subresource !== '') return stored;
  const sent: unknown = after.metadata.managedFields;
  if (sent === before?.metadata.managedFields || sent === undefined || sent === null) return stored;
  if (isReset(sent)) return [];
  const read = Array.isArray(sent) ? readManaged(sent as ManagedFieldsEntry[]) : undefined;
  return read && read.length > 0 ? read : stored;
}

/** The changes of a write, in fields that can have an owner. */
interface Changes {
  readonly touched: FieldSet;
  readonly removed: FieldSet;
}

/** @param owns which top-level members this endpoint may write */
export function changesBetween(
  type: ObjectType,
  before: JsonObject | undefined,
  after: JsonObject,
  owns: (member: string) => boolean,
): Changes | undefined {
  const found = compareValues(type.root, before ?? type.zero, after);
  if (!found) return undefined;
  const part = (node: FieldNode | undefined): FieldSet => (node ? ownable(keepTopLevel(node, owns)) : EMPTY);
  const touched = union(part(found.added), part(found.modified));
  const removed = part(found.removed);
  return isEmptySet(touched) && isEmptySet(removed) ? undefined : { touched, removed };
}

/** The changes in the version of an entry. */
export type ChangesIn = (entry: ManagedFieldsEntry) => Changes;

const UNCHANGED: Changes = { touched: EMPTY, removed: EMPTY };

/** Computes the changes of a write in each version once. */
export function changesByVersion(
  write: { readonly before: JsonObject; readonly after: JsonObject },
  own: { readonly apiVersion: string; readonly changes: Changes },
  versionOf: VersionOf | undefined,
): ChangesIn {
  const known = new Map<string | undefined, Changes>([[own.apiVersion, own.changes]]);
  return ({ apiVersion }) => {
    const found = known.get(apiVersion);
    if (found) return found;
    if (!versionOf) return own.changes;
    const { type, owns, convert } = versionOf(apiVersion ?? '');
    const changes = changesBetween(type, convert(write.before), convert(write.after), owns) ?? UNCHANGED;
    known.set(apiVersion, changes);
    return changes;
  };
}

export interface UpdateOptions {
  /** The object before the write; absent when it is created. */
  readonly before?: KubeObject | undefined;
  /** The object to store, with managedFields as in the request. */
  readonly after: KubeObject;
  readonly manager: string;
  readonly type: ObjectType;
  readonly apiVersion: string;
  /** RFC 3339, whole seconds; empty for an entry without time. */
  readonly time: string;
  readonly subresource?: string | undefined;
  /** Which top-level members this endpoint may write; default: all. */
  readonly owns?: (member: string) => boolean;
  /** Absent: entries of all versions are in that of the request. */
  readonly versionOf?: VersionOf | undefined;
}

/**
 * The managedFields of an object after a write other than an apply; undefined if there are none.
 *
 * An object without entries is tracked only from its creation on. If nothing has changed, the stored array itself is
 * returned.
 */
export function updateManagedFields(options: UpdateOptions): ManagedFieldsEntry[] | undefined {
  const { before, after } = options;
  const start = startingEntries(before, after, options.subresource);
  if (before !== undefined && start.length === 0) return undefined;
  const changes = changesBetween(options.type, before, after, options.owns ?? all);
  if (!changes) return unchanged(before, start);
  const entry = {
    manager: options.manager,
    operation: 'Update' as const,
    apiVersion: options.apiVersion,
    ...(options.subresource ? { subresource: options.subresource } : {}),
  };
  const own = { apiVersion: options.apiVersion, changes };
  const write = { before: withoutManaged(before ?? after), after: withoutManaged(after) };
  const changesIn = changesByVersion(write, own, options.versionOf);
  return writeManaged(bookUpdate(start, changesIn, entry, options.time));
}

export const all = (): boolean => true;

function unchanged(
  before: KubeObject | undefined,
  start: readonly Managed[],
): ManagedFieldsEntry[] | undefined {
  const stored = before?.metadata.managedFields;
  const isSame =
    stored?.length === start.length && start.every((entry, i) => entry.set === stored[i]?.fieldsV1);
  return isSame ? stored : writeManaged(start);
}

/** The entries after an Update: the writer becomes the owner, all others lose the changed fields. */
export function bookUpdate(
  entries: readonly Managed[],
  changesIn: ChangesIn,
  writer: ManagedFieldsEntry,
  time: string,
): Managed[] {
  const key = identity(writer);
  const result: Managed[] = [];
  const changes = changesIn(writer);
  let own: FieldSet = changes.touched;
  for (const entry of entries) {
    const left = withoutChanges(entry, changesIn(entry));
    if (identity(entry) === key) {
      if (isEmptySet(changes.touched) && !isEmptySet(left)) result.push({ ...entry, set: left });
      else own = union(left, own);
    } else if (!isEmptySet(left)) {
      result.push(left === entry.set ? entry : { ...entry, set: left });
    }
  }
  if (!isEmptySet(changes.touched)) result.push({ ...writer, set: own, time });
  return capUpdaters(result);
}

/** The fields that a manager still owns after changes of another one. */
export const withoutChanges = ({ set }: Managed, { touched, removed }: Changes): FieldSet =>
  difference(difference(set, touched), removed);

export function withoutManaged(object: KubeObject): JsonObject {
  if (object.metadata.managedFields === undefined) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** Combines the oldest Update entries of a version into one if there are too many. */
function capUpdaters(entries: Managed[]): Managed[] {
  const updaters = entries.filter((entry) => entry.operation === 'Update');
  if (updaters.length <= MAX_UPDATERS) return entries;
  const oldest = [...updaters].sort(
    (a, b) => seconds(a) - seconds(b) || (identity(a) < identity(b) ? -1 : 1),
  );
  const firstOf = new Map<string, Managed>();
  const bucketOf = new Map<string, Managed>();
  const folded = new Set<Managed>();
  let count = updaters.length;
  for (const entry of oldest) {
    if (count <= MAX_UPDATERS) break;
    const version = entry.apiVersion ?? '';
    const first = firstOf.get(version);
    if (!first) {
      firstOf.set(version, entry);
      continue;
    }
    const bucket = bucketOf.get(version) ?? first;
    folded.add(first).add(entry);
    const { time: _, subresource: __, ...rest } = entry;
    const set = union(entry.set, bucket.set);
    bucketOf.set(version, { ...rest, manager: ANCIENT, set, ...(entry.time ? { time: entry.time } : {}) });
    count--;
  }
  return [...entries.filter((entry) => !folded.has(entry)), ...bucketOf.values()];
}

const seconds = (entry: ManagedFieldsEntry): number =>
  entry.time ? Math.floor(Date.parse(entry.time) / 1000) : 0;

/** Entries in their wire format and order; undefined if there are none. */
export function writeManaged(entries: readonly Managed[]): ManagedFieldsEntry[] | undefined {
  if (entries.length === 0) return undefined;
  return [...entries].sort(compareEntries).map(({ set, ...entry }) => ({
    manager: entry.manager ?? '',
    operation: entry.operation ?? 'Update',
    apiVersion: entry.apiVersion ?? '',
    ...(entry.time ? { time: entry.time } : {}),
    fieldsType: 'FieldsV1',
    fieldsV1: set === entry.fieldsV1 ? set : sortedSet(set),
    ...(entry.subresource ? { subresource: entry.subresource } : {}),
  }));
}

function compareEntries(a: ManagedFieldsEntry, b: ManagedFieldsEntry): number {
  const order = (x: string | undefined, y: string | undefined): number =>
    (x ?? '') < (y ?? '') ? -1 : (x ?? '') > (y ?? '') ? 1 : 0;
  return (
    order(a.operation, b.operation) ||
    seconds(a) - seconds(b) ||
    order(a.manager, b.manager) ||
    order(a.apiVersion, b.apiVersion) ||
    order(a.subresource, b.subresource)
  );
}

/** Whether two managedFields are equal except for their times. */
export function equalButForTimes(
  a: readonly ManagedFieldsEntry[] | undefined,
  b: readonly ManagedFieldsEntry[] | undefined,
): boolean {
  if (a === b) return true;
  const [left, right] = [a ?? [], b ?? []];
  if (left.length !== right.length) return false;
  const others = new Map(right.map((entry) => [identity(entry), entry]));
  return left.every((entry) => {
    const other = others.get(identity(entry));
    if (!other || other.apiVersion !== entry.apiVersion) return false;
    const [mine, theirs] = [entry.fieldsV1 ?? EMPTY, other.fieldsV1 ?? EMPTY];
    return mine === theirs || (isFieldSet(mine) && isFieldSet(theirs) && equalSets(mine, theirs));
  });
}
