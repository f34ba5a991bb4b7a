/** Equality of values, for `==` and all functions that search for a value. */
import { isExpr } from '../syntax/ast.ts';
import { parseInteger } from '../functions/arguments.ts';
import { SpiffCallable, type SpiffTemplate, type SpiffValue } from '../value.ts';
import { equalExprs, equalNodes } from './equal.ts';
import { Lambda, Template, type Node } from './node.ts';

/** undefined: the values cannot be compared, which is an error of `==` */
type Verdict = boolean | undefined;

/** A value with parts of type `T`. */
type Whole<T> =
  | null
  | boolean
  | bigint
  | number
  | string
  | readonly T[]
  | ReadonlyMap<string, T>
  | SpiffCallable
  | SpiffTemplate;

/**
 * The left side determines how the right one is converted (`1 == "1"`, `true == "True"`), and a double equals
 * nothing, not even itself. That is a bug of the original, not a property of Go.
 */
function equality<T>(valueOf: (part: T) => Whole<T>): (a: Whole<T>, b: Whole<T>) => Verdict {
  const sameParts = (a: T, b: T | undefined): boolean =>
    b !== undefined && compare(valueOf(a), valueOf(b)) === true;
  const compare = (a: Whole<T>, b: Whole<T>): Verdict => {
    if (a === null || b === null) return a === b ? true : undefined;
    switch (typeof a) {
      case 'string':
        return equalsText(a, b);
      case 'bigint':
        return a === asInteger(b);
      case 'boolean':
        return a === asBoolean(b);
      case 'number':
        return false;
      default:
    }
    if (a instanceof Lambda) return b instanceof Lambda && equalExprs(a.expr, b.expr);
    if (a instanceof Template) return b instanceof Template && equalNodes(a.original, b.original);
    if (isArray(a)) return isArray(b) && a.length === b.length && a.every((it, i) => sameParts(it, b[i]));
    if (!isMap(a) || !isMap(b)) return a === b;
    return a.size === b.size && [...a].every(([key, it]) => sameParts(it, b.get(key)));
  };
  return compare;
}

const isArray = <T>(value: Whole<T>): value is readonly T[] => Array.isArray(value);
const isMap = <T>(value: Whole<T>): value is ReadonlyMap<string, T> => value instanceof Map;

function equalsText(a: string, b: Whole<unknown>): Verdict {
  if (typeof b === 'string') return a === b;
  if (typeof b === 'bigint' || typeof b === 'boolean') return a === String(b);
  return b instanceof SpiffCallable ? a === b.text : undefined;
}

function asInteger(value: Whole<unknown>): bigint | undefined {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'boolean') return BigInt(value);
  if (typeof value !== 'string') return undefined;
  try {
    return parseInteger(value);
  } catch {
    return undefined;
  }
}

function asBoolean(value: Whole<unknown>): boolean | undefined {
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'string') return undefined;
  if (/^(1|t|true)$/i.test(value)) return true;
  return /^(0|f|false)$/i.test(value) ? false : undefined;
}

/** Compared lists and maps contain no expressions. */
export const isEqual = equality<Node>(({ value }) => (isExpr(value) ? null : value));

const compare = equality<SpiffValue>((value) => value);
export const areEqual = (a: SpiffValue, b: SpiffValue): boolean => compare(a, b) === true;
