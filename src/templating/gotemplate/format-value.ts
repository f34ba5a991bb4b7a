/** Formats one value with one verb like Go's `fmt`: numbers, strings, bytes, lists, maps, objects. */
import { table } from '../../lib/objects.ts';
import { formatGoFloat } from '../../lib/go-float.ts';
import { bytesOf, runesOf } from '../go/go-string.ts';
import { canBackquote, escapeRune, isPrintable, quoteString } from '../go/quote.ts';
import { GoInt, GoMap, GoObject, elemType, isFunction, typeName, type Value } from './values.ts';

export interface Flags {
  /** `%#v`: Go syntax. In nested values, `sharp` itself is off. */
  readonly syntax: boolean;
  readonly minus: boolean;
  readonly plus: boolean;
  readonly sharp: boolean;
  readonly space: boolean;
  readonly zero: boolean;
  readonly width: number | undefined;
  readonly precision: number | undefined;
}

export const NO_FLAGS: Flags = {
  syntax: false,
  minus: false,
  plus: false,
  sharp: false,
  space: false,
  zero: false,
  width: undefined,
  precision: undefined,
};

const isNil = (value: Value): value is null | undefined => value === undefined || value === null;

/** Pads to the width; with zeros only where Go does. */
function pad(text: string, flags: Flags): string {
  if (flags.width === undefined) return text;
  const missing = flags.width - runesOf(text).length;
  if (missing <= 0) return text;
  if (flags.minus) return text + ' '.repeat(missing);
  return (flags.zero ? '0' : ' ').repeat(missing) + text;
}

/** `%!d(string=x)`; the value is formatted with the flags of the directive. */
export function argumentError(value: Value, verb: string, flags: Flags): string {
  if (isNil(value)) return `%!${verb}(<nil>)`;
  return `%!${verb}(${typeName(value)}=${formatValue(value, 'v', flags, 0)})`;
}

/** @param depth 0 for an argument itself, more in lists and maps */
export function formatValue(value: Value, verb: string, flags: Flags, depth: number): string {
  if (isNil(value)) {
    if (depth > 0 && verb !== 'T') return flags.syntax ? 'interface {}(nil)' : '<nil>';
    return verb === 'v' || verb === 'T' ? pad('<nil>', flags) : argumentError(value, verb, flags);
  }
  if (verb === 'T') return formatString(typeName(value), 's', flags);
  switch (typeof value) {
    case 'string':
      return formatString(value, verb, flags);
    case 'boolean':
      return verb === 't' || verb === 'v' ? pad(String(value), flags) : argumentError(value, verb, flags);
    case 'number':
      return formatFloat(value, verb, flags);
    case 'bigint':
      return formatInteger(value, verb, flags, value);
    default:
      return formatComposite(value, verb, flags, depth);
  }
}

function formatComposite(
  value: Exclude<Value, null | undefined | string | boolean | number | bigint>,
  verb: string,
  flags: Flags,
  depth: number,
): string {
  if (value instanceof GoInt) {
    if (value.named && 'vsqxX'.includes(verb) && !flags.syntax)
      return formatString(value.named.text, verb === 'v' ? 's' : verb, flags);
    return formatInteger(value.value, verb, flags, value);
  }
  if (value instanceof Uint8Array) return formatBytes(value, verb, flags);
  if (value instanceof GoObject) return formatObject(value, verb, flags, depth);
  if (value instanceof GoMap) return formatMap(value, verb, flags, depth);
  if (isFunction(value)) return argumentError('func', verb, flags);
  const items = value.map((item) => formatValue(item, verb, flags, depth + 1));
  if (flags.syntax) return `[]${elemType(value)}{${items.join(', ')}}`;
  return `[${items.join(' ')}]`;
}

function formatMap(map: GoMap, verb: string, flags: Flags, depth: number): string {
  const isSyntax = flags.syntax;
  if (isSyntax && map.isNil) return `${typeName(map)}(nil)`;
  const pairs = map
    .sortedKeys()
    .map((k) => `${formatString(k, verb, flags)}:${formatValue(map.get(k), verb, flags, depth + 1)}`);
  return isSyntax ? `${typeName(map)}{${pairs.join(', ')}}` : `map[${pairs.join(' ')}]`;
}

function formatObject(value: GoObject, verb: string, flags: Flags, depth: number): string {
  if (value.text && 'vsqxX'.includes(verb))
    return formatString(value.text(), verb === 'v' ? 's' : verb, flags);
  const isNamed = flags.syntax;
  const fields = [...value.fields].map(
    ([name, field]) => (isNamed ? `${name}:` : '') + formatValue(field, verb, flags, depth + 1),
  );
  return `{${fields.join(' ')}}`;
}

function formatBytes(value: Uint8Array, verb: string, flags: Flags): string {
  if (verb === 'v' || verb === 'd') {
    const items = Array.from(value, (b) =>
      flags.syntax ? `0x${b.toString(16)}` : formatInteger(BigInt(b), 'd', flags, null),
    );
    return flags.syntax ? `[]byte{${items.join(', ')}}` : `[${items.join(' ')}]`;
  }
  if ('sqxX'.includes(verb)) {
    const text = Buffer.from(value).toString('latin1');
    return verb === 'x' || verb === 'X'
      ? pad(hexOfBytes(value, verb, flags), flags)
      : formatString(Buffer.from(text, 'latin1').toString('utf8'), verb, flags);
  }
  return `[${Array.from(value, (b) => formatInteger(BigInt(b), verb, flags, new GoInt('uint8', BigInt(b)))).join(' ')}]`;
}

function hexOfBytes(bytes: Uint8Array, verb: string, flags: Flags): string {
  const used = flags.precision === undefined ? bytes : bytes.subarray(0, flags.precision);
  if (used.length === 0) return '';
  const pairs = Array.from(used, (b) => b.toString(16).padStart(2, '0'));
  const prefix = flags.sharp ? '0x' : '';
  const text = flags.space ? pairs.map((p) => prefix + p).join(' ') : prefix + pairs.join('');
  return verb === 'X' ? text.toUpperCase() : text;
}

function formatString(text: string, verb: string, flags: Flags): string {
  if (verb === 'x' || verb === 'X') return pad(hexOfBytes(bytesOf(text), verb, flags), flags);
  const cut = flags.precision === undefined ? text : Array.from(text).slice(0, flags.precision).join('');
  if (flags.syntax && verb === 'v') return pad(quoteString(cut), flags);
  if (verb === 'v' || verb === 's') return pad(cut, flags);
  if (verb === 'q') {
    return pad(flags.sharp && canBackquote(cut) ? `\`${cut}\`` : quoteString(cut, flags.plus), flags);
  }
  return argumentError(text, verb, flags);
}

const BASES: Readonly<Record<string, number>> = table({ v: 10, d: 10, b: 2, o: 8, O: 8, x: 16, X: 16 });

function formatInteger(value: bigint, verb: string, flags: Flags, original: Value): string {
  const base = BASES[verb];
  if (base !== undefined) return formatDigits(value, verb, base, flags);
  const code = value >= 0n && value <= 0x10ffffn ? Number(value) : 0xfffd;
  const char = code >= 0xd800 && code <= 0xdfff ? '\ufffd' : String.fromCodePoint(code);
  if (verb === 'c') return pad(char, flags);
  if (verb === 'q') return pad(`'${escapeRune(char, "'", flags.plus)}'`, flags);
  if (verb === 'U') {
    const digits = BigInt.asUintN(64, value)
      .toString(16)
      .toUpperCase()
      .padStart(Math.max(flags.precision ?? 4, 4), '0');
    const text = `U+${digits}`;
    return pad(flags.sharp && code !== 0xfffd && isPrintable(char) ? `${text} '${char}'` : text, {
      ...flags,
      zero: false,
    });
  }
  return argumentError(original, verb, flags);
}

function formatDigits(value: bigint, verb: string, base: number, flags: Flags): string {
  const isNegative = value < 0n;
  let digits = (isNegative ? -value : value).toString(base);
  if (verb === 'X') digits = digits.toUpperCase();
  const sign = isNegative ? '-' : flags.plus ? '+' : flags.space ? ' ' : '';
  if (flags.precision !== undefined) {
    if (flags.precision === 0 && value === 0n) return pad('', { ...flags, zero: false });
    digits = digits.padStart(flags.precision, '0');
  } else if (flags.zero && !flags.minus && flags.width !== undefined) {
    digits = digits.padStart(flags.width - sign.length, '0');
  }
  if (flags.sharp) {
    if (base === 2) digits = `0b${digits}`;
    if (base === 8 && !digits.startsWith('0')) digits = `0${digits}`;
    if (base === 16) digits = (verb === 'X' ? '0X' : '0x') + digits;
  }
  if (verb === 'O') digits = `0o${digits}`;
  return pad(sign + digits, { ...flags, zero: false });
}

const FLOAT_FORMATS: Readonly<Record<string, 'e' | 'E' | 'f' | 'g' | 'G'>> = table({
  v: 'g',
  e: 'e',
  E: 'E',
  f: 'f',
  F: 'f',
  g: 'g',
  G: 'G',
});

function formatFloat(value: number, verb: string, flags: Flags): string {
  const format = FLOAT_FORMATS[verb];
  if (format === undefined) return argumentError(value, verb, flags);
  const isGeneral = format === 'g' || format === 'G';
  const written = formatGoFloat(value, format, flags.precision ?? (isGeneral ? -1 : 6));
  const isFinite = Number.isFinite(value);
  const digits = written.replace(/^[+-]/, '');
  const text = flags.sharp && isFinite ? keepPoint(digits, format, flags.precision ?? 6) : digits;
  const sign = floatSign(written, flags);
  if (flags.zero && !flags.minus && isFinite && flags.width !== undefined) {
    return sign + text.padStart(flags.width - sign.length, '0');
  }
  return pad(sign + text, { ...flags, zero: false });
}

/** The printed sign; infinity has one even if other numbers have none. */
function floatSign(written: string, flags: Flags): string {
  if (written.startsWith('-')) return '-';
  if (flags.plus) return '+';
  if (flags.space) return ' ';
  return written.startsWith('+') ? '+' : '';
}

/** `%#g` and similar verbs keep the decimal point and trailing zeros. */
function keepPoint(text: string, format: string, precision: number): string {
  const [mantissa = '', exponent] = text.split(/(?=[eE])/);
  let out = mantissa.includes('.') ? mantissa : `${mantissa}.`;
  if (format === 'g' || format === 'G') {
    const significant = out.replace('.', '').replace(/^0+/, '').length;
    out += '0'.repeat(Math.max(precision - Math.max(significant, 1), 0));
  }
  return out + (exponent ?? '');
}
