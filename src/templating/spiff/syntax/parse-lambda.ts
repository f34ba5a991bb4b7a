/** Lambdas, and the loops that contain one: `map[…]`, `sum[…]`, `catch[…]`, `sync[…]`. */
import type { Expr, LambdaExpr, Loop, Parameter } from './ast.ts';
import type { Grammar } from './grammar.ts';
import { separated } from './parse-collections.ts';
import { name } from './parse-literals.ts';

/** `|x, y=1|->e` */
export function lambda(grammar: Grammar): LambdaExpr | undefined {
  const { cursor } = grammar;
  cursor.blanks();
  const parameters = parameterList(grammar);
  if (!parameters) return undefined;
  cursor.blanks();
  if (!cursor.take('->')) return undefined;
  const body = grammar.expression();
  return body && { kind: 'lambda', ...parameters, body };
}

type Parameters = Pick<LambdaExpr, 'parameters' | 'hasRest'>;

function parameterList(grammar: Grammar): Parameters | undefined {
  const { cursor } = grammar;
  const start = cursor.pos;
  if (!cursor.take('|')) return undefined;
  cursor.blanks();
  const parameters = separated(grammar, () => parameter(grammar)) ?? [];
  const firstDefault = parameters.findIndex(({ value }) => value !== undefined);
  if (firstDefault >= 0 && parameters.slice(firstDefault).some(({ value }) => value === undefined)) {
    return undefined;
  }
  const hasRest = parameters.length > 0 && cursor.sign('...');
  if (hasRest) cursor.blanks();
  return cursor.close('|', start) ? { parameters, hasRest } : undefined;
}

function parameter(grammar: Grammar): Parameter | undefined {
  const { cursor } = grammar;
  cursor.blanks();
  const found = name(cursor);
  if (found === undefined) return undefined;
  cursor.blanks();
  const value = cursor.attempt(() => (cursor.take('=') ? grammar.expression() : undefined));
  return value ? { name: found, value } : { name: found };
}

/** `lambda |x|->e`, `lambda "|x|->e"`, `lambda other` */
export function lambdaWord(grammar: Grammar): Expr | undefined {
  const { cursor } = grammar;
  return cursor.attempt((): Expr | undefined => {
    if (!cursor.take('lambda')) return undefined;
    const source = cursor.attempt(() => (cursor.gap() ? grammar.expression() : undefined));
    if (!source) return lambda(grammar);
    return source.kind === 'lambda' ? source : { kind: 'lambdaOf', source };
  });
}

/** `|x|->e`, or `|e` with an expression whose value is a lambda. */
const body = (grammar: Grammar): Expr | undefined =>
  grammar.cursor.attempt(() => lambda(grammar)) ??
  grammar.cursor.attempt(() => (grammar.cursor.take('|') ? grammar.expression() : undefined));

const LOOPS: readonly (readonly [string, Loop, string])[] = [
  ['map{', 'map{}', '}'],
  ['map[', 'map[]', ']'],
  ['select{', 'select{}', '}'],
  ['select[', 'select[]', ']'],
];

export function loop(grammar: Grammar): Expr | undefined {
  const { cursor } = grammar;
  for (const [open, kind, close] of LOOPS) {
    const found = cursor.attempt((): Expr | undefined => {
      const start = cursor.pos;
      if (!cursor.take(open)) return undefined;
      const over = grammar.operators();
      const inner = over && body(grammar);
      return inner && cursor.close(close, start)
        ? { kind: 'loop', loop: kind, over, body: inner }
        : undefined;
    });
    if (found) return found;
  }
  return sum(grammar) ?? catching(grammar) ?? sync(grammar);
}

function sum(grammar: Grammar): Expr | undefined {
  const { cursor } = grammar;
  return cursor.attempt(() => {
    const start = cursor.pos;
    if (!cursor.take('sum[')) return undefined;
    const over = grammar.operators();
    if (!over || !cursor.take('|')) return undefined;
    const initial = grammar.operators();
    const inner = initial && body(grammar);
    return inner && cursor.close(']', start) ? { kind: 'sum', over, initial, body: inner } : undefined;
  });
}

function catching(grammar: Grammar): Expr | undefined {
  const { cursor } = grammar;
  return cursor.attempt(() => {
    const start = cursor.pos;
    if (!cursor.take('catch[')) return undefined;
    const over = grammar.operators();
    const inner = over && body(grammar);
    return inner && cursor.close(']', start) ? { kind: 'catch', over, body: inner } : undefined;
  });
}

/** `sync[e|v,err|->condition,value|timeout]` or `sync[e|v,err|->condition|v,err|->value|timeout]` */
function sync(grammar: Grammar): Expr | undefined {
  const { cursor } = grammar;
  return cursor.attempt((): Expr | undefined => {
    const start = cursor.pos;
    if (!cursor.take('sync[')) return undefined;
    const over = grammar.operators();
    if (!over) return undefined;
    const sameNames = cursor.attempt(() => {
      const condition = lambda(grammar);
      if (!condition || !cursor.take(',')) return undefined;
      const value = grammar.expression();
      return value && { condition, value: { ...condition, body: value } };
    });
    const condition = sameNames?.condition ?? body(grammar);
    if (!condition) return undefined;
    const value = sameNames?.value ?? body(grammar);
    const timeout = value && cursor.attempt(() => (cursor.take('|') ? grammar.expression() : undefined));
    if (!cursor.close(']', start)) return undefined;
    return { kind: 'sync', over, condition, value, timeout, isFunction: false };
  });
}
