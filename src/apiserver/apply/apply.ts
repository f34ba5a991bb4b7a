/**
 * Server-side apply: a manager applies its intent, and the server determines which fields to set and to remove, and
 * which conflict with other managers.
 *
 * Two managers may own the same value; then neither can change it alone. A field that a manager owned and does not
 * apply any more is removed, unless another manager owns it.
 */
import { equal } from '../../lib/json.ts';
import { goQuote } from '../schema/field-errors.ts';
import {
  difference,
  EMPTY,
  intersection,
  isEmptySet,
  keepTopLevel,
  pathsOf,
  union,
  type FieldSet,
} from './field-set.ts';
import {
  all,
  bookUpdate,
  changesBetween,
  changesByVersion,
  identity,
  ownable,
  readManaged,
  withoutChanges,
  withoutManaged,
  writeManaged,
  type ChangesIn,
  type Managed,
  type ObjectType,
} from './managed-fields.ts';
import { prune } from './prune.ts';
import { compareValues, fieldsOf } from './typed-compare.ts';
import { mergeValues, typeErrors, withoutNulls } from './typed-merge.ts';
import type { Version, VersionOf } from './versions.ts';
import { isObject, type JsonObject, type KubeObject, type ManagedFieldsEntry } from '../types.ts';

export { updateManagedFields, equalButForTimes } from './managed-fields.ts';
export type { ObjectType, UpdateOptions } from './managed-fields.ts';

/** The configuration does not match its kind; upstream answers 500 with this message and no reason. */
export class ApplyTypeError extends Error {
  override readonly name = 'ApplyTypeError';
}

interface Conflict {
  /** The manager in the format of messages: `"upd" using v1`. */
  readonly manager: string;
  readonly field: string;
}

interface ApplyOptions {
  /** The stored object in the version of the request; absent if there is none. */
  readonly live?: KubeObject | undefined;
  readonly applied: KubeObject;
  readonly manager: string;
  readonly force?: boolean | undefined;
  readonly type: ObjectType;
  readonly apiVersion: string;
  /** RFC 3339, whole seconds. */
  readonly time: string;
  readonly subresource?: string | undefined;
  /** Which top-level members this endpoint may write; default: all. */
  readonly owns?: (member: string) => boolean;
  /** Absent: entries of all versions are in that of the request. */
  readonly versionOf?: VersionOf | undefined;
}

export type ApplyResult =
  | { readonly object: KubeObject; readonly isChanged: boolean }
  | { readonly conflicts: readonly Conflict[]; readonly message: string };

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * Applies a configuration. The returned object has its managedFields; it is not yet defaulted or validated.
 * @throws ApplyTypeError if the configuration does not match its kind
 */
export function applyServerSide(options: ApplyOptions): ApplyResult {
  const { live, manager, type } = options;
  checkType(options);
  const result = attempt(options, options.force === true);
  if (manager !== 'kubectl') return result;
  if ('conflicts' in result && live) {
    const allowed = unchangedSinceClientApply(type, live);
    const left = result.conflicts.filter((conflict) => !allowed.has(conflict.field));
    if (left.length > 0) return { conflicts: left, message: conflictMessage(left) };
    return withLastApplied(attempt(options, true), options.applied);
  }
  return withLastApplied(result, options.applied);
}

function checkType({ applied, type, apiVersion }: ApplyOptions): void {
  const errors = typeErrors(type.root, applied);
  if (errors.length === 0) return;
  const { name, namespace } = applied.metadata;
  const gv = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`;
  const who = `${namespace ?? ''}/${name}; ${gv}, Kind=${applied.kind}`;
  const what = errors.length === 1 ? (errors[0] ?? '') : `errors:\n${errors.map((e) => `  ${e}`).join('\n')}`;
  throw new ApplyTypeError(`failed to create typed patch object (${who}): ${what}`);
}

const dropUnowned = (object: KubeObject, owns: (member: string) => boolean): KubeObject => {
  const isKept = (name: string): boolean => ['apiVersion', 'kind', 'metadata'].includes(name) || owns(name);
  const names = Object.keys(object);
  if (names.every(isKept)) return object;
  return Object.fromEntries(
    names.filter(isKept).map((name) => [name, object[name]]),
  ) as unknown as KubeObject;
};

function attempt(options: ApplyOptions, force: boolean): ApplyResult {
  const { live, type, apiVersion, time } = options;
  const owns = options.owns ?? all;
  const applied = dropUnowned(options.applied, owns);
  const writer: ManagedFieldsEntry = {
    manager: options.manager,
    operation: 'Apply',
    apiVersion,
    ...(options.subresource ? { subresource: options.subresource } : {}),
  };
  const key = identity(writer);
  const entries = live ? entriesOf(live, options) : [];
  const last = entries.find((entry) => identity(entry) === key);
  const others = entries.filter((entry) => identity(entry) !== key);
  const set = ownable(keepTopLevel(fieldsOf(type.root, applied) ?? EMPTY, owns));

  const base = live ? withoutManaged(live) : undefined;
  const merged = base && (mergeValues(type.root, base, applied) as JsonObject);
  const versionOf = versionsOf(options);
  for (const entry of entries) versionOf(entry); // Each must exist, as upstream.
  const next = merged ? prune({ merged, mine: { ...writer, set }, last, others, versionOf }) : applied;
  const changesIn = changesOf(options, base, next);
  const conflicts = force ? [] : conflictsWith(others, changesIn);
  if (conflicts.length > 0) return { conflicts, message: conflictMessage(conflicts) };

  const isChanged = base === undefined || !equal(base, next);
  const kept = others.flatMap((entry) => {
    const left = withoutChanges(entry, changesIn(entry));
    return isEmptySet(left) ? [] : [left === entry.set ? entry : { ...entry, set: left }];
  });
  const stamp = isChanged ? time : last?.time;
  const mine = isEmptySet(set) ? [] : [{ ...writer, set, ...(stamp === undefined ? {} : { time: stamp }) }];
  const object = settleNulls(type, isChanged ? next : (base ?? next)) as unknown as KubeObject;
  return { object: withManaged(object, writeManaged([...kept, ...mine])), isChanged };
}

/** An object without managed fields counts as written by one unknown manager. */
function entriesOf(live: KubeObject, options: ApplyOptions): Managed[] {
  const entries = readManaged(live.metadata.managedFields) ?? [];
  if (entries.length > 0) return entries;
  const changes = changesBetween(options.type, undefined, withoutManaged(live), options.owns ?? all);
  if (!changes) return [];
  const before: ManagedFieldsEntry = {
    manager: 'before-first-apply',
    operation: 'Update',
    apiVersion: options.apiVersion,
    ...(options.subresource ? { subresource: options.subresource } : {}),
  };
  return bookUpdate([], () => changes, before, options.time);
}

/** What the write of `next` changes; nothing counts as changed in a new object. */
function changesOf(options: ApplyOptions, before: JsonObject | undefined, after: JsonObject): ChangesIn {
  const { type, apiVersion, owns = all, versionOf } = options;
  const changes = before && changesBetween(type, before, after, owns);
  if (!before || !changes) return () => ({ touched: EMPTY, removed: EMPTY });
  return changesByVersion({ before, after }, { apiVersion, changes }, versionOf);
}

/** Without versions, everything is in that of the request. */
function versionsOf({ type, apiVersion, versionOf, owns = all }: ApplyOptions) {
  const own: Version = {
    type,
    owns,
    convert: (object) => versionOf?.(apiVersion).convert(object) ?? object,
  };
  return (entry: ManagedFieldsEntry): Version =>
    !versionOf || entry.apiVersion === apiVersion ? own : versionOf(entry.apiVersion ?? '');
}

const withManaged = (object: KubeObject, managedFields: ManagedFieldsEntry[] | undefined): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, ...(managedFields ? { managedFields } : {}) },
});

function conflictsWith(others: readonly Managed[], changesIn: ChangesIn): Conflict[] {
  return [...others]
    .sort((a, b) => (identity(a) < identity(b) ? -1 : 1))
    .flatMap((entry) =>
      pathsOf(intersection(entry.set, changesIn(entry).touched))
        .sort()
        .map((field) => ({ manager: managerText(entry), field })),
    );
}

function managerText(entry: ManagedFieldsEntry): string {
  const subresource = entry.subresource ? ` with subresource ${goQuote(entry.subresource)}` : '';
  const using = entry.operation === 'Update' ? ` using ${entry.apiVersion ?? ''}` : '';
  return `${goQuote(entry.manager ?? '')}${subresource}${using}`;
}

function conflictMessage(conflicts: readonly Conflict[]): string {
  const [first] = conflicts;
  if (conflicts.length === 1 && first)
    return `Apply failed with 1 conflict: conflict with ${first.manager}: ${first.field}`;
  const managers = [...new Set(conflicts.map((conflict) => conflict.manager))];
  const lines = managers.flatMap((manager) => [
    `conflicts with ${manager}:`,
    ...conflicts.filter((conflict) => conflict.manager === manager).map((conflict) => `- ${conflict.field}`),
  ]);
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join('\n')}`;
}

/** Fields that a client-side apply set and that are unchanged since; kubectl may take them over. */
function unchangedSinceClientApply(type: ObjectType, live: KubeObject): ReadonlySet<string> {
  const text = live.metadata.annotations?.[LAST_APPLIED];
  const config = text === undefined ? undefined : parseObject(text);
  if (!config) return new Set();
  const found = compareValues(type.root, config, withoutManaged(live));
  const changed = [found?.modified, found?.added, found?.removed].reduce<FieldSet>(
    (set, node) => (node ? union(set, node) : set),
    EMPTY,
  );
  return new Set(pathsOf(difference(fieldsOf(type.root, config) ?? EMPTY, changed)));
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Updates the annotation of client-side apply, if there is one. */
function withLastApplied(result: ApplyResult, applied: KubeObject): ApplyResult {
  if ('conflicts' in result || result.object.metadata.annotations?.[LAST_APPLIED] === undefined)
    return result;
  const { [LAST_APPLIED]: _, ...annotations } = applied.metadata.annotations ?? {};
  const { annotations: __, ...metadata } = applied.metadata;
  const clean = {
    ...applied,
    metadata: { ...metadata, ...(Object.keys(annotations).length > 0 ? { annotations } : {}) },
  };
  const text = `${JSON.stringify(sortedKeys(clean))}\n`;
  const { metadata: own } = result.object;
  if (own.annotations?.[LAST_APPLIED] === text) return result;
  const object = {
    ...result.object,
    metadata: { ...own, annotations: { ...own.annotations, [LAST_APPLIED]: text } },
  };
  return { object, isChanged: true };
}

function sortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedKeys);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sortedKeys(value[key])]),
  );
}

/** Nulls in a configuration of a built-in kind count as empty values: `data: {a: null}` stores "". */
function settleNulls(type: ObjectType, object: JsonObject): JsonObject {
  return type.dropsNulls ? (withoutNulls(type.root, object) as JsonObject) : object;
}
