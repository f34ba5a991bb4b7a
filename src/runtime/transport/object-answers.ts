/**
 * Objects in responses. Servers of tenants may answer anything; all code behind relies on metadata as the API of
 * Kubernetes defines it, and would fail with errors that look like bugs.
 */
import { isObject } from '../../lib/objects.ts';
import { describe, TransportError, type RequestRef } from '../errors.ts';
import type { Obj } from '../types.ts';

/** The request that was answered. */
interface Answered {
  readonly server: string;
  readonly ref: RequestRef;
  readonly isIdempotent: boolean;
}

/** @throws TransportError if the response is not an object with valid metadata */
export function objectIn<T extends Obj>(answer: unknown, request: Answered): T {
  if (isValid(answer)) return answer as unknown as T;
  throw notAnObject('an object', request);
}

/** The objects of a list. @throws TransportError */
export function objectsIn<T extends Obj>(items: unknown, request: Answered): readonly T[] {
  if (Array.isArray(items) && items.every(isValid)) return items as unknown as readonly T[];
  throw notAnObject('a list of objects', request);
}

const notAnObject = (missing: string, { server, ref, isIdempotent }: Answered): TransportError =>
  new TransportError({
    message: `${server} responded to ${describe(ref)} without ${missing}`,
    safeToRepeat: isIdempotent,
  });

const isString = (value: unknown): boolean => typeof value === 'string';
const isStringMap = (value: unknown): boolean => isObject(value) && Object.values(value).every(isString);
const isListOf =
  (fits: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    Array.isArray(value) && value.every(fits);

/** Fields of metadata; each may be missing. */
const FIELDS: readonly (readonly [string, (value: unknown) => boolean])[] = [
  ['name', isString],
  ['namespace', isString],
  ['uid', isString],
  ['resourceVersion', isString],
  // The time is null in objects that are not stored, such as results of dry runs.
  ['creationTimestamp', (value) => value === null || isString(value)],
  ['deletionTimestamp', isString],
  ['labels', isStringMap],
  ['annotations', isStringMap],
  ['finalizers', isListOf(isString)],
  ['ownerReferences', isListOf(isObject)],
];

function isValid(value: unknown): value is Obj {
  const metadata = isObject(value) ? value['metadata'] : undefined;
  if (!isObject(metadata)) return false;
  return FIELDS.every(([field, fits]) => metadata[field] === undefined || fits(metadata[field]));
}
