/** `+ - * / %` on integers, doubles, IP addresses and networks; comparisons. */
import { compareStrings } from '../../go/go-string.ts';
import type { ExprOf } from '../syntax/ast.ts';
import type { Binding } from '../tree/binding.ts';
import { isEqual } from '../tree/equivalence.ts';
import type { Value } from '../tree/node.ts';
import { both, integers, type Engine } from './engine.ts';
import { addToAddress, divideNetwork, multiplyNetwork, subtractAddresses } from './addresses.ts';
import { answer, fail, failed, join, open, type Info, type Outcome } from './outcome.ts';

const wrap = (value: bigint): bigint => BigInt.asIntN(64, value);

type Arithmetic = ExprOf<'arithmetic'>;
type Operation = (a: Value, b: Value, info: Info) => Outcome;

export const arithmetic = (engine: Engine, expr: Arithmetic, binding: Binding): Outcome =>
  expr.operator === '%'
    ? modulo(engine, expr, binding)
    : both(engine, expr, binding, operations[expr.operator]);

/** Two integers stay integers; if one operand is a double, both become doubles. */
function numbers(a: Value, b: Value): readonly [bigint, bigint] | readonly [number, number] | undefined {
  const isNumber = (value: Value): value is bigint | number =>
    typeof value === 'bigint' || typeof value === 'number';
  if (!isNumber(a) || !isNumber(b)) return undefined;
  return typeof a === 'bigint' && typeof b === 'bigint' ? [a, b] : [Number(a), Number(b)];
}

function onNumbers(
  refusal: string,
  integers: (a: bigint, b: bigint) => bigint,
  doubles: (a: number, b: number) => number,
): Operation {
  return (a, b, info) => {
    const pair = numbers(a, b);
    if (!pair) return fail(refusal, info);
    return typeof pair[0] === 'bigint'
      ? answer(wrap(integers(pair[0], pair[1] as bigint)), info)
      : answer(doubles(pair[0], pair[1] as number), info);
  };
}

const plainAdd = onNumbers(
  'non-IP address addition requires number arguments',
  (a, b) => a + b,
  (a, b) => a + b,
);
const plainSubtract = onNumbers(
  'non-IP address subtration requires number arguments',
  (a, b) => a - b,
  (a, b) => a - b,
);
const plainDivide = onNumbers(
  'non-CIDR division requires number arguments',
  (a, b) => a / b,
  (a, b) => a / b,
);

const add: Operation = (a, b, info) =>
  typeof a === 'string' ? orFail(addToAddress(a, b), info) : plainAdd(a, b, info);

const subtract: Operation = (a, b, info) =>
  typeof a === 'string' ? orFail(subtractAddresses(a, b), info) : plainSubtract(a, b, info);

const plainMultiply = onNumbers(
  'non-CIDR multiplication requires number arguments',
  (a, b) => a * b,
  (a, b) => a * b,
);
const multiply: Operation = (a, b, info) =>
  typeof a === 'string' ? orFail(multiplyNetwork(a, b), info) : plainMultiply(a, b, info);

const isZero = (value: Value): boolean => value === 0n || value === 0;

const divide: Operation = (a, b, info) => {
  if (typeof a === 'string') return orFail(divideNetwork(a, b), info);
  return isZero(b) && numbers(a, b) ? fail('division by zero', info) : plainDivide(a, b, info);
};

function modulo(engine: Engine, expr: Arithmetic, binding: Binding): Outcome {
  const found = integers(engine, [expr.left, expr.right], binding);
  if (found.kind === 'failed') return found;
  if (found.kind === 'open') {
    const [left = expr.left, right = expr.right] = found.exprs;
    return open({ ...expr, left, right }, found.info);
  }
  const [a = 0n, b = 0n] = found.values;
  return b === 0n ? fail('division by zero', found.info) : answer(a % b, found.info);
}

const operations: Readonly<Record<Exclude<Arithmetic['operator'], '%'>, Operation>> = {
  '+': add,
  '-': subtract,
  '*': multiply,
  '/': divide,
};

const orFail = (result: Value | Error, info: Info): Outcome =>
  result instanceof Error ? fail(result.message, info) : answer(result, info);

// ---------------------------------------------------------------- comparisons

type Order = (a: bigint | number, b: bigint | number) => boolean;
const orders: Readonly<Record<'<' | '<=' | '>' | '>=', Order>> = {
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
};

/** Integers and strings can be compared; for all other values the result is false. */
export const comparison = (engine: Engine, expr: ExprOf<'comparison'>, binding: Binding): Outcome =>
  both(engine, expr, binding, (a, b, info) => {
    const { operator } = expr;
    if (operator === '==' || operator === '!=') {
      const verdict = isEqual(a, b);
      if (verdict !== undefined) return answer(verdict === (operator === '=='), info);
      const isOfText = typeof a === 'string' && b !== null;
      return isOfText ? fail('types uncomparable', info) : failed(join(info, {}));
    }
    if (typeof a !== 'bigint' && typeof a !== 'string') return answer(false, info);
    const holds = orders[operator];
    if (typeof a === 'bigint' && typeof b === 'bigint') return answer(holds(a, b), info);
    if (typeof a === 'string' && typeof b === 'string') return answer(holds(compareStrings(a, b), 0), info);
    const kinds = typeof a === 'string' ? 'strings or integers' : 'integers or strings';
    return fail(`comparision ${operator} only for ${kinds}`);
  });
