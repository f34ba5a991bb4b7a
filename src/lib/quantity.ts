/** Quantities such as `500m` and `1Gi`, in the form that Kubernetes stores. Pure. */

const FORM = /^([+-]?)(\d+(?:\.\d*)?|\.\d+)(?:([numkMGTPE]|[KMGTPE]i)|[eE]([+-]?\d+))?$/;
const DECIMAL = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

/** Smaller fractions are rounded up. */
const NANO = 1_000_000_000n;

export const QUANTITY_RULE =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

type Family = 'decimal' | 'binary' | 'exponent';

/** Far more than Kubernetes can store. A number with a million digits takes seconds to print, and `1e999999` is one. */
const MAX_LENGTH = 200;
const MAX_EXPONENT = 200;

function formOf(text: string): RegExpExecArray | undefined {
  const match = text.length > MAX_LENGTH ? null : FORM.exec(text);
  return match && Math.abs(Number(match[4] ?? 0)) <= MAX_EXPONENT ? match : undefined;
}

/** `1000m` → `1`, `0.5Gi` → `512Mi`, `12000` → `12k`; undefined if `text` is not a valid quantity. */
export function canonicalQuantity(text: string): string | undefined {
  const match = formOf(text);
  if (!match) return undefined;
  const [, sign, digits = '', suffix = '', exponent] = match;
  const family: Family = suffix.endsWith('i') ? 'binary' : exponent === undefined ? 'decimal' : 'exponent';
  const nanos = inNanos(digits, suffix, exponent === undefined ? 0 : Number(exponent));
  if (nanos === 0n) return '0';
  return (sign === '-' ? '-' : '') + print(nanos, family);
}

function inNanos(digits: string, suffix: string, exponent: number): bigint {
  const [whole = '', fraction = ''] = digits.split('.');
  const mantissa = BigInt(whole + fraction || '0');
  const binary = BINARY.indexOf(suffix);
  if (suffix !== '' && binary > 0)
    return divideUp(mantissa * 1024n ** BigInt(binary) * NANO, 10n ** BigInt(fraction.length));
  const power = (DECIMAL.indexOf(suffix) - 3) * 3 + exponent - fraction.length + 9;
  return power >= 0 ? mantissa * 10n ** BigInt(power) : divideUp(mantissa, 10n ** BigInt(-power));
}

const divideUp = (value: bigint, by: bigint): bigint => (value + by - 1n) / by;

function print(nanos: bigint, family: Family): string {
  if (family === 'binary' && nanos >= 1024n * NANO && nanos % NANO === 0n) {
    let value = nanos / NANO;
    let step = 0;
    while (value % 1024n === 0n && step < BINARY.length - 1) {
      value /= 1024n;
      step++;
    }
    return `${value}${BINARY[step] ?? ''}`;
  }
  let value = nanos;
  let step = 0;
  while (value % 1000n === 0n && step < DECIMAL.length - 1) {
    value /= 1000n;
    step++;
  }
  if (family !== 'exponent') return `${value}${DECIMAL[step] ?? ''}`;
  return step === 3 ? String(value) : `${value}e${(step - 3) * 3}`;
}

/** Negative, zero or positive if `a` is less than, equal to or greater than `b`; invalid quantities count as 0. */
export function compareQuantities(a: string, b: string): number {
  const difference = nanosOf(a) - nanosOf(b);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

function nanosOf(text: string): bigint {
  const match = formOf(text);
  if (!match) return 0n;
  const [, sign, digits = '', suffix = '', exponent] = match;
  const nanos = inNanos(digits, suffix, exponent === undefined ? 0 : Number(exponent));
  return sign === '-' ? -nanos : nanos;
}
