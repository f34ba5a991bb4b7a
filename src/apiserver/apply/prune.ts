/** Removes what a manager applied before and does not apply any more. */
import type { JsonObject } from '../types.ts';
import { difference, EMPTY, intersection, isEmptySet, union, type FieldSet } from './field-set.ts';
import type { Managed } from './managed-fields.ts';
import { fieldsOf, withNamedParents } from './typed-compare.ts';
import { removeFields } from './typed-merge.ts';
import type { Version } from './versions.ts';

interface Pruning {
  /** The object with the new configuration. */
  readonly merged: JsonObject;
  /** The new configuration of the manager, in the version of the request. */
  readonly mine: Managed;
  /** Its previous one, in any version. */
  readonly last: Managed | undefined;
  readonly others: readonly Managed[];
  readonly versionOf: (entry: Managed) => Version;
}

/** Removes fields of the manager's last intent that are not in the new one, unless another manager owns them. */
export function prune({ merged, mine, last, others, versionOf }: Pruning): JsonObject {
  if (last === undefined || isEmptySet(last.set)) return merged;
  if (last.apiVersion === mine.apiVersion && isEmptySet(difference(last.set, mine.set))) return merged;
  const version = versionOf(last);
  const before = version.convert(merged);
  const bare = remove(version, before, named(version, last.set));
  const restored = version.convert(
    withOwned({ merged: before, pruned: bare }, inVersions(last, [...others, mine]), versionOf),
  );
  const gone = difference(fields(version, before), fields(version, restored));
  return versionOf(mine).convert(remove(version, before, intersection(gone, last.set)));
}

/** Entries by version, first that of `last`: its fields may be required for conversions. */
function inVersions(last: Managed, entries: readonly Managed[]): readonly (readonly Managed[])[] {
  const groups = new Map<string | undefined, Managed[]>([[last.apiVersion, []]]);
  for (const entry of entries) {
    const group = groups.get(entry.apiVersion) ?? [];
    group.push(entry);
    groups.set(entry.apiVersion, group);
  }
  return [...groups.values()];
}

/** Adds the fields back that entries own. */
function withOwned(
  { merged, pruned }: { readonly merged: JsonObject; readonly pruned: JsonObject },
  groups: readonly (readonly Managed[])[],
  versionOf: (entry: Managed) => Version,
): JsonObject {
  let result = { merged, pruned };
  for (const group of groups) {
    const [first] = group;
    if (!first) continue;
    const version = versionOf(first);
    const before = version.convert(result.merged);
    const after = version.convert(result.pruned);
    const owned = named(
      version,
      group.reduce<FieldSet>((sum, { set }) => union(sum, set), EMPTY),
    );
    const gone = difference(fields(version, before), union(fields(version, after), owned));
    result = { merged: before, pruned: remove(version, before, gone) };
  }
  return result.pruned;
}

const named = ({ type }: Version, set: FieldSet): FieldSet => withNamedParents(type.root, set);

const fields = (version: Version, value: unknown): FieldSet =>
  named(version, fieldsOf(version.type.root, value) ?? EMPTY);

const remove = ({ type }: Version, object: JsonObject, gone: FieldSet): JsonObject =>
  (removeFields(type.root, object, gone) ?? {}) as JsonObject;
