/** What counts as true. */
import { isFields, isList, type Value } from '../tree/node.ts';

/** Everything but null, false, 0, and empty texts, lists and maps; a double is always true. */
export function isTruthy(value: Value): boolean {
  if (value === null) return false;
  if (typeof value === 'bigint') return value !== 0n;
  if (typeof value === 'number') return true;
  if (isList(value)) return value.length > 0;
  if (isFields(value)) return value.size > 0;
  return Boolean(value);
}
