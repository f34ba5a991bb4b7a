/** `||`, `//`, `? :`, `!`, `-and`, `-or`. */
import type { Way } from '../../fork.ts';
import type { ExprOf } from '../syntax/ast.ts';
import type { Binding } from '../tree/binding.ts';
import { equalExprs } from '../tree/equal.ts';
import type { Engine } from './engine.ts';
import { answer, failed, join, joined, open, type Info, type Outcome } from './outcome.ts';
import { isTruthy } from './truth.ts';

const report = ({ onWay }: Engine, { fork }: ExprOf<'or' | 'validOr' | 'conditional'>, way: Way): void => {
  if (fork) onWay?.(fork.source, fork.pos, way);
};

/** The left value, unless it cannot be evaluated; null and an empty string count as values. */
export function or(engine: Engine, expr: ExprOf<'or'>, binding: Binding): Outcome {
  const left = engine.evaluate(expr.left, binding, false);
  if (left.kind !== 'failed' && left.info.isUndefined !== true) {
    if (left.kind === 'open') return open(expr, left.info);
    report(engine, expr, 'block');
    return left;
  }
  report(engine, expr, 'else');
  const right = engine.evaluate(expr.right, binding, false);
  const cleaned: Info = { ...left.info, issue: undefined, hasFailed: false, isUndefined: false };
  return withUndefinedOf(right, cleaned);
}

/** Like `||`, but null does not count as a value. An unresolved operand without progress fails. */
export function validOr(engine: Engine, expr: ExprOf<'validOr'>, binding: Binding): Outcome {
  const left = engine.evaluate(expr.left, binding, false);
  if (left.kind === 'open') {
    return equalExprs(left.expr, expr.left) ? failed(left.info) : open(expr, left.info);
  }
  const hasValue = left.kind === 'value' && left.value !== null;
  report(engine, expr, hasValue ? 'block' : 'else');
  if (hasValue) return left;
  return withUndefinedOf(engine.evaluate(expr.right, binding, false), left.info);
}

const withUndefinedOf = (right: Outcome, before: Info): Outcome => ({
  ...right,
  info: { ...join(before, right.info), isUndefined: right.info.isUndefined },
});

export function conditional(engine: Engine, expr: ExprOf<'conditional'>, binding: Binding): Outcome {
  const condition = engine.evaluate(expr.condition, binding, false);
  if (condition.kind === 'failed') return condition;
  if (condition.kind === 'open') return open({ ...expr, condition: condition.expr }, condition.info);
  const isTaken = isTruthy(condition.value);
  report(engine, expr, isTaken ? 'block' : 'else');
  const chosen = engine.evaluate(isTaken ? expr.then : expr.otherwise, binding, false);
  return { ...chosen, info: join(chosen.info, condition.info) };
}

export function not(engine: Engine, expr: ExprOf<'not'>, binding: Binding): Outcome {
  const inner = engine.evaluate(expr.inner, binding, false);
  if (inner.kind === 'open') return open({ ...expr, inner: inner.expr }, inner.info);
  return inner.kind === 'failed' ? inner : answer(!isTruthy(inner.value), inner.info);
}

/** For two integers bitwise. If the left operand decides the result, a failure of the right one does not matter. */
export function logical(engine: Engine, expr: ExprOf<'logical'>, binding: Binding): Outcome {
  const left = engine.evaluate(expr.left, binding, false);
  if (left.kind === 'failed') return left;
  if (left.kind === 'open') return open(expr, left.info);
  const right = joined(left.info, engine.evaluate(expr.right, binding, false));
  if (right.kind === 'open') return open(expr, right.info);
  const isOr = expr.operator === '-or';
  const [a, b] = [left.value, right.kind === 'value' ? right.value : undefined];
  if (typeof a === 'bigint' && typeof b === 'bigint') return answer(isOr ? a | b : a & b, right.info);
  if (typeof a !== 'bigint' && isTruthy(a) === isOr) return answer(isOr, right.info);
  if (b === undefined) return failed(right.info);
  return answer(isOr ? isTruthy(a) || isTruthy(b) : isTruthy(a) && isTruthy(b), right.info);
}
