/** sprig's functions on strings. The string is the last argument, so that it can come from a pipeline. */
import type { Env, FunctionTable } from '../env.ts';
import { FunctionError } from '../errors.ts';
import { sprintValue } from '../format.ts';
import { byteLength, byteSlice, compareStrings } from '../../go/go-string.ts';
import { quoteString } from '../../go/quote.ts';
import { trimSpace } from '../../go/spaces.ts';
import { envFn, fn } from '../signature.ts';
import { GoMap, isSlice, typedList, type Value } from '../values.ts';
import { toText, toTexts } from './cast.ts';

const isNil = (value: Value): boolean => value === undefined || value === null;

/** Go's `strings.Split`: an empty separator splits between characters. */
function split(text: string, separator: string, limit = -1): string[] {
  if (limit === 0) return [];
  const parts = separator === '' ? Array.from(text) : text.split(separator);
  if (limit < 0 || parts.length <= limit) return parts;
  return [...parts.slice(0, limit - 1), parts.slice(limit - 1).join(separator)];
}

const numbered = (parts: readonly string[]): GoMap =>
  new GoMap(new Map(parts.map((part, i) => [`_${String(i)}`, part])), 'string');

function trimSet(set: string, text: string): string {
  const chars = new Set(set);
  const runes = Array.from(text);
  let start = 0;
  let end = runes.length;
  while (start < end && chars.has(runes[start] as string)) start++;
  while (end > start && chars.has(runes[end - 1] as string)) end--;
  return runes.slice(start, end).join('');
}

/** Go panics on invalid bounds with this message. */
function checkedSlice(text: string, start: number, end: number): string {
  const length = byteLength(text);
  if (end > length || end < 0) {
    throw new FunctionError(
      `runtime error: slice bounds out of range [:${String(end)}]${end < 0 ? '' : ` with length ${String(length)}`}`,
    );
  }
  if (start > end)
    throw new FunctionError(`runtime error: slice bounds out of range [${String(start)}:${String(end)}]`);
  return byteSlice(text, start, end);
}

function substring(start: number, end: number, text: string): string {
  if (start < 0) return checkedSlice(text, 0, end);
  const length = byteLength(text);
  if (end < 0 || end > length) {
    if (start > length)
      throw new FunctionError(
        `runtime error: slice bounds out of range [${String(start)}:${String(length)}]`,
      );
    return byteSlice(text, start);
  }
  return checkedSlice(text, start, end);
}

function truncate(count: number, text: string): string {
  const length = byteLength(text);
  if (count < 0 && length + count > 0) return byteSlice(text, length + count);
  return count >= 0 && length > count ? byteSlice(text, 0, count) : text;
}

function indent(env: Env, spaces: number, text: string): string {
  if (spaces < 0) throw new FunctionError('strings: negative Repeat count');
  env.reserve(spaces * text.split('\n').length + text.length);
  const pad = ' '.repeat(spaces);
  return pad + text.replaceAll('\n', `\n${pad}`);
}

function repeat(env: Env, count: number, text: string): string {
  if (count < 0) throw new FunctionError('strings: negative Repeat count');
  env.reserve(count * text.length);
  return text.repeat(count);
}

function replace(env: Env, old: string, by: string, text: string): string {
  if (by.length > old.length) env.reserve((text.length / Math.max(old.length, 1) + 1) * by.length);
  if (old === '') return [...Array.from(text).flatMap((c) => [by, c]), by].join('');
  return text.replaceAll(old, () => by);
}

export const stringFunctions: FunctionTable = {
  hello: fn('', () => 'Hello!'),
  trim: fn('string', trimSpace),
  trimAll: fn('string string', trimSet),
  trimall: fn('string string', trimSet),
  trimPrefix: fn('string string', (p: string, s: string) => (s.startsWith(p) ? s.slice(p.length) : s)),
  trimSuffix: fn('string string', (p: string, s: string) =>
    p !== '' && s.endsWith(p) ? s.slice(0, -p.length) : s,
  ),
  contains: fn('string string', (part: string, s: string) => s.includes(part)),
  hasPrefix: fn('string string', (part: string, s: string) => s.startsWith(part)),
  hasSuffix: fn('string string', (part: string, s: string) => s.endsWith(part)),
  replace: envFn('string string string', replace),
  repeat: envFn('int string', repeat),
  substr: fn('int int string', substring),
  trunc: fn('int string', truncate),
  indent: envFn('int string', indent),
  nindent: envFn('int string', (env: Env, n: number, s: string) => `\n${indent(env, n, s)}`),
  quote: fn('...any', (...v: Value[]) =>
    v
      .filter((x) => !isNil(x))
      .map((x) => quoteString(toText(x)))
      .join(' '),
  ),
  squote: fn('...any', (...v: Value[]) =>
    v
      .filter((x) => !isNil(x))
      .map((x) => `'${sprintValue(x)}'`)
      .join(' '),
  ),
  cat: fn('...any', (...v: Value[]) =>
    v
      .filter((x) => !isNil(x))
      .map(sprintValue)
      .join(' '),
  ),
  toString: fn('any', toText),
  toStrings: fn('any', (v: Value) => typedList('string', toTexts(v))),
  join: fn('string any', (separator: string, v: Value) => toTexts(v).join(separator)),
  split: fn('string string', (separator: string, s: string) => numbered(split(s, separator))),
  splitn: fn('string int string', (separator: string, n: number, s: string) =>
    numbered(split(s, separator, n)),
  ),
  splitList: fn('string string', (separator: string, s: string) => typedList('string', split(s, separator))),
  sortAlpha: fn('any', (v: Value) =>
    typedList('string', isSlice(v) ? toTexts(v).sort(compareStrings) : [toText(v)]),
  ),
  fail: fn('string', (message: string): Value => {
    throw new FunctionError(message);
  }),
};
