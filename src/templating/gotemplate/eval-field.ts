/** Follows a chain of fields through maps and objects, with Go's complaints. */
import type { Node, Operand } from './ast.ts';
import { callFunction } from './eval-call.ts';
import { type Evaluator, MISSING, type Piped } from './evaluator.ts';
import { GoMap, GoObject, methodsOf, typeName, type Value } from './values.ts';

interface Receiver {
  readonly value: Value;
  /** Whether Go holds it as interface{}. */
  readonly isInterface: boolean;
}

/** `.a.b.c` from a receiver; arguments go to the last element. */
export function evalPath(
  evaluation: Evaluator,
  start: Receiver,
  node: Node,
  path: readonly string[],
  args: readonly Operand[],
  piped: Piped,
): Value {
  let receiver = start;
  const last = path.length - 1;
  for (let i = 0; i < last; i++) {
    receiver = evalField(evaluation, receiver, node, path[i] as string, { args: [], piped: MISSING });
  }
  return evalField(evaluation, receiver, node, path[last] as string, { args, piped }).value;
}

function evalField(
  evaluation: Evaluator,
  { value, isInterface }: Receiver,
  node: Node,
  name: string,
  { args, piped }: { args: readonly Operand[]; piped: Piped },
): Receiver {
  if (value === undefined) return { value: undefined, isInterface: false };
  if (value === null) return evaluation.fail(`nil pointer evaluating interface {}.${name}`);
  const hasArgs = args.length > 0 || piped !== MISSING;
  const target = methodsOf(value)?.get(name);
  if (target) {
    const result = callFunction(evaluation, { target, name, at: node, isBuiltin: false }, args, piped);
    return { value: result, isInterface: false };
  }
  if (value instanceof GoMap) {
    if (hasArgs) evaluation.fail(`${name} is not a method but has arguments`);
    return { value: lookUp(value, name), isInterface: value.elem === 'interface {}' };
  }
  if (value instanceof GoObject && value.fields.has(name)) {
    if (hasArgs) evaluation.fail(`${name} has arguments but cannot be invoked as function`);
    return { value: value.fields.get(name), isInterface: false };
  }
  return evaluation.fail(
    `can't evaluate field ${name} in type ${isInterface ? 'interface {}' : typeName(value)}`,
  );
}

/** The value of a key; the zero value of the map's type when it is missing. */
export function lookUp(map: GoMap, key: string): Value {
  const value = map.get(key);
  if (value !== undefined) return value;
  return map.elem === 'string' ? '' : null;
}
