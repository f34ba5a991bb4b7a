/** `catch` and `sync`: expressions that handle failures. */
import type { ExprOf, SyncExpr } from '../syntax/ast.ts';
import type { Binding } from '../tree/binding.ts';
import { Lambda, made, type Node, type Value } from '../tree/node.ts';
import { operands, type Engine } from './engine.ts';
import { callLambda } from './lambdas.ts';
import { answer, fail, failed, open, type Info, type Outcome } from './outcome.ts';

/** The result of an attempt: `valid`, `error`, and `value` if there is one. */
function report(outcome: Outcome, source: string): Map<string, Node> {
  const isValid = outcome.kind === 'value';
  const fields = new Map([
    ['valid', made(isValid, source)],
    ['error', made(isValid ? '' : (outcome.info.issue?.text ?? ''), source)],
  ]);
  if (isValid) fields.set('value', made(outcome.value, source));
  return fields;
}

/** `catch(e)`: a map with the result; `catch[e|value, error|->…]`: the result of the lambda. */
export function catching(engine: Engine, expr: ExprOf<'catch'>, binding: Binding): Outcome {
  let lambda: Lambda | undefined;
  if (expr.body) {
    const body = operands(engine, [expr.body], binding);
    if (body.kind === 'failed') return body;
    if (body.kind === 'open') return open(expr, body.info);
    const [value] = body.values;
    if (!(value instanceof Lambda)) return fail('catch requires a lambda value', body.info);
    if (value.expr.parameters.length > 2) return fail('catch function takes a maximum of 2 arguments');
    lambda = value;
  }
  const outcome = engine.evaluate(expr.over, binding, false);
  if (outcome.kind === 'open') return open({ ...expr, over: outcome.expr }, outcome.info);
  if (!lambda) return answer(report(outcome, binding.source));
  const isInline = expr.body?.kind === 'lambda';
  const args = argumentsFor(lambda, outcome.kind === 'value' ? outcome.value : null, errorOf(outcome));
  if (!args) return fail(wrongCount('condition', lambda));
  const handled = callLambda(engine, lambda, args, binding, { isInline });
  return handled.kind === 'waiting' ? open(expr, handled.info) : handled;
}

const errorOf = (outcome: Outcome): string | null =>
  outcome.kind === 'failed' ? (outcome.info.issue?.text ?? '') : null;

function argumentsFor(lambda: Lambda, value: Value, error: Value): readonly Value[] | undefined {
  const count = lambda.expr.parameters.length;
  if (count === 1) return [value];
  return count === 2 ? [value, error] : undefined;
}

const wrongCount = (what: string, lambda: Lambda): string =>
  `lambda expression for sync ${what} must take one or two arguments, found ${lambda.expr.parameters.length}`;

/** Nothing changes during the evaluation, so there is no waiting: the condition is either true or false. */
export function sync(engine: Engine, expr: SyncExpr, binding: Binding): Outcome {
  const outcome = engine.evaluate(expr.over, binding, false);
  if (outcome.kind === 'open') return open(expr, outcome.info);
  const result = report(outcome, binding.source);
  const value = outcome.kind === 'value' ? outcome.value : null;
  const error = errorOf(outcome) ?? '';
  const ask = (what: 'condition' | 'value', part: NonNullable<SyncExpr['value']>): Outcome => {
    const isOfNames = expr.isFunction || what === 'value';
    const asked = engine.evaluate(part, isOfNames ? binding.withLocals(result) : binding, false);
    if (asked.kind !== 'value') return asked;
    if (!(asked.value instanceof Lambda)) {
      if (expr.isFunction) return asked;
      return fail(`sync ${what} must evaluate to a lambda value`);
    }
    const args = argumentsFor(asked.value, value, error);
    if (!args) return fail(wrongCount(what, asked.value));
    const isInline = part.kind === 'lambda' && !expr.isFunction;
    const called = callLambda(engine, asked.value, args, binding, { isInline });
    return called.kind === 'waiting' ? open(expr, called.info) : called;
  };
  const holds = ask('condition', expr.condition);
  if (holds.kind === 'failed') return failed(annotated('condition evaluation failed', holds.info));
  if (holds.kind === 'open') return open(expr, holds.info);
  if (typeof holds.value !== 'boolean') return fail('condition must evaluate to bool');
  if (!holds.value) return outcome.kind === 'failed' ? outcome : fail('sync timeout reached');
  if (!expr.value) return outcome;
  const final = ask('value', expr.value);
  if (final.kind === 'failed') return failed(annotated('value expression failed', final.info));
  return final.kind === 'open' ? open(expr, final.info) : final;
}

const annotated = (text: string, { issue }: Info): Info => ({
  issue: { text, ...(issue && { nested: [issue] }) },
});
