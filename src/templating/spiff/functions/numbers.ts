/** Types and type conversions, and mathematics with doubles. */
import { formatGoFloat } from '../../../lib/go-float.ts';
import { parseGoFloat } from '../../go/literals.ts';
import { quoteString } from '../../go/quote.ts';
import type { SpiffFunction, SpiffFunctionTable } from '../function.ts';
import { type SpiffValue, typeName } from '../value.ts';
import { count, fail, goTypeOf, integer, parseBoolean, parseInteger } from './arguments.ts';

const MIN_INT64 = -(2n ** 63n);

/** Go's conversion of a double; out of range becomes the smallest integer, as on common processors. */
function truncate(value: number): bigint {
  const isInRange = value >= -(2 ** 63) && value < 2 ** 63;
  return isInRange ? BigInt(Math.trunc(value)) : MIN_INT64;
}

function toText(args: readonly SpiffValue[]): SpiffValue {
  const [value = null] = args;
  if (args.length === 0) fail('string requires one argument');
  if (args.length > 1 && typeof value !== 'bigint') fail('string requires one argument');
  if (args.length > 2) fail('string for integers requires one or two arguments');
  switch (typeof value) {
    case 'string':
      return value;
    case 'boolean':
      return String(value);
    case 'number':
      return formatGoFloat(value, 'g');
    case 'bigint':
      return value.toString(args.length > 1 ? baseOf(args[1]) : 10);
    default:
      return fail(`cannot convert ${goTypeOf(value)} to string`);
  }
}

function baseOf(value: SpiffValue | undefined): number {
  const base = integer(value, 'base argument for string requires integer value');
  if (base < 2n || base > 36n) fail('base argument for string requires integer value >=2 and <=36 ');
  return Number(base);
}

/** The original prints the error in place of the string, and then drops it. */
const notA = (kind: string, cause: unknown): never =>
  fail(`${quoteString((cause as Error).message)} is no ${kind} value: %!s(MISSING)`, cause);

function toInteger(args: readonly SpiffValue[]): SpiffValue {
  count(args, 1, 1, 'integer requires one argument');
  const [value = null] = args;
  switch (typeof value) {
    case 'bigint':
      return value;
    case 'number':
      return truncate(value);
    case 'boolean':
      return value ? 1n : 0n;
    case 'string':
      try {
        return parseInteger(value);
      } catch (cause) {
        return notA('integer', cause);
      }
    default:
      return fail(`cannot convert ${goTypeOf(value)} to integer`);
  }
}

function parseDouble(source: string): number {
  const value = parseGoFloat(source);
  if (value !== undefined) return value;
  const isTooLarge = /^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$/.test(source);
  const problem = isTooLarge ? 'value out of range' : 'invalid syntax';
  throw new Error(`strconv.ParseFloat: parsing ${quoteString(source)}: ${problem}`);
}

function toDouble(args: readonly SpiffValue[]): SpiffValue {
  count(args, 1, 1, 'float requires one argument');
  const [value = null] = args;
  switch (typeof value) {
    case 'bigint':
    case 'boolean':
      return Number(value);
    case 'number':
      return value;
    case 'string':
      try {
        return parseDouble(value);
      } catch (cause) {
        return notA('float', cause);
      }
    default:
      return fail(`cannot convert ${goTypeOf(value)} to float`);
  }
}

function toBoolean(args: readonly SpiffValue[]): SpiffValue {
  count(args, 1, 1, 'bool requires one argument');
  const [value = null] = args;
  switch (typeof value) {
    case 'boolean':
      return value;
    case 'bigint':
      return value !== 0n;
    case 'number':
      return value !== 0;
    case 'string':
      try {
        return value !== '' && parseBoolean(value);
      } catch (cause) {
        return notA('bool', cause);
      }
    default:
      return value === null ? false : fail(`cannot convert ${goTypeOf(value)} to bool`);
  }
}

/** Rounds half away from zero. */
const round = (x: number): number => Math.sign(x) * Math.floor(Math.abs(x) + 0.5);

function roundToEven(x: number): number {
  const low = Math.floor(x);
  if (x - low !== 0.5) return Math.round(x);
  return low % 2 === 0 ? low : low + 1;
}

/** Converts a double to an integer. */
const rounding =
  (name: string, f: (x: number) => number): SpiffFunction =>
  (args) => {
    count(args, 1, 1, `${name} requires one argument`);
    const [value = null] = args;
    if (typeof value === 'bigint') return value;
    if (typeof value === 'boolean') return value ? 1n : 0n;
    return typeof value === 'number'
      ? truncate(f(value))
      : fail(`invalid argument type for ${name}: ${goTypeOf(value)}`);
  };

function compute(name: string, f: (x: number) => number, args: readonly SpiffValue[]): number {
  count(args, 1, 1, `${name} requires one argument`);
  const [value = null] = args;
  if (typeof value !== 'bigint' && typeof value !== 'number') {
    return fail(`invalid argument type for ${name}: ${goTypeOf(value)}`);
  }
  const result = f(Number(value));
  return Number.isNaN(result) ? fail(`${name}: NaN`) : result;
}

const curve =
  (name: string, f: (x: number) => number): SpiffFunction =>
  (args) =>
    compute(name, f, args);

function absolute(args: readonly SpiffValue[]): SpiffValue {
  const [value] = args;
  if (args.length === 1 && typeof value === 'bigint') return BigInt.asIntN(64, value < 0n ? -value : value);
  return compute('abs', Math.abs, args);
}

const ROUNDINGS = { floor: Math.floor, ceil: Math.ceil, round, roundtoeven: roundToEven };
const { sin, cos, sinh, cosh, asin, acos, asinh, acosh, sqrt, exp, log, log10 } = Math;
const CURVES = { sin, cos, sinh, cosh, asin, acos, asinh, acosh, sqrt, exp, log, log10 };

const table = (
  functions: Readonly<Record<string, (x: number) => number>>,
  make: (name: string, f: (x: number) => number) => SpiffFunction,
): SpiffFunctionTable =>
  Object.fromEntries(Object.entries(functions).map(([name, f]) => [name, make(name, f)]));

export const numberFunctions: SpiffFunctionTable = {
  type: (args) => {
    if (args.length === 0) fail("exactly one argument required for function 'type'");
    return typeName(args[0] ?? null);
  },
  string: toText,
  integer: toInteger,
  float: toDouble,
  bool: toBoolean,
  abs: absolute,
  ...table(ROUNDINGS, rounding),
  ...table(CURVES, curve),
};
