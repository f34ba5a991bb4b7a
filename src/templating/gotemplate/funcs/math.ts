/** sprig's arithmetic: 64 bit integers with overflow, and decimal arithmetic for the functions ending in f. */
import { largest, smallest } from '../../../lib/lists.ts';
import type { Env, FunctionTable } from '../env.ts';
import { FunctionError } from '../errors.ts';
import { sprintValue } from '../format.ts';
import { envFn, fn } from '../signature.ts';
import { int64, type Value } from '../values.ts';
import { toFloat64, toInt64 } from './cast.ts';

/** coefficient × 10^exponent. */
interface Decimal {
  readonly coefficient: bigint;
  readonly exponent: number;
}

function decimalOf(value: number): Decimal {
  const [mantissa = '0', exponent = '0'] = value.toExponential().split('e');
  const digits = mantissa.replace('.', '');
  return { coefficient: BigInt(digits), exponent: Number(exponent) - (digits.replace('-', '').length - 1) };
}

const numberOf = ({ coefficient, exponent }: Decimal): number =>
  Number(`${coefficient.toString()}e${String(exponent)}`);

function align(a: Decimal, b: Decimal): [bigint, bigint, number] {
  const exponent = Math.min(a.exponent, b.exponent);
  const scale = (d: Decimal): bigint => d.coefficient * 10n ** BigInt(d.exponent - exponent);
  return [scale(a), scale(b), exponent];
}

/** Decimal digits of a division. */
const DIVISION_DIGITS = 16;

const decimalOps = {
  add: (a: Decimal, b: Decimal): Decimal => {
    const [x, y, exponent] = align(a, b);
    return { coefficient: x + y, exponent };
  },
  sub: (a: Decimal, b: Decimal): Decimal => {
    const [x, y, exponent] = align(a, b);
    return { coefficient: x - y, exponent };
  },
  mul: (a: Decimal, b: Decimal): Decimal => ({
    coefficient: a.coefficient * b.coefficient,
    exponent: a.exponent + b.exponent,
  }),
  div: (a: Decimal, b: Decimal): Decimal => {
    if (b.coefficient === 0n) throw new FunctionError('decimal division by 0');
    const [x, y] = align(a, b);
    const scaled = x * 10n ** BigInt(DIVISION_DIGITS);
    const isNegative = scaled < 0n !== y < 0n;
    const [n, d] = [scaled < 0n ? -scaled : scaled, y < 0n ? -y : y];
    const quotient = (2n * n + d) / (2n * d);
    return { coefficient: isNegative ? -quotient : quotient, exponent: -DIVISION_DIGITS };
  },
};

function fold(values: readonly Value[], op: (a: Decimal, b: Decimal) => Decimal): number {
  const decimals = values.map((v) => {
    const number = toFloat64(v);
    if (!Number.isFinite(number))
      throw new FunctionError(`Cannot create a Decimal from ${sprintValue(number)}`);
    return decimalOf(number);
  });
  return numberOf(decimals.reduce(op));
}

function divide(a: Value, b: Value): { quotient: bigint; rest: bigint } {
  const divisor = toInt64(b);
  if (divisor === 0n) throw new FunctionError('runtime error: integer divide by zero');
  const dividend = toInt64(a);
  return { quotient: dividend / divisor, rest: dividend % divisor };
}

const extreme =
  (isBetter: (a: bigint, b: bigint) => boolean) =>
  (...v: Value[]): Value =>
    int64(v.map(toInt64).reduce((best, x) => (isBetter(x, best) ? x : best)));

function round(value: Value, places: number, at = 0.5): number {
  const power = 10 ** places;
  const digit = power * toFloat64(value);
  const fraction = digit - Math.trunc(digit);
  return (fraction >= at ? Math.ceil(digit) : Math.floor(digit)) / power;
}

const max = extreme((a, b) => a > b);

export const mathFunctions: FunctionTable = {
  int: fn('any', (v: Value) => toInt64(v)),
  int64: fn('any', (v: Value) => int64(toInt64(v))),
  float64: fn('any', (v: Value) => toFloat64(v)),
  atoi: fn('string', (s: string) =>
    /^[+-]?[0-9]+$/.test(s) ? BigInt.asIntN(64, BigInt(s.replace(/^\+/, ''))) : 0n,
  ),
  toDecimal: fn('any', (v: Value) => {
    const text = sprintValue(v ?? null);
    return int64(/^[+-]?[0-7]+$/.test(text) ? BigInt(Number.parseInt(text, 8)) : 0n);
  }),
  add1: fn('any', (v: Value) => int64(toInt64(v) + 1n)),
  add: fn('...any', (...v: Value[]) => int64(v.reduce<bigint>((sum, x) => sum + toInt64(x), 0n))),
  sub: fn('any any', (a: Value, b: Value) => int64(toInt64(a) - toInt64(b))),
  mul: fn('any ...any', (...v: Value[]) =>
    int64(v.reduce<bigint>((p, x) => BigInt.asIntN(64, p * toInt64(x)), 1n)),
  ),
  div: fn('any any', (a: Value, b: Value) => int64(divide(a, b).quotient)),
  mod: fn('any any', (a: Value, b: Value) => int64(divide(a, b).rest)),
  max: fn('any ...any', max),
  biggest: fn('any ...any', max),
  min: fn(
    'any ...any',
    extreme((a, b) => a < b),
  ),
  maxf: fn('any ...any', (...v: Value[]) => largest(v.map(toFloat64))),
  minf: fn('any ...any', (...v: Value[]) => smallest(v.map(toFloat64))),
  add1f: fn('any', (v: Value) => fold([v, 1], decimalOps.add)),
  addf: fn('...any', (...v: Value[]) => fold([0, ...v], decimalOps.add)),
  subf: fn('any ...any', (...v: Value[]) => fold(v, decimalOps.sub)),
  mulf: fn('any ...any', (...v: Value[]) => fold(v, decimalOps.mul)),
  divf: fn('any ...any', (...v: Value[]) => fold(v, decimalOps.div)),
  floor: fn('any', (v: Value) => Math.floor(toFloat64(v))),
  ceil: fn('any', (v: Value) => Math.ceil(toFloat64(v))),
  round: fn('any int ...float64', (v: Value, places: number, at?: number) => round(v, places, at)),
  randInt: envFn('int int', (env: Env, min: number, max_: number) => {
    if (max_ <= min) throw new FunctionError('invalid argument to Intn');
    return BigInt(min + Math.floor(env.rng.next() * (max_ - min)));
  }),
};
