/** Parses Go literals: quoted strings, character constants and numbers. */
import { table } from '../../lib/objects.ts';
import { append } from '../../lib/lists.ts';
import { stringOf } from './go-string.ts';
import { quoteString } from './quote.ts';

/** A literal that Go's `strconv` refuses. */
export class LiteralError extends Error {}

/** The value as every type that an untyped Go constant can take. */
interface NumberLiteral {
  readonly int?: bigint;
  readonly uint?: bigint;
  readonly float?: number;
}

const SIMPLE: Readonly<Record<string, number>> = table({
  a: 7,
  b: 8,
  f: 12,
  n: 10,
  r: 13,
  t: 9,
  v: 11,
  '\\': 92,
});
const HEX_LENGTH: Readonly<Record<string, number>> = table({ x: 2, u: 4, U: 8 });

/** Value of a Go string literal, given with its quotes. @throws LiteralError */
export function unquote(literal: string): string {
  const quote = literal[0];
  const body = literal.slice(1, -1);
  if (quote === '`') return body.replaceAll('\r', '');
  if (!body.includes('\\')) return body;
  const bytes: number[] = [];
  let i = 0;
  while (i < body.length) {
    if (body[i] === '\\') {
      const { code, isByte, next } = escape(body, i, '"');
      if (isByte) bytes.push(code);
      else append(bytes, Buffer.from(String.fromCodePoint(code), 'utf8'));
      i = next;
    } else {
      const char = String.fromCodePoint(body.codePointAt(i) as number);
      append(bytes, Buffer.from(char, 'utf8'));
      i += char.length;
    }
  }
  return stringOf(Uint8Array.from(bytes));
}

/** Code point of a character constant such as `'a'`. @throws LiteralError */
function unquoteChar(literal: string): number {
  const body = literal.slice(1, -1);
  const first = body.codePointAt(0);
  if (first === undefined || body.startsWith("'")) throw new LiteralError('invalid syntax');
  if (body.startsWith('\\')) {
    const { code, next } = escape(body, 0, "'");
    if (next === body.length) return code;
  } else if (body.length === String.fromCodePoint(first).length) return first;
  throw new LiteralError(`malformed character constant: ${literal}`);
}

function escape(text: string, at: number, quote: string): { code: number; isByte: boolean; next: number } {
  const c = text[at + 1] ?? '';
  const simple = SIMPLE[c];
  if (simple !== undefined) return { code: simple, isByte: false, next: at + 2 };
  if (c === quote) return { code: c.charCodeAt(0), isByte: false, next: at + 2 };
  const digits = HEX_LENGTH[c];
  if (digits !== undefined) {
    const hex = text.slice(at + 2, at + 2 + digits);
    const code = Number.parseInt(hex, 16);
    const isCharacter = c === 'x' || (code <= 0x10ffff && (code < 0xd800 || code > 0xdfff));
    if (hex.length === digits && /^[0-9a-fA-F]+$/.test(hex) && isCharacter) {
      return { code, isByte: c === 'x', next: at + 2 + digits };
    }
  }
  const octal = /^[0-7]{3}/.exec(text.slice(at + 1, at + 4))?.[0];
  if (octal !== undefined && Number.parseInt(octal, 8) < 256) {
    return { code: Number.parseInt(octal, 8), isByte: true, next: at + 4 };
  }
  throw new LiteralError('invalid syntax');
}

const MAX_INT64 = 2n ** 63n - 1n;
const MIN_INT64 = -(2n ** 63n);
const MAX_UINT64 = 2n ** 64n - 1n;

/** Go's `strconv.ParseInt(text, 0, …)` without the range check; undefined if it is not an integer. */
export function parseGoInteger(text: string): bigint | undefined {
  const match = /^([+-]?)(0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|0[0-7_]*|[1-9][0-9_]*)$/.exec(text);
  if (!match) return undefined;
  let digits = match[2] as string;
  if (digits.includes('_') && !/^(0[xXbBoO]?)?(_?[0-9a-fA-F])*$/.test(digits)) return undefined;
  digits = digits.replaceAll('_', '');
  if (/^0[0-7]+$/.test(digits)) digits = `0o${digits.slice(1)}`;
  if (/^0[xXbBoO]$/.test(digits)) return undefined;
  const value = BigInt(digits);
  return match[1] === '-' ? -value : value;
}

/** Go's `strconv.ParseFloat`; undefined if it is not a number. */
export function parseGoFloat(text: string): number | undefined {
  const named = /^([+-]?)(inf|infinity|nan)$/i.exec(text);
  if (named) return /nan/i.test(text) ? Number.NaN : named[1] === '-' ? -Infinity : Infinity;
  const hex = /^([+-]?)0[xX]([0-9a-fA-F]*)(?:\.([0-9a-fA-F]*))?[pP]([+-]?\d+)$/.exec(text);
  if (hex) {
    const mantissa = Number.parseInt((hex[2] ?? '') + (hex[3] ?? ''), 16);
    const value = mantissa * 2 ** (Number(hex[4]) - 4 * (hex[3] ?? '').length);
    return hex[1] === '-' ? -value : value;
  }
  if (/_(?!\d)|(?<!\d)_/.test(text)) return undefined;
  const plain = text.replaceAll('_', '');
  if (!/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(plain)) return undefined;
  const value = Number(plain);
  return Number.isFinite(value) ? value : undefined;
}

/** The value of a number token. @throws LiteralError */
export function parseNumber(text: string): NumberLiteral {
  if (text.startsWith("'")) {
    const code = BigInt(unquoteChar(text));
    return { int: code, uint: code, float: Number(code) };
  }
  const integer = parseGoInteger(text);
  if (integer !== undefined && integer >= MIN_INT64 && integer <= MAX_UINT64) {
    const isUint = integer >= 0n && !/^[+-]/.test(text);
    const isInt = integer <= MAX_INT64;
    if (isInt || isUint) {
      return {
        ...(isInt ? { int: integer } : {}),
        ...(isUint ? { uint: integer } : {}),
        float: Number(integer),
      };
    }
  }
  const float = parseGoFloat(text);
  if (float === undefined) throw new LiteralError(`illegal number syntax: ${quoteString(text)}`);
  if (!/[.eEpP]/.test(text)) throw new LiteralError(`integer overflow: ${quoteString(text)}`);
  const isIntegral = Number.isInteger(float) && Math.abs(float) < 2 ** 63;
  return isIntegral
    ? { float, int: BigInt(float), ...(float >= 0 ? { uint: BigInt(float) } : {}) }
    : { float };
}

/** Whether a number with this spelling is a double by default. */
export const looksLikeFloat = (text: string): boolean =>
  /[.eEpP]/.test(text) && !text.startsWith("'") && !(/^0[xX]./.test(text) && !/[pP]/.test(text));
