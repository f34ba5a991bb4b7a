/** What an update cannot change: name, namespace, uid, times; and the check of the resource version. */
import * as field from '../schema/field-errors.ts';
import type { Kind } from '../kinds/kinds.ts';
import { ApiError, badRequest, invalid, plainFailure, resourceText, staleObject } from '../status.ts';
import type { KubeObject } from '../types.ts';
import { settleNamespace } from './writer.ts';
import type { Writer } from './writer.ts';

/**
 * Validates and restores fields that clients must not change.
 * @param isPut a PUT contains the whole object; patches inherit omitted fields from the live object
 */
export function settleIdentity(writer: Writer, isPut: boolean, next: KubeObject, live: KubeObject): void {
  const { kind, call } = writer;
  const { name } = call.info;
  const meta = next.metadata;
  const old = live.metadata;
  if (meta.name === '')
    throw badRequest(
      `the name of the object (${name} based on URL) was undeterminable: name must be provided`,
    );
  if (meta.name !== name)
    throw badRequest(`the name of the object (${meta.name}) does not match the name on the URL (${name})`);
  settleNamespace(kind, next, call.info.namespace);
  checkRev(writer, isPut, meta.resourceVersion, old.resourceVersion);
  if (meta.uid !== undefined && meta.uid !== old.uid) {
    if (isPut) throw uidConflict(kind, next, live);
    const error = field.invalid('metadata.uid', meta.uid, 'field is immutable');
    throw invalid(kind, name, [error, error]);
  }
  for (const member of ['deletionTimestamp', 'deletionGracePeriodSeconds'] as const)
    if (meta[member] !== undefined && meta[member] !== old[member] && !isPut) {
      const error = field.invalid(`metadata.${member}`, meta[member], 'field is immutable');
      throw invalid(kind, name, [error, error]);
    }
  meta.resourceVersion = old.resourceVersion ?? '';
  carry(meta, old, 'uid');
  carry(meta, old, 'creationTimestamp');
  carry(meta, old, 'deletionTimestamp');
  carry(meta, old, 'deletionGracePeriodSeconds');
  if (kind.generation) carry(meta, old, 'generation');
  delete meta.selfLink;
}

function carry<K extends keyof KubeObject['metadata']>(
  to: KubeObject['metadata'],
  from: KubeObject['metadata'],
  member: K,
): void {
  const value = from[member];
  if (value === undefined) delete to[member];
  else to[member] = value;
}

function checkRev(
  writer: Writer,
  isPut: boolean,
  given: string | undefined,
  current: string | undefined,
): void {
  const { kind, call } = writer;
  if (given === undefined || given === '0') {
    if (!isPut || kind.unconditionalUpdate) return;
    const { name } = call.info;
    const error = field.invalid('metadata.resourceVersion', 0, 'must be specified for an update');
    const body = invalid({ group: kind.group, kind: kind.plural }, name, [error]);
    throw new ApiError(
      422,
      'Invalid',
      `${resourceText(kind)} "${name}" is invalid: ${error.field}: ${error.message}`,
      body.body.details,
    );
  }
  if (!/^\d+$/.test(given))
    throw plainFailure(`strconv.ParseUint: parsing ${JSON.stringify(given)}: invalid syntax`);
  if (given !== current) throw staleObject(kind, call.info.name);
}

const uidConflict = (kind: Kind, next: KubeObject, live: KubeObject): ApiError => {
  const { name, namespace } = live.metadata;
  const key = `/registry/${kind.builtIn ? '' : `${kind.group}/`}${kind.plural}/${namespace === undefined ? '' : `${namespace}/`}${name}`;
  return new ApiError(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${resourceText(kind)} "${name}": StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${next.metadata.uid ?? ''}, UID in object meta: ${live.metadata.uid ?? ''}`,
    { name, ...(kind.group === '' ? {} : { group: kind.group }), kind: kind.plural },
  );
};
