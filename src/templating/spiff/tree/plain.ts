/** Converts nodes to the values of functions and results, and back. */
import { print } from '../syntax/print.ts';
import { isExpr, type Expr } from '../syntax/ast.ts';
import { isSpiffList, isSpiffMap, type SpiffValue } from '../value.ts';
import { isFields, isList, Lambda, node, Template, type Node, type Value } from './node.ts';

/** Lambdas and templates stay unchanged. */
export function toSpiff(value: Value): SpiffValue {
  if (isList(value)) return value.map((it) => toSpiff(settled(it)));
  if (isFields(value)) return new Map([...value].map(([key, it]) => [key, toSpiff(settled(it))]));
  return value;
}

const settled = ({ value }: Node): Value => (isExpr(value) ? asText(value) : value);
const asText = (expr: Expr): string => `(( ${print(expr)} ))`;

export const toNode = (value: SpiffValue, source: string): Node => node(fromSpiff(value, source), source);

export function fromSpiff(value: SpiffValue, source: string): Value {
  if (isSpiffList(value)) return value.map((it) => toNode(it, source));
  if (isSpiffMap(value)) return new Map([...value].map(([key, it]) => [key, toNode(it, source)]));
  return value as Value;
}

/** Lambdas and templates as source text, for printing. */
export function written(value: SpiffValue): SpiffValue {
  if (value instanceof Lambda) return asText(value.expr);
  if (value instanceof Template) return written(toSpiff(settled(value.original)));
  if (isSpiffList(value)) return value.map(written);
  return isSpiffMap(value) ? new Map([...value].map(([key, it]) => [key, written(it)])) : value;
}
