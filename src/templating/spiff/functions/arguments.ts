/** Checks of function arguments, with the original's messages. */
import { table } from '../../../lib/objects.ts';
import { compareStrings } from '../../go/go-string.ts';
import { quoteString } from '../../go/quote.ts';
import { Unresolvable } from '../function.ts';
import {
  isSpiffList,
  isSpiffMap,
  SpiffCallable,
  typeName,
  type SpiffMap,
  type SpiffValue,
} from '../value.ts';

/** Maximum size of strings and lists that a function creates: bytes or elements. */
const MAX_TEXT = 16 * 2 ** 20;
export const MAX_ELEMENTS = 100_000;

export function fail(message: string, cause?: unknown): never {
  throw new Unresolvable(message, cause === undefined ? undefined : { cause });
}

/** Converts an error of `read` to the function's error. */
export function attempt<T>(read: () => T, before = ''): T {
  try {
    return read();
  } catch (cause) {
    return fail(before + (cause as Error).message, cause);
  }
}

/** Fails with `name` if a string is too long; its content is not shown. */
export function limited(name: string, text: string): string {
  if (text.length <= MAX_TEXT) return text;
  return fail(`${name}: the text would be longer than ${String(MAX_TEXT)} characters`);
}

const GO_TYPES: Readonly<Record<string, string>> = table({
  nil: '<nil>',
  string: 'string',
  int: 'int64',
  float: 'float64',
  bool: 'bool',
  list: '[]yaml.Node',
  map: 'map[string]yaml.Node',
  template: 'dynaml.TemplateValue',
  lambda: 'dynaml.LambdaValue',
});

/** Go's name of the type, for messages. */
export const goTypeOf = (value: SpiffValue): string => GO_TYPES[typeName(value)] as string;

/** The string form of a string, an integer or a boolean; undefined for other values, including doubles. */
export function simpleText(value: SpiffValue | undefined): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'bigint' || typeof value === 'boolean' ? String(value) : undefined;
}

export const text = (value: SpiffValue | undefined, message: string): string =>
  typeof value === 'string' ? value : fail(message);

export const integer = (value: SpiffValue | undefined, message: string): bigint =>
  typeof value === 'bigint' ? value : fail(message);

export const list = (value: SpiffValue | undefined, message: string): readonly SpiffValue[] =>
  value !== undefined && isSpiffList(value) ? value : fail(message);

export const map = (value: SpiffValue | undefined, message: string): SpiffMap =>
  value !== undefined && isSpiffMap(value) ? value : fail(message);

/** Fails unless there are `least` to `most` arguments. */
export function count(args: readonly SpiffValue[], least: number, most: number, message: string): void {
  if (args.length < least || args.length > most) fail(message);
}

export const isCallable = (value: SpiffValue | undefined): value is SpiffCallable =>
  value instanceof SpiffCallable;

export const sortedKeys = (of: SpiffMap): string[] => [...of.keys()].sort(compareStrings);

const MAX_INT64 = 2n ** 63n - 1n;
const MIN_INT64 = -(2n ** 63n);

/** Go's `ParseInt(text, 10, 64)`. @throws with Go's message */
export function parseInteger(source: string): bigint {
  const problem = (what: string): Error =>
    new Error(`strconv.ParseInt: parsing ${quoteString(source)}: ${what}`);
  if (!/^[-+]?\d+$/.test(source)) throw problem('invalid syntax');
  const value = source.length > 1000 ? MAX_INT64 + 1n : BigInt(source.replace('+', ''));
  if (value > MAX_INT64 || value < MIN_INT64) throw problem('value out of range');
  return value;
}

const TRUE = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);
const FALSE = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False']);

/** Go's `ParseBool`. @throws with Go's message */
export function parseBoolean(source: string): boolean {
  if (TRUE.has(source)) return true;
  if (FALSE.has(source)) return false;
  throw new Error(`strconv.ParseBool: parsing ${quoteString(source)}: invalid syntax`);
}
