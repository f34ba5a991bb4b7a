/**
 * JSON byte for byte as Go's encoding/json writes it: keys sorted, markup characters escaped. Hashes on the wire are
 * computed from it, so it must not depend on the order of fields or on the platform.
 */
import { isObject, table } from './objects.ts';

/**
 * @param indent spaces per level, 0 for compact text
 * @throws TypeError for values that JSON does not support: functions, NaN, infinities
 * @see encoding/json Marshal, MarshalIndent
 */
export function goJson(value: unknown, indent = 0): string {
  return write(value, indent, indent > 0 ? '\n' : '');
}

function write(value: unknown, indent: number, newline: string): string {
  if (value === null || value === undefined) return 'null';
  switch (typeof value) {
    case 'string':
      return goString(value);
    case 'boolean':
    case 'bigint':
      return String(value);
    case 'number':
      if (!Number.isFinite(value)) throw new TypeError(`JSON cannot hold ${value}`);
      return Object.is(value, -0) ? '-0' : String(value);
    default:
  }
  const inner = indent > 0 ? newline + ' '.repeat(indent) : '';
  const entries = Array.isArray(value)
    ? value.map((element) => write(element, indent, inner))
    : fields(value, indent, inner);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  if (entries.length === 0) return `${open}${close}`;
  return `${open}${inner}${entries.join(`,${inner}`)}${newline}${close}`;
}

function fields(value: unknown, indent: number, newline: string): string[] {
  if (!isObject(value)) throw new TypeError(`JSON cannot hold a ${typeof value}`);
  const colon = indent > 0 ? ': ' : ':';
  return Object.keys(value)
    .filter((key) => value[key] !== undefined)
    .sort(byCodePoint)
    .map((key) => `${goString(key)}${colon}${write(value[key], indent, newline)}`);
}

const ESCAPES: Readonly<Record<string, string>> = table({
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
});

const goString = (text: string): string =>
  JSON.stringify(text).replace(/[<>&\u2028\u2029]/g, (c) => ESCAPES[c] ?? c);

/** The order of UTF-8 bytes; differs from JavaScript's order only beyond U+FFFF. */
export function byCodePoint(a: string, b: string): number {
  if (a === b) return 0;
  if (!SURROGATE.test(a) && !SURROGATE.test(b)) return a < b ? -1 : 1;
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

const SURROGATE = /[\ud800-\udfff]/;
