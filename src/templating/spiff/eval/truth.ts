/** Truth values. */
import { isFields, isList, type Value } from '../tree/node.ts';

/** All values except null, false, 0, and empty strings, lists and maps; a double is always true. */
export function isTruthy(value: Value): boolean {
  if (value === null) return false;
  if (typeof value === 'bigint') return value !== 0n;
  if (typeof value === 'number') return true;
  if (isList(value)) return value.length > 0;
  if (isFields(value)) return value.size > 0;
  return Boolean(value);
}
