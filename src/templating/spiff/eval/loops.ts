/** `map[…]`, `select[…]`, `sum[…]`. */
import { byCodePoint } from '../../../lib/gojson.ts';
import type { ExprOf, Loop, LoopExpr } from '../syntax/ast.ts';
import type { Binding } from '../tree/binding.ts';
import { isFields, isList, Lambda, made, type Node, type Value } from '../tree/node.ts';
import { typeName } from '../value.ts';
import { operands, type Engine } from './engine.ts';
import { callLambda } from './lambdas.ts';
import { answer, fail, failed, join, open, type Info, type Outcome } from './outcome.ts';
import { isTruthy } from './truth.ts';

/** Index or key of an element, and the element. */
type Entry = readonly [key: bigint | string, element: Node];

const entriesOf = (value: Value): readonly Entry[] | undefined => {
  if (isList(value)) return value.map((element, i) => [BigInt(i), element]);
  return isFields(value) ? [...value].sort(([a], [b]) => byCodePoint(a, b)) : undefined;
};

const valueOf = ({ value }: Node): Value => value as Value;

/** Evaluates the values and the lambda of a loop. */
function prepared(
  engine: Engine,
  exprs: { over: LoopExpr['over']; body: LoopExpr['body'] },
  binding: Binding,
) {
  const over = operands(engine, [exprs.over], binding, { isLocal: true });
  if (over.kind === 'failed') return over;
  const body = operands(engine, [exprs.body], binding);
  if (body.kind === 'failed') return failed(over.info);
  if (over.kind === 'open' || body.kind === 'open') {
    return {
      kind: 'open' as const,
      over: over.kind === 'open' ? (over.exprs[0] ?? exprs.over) : exprs.over,
      body: body.kind === 'open' ? (body.exprs[0] ?? exprs.body) : exprs.body,
      info: join(over.info, body.info),
    };
  }
  const [value = null] = over.values;
  const [lambda = null] = body.values;
  return { kind: 'ready' as const, value, lambda, info: over.info, isInline: exprs.body.kind === 'lambda' };
}

/** Null results are omitted. */
export function loop(engine: Engine, expr: LoopExpr, binding: Binding): Outcome {
  const found = prepared(engine, expr, binding);
  if (found.kind === 'failed') return found;
  if (found.kind === 'open') return open({ ...expr, over: found.over, body: found.body }, found.info);
  const { value, lambda, isInline } = found;
  if (!(lambda instanceof Lambda)) return fail('mapping requires a lambda value', found.info);
  const entries = entriesOf(value);
  if (!entries || (expr.loop === 'select{}' && !isFields(value))) {
    const what = expr.loop.replace(/(..)$/, ' $1').replace(' ', '');
    return fail(`${what} does not support ${typeName(value)} values`, found.info);
  }
  const count = lambda.expr.parameters.length;
  if (count > 2) return fail('mapping expression takes a maximum of 2 arguments');
  if (count === 0) return fail('mapping expression takes a minimum of 1 argument');
  const results: Result[] = [];
  for (const [key, element] of entries) {
    engine.budget.charge(1);
    const args = count === 1 ? [valueOf(element)] : [key, valueOf(element)];
    const outcome = callLambda(engine, lambda, args, binding, { isInline });
    if (outcome.kind === 'failed') return outcome;
    if (outcome.kind !== 'value') return open(expr, outcome.info);
    results.push({ key, element, value: outcome.value, info: outcome.info });
  }
  return collectors[expr.loop](results, value);
}

interface Result {
  readonly key: bigint | string;
  readonly element: Node;
  readonly value: Value;
  readonly info: Info;
}

const kept = (results: readonly Result[]): readonly Result[] =>
  results.filter(({ value, info }) => value !== null && info.isUndefined !== true);
const selected = (results: readonly Result[]): readonly Result[] =>
  results.filter(({ value, info }) => info.isUndefined !== true && isTruthy(value));

const collectors: Readonly<Record<Loop, (results: readonly Result[], over: Value) => Outcome>> = {
  'map[]': (results) => answer(kept(results).map(({ value, info }) => made(value, info.source))),
  'select[]': (results) => answer(selected(results).map(({ element }) => element)),
  'map{}'(results, over) {
    const fields = new Map<string, Node>();
    for (const { key, element, value, info } of kept(results)) {
      const name = isList(over) ? element.value : key;
      if (typeof name !== 'string') {
        return fail(`list element must be string, but found ${typeName(valueOf(element))}`);
      }
      fields.set(name, made(value, info.source));
    }
    return answer(fields);
  },
  'select{}': (results) =>
    answer(new Map(selected(results).map(({ key, element }) => [String(key), element]))),
};

/** `sum[list|initial|result, element|->…]` */
export function sum(engine: Engine, expr: ExprOf<'sum'>, binding: Binding): Outcome {
  const start = operands(engine, [expr.initial], binding);
  const found = prepared(engine, expr, binding);
  if (found.kind === 'failed') return found;
  if (start.kind === 'failed') return start;
  if (found.kind === 'open' || start.kind === 'open') {
    const [initial = expr.initial] = start.kind === 'open' ? start.exprs : [];
    const parts = found.kind === 'open' ? { over: found.over, body: found.body } : {};
    return open({ ...expr, initial, ...parts }, join(start.info, found.info));
  }
  const { value, lambda, isInline } = found;
  if (!(lambda instanceof Lambda)) return fail('sum requires a lambda value', found.info);
  const entries = entriesOf(value);
  if (!entries) return fail('map or list required for sum', found.info);
  const count = lambda.expr.parameters.length;
  if (count > 3) return fail('mapping expression take a maximum of 3 arguments');
  if (count < 2) return fail('mapping expression take a minimum of 2 arguments');
  let [result = null] = start.values;
  for (const [key, element] of entries) {
    engine.budget.charge(1);
    const args = count === 2 ? [result, valueOf(element)] : [result, key, valueOf(element)];
    const outcome = callLambda(engine, lambda, args, binding, { isInline });
    if (outcome.kind === 'failed') return outcome;
    if (outcome.kind !== 'value') return open(expr, outcome.info);
    result = outcome.value;
  }
  return answer(result);
}
