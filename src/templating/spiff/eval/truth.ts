/** What counts as true, and what is equal. */
import { isFields, isList, Lambda, Template, type Node, type Value } from '../tree/node.ts';
import { isExpr, type Expr } from '../syntax/ast.ts';
import { equalNodes, equalExprs } from '../tree/equal.ts';

/** Everything but null, false, 0, and empty texts, lists and maps; a double is always true. */
export function isTruthy(value: Value): boolean {
  if (value === null) return false;
  if (typeof value === 'bigint') return value !== 0n;
  if (typeof value === 'number') return true;
  if (isList(value)) return value.length > 0;
  if (isFields(value)) return value.size > 0;
  return Boolean(value);
}

/** undefined: the two cannot be compared, which is an error */
export type Verdict = boolean | undefined;

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'true'].map((text) => [text, true] as const),
  ...['0', 'f', 'false'].map((text) => [text, false] as const),
]);
const INTEGER = /^[+-]?\d+$/;

/** As the original compares: integers and booleans equal their text, a double equals nothing, itself included. */
export function isEqual(a: Value, b: Value): Verdict {
  if (a === null || b === null) return a === b ? true : undefined;
  switch (typeof a) {
    case 'string':
      return equalsText(a, b);
    case 'bigint':
      if (typeof b === 'string') return INTEGER.test(b) && a === BigInt(b.replace('+', ''));
      return typeof b === 'boolean' ? a === BigInt(b) : a === b;
    case 'boolean':
      return typeof b === 'string' ? BOOLEANS.get(b.toLowerCase()) === a : a === b;
    case 'number':
      return false;
    default:
      return equalsCollection(a, b);
  }
}

function equalsText(a: string, b: Value): Verdict {
  if (typeof b === 'string') return a === b;
  if (typeof b === 'bigint' || typeof b === 'boolean') return a === String(b);
  return b instanceof Lambda ? a === b.text : undefined;
}

function equalsCollection(a: Exclude<Value, null | string | number | bigint | boolean>, b: Value): boolean {
  if (a instanceof Lambda) return b instanceof Lambda && equalExprs(a.expr, b.expr);
  if (a instanceof Template) return b instanceof Template && equalNodes(a.original, b.original);
  if (isList(a)) {
    return isList(b) && a.length === b.length && a.every((it, i) => sameParts(it, b[i]));
  }
  return isFields(b) && a.size === b.size && [...a].every(([key, it]) => sameParts(it, b.get(key)));
}

const sameParts = (a: Node, b: Node | undefined): boolean =>
  b !== undefined && isEqual(plainValue(a.value), plainValue(b.value)) === true;

/** Lists and maps that are compared hold no expressions any more. */
const plainValue = (value: Value | Expr): Value => (isExpr(value) ? null : value);
