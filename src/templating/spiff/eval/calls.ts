/** Calls: of lambdas, of functions that receive unevaluated arguments, and of all others. */
import { Unresolvable, type FunctionWorld } from '../function.ts';
import { literal, type CallExpr, type Expr } from '../syntax/ast.ts';
import { print } from '../syntax/print.ts';
import type { Binding } from '../tree/binding.ts';
import { Lambda, made, type Node, type Value } from '../tree/node.ts';
import { fromSpiff, toSpiff } from '../tree/plain.ts';
import type { SpiffCallable } from '../value.ts';
import { elements } from './collections.ts';
import { documentFunctions } from './document-functions.ts';
import { operands, type Engine } from './engine.ts';
import { callLambda, type Called } from './lambdas.ts';
import { specialForms } from './special-forms.ts';
import { answer, fail, join, open, type Info, type Outcome } from './outcome.ts';

export function call(engine: Engine, expr: CallExpr, binding: Binding): Outcome {
  const name = functionName(expr.callee);
  if (name === '') return callValue(engine, expr, binding);
  const special = Object.hasOwn(specialForms, name) ? specialForms[name] : undefined;
  if (special) {
    return expr.isCurried
      ? fail(`no currying for intrinsic builtin function (${name})`)
      : special(engine, expr, binding);
  }
  const args = elements(engine, expr.args, binding);
  if (args.kind === 'failed') return args;
  if (args.kind === 'open') return open({ ...expr, args: args.exprs }, args.info);
  const { values, info } = args;
  if (expr.args.some(({ kind }) => kind === 'named')) {
    return fail(`no named arguments for builtin function (${name})`, info);
  }
  if (expr.isCurried) return answer(curried(expr.callee, values, binding));
  if (name === 'type' && info.isUndefined === true) return answer('undef', { ...info, isUndefined: false });
  return named(engine, { name, values, info, expr }, binding);
}

/** A plain name refers to a function; everything else must be a lambda. */
const functionName = (callee: Expr): string => {
  if (callee.kind !== 'reference' || callee.tag !== '' || callee.path.length !== 1) return '';
  const [name = ''] = callee.path;
  return name === '_' ? '' : name;
};

interface NamedCall {
  readonly name: string;
  readonly values: readonly Value[];
  readonly info: Info;
  readonly expr: CallExpr;
}

function named(engine: Engine, { name, values, info, expr }: NamedCall, binding: Binding): Outcome {
  const onDocuments = Object.hasOwn(documentFunctions, name) ? documentFunctions[name] : undefined;
  if (onDocuments) {
    return withArguments(expr, onDocuments(engine, values, binding), info);
  }
  const plain = Object.hasOwn(engine.functions, name) ? engine.functions[name] : undefined;
  if (!plain) return fail(`unknown function '${name}'`, info);
  const world: FunctionWorld = {
    ...engine.world,
    call: (callable, args) =>
      callFromFunction(
        engine,
        callable,
        args.map((arg) => fromSpiff(arg, '')),
        binding,
      ),
  };
  try {
    // The tag `key:NAME` of a list names the field that its entries are found by.
    const isByTag = name === 'list_to_map' && values.length === 1 && info.keyName !== undefined;
    const given = isByTag ? [...values, info.keyName ?? ''] : values;
    const value = fromSpiff(plain(given.map(toSpiff), world), binding.source);
    if (typeof value === 'string') engine.budget.checkText(value);
    return answer(value, info);
  } catch (error) {
    if (error instanceof StillOpen) return open(expr, info);
    if (!(error instanceof Unresolvable)) throw error;
    return fail(error.message, info);
  }
}

/** A lambda called by a function is not resolved yet. */
class StillOpen extends Error {}

function callFromFunction(engine: Engine, callable: SpiffCallable, args: readonly Value[], binding: Binding) {
  if (!(callable instanceof Lambda)) throw new Unresolvable('lambda value required');
  const outcome = callLambda(engine, callable, args, binding);
  if (outcome.kind === 'value') return toSpiff(outcome.value);
  if (outcome.kind === 'failed') throw new Unresolvable(outcome.info.issue?.text ?? '');
  throw new StillOpen();
}

/** `f*(1)` for a function: a lambda that takes the remaining arguments. */
function curried(callee: Expr, values: readonly Value[], binding: Binding): Lambda {
  const rest: Expr = { kind: 'expansion', over: { kind: 'reference', tag: '', path: ['__args'] } };
  const body: Expr = { kind: 'call', callee, args: [...values.map(literal), rest], isCurried: false };
  const expr = { kind: 'lambda', parameters: [{ name: '__args' }], hasRest: true, body } as const;
  return new Lambda(expr, new Map(), binding, print(expr));
}

function callValue(engine: Engine, expr: CallExpr, binding: Binding): Outcome {
  const callee = operands(engine, [expr.callee], binding);
  if (callee.kind === 'failed') return callee;
  const lambda = callee.kind === 'values' ? callee.values[0] : undefined;
  if (callee.kind === 'values' && !(lambda instanceof Lambda)) {
    return fail(`function call '${print(expr.callee)}' requires function name or lambda value`, callee.info);
  }
  const args = elements(engine, expr.args, binding);
  if (args.kind === 'failed') return args;
  if (args.kind === 'open' || !(lambda instanceof Lambda)) {
    const [now = expr.callee] = callee.kind === 'open' ? callee.exprs : [];
    return open({ ...expr, callee: now, args: args.kind === 'open' ? args.exprs : expr.args }, args.info);
  }
  const names = new Map<string, Node>();
  const positional: Value[] = [];
  // Named arguments come first; expansions are only allowed among the others.
  for (const [i, value] of args.values.entries()) {
    const argument = expr.args[i];
    if (argument?.kind === 'named') names.set(argument.name, made(value, binding.source));
    else positional.push(value);
  }
  const options = { isCurried: expr.isCurried, mayCurry: true, named: names };
  const outcome = callLambda(engine, lambda, positional, binding, options);
  return withArguments(expr, outcome, args.info);
}

/** An undefined argument makes the result undefined. */
function withArguments(expr: CallExpr, outcome: Called, said: Info): Outcome {
  const info = join(outcome.info, said);
  if (outcome.kind === 'waiting' || outcome.kind === 'open') return open(expr, info);
  return { ...outcome, info };
}
