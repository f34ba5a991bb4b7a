/** Calls a function: counts and checks arguments like Go's reflection, and short-circuits `and` and `or`. */
import { print, type Node, type Operand } from './ast.ts';
import { rejoin } from '../go/go-string.ts';
import { type Evaluator, MISSING, type Piped } from './evaluator.ts';
import { canBeNil, forImplementation, isAssignable, nilOf, paramName } from './signature.ts';
import { isList, isTrue, typeName, type GoFunction, type Value } from './values.ts';

interface Callee {
  readonly target: GoFunction;
  readonly name: string;
  /** The node to report in errors of the function. */
  readonly at: Node;
  readonly isBuiltin: boolean;
}

export function callFunction(
  evaluation: Evaluator,
  callee: Callee,
  args: readonly Operand[],
  piped: Piped,
): Value {
  const { target, name } = callee;
  checkCount(evaluation, callee, args.length, piped);
  if (callee.isBuiltin && (name === 'and' || name === 'or'))
    return shortCircuit(evaluation, name, args, piped);
  const values: Value[] = [];
  args.forEach((arg, i) => {
    values.push(evalArgument(evaluation, paramAt(target, i), arg));
  });
  if (piped !== MISSING) values.push(validate(evaluation, piped, paramAt(target, args.length)));
  const given = values.map((value, i) => forImplementation(value, paramAt(target, i)));
  for (const value of given)
    if (typeof value === 'string' && value.length > 1024) evaluation.env.charge(value.length / 16);
  const result = evaluation.guard(callee.at, name, () => target.call(evaluation.env, given));
  if (typeof result === 'string') {
    evaluation.env.checkText(result);
    return rejoin(result);
  }
  if (isList(result) && result.length > 64) evaluation.env.charge(result.length / 16);
  return result;
}

const paramAt = (target: GoFunction, index: number): string =>
  target.params[index] ?? target.variadic ?? 'any';

function checkCount(evaluation: Evaluator, { target, name }: Callee, count: number, piped: Piped): void {
  const given = count + (piped === MISSING ? 0 : 1);
  const wanted = target.params.length;
  if (target.variadic !== undefined) {
    if (given < wanted) {
      evaluation.fail(
        `wrong number of args for ${name}: want at least ${String(wanted)} got ${String(count)}`,
      );
    }
  } else if (given !== wanted) {
    evaluation.fail(`wrong number of args for ${name}: want ${String(wanted)} got ${String(given)}`);
  }
}

function shortCircuit(evaluation: Evaluator, name: string, args: readonly Operand[], piped: Piped): Value {
  let value: Value;
  for (const arg of args) {
    value = evalArgument(evaluation, 'value', arg);
    if (isTrue(value) === (name === 'or')) return value;
  }
  return piped === MISSING ? value : piped;
}

/** Checks a computed value as an argument of this type. */
function validate(evaluation: Evaluator, value: Value, param: string): Value {
  if (value === undefined) {
    if (canBeNil(param)) return nilOf(param);
    return evaluation.fail(`invalid value; expected ${paramName(param)}`);
  }
  if (isAssignable(value, param)) return value;
  const got = value === null ? 'interface {}' : typeName(value);
  return evaluation.fail(`wrong type for value; expected ${paramName(param)}; got ${got}`);
}

function evalArgument(evaluation: Evaluator, param: string, node: Operand): Value {
  evaluation.node = node;
  switch (node.kind) {
    case 'nil':
      if (canBeNil(param)) return nilOf(param);
      return evaluation.fail(`cannot assign nil to ${paramName(param)}`);
    case 'dot':
    case 'field':
    case 'variable':
    case 'pipe':
    case 'identifier':
    case 'chain':
      return validate(evaluation, evaluation.untyped(node), param);
    default:
      return literalArgument(evaluation, param, node);
  }
}

/** Converts a literal to the type of the parameter, if possible. */
function literalArgument(evaluation: Evaluator, param: string, node: Operand): Value {
  switch (param) {
    case 'any':
    case 'value':
      return evaluation.literal(node);
    case 'string':
      return node.kind === 'string' ? node.value : evaluation.fail(`expected string; found ${print(node)}`);
    case 'bool':
      return node.kind === 'bool' ? node.value : evaluation.fail(`expected bool; found ${print(node)}`);
    case 'int':
    case 'int64':
    case 'time.Duration':
      return (
        (node.kind === 'number' ? node.int : undefined) ??
        evaluation.fail(`expected integer; found ${print(node)}`)
      );
    case 'uint32':
      return (
        (node.kind === 'number' ? node.uint : undefined) ??
        evaluation.fail(`expected unsigned integer; found ${print(node)}`)
      );
    case 'float64':
      return (
        (node.kind === 'number' ? node.float : undefined) ??
        evaluation.fail(`expected float; found ${print(node)}`)
      );
    default:
      return evaluation.fail(`can't handle ${print(node)} for arg of type ${paramName(param)}`);
  }
}
