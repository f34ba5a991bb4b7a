/** Strings: join, split, trim, replace, format. */
import { byteLength, byteSlice, stringOf, bytesOf } from '../../go/go-string.ts';
import { sprintf } from '../../gotemplate/format.ts';
import { GoInt, type Value } from '../../gotemplate/values.ts';
import type { SpiffFunction, SpiffFunctionTable } from '../function.ts';
import { isSpiffList, isSpiffMap, SpiffCallable, SpiffTemplate, type SpiffValue } from '../value.ts';
import { writeSpiffYaml } from '../yaml/index.ts';
import { count, fail, integer, limited, MAX_ELEMENTS, simpleText, text } from './arguments.ts';

function join(args: readonly SpiffValue[]): SpiffValue {
  if (args.length === 0) fail('join requires at least one argument');
  const parts = args.flatMap((arg, i): string[] => {
    if (arg === null) return [];
    if (!isSpiffList(arg)) {
      return [simpleText(arg) ?? fail(`argument ${String(i)} to join must be simple value or list`)];
    }
    if (i === 0) fail('first argument for join must be a string');
    return arg.map(
      (item) => simpleText(item) ?? fail(`elements of list(arg ${String(i)}) to join must be simple values`),
    );
  });
  const [separator, ...rest] = parts;
  return limited('join', rest.join(separator ?? fail('first argument for join must be a string')));
}

/** Go's `SplitN`: an empty separator splits into characters. */
function splitAt(separator: string, source: string, limit: bigint): string[] {
  if (limit === 0n) return [];
  const parts = separator === '' ? Array.from(source) : source.split(separator);
  if (limit < 0n || BigInt(parts.length) <= limit) return parts;
  const first = parts.slice(0, Number(limit) - 1);
  return [...first, parts.slice(Number(limit) - 1).join(separator)];
}

/** Chunks of `size` characters; the last of `limit` chunks contains the rest. */
function chunks(source: string, size: bigint, limit: bigint): string[] {
  const runes = Array.from(source);
  const wanted = Math.ceil(runes.length / Number(size));
  const pieces = limit < 0n ? wanted : Math.min(wanted, Math.max(1, Number(limit)));
  if (pieces > MAX_ELEMENTS) fail(`split: the list would have more than ${String(MAX_ELEMENTS)} elements`);
  return Array.from({ length: pieces }, (_, i) => {
    const start = i * Number(size);
    return runes.slice(start, i === pieces - 1 ? undefined : start + Number(size)).join('');
  });
}

function split(args: readonly SpiffValue[]): SpiffValue {
  count(args, 2, 3, 'split takes 2 or 3 arguments');
  const source = text(args[1], 'second argument for split must be a string');
  const limit = args.length > 2 ? integer(args[2], 'third argument for split must be an integer') : -1n;
  const [separator] = args;
  if (typeof separator === 'string') return splitAt(separator, source, limit);
  const size = integer(separator, 'first argument for split must be a string');
  if (size <= 0n) fail('max line length argument must be positive');
  return chunks(source, size, limit);
}

function trimText(source: string, set: ReadonlySet<string>): string {
  const runes = Array.from(source);
  let start = 0;
  let end = runes.length;
  while (start < end && set.has(runes[start] as string)) start++;
  while (end > start && set.has(runes[end - 1] as string)) end--;
  return runes.slice(start, end).join('');
}

function trim(args: readonly SpiffValue[]): SpiffValue {
  if (args.length === 0) fail('trim takes one or two arguments');
  if (args.length > 2) fail('split takes one or two arguments');
  const set = new Set(args.length === 2 ? text(args[1], 'second argument of split must be a string') : ' \t');
  const [source] = args;
  if (typeof source === 'string') return trimText(source, set);
  if (source === undefined || !isSpiffList(source)) return fail('trim accepts only a string or list');
  return source.map((item) => trimText(text(item, 'list elements must be strings to be trimmed'), set));
}

function substr(args: readonly SpiffValue[]): SpiffValue {
  count(args, 2, 3, 'substr takes two to three arguments');
  const source = text(args[0], 'first argument for substr must be a string');
  const length = BigInt(byteLength(source));
  const fromEnd = (index: bigint): bigint => (index < 0n ? length + index : index);
  const start = fromEnd(integer(args[1], 'second argument for substr must be an integer'));
  const end =
    args.length > 2 ? fromEnd(integer(args[2], 'third argument for substr must be an integer')) : length;
  if (length < end) {
    fail(`substr effective end index (${end.toString()}) exceeds string length (${length.toString()})`);
  }
  if (start < 0n) fail(`negative substr effective start index (${start.toString()})`);
  if (start > end) {
    fail(`substr start index (${start.toString()}) aftsre end index (${end.toString()}) `);
  }
  return byteSlice(source, Number(start), Number(end));
}

/** Converts characters one by one, as Go does: `ß` has no upper case form. */
const eachRune =
  (name: string, change: (rune: string) => string): SpiffFunction =>
  (args) => {
    count(args, 1, 1, `${name} requires one argument`);
    const source = text(args[0], `first argument for ${name} must be a string`);
    return Array.from(source, (rune) => {
      const changed = change(rune);
      return Array.from(changed).length === 1 ? changed : rune;
    }).join('');
  };

/** A value as an argument of Go's `Sprintf`: lists and maps as YAML. */
function printable(value: SpiffValue): Value {
  if (typeof value === 'bigint') return new GoInt('int64', value);
  if (value === null || typeof value !== 'object') return value;
  if (isSpiffList(value) || isSpiffMap(value) || value instanceof SpiffTemplate) return writeSpiffYaml(value);
  return value instanceof SpiffCallable ? value.text : null;
}

/** Formats a string for `format` and `error`. @param name of the function, for messages */
export function formatText(name: string, args: readonly SpiffValue[]): string {
  if (args.length === 0) fail(`alt least one argument required for '${name}'`);
  const [format, ...values] = args.map(printable);
  if (typeof format !== 'string') return fail(`${name}: format must be string`);
  const result = sprintf(format, values);
  return limited(name, stringOf(bytesOf(result)));
}

export const textFunctions: SpiffFunctionTable = {
  join,
  split,
  trim,
  substr,
  lower: eachRune('lower', (rune) => rune.toLowerCase()),
  upper: eachRune('upper', (rune) => rune.toUpperCase()),
  format: (args) => formatText('format', args),
};
