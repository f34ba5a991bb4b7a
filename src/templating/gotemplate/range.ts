/** The elements of `range`: lists, maps sorted by key, and integers from 0. */
import type { BranchNode } from './ast.ts';
import type { Evaluator } from './evaluator.ts';
import { sprintValue } from './format.ts';
import { elemType, GoInt, GoMap, integerOf, isList, isSlice, itemsOf, type Value } from './values.ts';

export interface RangeElement {
  /** Position or key. */
  readonly index: Value;
  readonly element: Value;
  /** Whether its static type in Go is interface{}. */
  readonly isInterface: boolean;
}

/** @throws TemplateExecutionError for values that cannot be iterated */
export function* elementsOf(evaluator: Evaluator, node: BranchNode, value: Value): Generator<RangeElement> {
  if (value === undefined || value === null) return;
  const count = integerOf(value);
  if (count !== undefined) {
    if (node.pipe.declarations.length > 1) {
      evaluator.fail(`can't use ${sprintValue(value)} to iterate over more than one variable`);
    }
    for (let i = 0n; i < count; i++) {
      const element = value instanceof GoInt ? new GoInt(value.type, i) : i;
      yield { index: undefined, element, isInterface: false };
    }
  } else if (isSlice(value)) {
    const isInterface = isList(value) && elemType(value) === 'interface {}';
    let index = 0n;
    for (const element of itemsOf(value)) yield { index: index++, element, isInterface };
  } else if (value instanceof GoMap) {
    const isInterface = value.elem === 'interface {}';
    for (const key of value.sortedKeys()) yield { index: key, element: value.get(key), isInterface };
  } else evaluator.fail(`range can't iterate over ${sprintValue(value)}`);
}
