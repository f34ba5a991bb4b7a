/** The built-in functions of Go's text/template. */
import { table } from '../../lib/objects.ts';
import { largest } from '../../lib/lists.ts';
import { compareEqual, compareLess } from './compare.ts';
import { FunctionError } from './errors.ts';
import { lookUp } from './eval-field.ts';
import type { Env, FunctionTable } from './env.ts';
import { sprint, sprintf, sprintln } from './format.ts';
import { byteLength, bytesOf, byteSlice } from '../go/go-string.ts';
import { isPrintable } from '../go/quote.ts';
import { envFn, fn } from './signature.ts';
import {
  elemType,
  GoInt,
  GoMap,
  integerOf,
  isFunction,
  isSlice,
  isTrue,
  itemsOf,
  typedList,
  typeName,
  type Value,
} from './values.ts';

/** An index within the range. @param limit highest allowed index */
function indexOf(value: Value, limit: number): number {
  const index = integerOf(value);
  if (index === undefined) {
    if (value === undefined || value === null) throw new FunctionError('cannot index slice/array with nil');
    throw new FunctionError(`cannot index slice/array with type ${typeName(value)}`);
  }
  if (index < 0n || index > BigInt(limit)) throw new FunctionError(`index out of range: ${String(index)}`);
  return Number(index);
}

function index(item: Value, ...keys: readonly Value[]): Value {
  if (item === undefined || item === null) throw new FunctionError('index of untyped nil');
  let value: Value = item;
  for (const key of keys) {
    if (value === undefined || value === null) throw new FunctionError('index of nil pointer');
    if (typeof value === 'string') {
      const bytes: Buffer = bytesOf(value);
      value = new GoInt('uint8', BigInt(bytes[indexOf(key, bytes.length - 1)] ?? 0));
    } else if (isSlice(value)) value = itemsOf(value)[indexOf(key, value.length - 1)] ?? null;
    else if (value instanceof GoMap) {
      if (key === undefined || key === null)
        throw new FunctionError('value is nil; should be of type string');
      if (typeof key !== 'string')
        throw new FunctionError(`value has type ${typeName(key)}; should be string`);
      value = lookUp(value, key);
    } else throw new FunctionError(`can't index item of type ${typeName(value)}`);
  }
  return value;
}

function slice(item: Value, ...indexes: readonly Value[]): Value {
  if (item === undefined) throw new FunctionError('slice of untyped nil');
  if (indexes.length > 3) throw new FunctionError(`too many slice indexes: ${String(indexes.length)}`);
  if (typeof item !== 'string' && !isSlice(item))
    throw new FunctionError(`can't slice item of type ${typeName(item)}`);
  const length = typeof item === 'string' ? byteLength(item) : item.length;
  const [start = 0, end = length] = indexes.map((i) => indexOf(i, length));
  if (start > end) throw new FunctionError(`invalid slice index: ${String(start)} > ${String(end)}`);
  if (typeof item === 'string') return byteSlice(item, start, end);
  if (item instanceof Uint8Array) return item.subarray(start, end);
  return typedList(elemType(item), item.slice(start, end));
}

function length(item: Value): Value {
  if (typeof item === 'string') return BigInt(byteLength(item));
  if (isSlice(item)) return BigInt(item.length);
  if (item instanceof GoMap) return BigInt(item.entries.size);
  if (item === undefined) throw new FunctionError('reflect: call of reflect.Value.Type on zero Value');
  if (item === null) throw new FunctionError('len of nil pointer');
  throw new FunctionError(`len of type ${typeName(item)}`);
}

const HTML: Readonly<Record<string, string>> = table({
  '\0': '\ufffd',
  '"': '&#34;',
  "'": '&#39;',
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
});

/** The input of `html`, `js` and `urlquery`: their arguments as one string. */
const textOf = (args: readonly Value[]): string => {
  const only = args[0];
  return args.length === 1 && typeof only === 'string'
    ? only
    : sprint(args.map((arg) => arg ?? '<no value>'));
};

const JS: Readonly<Record<string, string>> = table({
  '\\': '\\\\',
  "'": "\\'",
  '"': '\\"',
  '<': '\\u003C',
  '>': '\\u003E',
  '&': '\\u0026',
  '=': '\\u003D',
});

function escapeJs(text: string): string {
  let out = '';
  for (const char of text) {
    const code = char.codePointAt(0) as number;
    const named = JS[char];
    if (named !== undefined) out += named;
    else if (code >= 0x20 && (code < 0x7f || (code > 0x7f && isPrintable(char)))) out += char;
    else out += `\\u${code.toString(16).toUpperCase().padStart(4, '0')}`;
  }
  return out;
}

/** Go's `url.QueryEscape`. */
const queryEscape = (text: string): string =>
  Array.from(bytesOf(text), (b) => {
    const char = String.fromCharCode(b);
    if (/[A-Za-z0-9\-_.~]/.test(char)) return char;
    return char === ' ' ? '+' : `%${b.toString(16).toUpperCase().padStart(2, '0')}`;
  }).join('');

const never = (): Value => {
  throw new FunctionError('and, or: the evaluator does these itself');
};

/** Largest width or precision in a format, to estimate its cost. */
const largestNumber = (format: string, args: readonly Value[]): number =>
  largest([
    0,
    ...Array.from(format.matchAll(/[0-9]+/g), (m) => Math.min(Number(m[0]), 1_000_000)),
    ...(format.includes('*')
      ? args.map((a) => (typeof a === 'bigint' ? Math.min(Number(a), 1_000_000) : 0))
      : []),
  ]);

export const builtins: FunctionTable = {
  and: fn('value ...value', never),
  or: fn('value ...value', never),
  not: fn('value', (v: Value) => !isTrue(v)),
  len: fn('value', length),
  index: fn('value ...value', index),
  slice: fn('value ...value', slice),
  print: fn('...any', (...args: Value[]) => sprint(args)),
  println: fn('...any', (...args: Value[]) => sprintln(args)),
  printf: envFn('string ...any', (env: Env, format: string, ...args: Value[]) => {
    const cost = largestNumber(format, args);
    if (cost > 4096) env.reserve(cost * (format.split('%').length - 1));
    return sprintf(format, args);
  }),
  html: fn('...any', (...args: Value[]) => textOf(args).replace(/[\0"'&<>]/g, (c) => HTML[c] as string)),
  js: fn('...any', (...args: Value[]) => escapeJs(textOf(args))),
  urlquery: fn('...any', (...args: Value[]) => queryEscape(textOf(args))),
  call: envFn('value ...value', (env: Env, target: Value, ...args: Value[]) => {
    if (target === undefined || target === null) throw new FunctionError('call of nil');
    if (!isFunction(target)) throw new FunctionError(`non-function of type ${typeName(target)}`);
    return target.call(env, args);
  }),
  eq: fn('value ...value', (first: Value, ...rest: Value[]) => {
    if (rest.length === 0) throw new FunctionError('missing argument for comparison');
    return rest.some((other) => compareEqual(first, other));
  }),
  ne: fn('value value', (a: Value, b: Value) => !compareEqual(a, b)),
  lt: fn('value value', (a: Value, b: Value) => compareLess(a, b)),
  le: fn('value value', (a: Value, b: Value) => compareLess(a, b) || compareEqual(a, b)),
  gt: fn('value value', (a: Value, b: Value) => !(compareLess(a, b) || compareEqual(a, b))),
  ge: fn('value value', (a: Value, b: Value) => !compareLess(a, b)),
};
