/**
 * Is it what we want, told without knowing who set what: everything in desired has to be there. Pure.
 *
 * The server adds defaults, so what is there and not wanted does not count, unless values are compared strictly.
 */
import { append } from '../lib/lists.ts';
import { isObject, type Fields } from '../lib/objects.ts';
import { DefinitionError } from '../runtime/errors.ts';
import type { Obj } from '../runtime/types.ts';
import type { Matcher } from './dependent.ts';
import { differences, type Compared } from './diff.ts';
import { authored, metadataOf } from './shapes.ts';

/** What counts when what is there is compared with what is wanted. */
export interface GenericMatch {
  /** Which labels and annotations count: none, those that are wanted, or all. Default `ignore`. */
  readonly metadata?: 'ignore' | 'subset' | 'equal';
  /** `equal`: nothing may be there that is not wanted. Default `subset`. */
  readonly values?: 'subset' | 'equal';
  /** JSON pointers to what does not count, as in `/spec/replicas`. */
  readonly ignore?: readonly string[];
}

/**
 * A matcher for which everything wanted has to be there, and may be more.
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

/** Deep equality: for what no server touches. */
export const equalMatcher: Matcher<unknown, Obj> = {
  match(actual, desired) {
    const what: Compared = { isSecret: true, ignoresExtra: false, isIgnored: () => false };
    const places = differences({ value: actual }, { value: desired }, what);
    return places.length === 0 ? { matched: true } : { matched: false, diff: places.join(', ') };
  },
};

/** Sends every time, and leaves it to the server to see that nothing changes. */
export const neverMatcher: Matcher<unknown, Obj> = { match: () => ({ matched: false }) };
