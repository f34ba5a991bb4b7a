/** Whether a node is completely evaluated. Cached per list and map, because references check it often. */
import { isExpr, type Expr } from '../syntax/ast.ts';
import { isListComplete, isMapComplete } from './find.ts';
import { isFields, isList, type Node, type Value } from './node.ts';

const EXPRESSION = /^\(\((?!!)[^]*\)\)$/;

/** The text in double parentheses; undefined for a string without an expression. */
export const embedded = (text: string): string | undefined =>
  text.length >= 4 && EXPRESSION.test(text) ? text.slice(2, -2) : undefined;

const known = new WeakMap<object, boolean>();

/** Whether the value is not an expression and contains none. */
export function isResolved(value: Value | Expr): boolean {
  if (typeof value === 'string') return embedded(value) === undefined;
  if (typeof value !== 'object' || value === null) return true;
  if (isExpr(value)) return false;
  if (!isList(value) && !isFields(value)) return true;
  let answer = known.get(value);
  if (answer === undefined) {
    answer = isList(value)
      ? value.every((it) => isResolved(it.value))
      : isMapComplete(value) && [...value.values()].every((it) => isResolved(it.value));
    known.set(value, answer);
  }
  return answer;
}

/** Whether the value is not an expression and is merged; its parts may be unresolved. */
export function isLocallyResolved(value: Value | Expr): boolean {
  if (isExpr(value)) return false;
  if (isFields(value)) return isMapComplete(value);
  return !isList(value) || isListComplete(value);
}

export const isResolvedNode = (it: Node): boolean =>
  it.hasFailed !== true && it.isUndefined !== true && isResolved(it.value);
