/**
 * Compares without knowing the owners of fields: everything in the desired object must be in the actual one. Pure.
 *
 * The server adds defaults, so additional fields are ignored, unless values are compared strictly.
 */
import { append } from '../lib/lists.ts';
import { isObject, ownField, type Fields, type View } from '../lib/objects.ts';
import { DefinitionError } from '../runtime/errors.ts';
import type { Obj } from '../runtime/types.ts';
import type { Matcher } from './dependent.ts';
import { differences, escaped, type Compared } from './diff.ts';
import { hashOf, Memory, REMEMBERED } from './memory.ts';
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

/** A generic matcher that remembers the server's responses to writes. */
interface RememberingMatcher<R extends Obj, P extends Obj> extends Matcher<R, P> {
  /** Remembers the response to a write of `desired`. */
  remember(desired: R, answer: R): void;
}

/**
 * A generic matcher for which an object also matches as long as it is what the server has made of the same desired object.
 * So defaults, webhooks and empty lists that the server drops cost one write, not one for each reconcile.
 */
export function rememberingMatcher<R extends Obj, P extends Obj>(
  how: GenericMatch = {},
): RememberingMatcher<R, P> {
  const matcher = genericMatcher<R, P>(how);
  const answers = new Memory<string>(REMEMBERED);
  const resultOf = (object: View<R>, desired: R): string => {
    const [found, wanted] = [object, desired].map((each) => each as unknown as View<Fields>) as [
      Fields,
      Fields,
    ];
    const { metadata = 'ignore', values, ignore = [] } = how;
    const body =
      values === 'equal' ? authored(found) : partOf(authored(found), authored(wanted), new Set(ignore));
    return hashOf([desired, body, metadata !== 'ignore' && metadataOf(found)]);
  };
  return {
    match(actual, desired, p, ctx) {
      const match = matcher.match(actual, desired, p, ctx);
      const isAnswer = !match.matched && answers.get(actual.metadata.uid) === resultOf(actual, desired);
      return isAnswer ? { matched: true } : match;
    },
    remember(desired, answer) {
      const { uid } = answer.metadata;
      if (uid !== undefined) answers.set(uid, resultOf(answer as View<R>, desired));
    },
  };
}

/** The fields of `found` that `wanted` has, too, without ignored ones. Elements of lists are compared by position. */
function partOf(found: unknown, wanted: unknown, ignored: ReadonlySet<string>, path = ''): unknown {
  if (ignored.has(path)) return undefined;
  if (Array.isArray(found) && Array.isArray(wanted))
    return found.map((each, i) => partOf(each, wanted[i], ignored, `${path}/${String(i)}`));
  if (!isObject(found) || !isObject(wanted)) return found;
  return Object.fromEntries(
    Object.keys(wanted).map((key) => [
      key,
      partOf(ownField(found, key), wanted[key], ignored, `${path}/${escaped(key)}`),
    ]),
  );
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
