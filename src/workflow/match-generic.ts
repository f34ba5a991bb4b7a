/**
 * Compares without knowing the owners of fields: everything in the desired object must be in the actual one. Pure.
 *
 * The server adds defaults, so additional fields are ignored, unless values are compared strictly.
 */
import { append } from '../lib/lists.ts';
import { isObject, type Fields } from '../lib/objects.ts';
import { DefinitionError } from '../runtime/errors.ts';
import type { Obj } from '../runtime/types.ts';
import type { Matcher } from './dependent.ts';
import { differences, type Compared } from './diff.ts';
import { authored, metadataOf } from './shapes.ts';

/** Options of the comparison. */
export interface GenericMatch {
  /** Which labels and annotations are compared: none, the desired ones, or all. Default `ignore`. */
  readonly metadata?: 'ignore' | 'subset' | 'equal';
  /** `equal`: the actual object must not have additional fields. Default `subset`. */
  readonly values?: 'subset' | 'equal';
  /** JSON pointers to fields that are ignored, such as `/spec/replicas`. */
  readonly ignore?: readonly string[];
}

/**
 * A matcher for which the actual object must have all desired fields, and may have more.
 * @throws DefinitionError for strict values together with ignored paths
 */
export function genericMatcher<R, P extends Obj>(how: GenericMatch = {}): Matcher<R, P> {
  const { metadata = 'ignore', values, ignore = [] } = how;
  if (values === 'equal' && ignore.length > 0)
    throw new DefinitionError({
      message: 'values cannot be compared strictly and ignored at the same time; choose one of them',
    });
  const bad = ignore.find((pointer) => !pointer.startsWith('/'));
  if (bad !== undefined)
    throw new DefinitionError({ message: `"${bad}" is not a JSON pointer; it must begin with /` });
  const ignored = new Set(ignore);
  return {
    match(actual, desired) {
      const found: Fields = isObject(actual) ? actual : {};
      const wanted: Fields = isObject(desired) ? desired : {};
      const what: Compared = {
        isSecret: wanted['kind'] === 'Secret',
        ignoresExtra: values !== 'equal',
        isIgnored: (pointer) => ignored.has(pointer),
      };
      const places = differences(authored(found), authored(wanted), what);
      if (metadata !== 'ignore') {
        const whole = { ...what, ignoresExtra: metadata !== 'equal' };
        append(places, differences(metadataOf(found), metadataOf(wanted), whole, '/metadata'));
      }
      return places.length === 0 ? { matched: true } : { matched: false, diff: places.join(', ') };
    },
  };
}

/** Deep equality: for values that no server changes. */
export const equalMatcher: Matcher<unknown, Obj> = {
  match(actual, desired) {
    const what: Compared = { isSecret: true, ignoresExtra: false, isIgnored: () => false };
    const places = differences({ value: actual }, { value: desired }, what);
    return places.length === 0 ? { matched: true } : { matched: false, diff: places.join(', ') };
  },
};

/** Updates in every reconcile; the server finds that nothing changes. */
export const neverMatcher: Matcher<unknown, Obj> = { match: () => ({ matched: false }) };
