/** Loose conversions of template values to numbers and strings, like sprig's. */
import { parseGoFloat, parseGoInteger } from '../../go/literals.ts';
import { sprintValue } from '../format.ts';
import { stringOf } from '../../go/go-string.ts';
import { GoInt, GoObject, isSlice, itemsOf, type Value } from '../values.ts';

const MIN_INT64 = -(2n ** 63n);
const MAX_INT64 = 2n ** 63n - 1n;

/** Go's conversion of a double on amd64: out of range becomes the smallest integer. */
function truncate(value: number): bigint {
  if (!Number.isFinite(value)) return MIN_INT64;
  const integer = BigInt(Math.trunc(value));
  return integer < MIN_INT64 || integer > MAX_INT64 ? MIN_INT64 : integer;
}

/** An int64; 0 if it is not a number. Strings may have a prefix: `0x1f` is 31, `010` is 8. */
export function toInt64(value: Value): bigint {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number') return truncate(value);
  // sprig does not convert durations.
  if (value instanceof GoInt) return value.type === 'time.Duration' ? 0n : value.value;
  if (typeof value === 'boolean') return value ? 1n : 0n;
  if (typeof value !== 'string') return 0n;
  const integer = parseGoInteger(value.replace(/\.0+$/, ''));
  return integer === undefined || integer < MIN_INT64 || integer > MAX_INT64 ? 0n : integer;
}

export function toFloat64(value: Value): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value === 'string') return parseGoFloat(value) ?? 0;
  return Number(toInt64(value));
}

/** sprig's conversion to a string: bytes are decoded, other values are printed with `%v`. */
export function toText(value: Value): string {
  if (typeof value === 'string') return value;
  if (value instanceof Uint8Array) return stringOf(value);
  if (value instanceof GoObject && value.text) return value.text();
  if (value instanceof GoInt && value.named) return value.named.text;
  return value === undefined || value === null ? '<nil>' : sprintValue(value);
}

/** sprig's conversion to a list of strings; nil is omitted, a single value becomes a list. */
export function toTexts(value: Value): string[] {
  if (value === undefined || value === null) return [];
  if (!isSlice(value)) return [toText(value)];
  return itemsOf(value)
    .filter((item) => item !== null && item !== undefined)
    .map(toText);
}
