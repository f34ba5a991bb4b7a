/** Follows a chain of fields through maps and objects, with Go's error messages. */
import { closest } from '../../lib/closest.ts';
import type { Node, Operand } from './ast.ts';
import { callFunction } from './eval-call.ts';
import { type Evaluator, MISSING, type Piped } from './evaluator.ts';
import { GoMap, GoObject, methodsOf, typeName, type Value } from './values.ts';

interface Receiver {
  readonly value: Value;
  /** Whether Go holds it as interface{}. */
  readonly isInterface: boolean;
}

interface Arguments {
  readonly args: readonly Operand[];
  readonly piped: Piped;
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
  let parent: Value;
  for (const [i, name] of path.entries()) {
    if (receiver.value === null) {
      const hint = whyNothing(path.slice(0, i), parent);
      evaluation.fail(`nil pointer evaluating interface {}.${name}`, undefined, hint);
    }
    const isLast = i === path.length - 1;
    const given: Arguments = isLast ? { args, piped } : { args: [], piped: MISSING };
    parent = receiver.value;
    receiver = evalField(evaluation, receiver, node, name, given);
  }
  return receiver.value;
}

/** The missing value, with a suggestion. @param parent the value that lacks the last name */
function whyNothing(path: readonly string[], parent: Value): string | undefined {
  const name = path.at(-1);
  if (name === undefined) return undefined;
  const whole = `.${path.join('.')}`;
  if (!(parent instanceof GoMap)) return `${whole} has no value`;
  if (parent.get(name) === null) return `${whole} is null`;
  const meant = closest(name, parent.sortedKeys());
  const where = path.length > 1 ? ` in .${path.slice(0, -1).join('.')}` : '';
  return `there is no "${name}"${where}${meant === undefined ? '' : `; did you mean "${meant}"?`}`;
}

function evalField(
  evaluation: Evaluator,
  { value, isInterface }: Receiver,
  node: Node,
  name: string,
  { args, piped }: Arguments,
): Receiver {
  if (value === undefined) return { value: undefined, isInterface: false };
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
