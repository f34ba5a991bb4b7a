/** Floating point numbers as Go's `strconv.FormatFloat` writes them. */
import { trimmedEnd } from './trim.ts';

interface Decimal {
  /** Significant digits without leading zeros. */
  readonly digits: string;
  /** Position of the decimal point from the start of the digits: 0.5 is `5` with 0. */
  readonly point: number;
}

function shortest(value: number): Decimal {
  const [mantissa = '', exponent = '0'] = Math.abs(value).toExponential().split('e');
  return { digits: mantissa.replace('.', ''), point: Number(exponent) + 1 };
}

/** All digits of the double; their number is finite. */
function exact(value: number): Decimal {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, Math.abs(value));
  const word = bits.getBigUint64(0);
  const biased = Number(word >> 52n);
  const fraction = word & ((1n << 52n) - 1n);
  const mantissa = biased === 0 ? fraction : fraction | (1n << 52n);
  const exponent = (biased === 0 ? 1 : biased) - 1075;
  const digits = (
    exponent >= 0 ? mantissa << BigInt(exponent) : mantissa * 5n ** BigInt(-exponent)
  ).toString();
  return { digits, point: digits.length + Math.min(exponent, 0) };
}

/** Keeps `count` digits, rounding half to even as Go does. */
function roundTo({ digits, point }: Decimal, count: number): Decimal {
  if (count >= digits.length) return { digits, point };
  if (count < 0) return { digits: '', point };
  const rest = digits.slice(count);
  const kept = digits.slice(0, count);
  const isHalf = rest.startsWith('5') && /^50*$/.test(rest);
  const isOdd = Number(kept.at(-1) ?? '0') % 2 === 1;
  const isUp = isHalf ? isOdd : rest.charCodeAt(0) >= 53;
  if (!isUp) return { digits: kept, point };
  const up = (BigInt(`0${kept}`) + 1n).toString();
  if (count === 0) return { digits: '1', point: point + 1 };
  const padded = up.padStart(count, '0');
  return { digits: padded, point: point + padded.length - count };
}

function exponential({ digits, point }: Decimal, precision: number, letter: string): string {
  const exponent = digits === '' || /^0*$/.test(digits) ? 0 : point - 1;
  const all = (digits || '0').padEnd(precision + 1, '0');
  const tail = precision > 0 ? `.${all.slice(1, precision + 1)}` : '';
  const size = Math.abs(exponent).toString().padStart(2, '0');
  return `${all.charAt(0)}${tail}${letter}${exponent < 0 ? '-' : '+'}${size}`;
}

function plain({ digits, point }: Decimal, precision: number): string {
  const whole = point > 0 ? digits.slice(0, point).padEnd(point, '0') : '0';
  if (precision <= 0) return whole;
  const fraction = point >= 0 ? digits.slice(point) : '0'.repeat(-point) + digits;
  return `${whole}.${fraction.padEnd(precision, '0').slice(0, precision)}`;
}

/**
 * `strconv.FormatFloat(value, format, precision, 64)`.
 * @param precision -1 for as many digits as identify the value
 */
export function formatGoFloat(value: number, format: 'e' | 'E' | 'f' | 'g' | 'G', precision = -1): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  const isShortest = precision < 0;
  const decimal: Decimal =
    value === 0 ? { digits: '0', point: 1 } : isShortest ? shortest(value) : exact(value);
  return sign + formatDecimal(decimal, format, isShortest ? undefined : precision);
}

function formatDecimal(
  decimal: Decimal,
  format: 'e' | 'E' | 'f' | 'g' | 'G',
  precision: number | undefined,
): string {
  if (format === 'f') {
    if (precision === undefined) return plain(decimal, Math.max(decimal.digits.length - decimal.point, 0));
    return plain(roundTo(decimal, decimal.point + precision), precision);
  }
  if (format === 'e' || format === 'E') {
    const rounded = precision === undefined ? decimal : roundTo(decimal, precision + 1);
    return exponential(rounded, precision ?? rounded.digits.length - 1, format);
  }
  const count = precision === undefined ? undefined : Math.max(precision, 1);
  const rounded = count === undefined ? decimal : roundTo(decimal, count);
  const digits = trimmedEnd(rounded.digits, '0') || '0';
  const trimmed = { digits, point: rounded.point };
  let threshold = count ?? 6;
  if (threshold > digits.length && digits.length >= trimmed.point) threshold = digits.length;
  if (count === undefined) threshold = 6;
  const exponent = trimmed.point - 1;
  if (exponent < -4 || exponent >= threshold) {
    return exponential(trimmed, digits.length - 1, format === 'g' ? 'e' : 'E');
  }
  return plain(trimmed, Math.max(digits.length - trimmed.point, 0));
}
