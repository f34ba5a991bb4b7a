/** Go durations: `1h30m`, in nanoseconds. */
import { table } from '../../../lib/objects.ts';
import { FunctionError } from '../errors.ts';
import { bytesOf } from '../../go/go-string.ts';
import { trimmedEnd } from '../../../lib/trim.ts';

const UNITS: Readonly<Record<string, bigint>> = table({
  ns: 1n,
  us: 1000n,
  µs: 1000n,
  μs: 1000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
});

/** The quoting of Go's package time: all non-ASCII characters as bytes. */
const quoteTime = (text: string): string =>
  `"${Array.from(bytesOf(text), (b) => {
    const char = String.fromCharCode(b);
    if (char === '"' || char === '\\') return `\\${char}`;
    return b >= 0x20 && b < 0x7f ? char : `\\x${b.toString(16).padStart(2, '0')}`;
  }).join('')}"`;

/** @throws FunctionError as `time.ParseDuration` */
export function parseDuration(text: string): bigint {
  let rest = text.replace(/^[+-]/, '');
  if (rest === '0') return 0n;
  if (rest === '') throw new FunctionError(`time: invalid duration ${quoteTime(text)}`);
  let total = 0n;
  while (rest !== '') {
    const [number = '', whole = '', fraction = ''] = /^(\d*)(?:\.(\d*))?/.exec(rest) ?? [];
    if (whole === '' && fraction === '') throw new FunctionError(`time: invalid duration ${quoteTime(text)}`);
    const unit = /^[^.0-9]*/.exec(rest.slice(number.length))?.[0] ?? '';
    if (unit === '') throw new FunctionError(`time: missing unit in duration ${quoteTime(text)}`);
    const size = UNITS[unit];
    if (size === undefined) {
      throw new FunctionError(`time: unknown unit ${quoteTime(unit)} in duration ${quoteTime(text)}`);
    }
    total += BigInt(whole) * size;
    if (fraction !== '') total += (BigInt(fraction) * size) / 10n ** BigInt(fraction.length);
    rest = rest.slice(number.length + unit.length);
  }
  return text.startsWith('-') ? -total : total;
}

/** `time.Duration.String`. */
export function durationText(nanos: bigint): string {
  if (nanos === 0n) return '0s';
  const sign = nanos < 0n ? '-' : '';
  const size = nanos < 0n ? -nanos : nanos;
  const fraction = (value: bigint, digits: number): string => {
    const text = value.toString().padStart(digits + 1, '0');
    const tail = trimmedEnd(text.slice(-digits), '0');
    return text.slice(0, -digits) + (tail === '' ? '' : `.${tail}`);
  };
  if (size < 1000n) return `${sign}${size.toString()}ns`;
  if (size < 1_000_000n) return `${sign}${fraction(size, 3)}µs`;
  if (size < 1_000_000_000n) return `${sign}${fraction(size, 6)}ms`;
  const hours = size / 3_600_000_000_000n;
  const minutes = (size / 60_000_000_000n) % 60n;
  const seconds = `${fraction(size % 60_000_000_000n, 9)}s`;
  if (hours > 0n) return `${sign}${hours.toString()}h${minutes.toString()}m${seconds}`;
  return minutes > 0n ? `${sign}${minutes.toString()}m${seconds}` : `${sign}${seconds}`;
}
