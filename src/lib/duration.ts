/** Go durations (`90s`, `1h30m`, `1.5h`) and `none`, which Landscaper writes for zero. Stored in nanoseconds. */
import { table } from './objects.ts';
import { trimmedEnd } from './trim.ts';

const NANOSECONDS: Readonly<Record<string, bigint>> = table({
  ns: 1n,
  us: 1_000n,
  µs: 1_000n, // micro sign
  μs: 1_000n, // Greek letter mu
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
});

const MAX_NANOSECONDS = 2n ** 63n - 1n;
const PART = /(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/y;

/** The text is not a valid duration; the message shows the format. */
export class InvalidDuration extends Error {
  override readonly name = 'InvalidDuration';
  readonly text: string;

  constructor(text: string) {
    super(`"${text}" is not a duration: write numbers with units such as "90s", "1h30m", or "none"`);
    this.text = text;
  }
}

/**
 * Milliseconds of a duration, possibly a fraction. `none` is 0.
 * @throws InvalidDuration where Go's time.ParseDuration fails: an empty text, a number without unit, more than 292
 * years
 * @see gardener/landscaper apis/core/v1alpha1/types_shared.go Duration
 */
export function parseDuration(text: string): number {
  const nanoseconds = nanosecondsOf(text);
  if (nanoseconds === undefined) throw new InvalidDuration(text);
  return Number(nanoseconds / 1_000_000n) + Number(nanoseconds % 1_000_000n) / 1e6;
}

/** Whether `parseDuration` accepts the text. */
export const isDuration = (text: string): boolean => nanosecondsOf(text) !== undefined;

/**
 * A duration as Go formats it: `5m0s`, `1h0m0s`, `1.5s`, `250ms`.
 * @param ms milliseconds; rounded to whole nanoseconds
 */
export function formatGoDuration(ms: number): string {
  const whole = Math.trunc(ms);
  const nanoseconds = BigInt(whole) * 1_000_000n + BigInt(Math.round((ms - whole) * 1e6));
  if (nanoseconds === 0n) return '0s';
  const sign = nanoseconds < 0n ? '-' : '';
  return sign + formatPositive(nanoseconds < 0n ? -nanoseconds : nanoseconds);
}

/** Like `formatGoDuration`, but `none` for zero: the format in Landscaper's objects. */
export const formatDuration = (ms: number): string => {
  const text = formatGoDuration(ms);
  return text === '0s' ? 'none' : text;
};

function nanosecondsOf(text: string): bigint | undefined {
  if (text === 'none') return 0n;
  const body = text.replace(/^[-+]/, '');
  if (body === '0') return 0n;
  if (body === '') return undefined;

  let total = 0n;
  let position = 0;
  while (position < body.length) {
    PART.lastIndex = position;
    const match = PART.exec(body);
    if (!match) return undefined;
    const [part, whole = '', fraction = '', unit = ''] = match;
    if (whole === '' && fraction === '') return undefined;
    total += partOf(whole, fraction, NANOSECONDS[unit] ?? 0n);
    position += part.length;
  }
  const negative = text.startsWith('-');
  if (total > (negative ? MAX_NANOSECONDS + 1n : MAX_NANOSECONDS)) return undefined;
  return negative ? -total : total;
}

function partOf(whole: string, fraction: string, unit: bigint): bigint {
  const digits = fraction.slice(0, 18);
  const fractionValue = digits === '' ? 0n : (BigInt(digits) * unit) / 10n ** BigInt(digits.length);
  return BigInt(whole === '' ? 0 : whole) * unit + fractionValue;
}

function formatPositive(nanoseconds: bigint): string {
  if (nanoseconds < 1_000n) return `${nanoseconds}ns`;
  if (nanoseconds < 1_000_000n) return `${decimal(nanoseconds, 1_000n)}µs`;
  if (nanoseconds < 1_000_000_000n) return `${decimal(nanoseconds, 1_000_000n)}ms`;

  const minutes = nanoseconds / 60_000_000_000n;
  const seconds = `${decimal(nanoseconds % 60_000_000_000n, 1_000_000_000n)}s`;
  if (minutes === 0n) return seconds;
  const hours = minutes / 60n;
  return hours === 0n ? `${minutes}m${seconds}` : `${hours}h${minutes % 60n}m${seconds}`;
}

/** `value / unit` without trailing zeros. `unit` is a power of ten. */
function decimal(value: bigint, unit: bigint): string {
  const fraction = trimmedEnd((value % unit).toString().padStart(unit.toString().length - 1, '0'), '0');
  return fraction === '' ? `${value / unit}` : `${value / unit}.${fraction}`;
}
