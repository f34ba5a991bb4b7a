/** Updates managedFields for a write, and decides which differences count as changes. */
import { equalButForTimes, updateManagedFields } from './apply.ts';
import type { ObjectType } from './apply.ts';
import { builtinObjectType, customType } from './builtin-types.ts';
import type { Kind } from '../kinds/kinds.ts';
import { ApiError } from '../status.ts';
import { equalJson } from '../types.ts';
import type { KubeObject, ManagedFieldsEntry } from '../types.ts';
import { kindIn, type Conversions, type VersionOf } from './versions.ts';

interface Tracked {
  readonly object: KubeObject;
  readonly kind: Kind;
  readonly manager: string;
  readonly time: string;
  readonly subresource: string;
  readonly conversions?: Conversions;
}

const types = new WeakMap<Kind, ObjectType>();

/** The field ownership rules of a kind. */
export function objectTypeOf(kind: Kind): ObjectType {
  let type = types.get(kind);
  if (!type) {
    const builtIn = kind.builtIn ? builtinObjectType(kind.group, kind.version, kind.kind) : undefined;
    types.set(kind, (type = builtIn ?? customType(kind.openapi)));
  }
  return type;
}

/** Which top-level members a write through this endpoint can own. */
export function ownedMembers(kind: Kind, subresource: string): (member: string) => boolean {
  if (subresource === 'status') return (member) => member === 'status';
  return kind.status ? (member) => member !== 'status' : () => true;
}

/** The versions in which entries name fields; undefined if the kind has only one. */
export const versionsFor = (
  kind: Kind,
  subresource: string,
  conversions: Conversions | undefined,
): VersionOf | undefined =>
  conversions &&
  kind.versions &&
  ((apiVersion) => {
    const other = kindIn(kind, apiVersion);
    return {
      type: objectTypeOf(other),
      owns: ownedMembers(other, subresource),
      convert: (object) => conversions.convert(object, other),
    };
  });

/** Makes the writer the owner of the fields that it has changed, or of all fields of a new object. */
export function trackOwners({
  live,
  object,
  kind,
  manager,
  time,
  subresource,
  conversions,
}: Tracked & { readonly live?: KubeObject }): void {
  put(
    object,
    entriesOrNone(() =>
      updateManagedFields({
        before: live,
        after: object,
        manager,
        type: objectTypeOf(kind),
        apiVersion: kind.apiVersion,
        time,
        subresource,
        owns: ownedMembers(kind, subresource),
        versionOf: versionsFor(kind, subresource, conversions),
      }),
    ),
  );
}

/** As upstream, an update whose object cannot be converted succeeds, and the object loses its managedFields. */
export function entriesOrNone(
  compute: () => ManagedFieldsEntry[] | undefined,
): ManagedFieldsEntry[] | undefined {
  try {
    return compute();
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

function put(object: KubeObject, entries: ManagedFieldsEntry[] | undefined): void {
  if (entries && entries.length > 0) object.metadata.managedFields = entries;
  else delete object.metadata.managedFields;
}

/** Whether two states differ only in the times of managedFields. */
export function sameButTimes(a: KubeObject, b: KubeObject): boolean {
  const { managedFields: left, ...metaA } = a.metadata;
  const { managedFields: right, ...metaB } = b.metadata;
  return (
    equalJson(metaA, metaB) &&
    equalButForTimes(left, right) &&
    equalJson({ ...a, metadata: null }, { ...b, metadata: null })
  );
}
