/** When two values are equal. */
import { isSpiffList, isSpiffMap, SpiffCallable, type SpiffMap, type SpiffValue } from '../value.ts';
import { parseInteger } from './arguments.ts';

/**
 * Deep comparison as `==` does it: the left side says how the right one is read (`1 == "1"`, `true == "True"`), and a
 * double equals nothing, not even itself. Nothing is wrong with doubles in Go; the original forgot them.
 */
export function areEqual(a: SpiffValue, b: SpiffValue): boolean {
  if (a === null || b === null) return a === b;
  switch (typeof a) {
    case 'string':
      return b instanceof SpiffCallable ? a === b.text : typeof b !== 'number' && a === asText(b);
    case 'bigint':
      return a === asInteger(b);
    case 'boolean':
      return a === asBoolean(b);
    case 'number':
      return false;
    default:
  }
  if (isSpiffList(a)) return isSpiffList(b) && sameLists(a, b);
  if (isSpiffMap(a)) return isSpiffMap(b) && sameMaps(a, b);
  return a instanceof SpiffCallable && b instanceof SpiffCallable && a.text === b.text;
}

const sameLists = (a: readonly SpiffValue[], b: readonly SpiffValue[]): boolean =>
  a.length === b.length && a.every((item, i) => areEqual(item, b[i] as SpiffValue));

const sameMaps = (a: SpiffMap, b: SpiffMap): boolean =>
  a.size === b.size &&
  [...a].every(([key, item]) => {
    const other = b.get(key);
    return other !== undefined && areEqual(item, other);
  });

const asText = (value: SpiffValue): string | undefined =>
  typeof value === 'string' || typeof value === 'bigint' || typeof value === 'boolean'
    ? String(value)
    : undefined;

function asInteger(value: SpiffValue): bigint | undefined {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'boolean') return value ? 1n : 0n;
  if (typeof value !== 'string') return undefined;
  try {
    return parseInteger(value);
  } catch {
    return undefined;
  }
}

function asBoolean(value: SpiffValue): boolean | undefined {
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'string') return undefined;
  if (/^(1|t|true)$/i.test(value)) return true;
  return /^(0|f|false)$/i.test(value) ? false : undefined;
}
