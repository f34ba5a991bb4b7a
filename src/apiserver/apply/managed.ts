/** Updates managedFields for a write, and decides which differences count as changes. */
import { equalButForTimes, updateManagedFields } from './apply.ts';
import type { ObjectType } from './apply.ts';
import { builtinObjectType, customType } from './builtin-types.ts';
import type { Kind } from '../kinds/kinds.ts';
import { equalJson } from '../types.ts';
import type { KubeObject, ManagedFieldsEntry } from '../types.ts';

interface Tracked {
  readonly object: KubeObject;
  readonly kind: Kind;
  readonly manager: string;
  readonly time: string;
  readonly subresource: string;
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

/** Makes the creator the owner of all fields of a new object. */
export function trackCreate({ object, kind, manager, time, subresource }: Tracked): void {
  put(
    object,
    updateManagedFields({
      after: object,
      manager,
      type: objectTypeOf(kind),
      apiVersion: kind.apiVersion,
      time,
      subresource,
      owns: ownedMembers(kind, subresource),
    }),
  );
}

/** Makes the writer the owner of the changed fields. */
export function trackUpdate({
  live,
  object,
  kind,
  manager,
  time,
  subresource,
}: Tracked & { readonly live: KubeObject }): void {
  put(
    object,
    updateManagedFields({
      before: live,
      after: object,
      manager,
      type: objectTypeOf(kind),
      apiVersion: kind.apiVersion,
      time,
      subresource,
      owns: ownedMembers(kind, subresource),
    }),
  );
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
