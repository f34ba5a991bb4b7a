/** Evaluates expressions: a table from the kind of an expression to the function that evaluates it. */
import type { Expr } from './syntax/ast.ts';
import type { Binding } from './tree/binding.ts';
import { arithmetic, comparison } from './eval/arithmetic.ts';
import { catching, sync } from './eval/attempts.ts';
import { call } from './eval/calls.ts';
import { concatenation, list, map, scope } from './eval/collections.ts';
import { instance, marker, merge, prefer } from './eval/documents.ts';
import type { Engine } from './eval/engine.ts';
import { lambda, lambdaFrom } from './eval/lambdas.ts';
import { conditional, logical, not, or, validOr } from './eval/logic.ts';
import { loop, sum } from './eval/loops.ts';
import { answer, fail, NOTHING, type Outcome } from './eval/outcome.ts';
import { dynamic, projected, projection, qualified, range, reference, slice } from './eval/references.ts';

type Evaluate<E extends Expr> = (engine: Engine, expr: E, binding: Binding, isLocal: boolean) => Outcome;
type Table = { readonly [K in Expr['kind']]: Evaluate<Extract<Expr, { readonly kind: K }>> };

const table: Table = {
  value: (_engine, { value }) => answer(value, NOTHING),
  nil: () => answer(null),
  undefined: () => answer(null, { isUndefined: true }),
  auto: () => fail('auto only allowed for size entry in resource pools'),
  reference,
  qualified,
  dynamic,
  slice,
  projection,
  projected,
  list,
  expansion: (engine, { over }, binding, isLocal) => engine.evaluate(over, binding, isLocal),
  named: (engine, { over }, binding, isLocal) => engine.evaluate(over, binding, isLocal),
  map,
  range,
  group: (engine, { inner }, binding, isLocal) => engine.evaluate(inner, binding, isLocal),
  scope,
  or,
  validOr,
  conditional,
  concatenation,
  logical,
  comparison,
  arithmetic,
  not,
  instance,
  lambda,
  lambdaOf: lambdaFrom,
  call,
  loop,
  sum,
  catch: catching,
  sync,
  merge,
  prefer,
  marker,
};

export function evaluate(engine: Engine, expr: Expr, binding: Binding, isLocal: boolean): Outcome {
  engine.budget.charge(1);
  engine.budget.enter();
  const outcome = (table[expr.kind] as Evaluate<Expr>)(engine, expr, binding, isLocal);
  engine.budget.leave();
  return outcome;
}
