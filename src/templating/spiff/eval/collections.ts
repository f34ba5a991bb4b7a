/** Literals of lists and maps, local names, and concatenation. */
import { append } from '../../../lib/lists.ts';
import type { Expr, ExprOf, MapExpr } from '../syntax/ast.ts';
import { print } from '../syntax/print.ts';
import type { Binding } from '../tree/binding.ts';
import { isFields, isList, Lambda, made, type Node, type Value } from '../tree/node.ts';
import { typeName } from '../value.ts';
import { both, operands, type Engine } from './engine.ts';
import { answer, fail, NOTHING, open, type Failed, type Info, type Outcome } from './outcome.ts';

/** Arguments or elements; `l...` is replaced by its elements. */
export function elements(
  engine: Engine,
  exprs: readonly Expr[],
  binding: Binding,
):
  | { readonly kind: 'values'; readonly values: readonly Value[]; readonly info: Info }
  | { readonly kind: 'open'; readonly exprs: readonly Expr[]; readonly info: Info }
  | Failed {
  const found = operands(engine, exprs, binding);
  if (found.kind === 'open') return { ...found, exprs: found.exprs.map((it, i) => wrapped(it, exprs[i])) };
  if (found.kind === 'failed' || !exprs.some(({ kind }) => kind === 'expansion')) return found;
  const values: Value[] = [];
  for (const [i, value] of found.values.entries()) {
    if (exprs[i]?.kind !== 'expansion') values.push(value);
    else if (isList(value))
      append(
        values,
        value.map((it) => it.value as Value),
      );
    else return fail('argument expansion required list argument', found.info);
    engine.budget.charge(1);
  }
  return { ...found, values };
}

/** Keeps `l...` or `name=e` around an unresolved expression. */
function wrapped(now: Expr, before: Expr | undefined): Expr {
  if (now === before || before === undefined) return now;
  if (before.kind === 'expansion') return now.kind === 'expansion' ? now : { kind: 'expansion', over: now };
  return before.kind === 'named' ? { ...before, over: now } : now;
}

export function list(engine: Engine, expr: ExprOf<'list'>, binding: Binding): Outcome {
  const found = elements(engine, expr.items, binding);
  if (found.kind === 'failed') return found;
  if (found.kind === 'open') return open({ ...expr, items: found.exprs }, found.info);
  engine.budget.charge(found.values.length);
  return answer(
    found.values.map((value) => made(value, binding.source)),
    found.info,
  );
}

export function map(engine: Engine, expr: MapExpr, binding: Binding, isLocal: boolean): Outcome {
  const fields = new Map<string, Node>();
  for (const { key, value } of expr.entries) {
    const found = operands(engine, [key], binding, { isLocal });
    if (found.kind === 'failed') return found;
    if (found.kind === 'open') return open(expr, found.info);
    const [name = null] = found.values;
    if (typeof name !== 'string') return fail('assignment target must evaluate to string');
    const content = engine.evaluate(value, binding, isLocal);
    if (content.kind === 'failed') return content;
    if (content.kind === 'open') return open(expr, content.info);
    fields.set(name, made(content.value, binding.source));
  }
  return answer(fields, NOTHING);
}

/** `( $a = 1 ) e` */
export function scope(engine: Engine, expr: ExprOf<'scope'>, binding: Binding, isLocal: boolean): Outcome {
  const locals = map(engine, expr.locals, binding, isLocal);
  if (locals.kind === 'failed') return locals;
  if (locals.kind === 'open' || !isFields(locals.value)) return open(expr, locals.info);
  const outcome = engine.evaluate(expr.body, binding.withLocals(locals.value), isLocal);
  return outcome.kind === 'open' ? open(expr, outcome.info) : outcome;
}

/** Concatenates strings, integers and booleans to a string; joins lists; merges maps, the right one wins. */
export const concatenation = (engine: Engine, expr: ExprOf<'concatenation'>, binding: Binding): Outcome =>
  both(engine, expr, binding, (a, b, info) => {
    const start = textOf(a);
    const end = b instanceof Lambda ? b.text : textOf(b);
    if (start !== undefined && end !== undefined) {
      const text = start + end;
      engine.budget.checkText(text);
      return answer(text, info);
    }
    if (isList(a)) {
      if (b === null) return answer(a, info);
      const items = isList(b) ? [...a, ...b] : [...a, made(b, info.source)];
      engine.budget.reserve(items.length * 16);
      return answer(items, info);
    }
    if (isFields(a) && b === null) return answer(a, info);
    if (isFields(a) && isFields(b)) {
      engine.budget.charge(a.size + b.size);
      return answer(new Map([...a, ...b]), info);
    }
    const one = `type '${typeName(b)}'(${print(expr.right)})`;
    return fail(`${one} cannot be concatenated with type '${typeName(a)}'(${print(expr.left)})`, info);
  });

const textOf = (value: Value): string | undefined => {
  if (typeof value === 'string') return value;
  return typeof value === 'bigint' || typeof value === 'boolean' ? String(value) : undefined;
};
