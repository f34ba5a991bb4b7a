/** Go's `strconv.Quote` and related functions. */
import { table } from '../../lib/objects.ts';
import { isValidText } from './go-string.ts';

const NAMED: Readonly<Record<string, string>> = table({
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
});
const PRINTABLE = /[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u;
const SIMPLE = /^[ !#-[\]-~]*$/;

/** Go's `unicode.IsPrint`. */
export const isPrintable = (char: string): boolean => PRINTABLE.test(char);

const hex = (code: number, width: number): string => code.toString(16).padStart(width, '0');

export function escapeRune(char: string, quote: string, isAscii: boolean): string {
  if (char === quote) return `\\${quote}`;
  const named = NAMED[char];
  if (named !== undefined) return named;
  const code = char.codePointAt(0) as number;
  if (!isValidText(char)) return code >= 0xdc80 && code <= 0xdcff ? `\\x${hex(code - 0xdc00, 2)}` : '\\ufffd';
  if (code < 0x80 ? code >= 0x20 && code < 0x7f : !isAscii && isPrintable(char)) return char;
  if (code < 0x20 || code === 0x7f) return `\\x${hex(code, 2)}`;
  return code > 0xffff ? `\\U${hex(code, 8)}` : `\\u${hex(code, 4)}`;
}

/** `%q` of a string. */
export function quoteString(text: string, isAscii = false): string {
  if (SIMPLE.test(text)) return `"${text}"`;
  let out = '"';
  for (const char of text) out += escapeRune(char, '"', isAscii);
  return `${out}"`;
}

/** Whether Go's `%#q` can write the string between back quotes. */
export const canBackquote = (text: string): boolean =>
  isValidText(text) && !/[`\u007f\ufeff]/.test(text) && !/[\x00-\x08\x0a-\x1f]/.test(text);
