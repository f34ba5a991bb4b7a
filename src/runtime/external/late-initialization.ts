/** Late initialisation: values that the service chose for fields that the user left open (pure). */
import { copy, define } from '../../lib/json.ts';
import { isObject, type Fields } from '../../lib/objects.ts';

/** `spec` with the fields of `filled` that it lacks, at every level; existing fields and lists stay. */
export function filledIn(spec: object, filled: object): object {
  const result = { ...(spec as Fields) };
  for (const [key, value] of Object.entries(filled as Fields)) {
    const present = Object.hasOwn(result, key) ? result[key] : undefined;
    if (value === undefined || value === null) continue;
    if (present === undefined) define(result, key, copy(value));
    else if (isObject(present) && isObject(value)) define(result, key, filledIn(present, value));
  }
  return result;
}
