/** Lambdas and their calls. */
import type { Expr, ExprOf, LambdaExpr, Parameter } from '../syntax/ast.ts';
import { literal } from '../syntax/ast.ts';
import { SyntaxProblem } from '../syntax/cursor.ts';
import { describeNames, print } from '../syntax/print.ts';
import type { Binding } from '../tree/binding.ts';
import { isList, Lambda, made, type Fields, type Node, type Value } from '../tree/node.ts';
import type { Engine } from './engine.ts';
import { answer, fail, failed, issue, open, type Info, type Outcome } from './outcome.ts';

/** The scope of the names in a lambda: for a nested lambda, the scope of its definition. */
const home = (binding: Binding): Binding => binding.findReference(['_'])?.resolver ?? binding;

const lambdaOf = (expr: LambdaExpr, locals: Fields, binding: Binding): Lambda =>
  new Lambda(expr, locals, binding, `${locals.size > 0 ? describeNames(locals.keys()) : ''}${print(expr)}`);

/** Defaults are evaluated in the scope of the definition. */
export function lambda(engine: Engine, expr: LambdaExpr, binding: Binding, isLocal: boolean): Outcome {
  const parameters: Parameter[] = [];
  for (const [i, parameter] of expr.parameters.entries()) {
    if (!parameter.value) {
      parameters.push(parameter);
      continue;
    }
    const outcome = engine.evaluate(parameter.value, binding, isLocal);
    if (outcome.kind === 'open') return open(expr, outcome.info);
    if (outcome.kind === 'failed') {
      const what = `evaluation of lambda call default argument ${i} failed: ${print(expr)}: ${print(parameter.value)}`;
      return failed({ issue: issue(what, { nested: nested(outcome.info), isSequence: true }) });
    }
    parameters.push({ name: parameter.name, value: literal(outcome.value) });
  }
  return answer(lambdaOf({ ...expr, parameters }, binding.locals, home(binding)));
}

const nested = ({ issue: cause }: Info) => (cause ? [cause] : []);

/** `lambda e`: the lambda that is the value of e, or that its string describes. */
export function lambdaFrom(
  engine: Engine,
  expr: ExprOf<'lambdaOf'>,
  binding: Binding,
  isLocal: boolean,
): Outcome {
  const source = engine.evaluate(expr.source, binding, false);
  if (source.kind === 'failed') return source;
  if (source.kind === 'open') return failed(source.info);
  if (source.value instanceof Lambda) return source;
  if (typeof source.value !== 'string') {
    return fail('lambda reference must resolve to lambda value or string', source.info);
  }
  let parsed: Expr;
  try {
    parsed = engine.parse(source.value, binding.path, binding.stubPath);
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error;
    return fail(`cannot parse lamba expression '${source.value}': ${error.message}`, source.info);
  }
  if (parsed.kind !== 'lambda') return fail(`'${source.value}' is no lambda expression`, source.info);
  return engine.evaluate(parsed, binding, isLocal);
}

interface CallOptions {
  /** A lambda that is defined where it is used: it sees the names there, and cannot call itself. */
  readonly isInline?: boolean;
  readonly isCurried?: boolean;
  /** With too few arguments, the result is a lambda of the remaining ones. */
  readonly mayCurry?: boolean;
  readonly named?: Fields;
}

/** A result, or an unresolved expression. */
export type Called = Outcome | { readonly kind: 'waiting'; readonly info: Info };

/**
 * Calls a lambda.
 * @param binding the scope of the call
 */
export function callLambda(
  engine: Engine,
  target: Lambda,
  positional: readonly Value[],
  binding: Binding,
  { isInline = false, isCurried = false, mayCurry = false, named = new Map() }: CallOptions = {},
): Called {
  const { parameters, hasRest } = target.expr;
  const args = hasRest ? gatherRest(positional, parameters.length, binding) : positional;
  const names = namesOf(named, parameters);
  if (typeof names === 'string') return fail(names);
  const problem = wrongArguments(names, args.length, target.expr);
  if (problem !== undefined) return fail(problem);
  const values = new Map<string, Node>([...target.locals, ...names]);
  for (const [i, value] of args.entries()) {
    const parameter = parameters[i];
    if (parameter) values.set(parameter.name, made(value, binding.source));
  }
  const missing = parameters.slice(args.length).filter(({ name }) => !names.has(name));
  const isShort = names.size === 0 && missing.length > 0 && isOpenEnded(target.expr);
  if (isCurried || (mayCurry && isShort)) {
    const rest: LambdaExpr = { ...target.expr, parameters: missing, hasRest: hasRest && missing.length > 0 };
    return answer(lambdaOf(rest, values, target.binding));
  }
  for (const parameter of missing) {
    const value = defaultOf(parameter, target.expr);
    if (value === undefined) return fail(tooFew(target.expr, names, parameter, args.length));
    values.set(parameter.name, made(value, binding.source));
  }
  if (!isInline) values.set('_', { ...made(target, binding.source), resolver: target.binding });
  return evaluateBody(engine, target, values, binding);
}

/** Missing arguments are not an error: their parameters have no value. */
const isOpenEnded = ({ parameters, hasRest }: LambdaExpr): boolean =>
  !hasRest && parameters.at(-1)?.value === undefined;

function evaluateBody(engine: Engine, target: Lambda, values: Fields, binding: Binding): Called {
  const outcome = engine.evaluate(target.expr.body, binding.withLocals(values), false);
  if (outcome.kind === 'open') return { kind: 'waiting', info: outcome.info };
  if (outcome.kind === 'value') return outcome;
  const what = `evaluation of lambda expression failed: ${target.text}: ${describeNames(values.keys())}`;
  return failed({
    ...outcome.info,
    issue: issue(what, { nested: nested(outcome.info), isSequence: true }),
  });
}

function gatherRest(args: readonly Value[], count: number, binding: Binding): readonly Value[] {
  const required = Math.max(count - 1, 0);
  if (args.length <= required) return args;
  return [...args.slice(0, required), args.slice(required).map((value) => made(value, binding.source))];
}

/** Named arguments may also be the number of the parameter, from 1. */
function namesOf(named: Fields, parameters: readonly Parameter[]): Map<string, Node> | string {
  const names = new Map<string, Node>();
  for (const [given, value] of named) {
    let name = given;
    if (/^\d+$/.test(given)) {
      const at = Number(given);
      const parameter = parameters[at - 1];
      if (!parameter) {
        return at < 1
          ? `invalid argument index ${at}`
          : `argument index ${at} too large for ${parameters.length} parameters`;
      }
      name = parameter.name;
    }
    if (names.has(name)) return `named argument ${name} given by name and index`;
    names.set(name, value);
  }
  return names;
}

function wrongArguments(
  names: Fields,
  positional: number,
  { parameters, hasRest }: LambdaExpr,
): string | undefined {
  if (positional > parameters.length) {
    return `found ${positional} argument(s), but expects ${parameters.length}`;
  }
  for (const [name, { value }] of names) {
    const i = parameters.findIndex((parameter) => parameter.name === name);
    if (i < 0) return `no lambda parameter found for named argument ${name}`;
    if (i < positional) {
      return `both, positional (${i + 1}) and named argument found for lambda parameter ${name}`;
    }
    if (hasRest && i === parameters.length - 1 && !isList(value)) {
      return `named varargs argument ${i + 1} (${name}) must be a list`;
    }
  }
  return undefined;
}

function defaultOf(parameter: Parameter, { parameters, hasRest }: LambdaExpr): Value | undefined {
  if (parameter.value?.kind === 'value') return parameter.value.value;
  return hasRest && parameter === parameters.at(-1) ? [] : undefined;
}

function tooFew(
  { parameters, hasRest }: LambdaExpr,
  names: Fields,
  missing: Parameter,
  found: number,
): string {
  if (names.size > 0) return `missing named argument for ${missing.name}`;
  const firstOptional = parameters.findIndex(({ value }) => value !== undefined);
  const optional = firstOptional >= 0 ? parameters.length - firstOptional : hasRest ? 1 : 0;
  return optional > 0
    ? `expected at least ${parameters.length - optional} arguments (${optional} optional), but found ${found}`
    : `expected ${parameters.length} arguments, but found ${found}`;
}
